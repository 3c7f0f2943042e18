// user_tokens.c: reads the tokens of a user's filter, and expands its macros
//
// No macro reaches a compiler, so compilers and monocle see the same code. A macro is expanded where it is defined, as
// far as its parameters allow. So it can use only the macros above it, and cannot use itself.
#include "filter/user_parse.h"

#include "base/alloc.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MACROS = 256, PARAMS = 32, COPIES = 10 * USER_TOKENS };

struct macro {
    struct user_token name, param[PARAMS];
    int params; // -1: the macro has no brackets
    struct user_tokens body;
};

// Where the reader is in the text.
struct spot {
    const char *at, *line_start;
    int line;
    bool fresh; // only space and comments precede it in its line
};

struct token_reader {
    struct spot spot;
    const struct macro *defined; // the macro that is being defined: its line ends the text; NULL: none
    struct macro macro[MACROS];
    int macros, depth, brackets;
    int copies; // tokens that were written, including those of arguments and macros
    int *fail_line;
    char *why;
};

__attribute__((format(printf, 3, 4))) static bool fail(struct token_reader *r, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, USER_WHY, format, arguments);
    va_end(arguments);
    *r->fail_line = line;
    return false;
}

bool user_token_is(const struct user_token *token, const char *text)
{
    return token->kind != TOKEN_END && strlen(text) == (size_t)token->length &&
           memcmp(token->text, text, (size_t)token->length) == 0;
}

static bool is_one_of(const struct user_token *token, const char *const words[])
{
    while (*words && !user_token_is(token, *words))
        words++;
    return *words;
}

bool user_word_is_known(const struct user_token *token)
{
    static const char *const words[] = {
        "int",     "void",   "pixel",  "place",    "view",   "arguments", "struct", "const",  "INLINE",
        "STRUCT",  "UNROLL", "if",     "else",     "for",    "while",     "do",     "switch", "case",
        "default", "break",  "return", "continue", "sat8",   "luma",      "root",   "min",    "max",
        "clamp",   "tap",    "ARG",    "WIDTH",    "HEIGHT", "FRAME",     "TIME",   "RADIUS", NULL};
    return is_one_of(token, words);
}

// ---- lists of tokens ----

static bool add(struct token_reader *r, struct user_tokens *list, const struct user_token *token)
{
    if (list->count >= USER_TOKENS || ++r->copies > COPIES)
        return fail(r, token->line, "the code has more than %d tokens after its macros are expanded", USER_TOKENS);
    list->at = xgrow(list->at, (size_t)list->count, sizeof(*list->at));
    list->at[list->count++] = *token;
    return true;
}

void user_tokens_free(struct user_tokens *tokens)
{
    free(tokens->at);
    *tokens = (struct user_tokens){0};
}

// ---- space, words, numbers and marks ----

static void next_line(struct spot *spot)
{
    spot->line++;
    spot->line_start = spot->at;
    spot->fresh = true;
}

static bool skip_comment(struct token_reader *r)
{
    struct spot *spot = &r->spot;
    const bool block = spot->at[1] == '*';
    const char *end = block ? strstr(spot->at + 2, "*/") : spot->at + strcspn(spot->at, "\n");
    if (!end)
        return fail(r, spot->line, "a comment has no end");
    if (r->defined && memchr(spot->at, '\n', (size_t)(end - spot->at)))
        return fail(r, spot->line, "a comment in #define must end in its line");
    while (spot->at < end) {
        if (*spot->at++ == '\n')
            next_line(spot);
    }
    spot->at += block ? 2 : 0;
    return true;
}

static bool skip_space(struct token_reader *r)
{
    struct spot *spot = &r->spot;
    for (;;) {
        if (strncmp(spot->at, "//", 2) == 0 || strncmp(spot->at, "/*", 2) == 0) {
            if (!skip_comment(r))
                return false;
        } else if (r->defined && *spot->at == '\\' && spot->at[1 + strspn(spot->at + 1, " \t\r")] == '\n') {
            spot->at += 2 + strspn(spot->at + 1, " \t\r");
            next_line(spot);
        } else if (*spot->at == '\n' && !r->defined) {
            spot->at++;
            next_line(spot);
        } else if (*spot->at && strchr(" \t\r", *spot->at)) {
            spot->at++;
        } else {
            return true;
        }
    }
}

