// user_code.c: rewrites the code of a user's filter, token by token
//
// A division becomes a call. Its left side is the text since the operand's term began: "a * b / c" is
// user_div(a * b, c). Its right side is the next operand with its prefixes and postfixes.
#include "filter/user_code.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 64 };

static const char turn[] = "user_turns++ < USER_TURNS", turns[] = " int user_turns = 0;";

struct code {
    const char *at; // the next byte of the text
    int line;
    char *out; // the new text, always with room for a NUL
    size_t size, room;
    int nesting, divisions;
    int opened;                // the line where the innermost code began
    bool define;               // inside #define, which ends with its line
    char function[WORD_BYTES]; // the function whose body this is; "": none
    char *words;               // the words of the text so far, each once between spaces; NULL: none
    size_t words_size;
    bool fresh; // the last word is the first one with its letters
    char *why;
    bool failed;
};

__attribute__((format(printf, 2, 3))) static bool fail(struct code *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!c->failed)
        vsnprintf(c->why, USER_WHY, format, arguments);
    va_end(arguments);
    c->failed = true;
    return false;
}

// ---- the new text ----

static bool insert(struct code *c, size_t at, const char *text, size_t size)
{
    if (c->size + size >= c->room) {
        const size_t room = 2 * (c->size + size) + 256;
        char *larger = realloc(c->out, room);
        if (!larger)
            return fail(c, "out of memory");
        c->out = larger;
        c->room = room;
    }
    memmove(c->out + at + size, c->out + at, c->size - at);
    memcpy(c->out + at, text, size);
    c->size += size;
    return true;
}

static bool insert_text(struct code *c, size_t at, const char *text)
{
    return insert(c, at, text, strlen(text));
}

static bool append(struct code *c, const char *text)
{
    return insert_text(c, c->size, text);
}

// Copies bytes of the text.
static bool copy(struct code *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        c->line += c->at[i] == '\n';
    c->at += count;
    return insert(c, c->size, c->at - count, count);
}

static bool is(const struct code *c, const char *mark)
{
    return strncmp(c->at, mark, strlen(mark)) == 0;
}

// ---- space, comments and directives ----

static bool is_comment(const struct code *c)
{
    return is(c, "//") || is(c, "/*");
}

// Puts a space and the line ends of a comment in its place: only this file decides where comments end.
static bool skip_comment(struct code *c)
{
    const bool block = is(c, "/*");
    const char *end = block ? strstr(c->at + 2, "*/") : c->at + strcspn(c->at, "\n");
    if (!end)
        return fail(c, "a comment has no end");
    if (c->define && memchr(c->at, '\n', (size_t)(end - c->at)))
        return fail(c, "a comment in #define must end in its line");
    bool ok = append(c, " ");
    for (; ok && c->at < end; c->at++) {
        if (*c->at == '\n') {
            c->line++;
            ok = append(c, "\n");
        }
    }
    c->at = block ? end + 2 : end;
    return ok;
}

static bool copy_tokens(struct code *c, const char *ends);

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_')
        length++;
    return length;
}

static bool copy_name(struct code *c, char word[WORD_BYTES]);

// Copies the name and the parameters of a macro.
static bool copy_macro(struct code *c)
{
    static const char *const keywords[] = {"if", "else", "for", "while", "do", "switch", "return", "tap", "ARG", NULL};
    char word[WORD_BYTES];
    if (!isalpha((unsigned char)*c->at))
        return fail(c, "a name must follow #define");
    if (!copy_name(c, word))
        return false;
    for (int i = 0; keywords[i]; i++) {
        if (strcmp(word, keywords[i]) == 0)
            return fail(c, "'%s' cannot be a macro", word);
    }
    if (*c->at != '(')
        return true;
    while (*c->at != ')') {
        if (!copy(c, 1 + strspn(c->at + 1, " \t,")))
            return false;
        if (isalpha((unsigned char)*c->at) ? !copy_name(c, word) : *c->at != ')')
            return fail(c, "the parameters of a macro must be names");
        if (!strchr(", \t)", *c->at) || !*c->at)
            return fail(c, "the parameters of a macro must be names");
    }
    return copy(c, 1);
}

