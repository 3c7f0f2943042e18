// user_parse.h: the parser of users' filters: tokens (user_tokens.c), expressions (user_expression.c), and the names,
// types, statements, functions and structs around them (user_code.c)
#pragma once

#include "filter/user_code.h"

#include <stddef.h>

enum user_token_kind {
    TOKEN_WORD,
    TOKEN_NUMBER, // an integer from 0 to 2147483647
    TOKEN_MARK,   // an operator or a bracket
    TOKEN_PARAM,  // only in macros: the parameter with index `number`
    TOKEN_END,    // only the last token
};

struct user_token {
    enum user_token_kind kind;
    int line, column; // of a token from a macro: the place where the macro is used
    const char *text; // borrowed from the text of the file
    int length, number;
};

struct user_tokens {
    struct user_token *at;
    int count;
};

// Reads the tokens; the last one is TOKEN_END. The caller calls user_tokens_free in any case. False on failure: `why`
// gets one line, and *line the number of the line. A macro can use only the macros above it, and expands to at
// most USER_TOKENS tokens. The tokens borrow `text`.
bool user_tokens_read(struct user_tokens *tokens, const char *text, int *line, char why[USER_WHY]);
void user_tokens_free(struct user_tokens *tokens);

bool user_token_is(const struct user_token *token, const char *text);
// Returns true if the kernel language has this word, so that no macro, variable or function can have its name.
bool user_word_is_known(const struct user_token *token);

enum { NAMES = 512, CHANGES = 16, OWN_NAME = 3 * USER_WORD_BYTES, FIELDS = USER_TOKENS / 2, CASES = USER_TOKENS / 3 };

// A type or a function of the language.
struct known {
    const char *word, *safe;
    int numbers;            // of a type: the numbers that it has
    int count;              // of a function: its parameters
    unsigned char takes[3]; // their types
};

struct type {
    const struct known *known;      // of the language; NULL: a struct of the filter
    const struct user_token *named; // the struct's name where it is defined
    int numbers;
};

// A variable, function or struct of the filter.
struct own {
    const struct user_token *name;
    struct type type;  // of the variable, or of the function's result
    bool constant;     // of a variable
    int first, fields; // the parameters of a function, or the members of a struct
    int size;          // of a function: its tokens, with those of the functions that it calls
};

struct owns {
    struct own at[NAMES];
    int count;
};

// A parameter of a function, or a member of a struct. The code has too few tokens for more than FIELDS.
struct member {
    const struct user_token *name;
    struct type type;
};

// A variable that an expression changes.
struct change {
    const struct user_token *name;
    const struct user_token *target, *end; // of a target of "a.x = b = value": its tokens; else NULL
    const struct user_token *from, *to;    // uses in this range have a fixed order
};

struct code {
    const char *name; // of the filter
    bool stencil;     // its kind
    const struct user_token *next;
    const struct user_token *last; // written; NULL: other text
    char *out;                     // the new text, always with room for a NUL
    size_t size, room;
    int line; // number of the last line of the new text
    int depth, divisions, operators;
    int size_tokens; // of the function, as in struct own
    struct owns variables, functions, structs;
    struct member field[FIELDS];
    int fields;
    int scope;                         // the first variable of the innermost block
    const struct user_token *function; // whose body this is; NULL: none
    struct type result;                // of this function
    bool in_switch;                    // the next statement is directly in a switch
    int label[CASES], labels;          // the cases of the switches around the next statement
    bool *breaks;                      // gets true at a `break` that ends the innermost switch; NULL: in a loop
    bool *loop;                        // gets true at a `break` or `continue` of the innermost loop; NULL: none
    bool loops;                        // the body has a loop
    const struct user_token *target;   // of the expression: the next target's first token
    struct change changed[CHANGES];
    int changes;
    int *fail_line;
    char *why;
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
// The next token, written as `text`.
bool code_take_as(struct code *c, const char *text, size_t length);
// Writes the name that the new text has for a name of the filter.
void code_print_own(const struct code *c, const struct user_token *name, char text[OWN_NAME]);
bool code_is(const struct code *c, const char *text); // returns true if the next token is this one

bool code_same_name(const struct user_token *a, const struct user_token *b);
const struct own *code_find(const struct owns *owns, const struct user_token *name); // NULL: there is none
const struct known *code_find_function(const struct user_token *word);               // of the language
// Adds the next token as a new name. NULL on failure.
struct own *code_declare(struct code *c, struct owns *owns, const struct type *type);
// Adds the next token as the next parameter of a function or the next member of a struct, whose first one is `first`.
bool code_add_field(struct code *c, int first, const struct type *type);

extern const struct type code_int;
struct type code_known_type(int index);  // one of struct known.takes
bool code_is_type(const struct code *c); // returns true if the next token is a type
bool code_fail_type(struct code *c);     // the next token is no type
bool code_take_type(struct code *c, struct type *type);
// The type of a variable, with or without "const" before or after it, which is not written.
bool code_take_const_type(struct code *c, struct type *type, bool *constant);
bool code_take_member(struct code *c);                       // the name of a new member
bool code_take_member_of(struct code *c, struct type *type); // replaces the type by that of the member
// Checks the type of a value, which begins at `begin`.
bool code_check_type(struct code *c, const struct user_token *begin, const struct type *wanted,
                     const struct type *type);

bool code_enter(struct code *c); // another level of brackets or statements
// An expression that is no part of another one, as a condition or as a value of any type.
bool code_take_whole(struct code *c, bool test);
// An expression with a value of this type. *constant, if it is not NULL, gets the value of one without names.
bool code_take_value(struct code *c, const struct type *wanted, int *constant);