static int word_length(const char *at)
{
    int length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool check_number(struct token_reader *r, struct user_token *token)
{
    char *end;
    token->length = word_length(token->text);
    if (token->text[token->length] == '.') // the message shows all of "1.5"
        token->length += 1 + word_length(token->text + token->length + 1);
    const long long value = strtoll(token->text, &end, 0);
    token->number = value > INT_MAX ? INT_MAX : (int)value;
    return (end == token->text + token->length && value <= INT_MAX) ||
           fail(r, token->line, "the number %.*s is not an integer from 0 to %d such as 12 or 0x1f",
                token->length < 20 ? token->length : 20, token->text, INT_MAX);
}

// Refuses words that the kernel language does not have, or that names cannot have.
static bool check_word(struct token_reader *r, struct user_token *token)
{
    static const char *const types[] = {"float", "double", "long", "unsigned", "signed", "char", "short", NULL};
    static const char *const linkage[] = {"static", "inline", "extern", NULL};
    static const char *const others[] = {
        "wide",   "goto",   "asm",      "union",   "typedef", "register",           "auto", "volatile",
        "sizeof", "typeof", "restrict", "barrier", "discard", "work_group_barrier", NULL};
    char word[USER_WORD_BYTES];
    token->length = word_length(token->text);
    if (token->length >= USER_WORD_BYTES)
        return fail(r, token->line, "a name has more than %d characters", USER_WORD_BYTES - 1);
    snprintf(word, sizeof(word), "%.*s", token->length, token->text);
    if (is_one_of(token, types))
        return fail(r, token->line, "a filter cannot have '%s'; it computes with int", word);
    if (is_one_of(token, linkage))
        return fail(r, token->line, "a filter cannot have '%s'; its functions begin with INLINE", word);
    if (is_one_of(token, others))
        return fail(r, token->line, "a filter cannot have '%s'", word);
    if (strncmp(word, "user_", 5) == 0 || strncmp(word, "USER_", 5) == 0)
        return fail(r, token->line, "the name '%s' belongs to monocle; choose another one", word);
    if (word[0] == '_' || strstr(word, "__") || strncmp(word, "gl_", 3) == 0)
        return fail(r, token->line, "the name '%s' belongs to compilers; choose another one", word);
    return true;
}

static bool check_mark(struct token_reader *r, struct user_token *token)
{
    static const char *const marks[] = {"<<=", ">>=", "++", "--", "&&", "||", "<<", ">>", "<=", ">=", "==",
                                        "!=",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "->", NULL};
    const unsigned char byte = (unsigned char)*token->text;
    token->length = 1;
    for (int i = 0; marks[i]; i++) {
        if (strncmp(token->text, marks[i], strlen(marks[i])) == 0) {
            token->length = (int)strlen(marks[i]);
            break;
        }
    }
    if (byte > 127)
        return fail(r, token->line, "the byte 0x%02x is not plain ASCII text; only comments may have other letters",
                    byte);
    if (byte == '[' || byte == ']')
        return fail(r, token->line, "a filter cannot have arrays");
    if (user_token_is(token, "->"))
        return fail(r, token->line, "a filter cannot have pointers");
    return strchr("+-*/%<>=!~&|^?:;,.(){}#", byte) || fail(r, token->line, "the kernel language has no '%c'", byte);
}

// Reads the next token, without expanding macros. A "#" that begins a line has the number 1.
static bool read_token(struct token_reader *r, struct user_token *token)
{
    struct spot *spot = &r->spot;
    if (!skip_space(r))
        return false;
    *token = (struct user_token){TOKEN_END, spot->line, (int)(spot->at - spot->line_start), spot->at, 0, 0};
    const unsigned char byte = (unsigned char)*spot->at;
    if (!byte || byte == '\n')
        return true;
    bool ok;
    if (isdigit(byte)) {
        token->kind = TOKEN_NUMBER;
        ok = check_number(r, token);
    } else if (isalpha(byte) || byte == '_') {
        token->kind = TOKEN_WORD;
        ok = check_word(r, token);
    } else {
        token->kind = TOKEN_MARK;
        ok = check_mark(r, token);
        token->number = byte == '#' && spot->fresh;
    }
    spot->at += token->length;
    spot->fresh = false;
    return ok && (byte != '#' || token->number || fail(r, token->line, "the kernel language has no '#'"));
}

// ---- the use of macros ----

static const struct macro *find_macro(const struct token_reader *r, const struct user_token *name)
{
    for (int i = 0; i < r->macros; i++) {
        if (code_same_name(&r->macro[i].name, name))
            return &r->macro[i];
    }
    return NULL;
}

// Returns true if the next token is an opening bracket.
static bool opens(struct token_reader *r)
{
    struct user_token token;
    const struct spot before = r->spot;
    const bool ok = read_token(r, &token);
    r->spot = before;
    return ok && user_token_is(&token, "(");
}

static bool expand(struct token_reader *r, const struct user_token *token, struct user_tokens *to);

// Reads the arguments of a macro, up to the closing bracket.
static bool read_arguments(struct token_reader *r, const struct macro *macro, const struct user_token *use,
                           struct user_tokens argument[PARAMS + 1])
{
    struct user_token token;
    int count = 0, depth = 0;
    if (!read_token(r, &token)) // the opening bracket
        return false;
    for (;;) {
        if (!read_token(r, &token))
            return false;
        if (token.kind == TOKEN_END)
            return fail(r, use->line, "a bracket or an expression has no end");
        if (user_token_is(&token, "#"))
            return fail(r, token.line, "a #define must stand outside functions");
        if (depth == 0 && user_token_is(&token, ")"))
            break;
        depth += user_token_is(&token, "(") - user_token_is(&token, ")");
        if (depth == 0 && user_token_is(&token, ",")) {
            if (++count >= macro->params)
                break;
        } else if (!expand(r, &token, &argument[count])) {
            return false;
        }
    }
    if (count + 1 == macro->params || (macro->params == 0 && count == 0 && argument[0].count == 0))
        return true;
    return fail(r, use->line, "the macro '%.*s' has %d arguments", use->length, use->text, macro->params);
}

// Appends the tokens of a macro.
static bool substitute(struct token_reader *r, const struct macro *macro, const struct user_token *use,
                       const struct user_tokens *argument, struct user_tokens *to)
{
    bool ok = true;
    for (int i = 0; ok && i < macro->body.count; i++) {
        struct user_token token = macro->body.at[i];
        if (token.kind == TOKEN_PARAM) {
            for (int k = 0; ok && k < argument[token.number].count; k++)
                ok = add(r, to, &argument[token.number].at[k]);
            continue;
        }
        token.line = use->line;
        token.column = use->column;
        ok = add(r, to, &token);
    }
    return ok;
}

// Appends a token, or the tokens of its macro.
static bool expand(struct token_reader *r, const struct user_token *token, struct user_tokens *to)
{
    struct user_tokens argument[PARAMS + 1] = {{0}};
    for (int i = 0; r->defined && token->kind == TOKEN_WORD && i < r->defined->params; i++) {
        struct user_token param = *token;
        param.kind = TOKEN_PARAM;
        param.number = i;
        if (code_same_name(&r->defined->param[i], token))
            return add(r, to, &param);
    }
    const struct macro *macro = token->kind == TOKEN_WORD ? find_macro(r, token) : NULL;
    if (!macro || (macro->params >= 0 && !opens(r)))
        return add(r, to, token);
    if (++r->depth > USER_NESTING)
        return fail(r, token->line, "the code is nested more than %d levels deep", USER_NESTING);
    const bool ok =
        (macro->params < 0 || read_arguments(r, macro, token, argument)) && substitute(r, macro, token, argument, to);
    r->depth--;
    for (int i = 0; i <= PARAMS; i++)
        user_tokens_free(&argument[i]);
    return ok;
}

// ---- the definition of macros ----

// Reads the names between the brackets after the macro's name.
static bool read_params(struct token_reader *r, struct macro *macro)
{
    static const char names[] = "the parameters of a macro must be names";
    struct user_token token;
    macro->params = 0;
    if (!read_token(r, &token) || !read_token(r, &token))
        return false;
    while (!user_token_is(&token, ")")) {
        if (token.kind != TOKEN_WORD || user_word_is_known(&token))
            return fail(r, macro->name.line, "%s", names);
        if (macro->params == PARAMS)
            return fail(r, token.line, "a macro has at most %d parameters", PARAMS);
        macro->param[macro->params++] = token;
        if (!read_token(r, &token))
            return false;
        const bool more = user_token_is(&token, ",");
        if (!more && !user_token_is(&token, ")"))
            return fail(r, macro->name.line, "%s", names);
        if (more && (!read_token(r, &token) || user_token_is(&token, ")")))
            return fail(r, macro->name.line, "%s", names);
    }
    return true;
}

static bool read_macro(struct token_reader *r, struct macro *macro)
{
    struct user_token token;
    if (!read_token(r, &macro->name))
        return false;
    const struct user_token *name = &macro->name;
    macro->params = -1;
    if (name->kind != TOKEN_WORD)
        return fail(r, name->line, "a name must follow #define");
    if (user_word_is_known(name))
        return fail(r, name->line, "'%.*s' cannot be a macro: the language has this name", name->length, name->text);
    if (find_macro(r, name))
        return fail(r, name->line, "the macro '%.*s' is defined twice", name->length, name->text);
    if (*r->spot.at == '(' && !read_params(r, macro))
        return false;
    for (;;) {
        if (!read_token(r, &token))
            return false;
        if (token.kind == TOKEN_END)
            return true;
        if (!expand(r, &token, &macro->body))
            return false;
    }
}

// Reads what follows a "#" at the beginning of a line.
static bool read_directive(struct token_reader *r, int line)
{
    struct user_token word;
    if (r->brackets > 0)
        return fail(r, line, "a #define must stand outside functions");
    r->spot.at += strspn(r->spot.at, " \t");
    word = (struct user_token){TOKEN_WORD, line, 0, r->spot.at, word_length(r->spot.at), 0};
    if (!user_token_is(&word, "define"))
        return fail(r, line, "#%.*s is not allowed; a filter may have #define", word.length < 20 ? word.length : 20,
                    word.text);
    if (r->macros == MACROS)
        return fail(r, line, "a filter has at most %d macros", MACROS);
    r->spot.at += word.length;
    struct macro *macro = &r->macro[r->macros];
    *macro = (struct macro){.params = -1};
    r->defined = macro;
    const bool ok = read_macro(r, macro);
    r->defined = NULL;
    if (ok)
        r->macros++;
    else
        user_tokens_free(&macro->body);
    return ok;
}

// ---- the text ----

static bool read_all(struct token_reader *r, struct user_tokens *tokens)
{
    struct user_token token;
    for (;;) {
        if (!read_token(r, &token))
            return false;
        if (token.kind == TOKEN_MARK && token.number == 1) {
            if (!read_directive(r, token.line))
                return false;
            continue;
        }
        r->brackets += user_token_is(&token, "(") || user_token_is(&token, "{");
        r->brackets -= user_token_is(&token, ")") || user_token_is(&token, "}");
        if (token.kind == TOKEN_END)
            return add(r, tokens, &token);
        if (!expand(r, &token, tokens))
            return false;
    }
}

bool user_tokens_read(struct user_tokens *tokens, const char *text, int *line, char why[USER_WHY])
{
    struct token_reader *r = xalloc(sizeof(*r));
    *tokens = (struct user_tokens){0};
    *line = 1;
    r->spot = (struct spot){text, text, 1, true};
    r->fail_line = line;
    r->why = why;
    const bool ok = read_all(r, tokens);
    for (int i = 0; i < r->macros; i++)
        user_tokens_free(&r->macro[i].body);
    free(r);
    return ok;
}
