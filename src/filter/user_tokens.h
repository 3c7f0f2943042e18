// user_tokens.h: the tokens of a user's filter, after its comments are removed and its macros are expanded
#pragma once

#include <stdbool.h>

// USER_TOKENS also limits the code after calls are expanded (user_code.c).
enum { USER_WHY = 200, USER_TOKENS = 20000, USER_NESTING = 64, USER_WORD_BYTES = 64 };

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
    int count, room;
};

// Reads the tokens; the last one is TOKEN_END. The caller calls user_tokens_free in any case. False on failure: `why`
// gets one line, and *line the number of the line. A macro can use only the macros above it, and expands to at
// most USER_TOKENS tokens. The tokens borrow `text`.
bool user_tokens_read(struct user_tokens *tokens, const char *text, int *line, char why[USER_WHY]);
void user_tokens_free(struct user_tokens *tokens);

bool user_token_is(const struct user_token *token, const char *text);
// Returns true if the kernel language has this word, so that no macro, variable or function can have its name.
bool user_word_is_known(const struct user_token *token);