// Copies a directive. The replacement of a macro is code.
static bool copy_directive(struct code *c)
{
    if (c->nesting > 0)
        return fail(c, "a #define must stand outside functions");
    if (!copy(c, 1 + strspn(c->at + 1, " \t")))
        return false;
    const size_t length = word_length(c->at);
    if (!is(c, "define") || length != strlen("define"))
        return fail(c, "#%.*s is not allowed; a filter may have #define", (int)length % 20, c->at);
    if (!copy(c, length) || !copy(c, strspn(c->at, " \t")) || !copy_macro(c))
        return false;
    c->define = true;
    const bool ok = copy_tokens(c, "");
    c->define = false;
    return ok;
}

// Returns true if only space precedes this place in its line.
static bool begins_line(const struct code *c)
{
    size_t at = c->size;
    while (at > 0 && strchr(" \t\r", c->out[at - 1]))
        at--;
    return at == 0 || c->out[at - 1] == '\n';
}

// Copies space, comments and directives, up to the next token.
static bool copy_space(struct code *c)
{
    for (;;) {
        if (is_comment(c)) {
            if (!skip_comment(c))
                return false;
        } else if (c->define && is(c, "\\\n")) {
            if (!copy(c, 2))
                return false;
        } else if (*c->at == '#' && !c->define && begins_line(c)) {
            if (!copy_directive(c))
                return false;
        } else if (*c->at && strchr(" \t\r\n", *c->at) && !(c->define && *c->at == '\n')) {
            if (!copy(c, 1))
                return false;
        } else {
            return true;
        }
    }
}

// ---- tokens ----

// Refuses a number that is not a decimal, octal or hexadecimal int; sets *value.
static bool read_number(struct code *c, size_t *length, long long *value)
{
    char *end;
    *length = word_length(c->at);
    if (c->at[*length] == '.') // the message shows all of "1.5"
        *length += 1 + word_length(c->at + *length + 1);
    *value = strtoll(c->at, &end, 0);
    if (end == c->at + *length && *value <= INT_MAX)
        return true;
    return fail(c, "the number %.*s is not an integer from 0 to %d such as 12 or 0x1f", (int)*length % 20, c->at,
                INT_MAX);
}

static bool is_one_of(const char *const words[], const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words;
}

// Words that the kernel language does not have, or that the rewritten code cannot have.
static bool check_word(struct code *c, const char *word)
{
    static const char *const types[] = {"float", "double", "half", "long", "unsigned", "signed", "uint", "ulong", NULL};
    static const char *const linkage[] = {"static", "inline", "extern", NULL};
    static const char *const others[] = {
        "wide",   "goto",   "asm",      "union",   "typedef", "register",           "auto", "volatile",
        "sizeof", "typeof", "restrict", "barrier", "discard", "work_group_barrier", NULL};
    if (is_one_of(types, word))
        return fail(c, "a filter cannot have '%s'; it computes with int", word);
    if (is_one_of(linkage, word))
        return fail(c, "a filter cannot have '%s'; its functions begin with INLINE", word);
    if (is_one_of(others, word))
        return fail(c, "a filter cannot have '%s'", word);
    if (strncmp(word, "user_", 5) == 0 || strncmp(word, "USER_", 5) == 0)
        return fail(c, "the name '%s' belongs to monocle; choose another one", word);
    if (word[0] == '_' || strstr(word, "__") || strncmp(word, "gl_", 3) == 0)
        return fail(c, "the name '%s' belongs to compilers; choose another one", word);
    if (strcmp(word, c->function) == 0)
        return fail(c, "the function '%s' calls itself; use a loop", word);
    return true;
}

// Notes a word. Sets c->fresh if it is the first one with these letters.
static bool note_word(struct code *c, const char *word)
{
    char key[WORD_BYTES + 2];
    const size_t length = (size_t)snprintf(key, sizeof(key), " %s ", word);
    c->fresh = !c->words || !strstr(c->words, key);
    if (!c->fresh)
        return true;
    char *larger = realloc(c->words, c->words_size + length + 1);
    if (!larger)
        return fail(c, "out of memory");
    c->words = larger;
    memcpy(c->words + c->words_size, key, length + 1);
    c->words_size += length;
    return true;
}

