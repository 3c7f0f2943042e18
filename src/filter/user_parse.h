// user_parse.h: the parser of users' filters: new text, names and expressions (user_expression.c) and the statements,
// functions and structs around them (user_code.c)
#pragma once

#include "filter/user_code.h"

#include <stddef.h>

enum { NAMES = 512, CHANGES = 16, OWN_NAME = 3 * USER_WORD_BYTES };

// A name of the language: a function or a type.
struct known {
    const char *word, *safe;
    int numbers; // of a type: the numbers that it has
};

// A variable, function or struct of the filter.
struct own {
    const struct user_token *name;
    int size; // of a function: its tokens, with those of the functions that it calls; of a struct: its numbers
};

struct owns {
    struct own at[NAMES];
    int count;
};

// A variable that an expression changes.
struct change {
    const struct user_token *name;
    const struct user_token *target, *end; // of a target of "a.x = b = value": its tokens; else NULL
    const struct user_token *from, *to;    // uses in this range have a fixed order
};

struct code {
    const char *name; // of the filter
    const struct user_token *next;
    const struct user_token *last; // written; NULL: other text
    char *out;                     // the new text, always with room for a NUL
    size_t size, room;
    int line; // number of the last line of the new text
    int depth, divisions, operators;
    int size_tokens; // of the function, as in struct own
    struct owns variables, functions, structs;
    const struct user_token *function; // whose body this is; NULL: none
    bool returns_value, in_switch;
    bool *breaks;                    // gets true at a `break` that ends the innermost switch; NULL: in a loop
    bool loops;                      // the body has a loop
    const struct user_token *target; // of the expression: the next target's first token
    struct change changed[CHANGES];
    int changes;
    int *fail_line;
    char *why;
};

struct type {
    const struct known *known;      // of the language; NULL: a struct of the filter
    const struct user_token *named; // the struct
    int numbers;
};

// For messages: "%.*s".
#define SHOWN(token) (token)->length, (token)->text

// The functions code_take_* read what their name says, and append it to the new text. They and code_insert,
// code_append, code_append_space, code_declare and code_enter return false on failure, after code_fail.

// Write *fail_line and `why`. Always return false.
__attribute__((format(printf, 2, 3))) bool code_fail(struct code *c, const char *format, ...);
bool code_fail_here(struct code *c); // the next token is wrong

bool code_insert(struct code *c, size_t at, const char *text, size_t size);
bool code_append(struct code *c, const char *text);
bool code_append_space(struct code *c, const struct user_token *token); // the space and line ends before a token
bool code_take(struct code *c);                                         // the next token
bool code_take_mark(struct code *c, const char *mark);                  // it must be this one
bool code_take_own(struct code *c);                                     // a name of the filter
// Writes the name that the new text has for a name of the filter.
void code_print_own(const struct code *c, const struct user_token *name, char text[OWN_NAME]);
bool code_is(const struct code *c, const char *text); // returns true if the next token is this one

bool code_same_name(const struct user_token *a, const struct user_token *b);
bool code_declare(struct code *c, struct owns *owns, int size); // adds the next token as a new name
bool code_is_type(const struct code *c);                        // returns true if the next token is a type
bool code_take_type(struct code *c, struct type *type);
bool code_take_member(struct code *c); // its name
bool code_enter(struct code *c);       // another level of brackets or statements
// An expression that is no part of another one, as a condition or as an integer.
bool code_take_whole(struct code *c, bool test);