// Reads and checks a word.
static bool read_word(struct code *c, char word[WORD_BYTES])
{
    const size_t length = word_length(c->at);
    if (length >= WORD_BYTES)
        return fail(c, "a name has more than %d characters", WORD_BYTES - 1);
    memcpy(word, c->at, length);
    word[length] = '\0';
    c->at += length;
    return check_word(c, word) && note_word(c, word);
}

static bool copy_name(struct code *c, char word[WORD_BYTES])
{
    return read_word(c, word) && append(c, word);
}

// Copies a word; some get another name.
static bool copy_word(struct code *c, char word[WORD_BYTES])
{
    static const char *const safe[] = {"view", "arguments", "tap", "ARG", NULL};
    if (!read_word(c, word))
        return false;
    for (int i = 0; safe[i]; i++) {
        if (strcmp(word, safe[i]) == 0)
            return append(c, strcmp(word, "ARG") == 0 ? "user_arg"
                             : i == 0                 ? "user_view"
                             : i == 1                 ? "user_arguments"
                                                      : "user_tap");
    }
    return append(c, word);
}

// Copies code that is part of other code, up to one of the bytes `ends`, which is left.
static bool copy_inner(struct code *c, const char *ends)
{
    const int outer = c->opened;
    if (++c->nesting > USER_NESTING)
        return fail(c, "the code is nested more than %d levels deep", USER_NESTING);
    c->opened = c->line;
    const bool ok = copy_tokens(c, ends);
    c->nesting--;
    c->opened = outer;
    return ok;
}

// Copies brackets with the code between them.
static bool copy_group(struct code *c)
{
    const char *end = *c->at == '(' ? ")" : "}";
    return copy(c, 1) && copy_inner(c, end) && copy(c, 1);
}

// ---- operators ----

static bool is_prefix(const struct code *c)
{
    return *c->at && strchr("-+~!", *c->at);
}

// Copies ".member".
static bool copy_member(struct code *c)
{
    char word[WORD_BYTES];
    return copy(c, 1) && copy_space(c) && (isalpha((unsigned char)*c->at) || fail(c, "a name must follow '.'")) &&
           copy_word(c, word);
}

// Copies an operand with its prefixes and postfixes: "-f(x).r".
static bool copy_operand(struct code *c)
{
    char word[WORD_BYTES];
    size_t length;
    long long value;
    bool ok = copy_space(c);
    while (ok && is_prefix(c))
        ok = copy(c, 1) && copy_space(c);
    if (!ok)
        return false;
    const bool bracket = *c->at == '(';
    if (bracket)
        ok = copy_group(c);
    else if (isdigit((unsigned char)*c->at))
        ok = read_number(c, &length, &value) && copy(c, length);
    else if (isalpha((unsigned char)*c->at) || *c->at == '_')
        ok = copy_word(c, word);
    else
        return fail(c, "a division has no divisor");
    while (ok) {
        const char next = c->at[strspn(c->at, " \t")];
        if (next == '(')
            ok = copy_space(c) && copy_group(c);
        else if (next == '.')
            ok = copy_space(c) && copy_member(c);
        else if (is(c, "++") || is(c, "--"))
            ok = copy(c, 2);
        else if (bracket && (isalnum((unsigned char)next) || next == '_'))
            return fail(c, "a filter cannot have casts");
        else
            break;
    }
    return ok;
}

// Rewrites "a /= b" as "a = user_div(a, b)". The left side begins at `term`.
static bool copy_divide_assign(struct code *c, const char *function, size_t term)
{
    char left[2 * WORD_BYTES];
    const size_t length = c->size - term;
    if (length >= sizeof(left) || memchr(c->out + term, '\n', length))
        return fail(c, "write a = a / b instead of a /= b here");
    memcpy(left, c->out + term, length);
    left[length] = '\0';
    c->at += 2;
    return append(c, "= ") && append(c, function) && append(c, left) && append(c, ", ") && copy_inner(c, ",;):") &&
           append(c, ")");
}

// Rewrites a division whose left side begins at `term`.
static bool copy_division(struct code *c, size_t term)
{
    const char *function = *c->at == '/' ? "user_div(" : "user_mod(", *divisor = c->at + 1;
    size_t length;
    long long value;
    if (c->at[1] == '=')
        return copy_divide_assign(c, function, term);
    divisor += strspn(divisor, " \t");
    // GLSL has no rule for % with negative numbers.
    if (*c->at == '/' && isdigit((unsigned char)*divisor)) {
        const char *mark = c->at;
        c->at = divisor;
        const bool ok = read_number(c, &length, &value);
        c->at = mark;
        if (!ok)
            return false;
        if (value > 0)
            return copy(c, (size_t)(divisor - mark) + length);
    }
    if (++c->divisions > USER_DIVISIONS)
        return fail(c, "the code has more than %d divisions", USER_DIVISIONS);
    c->at++;
    return insert_text(c, term, function) && append(c, ",") && copy_operand(c) && append(c, ")");
}

// Copies the condition of a loop, which also counts the turns.
static bool copy_condition(struct code *c, const char *end)
{
    if (!copy_space(c))
        return false;
    const size_t begin = c->size;
    if (!copy_inner(c, end))
        return false;
    if (c->size == begin)
        return append(c, turn);
    return insert_text(c, begin, "(") && append(c, ") && ") && append(c, turn);
}

// Copies what follows "for" or "while", up to the closing bracket.
static bool copy_loop(struct code *c, bool has_parts)
{
    if (!copy_space(c))
        return false;
    if (*c->at != '(')
        return fail(c, "a bracket must follow 'for' and 'while'");
    if (!copy(c, 1))
        return false;
    if (has_parts && (!copy_inner(c, ";") || !copy(c, 1) || !copy_condition(c, ";") || !copy(c, 1)))
        return false;
    return (has_parts ? copy_inner(c, ")") : copy_condition(c, ")")) && copy(c, 1);
}

// ---- code ----

// Where the copying of code is.
struct place {
    size_t term;                               // the beginning of the latest term in the new text
    bool begun;                                // a term has begun
    bool operand;                              // the last token ends an operand
    bool bracket;                              // it is ')'
    int questions;                             // open conditional operators
    char word[WORD_BYTES], called[WORD_BYTES]; // the last word, and the last one before a bracket
    bool fresh, called_fresh;                  // they are the first ones with their letters
};

static void begin_term(const struct code *c, struct place *p, bool operand)
{
    if (!p->begun || (operand && p->operand))
        p->term = c->size;
    p->begun = true;
    p->operand = operand;
    p->bracket = false;
}

static void end_term(struct place *p)
{
    p->begun = p->operand = p->bracket = false;
}

static bool take_word(struct code *c, struct place *p)
{
    static const char *const ending[] = {"return", "else", "do", "case", NULL};
    begin_term(c, p, true);
    if (!copy_word(c, p->word))
        return false;
    p->fresh = c->fresh;
    const bool loops = strcmp(p->word, "for") == 0;
    if (loops || strcmp(p->word, "while") == 0) {
        end_term(p);
        return copy_loop(c, loops);
    }
    for (int i = 0; ending[i]; i++) {
        if (strcmp(p->word, ending[i]) == 0)
            end_term(p);
    }
    return true;
}

// Refuses the call of a function that neither stands above nor belongs to the kernel language. Compilers would give
// the error without its place, or know other functions of this name.
static bool check_call(struct code *c, const struct place *p)
{
    static const char *const known[] = {"if",  "switch", "sat8",  "luma",   "root",  "min",  "max", "clamp",
                                        "tap", "ARG",    "WIDTH", "HEIGHT", "FRAME", "TIME", NULL};
    if (c->nesting == 0 && !c->define)
        return true; // a definition
    for (int i = 0; known[i]; i++) {
        if (strcmp(p->word, known[i]) == 0)
            return true;
    }
    return !p->fresh || fail(c,
                             "there is no function '%s'; a filter can call functions above it, and sat8, luma, root, "
                             "min, max, clamp and tap",
                             p->word);
}

// Copies brackets: of a call, of a condition, or around a term.
static bool take_bracket(struct code *c, struct place *p)
{
    const bool condition = p->operand && (strcmp(p->word, "if") == 0 || strcmp(p->word, "switch") == 0);
    if (p->operand && !p->bracket) {
        if (!check_call(c, p))
            return false;
        strcpy(p->called, p->word);
        p->called_fresh = p->fresh;
    } else {
        begin_term(c, p, true);
    }
    if (!copy_group(c))
        return false;
    if (condition)
        end_term(p);
    else
        p->operand = p->bracket = true;
    return true;
}

// Copies a block. A function's body counts the turns of its loops.
static bool take_block(struct code *c, struct place *p)
{
    const bool body = p->bracket && c->nesting == 0;
    if (body && !p->called_fresh)
        return fail(c, "the function '%s' is used before its definition; define it above its first use", p->called);
    if (body)
        strcpy(c->function, p->called);
    if (!copy(c, 1) || (body && !append(c, turns)) || !copy_inner(c, "}") || !copy(c, 1))
        return false;
    if (body)
        c->function[0] = '\0';
    end_term(p);
    return true;
}

static bool take_mark(struct code *c, struct place *p)
{
    if ((unsigned char)*c->at > 127)
        return fail(c, "the byte 0x%02x is not plain ASCII text; only comments may have other letters",
                    (unsigned char)*c->at);
    if (strchr("[]", *c->at))
        return fail(c, "a filter cannot have arrays");
    if (is(c, "<:") || is(c, "<%"))
        return fail(c, "put a space into '%.2s'", c->at);
    if (strchr("'\"\\`@$#", *c->at))
        return fail(c, "the kernel language has no '%c'", *c->at);
    if (is(c, "->") || (strchr("*&", *c->at) && !p->operand))
        return fail(c, "a filter cannot have pointers");
    if (*c->at == '.')
        return p->operand ? copy_member(c) : fail(c, "a number must begin with a digit");
    if (is(c, "++") || is(c, "--")) {
        if (!p->operand)
            begin_term(c, p, false);
        return copy(c, 2);
    }
    if (is_prefix(c) && !p->operand) {
        begin_term(c, p, false);
        return copy(c, 1);
    }
    if (c->nesting == 0 && !c->define && *c->at == ';' && p->bracket)
        return fail(c, "a function cannot be declared without its body; define it above its first use");
    if (c->nesting == 0 && !c->define && (*c->at != ';' || p->operand))
        return fail(c, "outside functions there can be only functions, structs and #define");
    p->questions += *c->at == '?' ? 1 : *c->at == ':' && p->questions > 0 ? -1 : 0;
    static const char *const pairs[] = {"&&", "||", "<<", ">>"};
    for (int i = 0; i < 4; i++) {
        if (is(c, pairs[i])) {
            end_term(p);
            return copy(c, 2);
        }
    }
    const bool multiplies = *c->at == '*' && c->at[1] != '=';
    if (multiplies)
        p->operand = p->bracket = false;
    else
        end_term(p);
    return copy(c, 1 + (strchr("<>=!&|*+-^", *c->at) && c->at[1] == '='));
}

static bool take_token(struct code *c, struct place *p)
{
    size_t length;
    long long value;
    if (isalpha((unsigned char)*c->at) || *c->at == '_')
        return take_word(c, p);
    if (isdigit((unsigned char)*c->at)) {
        begin_term(c, p, true);
        return read_number(c, &length, &value) && copy(c, length);
    }
    if (*c->at == '(')
        return take_bracket(c, p);
    if (*c->at == '{')
        return take_block(c, p);
    if (!strchr("/%", *c->at))
        return take_mark(c, p);
    if (!p->operand)
        return fail(c, "a division has no left side");
    p->bracket = false;
    return copy_division(c, p->term);
}

// Copies code up to one of the bytes `ends`, which is left. "": up to the end of the text or of the #define.
static bool copy_tokens(struct code *c, const char *ends)
{
    struct place p = {.term = c->size};
    while (copy_space(c)) {
        if (!*c->at || (c->define && *c->at == '\n')) {
            if (!*ends)
                return true;
            c->line = c->opened;
            return fail(c, "a bracket or an expression has no end");
        }
        if (strchr(ends, *c->at) && (*c->at != ':' || p.questions == 0))
            return true;
        if (strchr(")}", *c->at))
            return fail(c, "'%c' has no opening bracket here", *c->at);
        if (!take_token(c, &p))
            return false;
    }
    return false;
}

char *user_code_make(const char *text, int *line, char why[USER_WHY])
{
    struct code c = {.at = text, .line = 1, .why = why};
    const bool ok = insert(&c, 0, "", 0) && copy_tokens(&c, "");
    free(c.words);
    if (ok) {
        c.out[c.size] = '\0';
        return c.out;
    }
    *line = c.line;
    free(c.out);
    return NULL;
}
