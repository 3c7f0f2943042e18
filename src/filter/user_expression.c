// user_expression.c: the parser of users' filters: new text, names and expressions
//
// A division becomes a call: its left side is the text since the operand began, so "a * b / c" is user_div(a * b, c).
#include "filter/user_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of the language: functions and types.
static const struct known functions[] = {{"sat8", "sat8", 0},      {"luma", "luma", 0},
                                         {"root", "user_root", 0}, {"min", "min", 0},
                                         {"max", "max", 0},        {"clamp", "user_clamp", 0},
                                         {"tap", "user_tap", 0},   {"RADIUS", "user_radius", 0},
                                         {"ARG", "user_arg", 0},   {"WIDTH", "WIDTH", 0},
                                         {"HEIGHT", "HEIGHT", 0},  {"FRAME", "FRAME", 0},
                                         {"TIME", "TIME", 0},      {"/", "user_div", 0},
                                         {"%", "user_mod", 0},     {NULL, NULL, 0}},
                          types[] = {{"void", "void", 0},      {"int", "int", 1},
                                     {"pixel", "pixel", 4},    {"place", "place", 2},
                                     {"view", "user_view", 4}, {"arguments", "user_arguments", 1},
                                     {NULL, NULL, 0}};

bool code_fail(struct code *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->why, USER_WHY, format, arguments);
    va_end(arguments);
    *c->fail_line = c->next->line;
    return false;
}

bool code_fail_here(struct code *c)
{
    if (c->next->kind == TOKEN_END)
        return code_fail(c, "a bracket or an expression has no end");
    if (user_token_is(c->next, "*") || user_token_is(c->next, "&"))
        return code_fail(c, "a filter cannot have pointers");
    return code_fail(c, "'%.*s' cannot stand here", SHOWN(c->next));
}

// Returns the name that the filter's author wrote for a word of the new text, which has `length` bytes.
static const char *shown_word(const char *word, size_t *length)
{
    const size_t name =
        strncmp(word, "own_", 4) == 0 ? 4 + strspn(word + 4, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    if (name > 0 && name + 2 < *length && strncmp(word + name, "X_", 2) == 0) {
        *length -= name + 2;
        return word + name + 2;
    }
    for (const struct known *lists[] = {functions, types}, **list = lists; list < lists + 2; list++) {
        for (const struct known *row = *list; row->word; row++) {
            if (strlen(row->safe) == *length && memcmp(row->safe, word, *length) == 0) {
                *length = strlen(row->word);
                return row->word;
            }
        }
    }
    return word;
}

void user_code_show(char *text)
{
    char *to = text;
    while (*text) {
        size_t length = 0;
        while (isalnum((unsigned char)text[length]) || text[length] == '_')
            length++;
        char *const after = text + (length > 0 ? length : 1);
        const char *shown = length > 0 ? shown_word(text, &length) : text;
        length = length > 0 ? length : 1;
        memmove(to, shown, length);
        to += length;
        text = after;
    }
    *to = '\0';
}

// ---- the new text ----

bool code_insert(struct code *c, size_t at, const char *text, size_t size)
{
    if (c->size + size >= c->room) {
        const size_t room = 2 * (c->size + size) + 256;
        char *larger = realloc(c->out, room);
        if (!larger)
            return code_fail(c, "out of memory");
        c->out = larger;
        c->room = room;
    }
    memmove(c->out + at + size, c->out + at, c->size - at);
    memcpy(c->out + at, text, size);
    c->size += size;
    c->out[c->size] = '\0';
    return true;
}

bool code_append(struct code *c, const char *text)
{
    c->last = NULL;
    return code_insert(c, c->size, text, strlen(text));
}

// Begins the line of a token, or puts space before it.
bool code_append_space(struct code *c, const struct user_token *token)
{
    const bool fresh = c->line < token->line || c->size == 0;
    for (; c->line < token->line; c->line++) {
        if (!code_insert(c, c->size, "\n", 1))
            return false;
    }
    for (int i = 0; fresh && i < token->column && i < 200; i++) {
        if (!code_insert(c, c->size, " ", 1))
            return false;
    }
    const char *text = token->text;
    const bool tight = strchr(",;).", *text) || (c->last && strchr("(.", *c->last->text)) ||
                       (*text == '(' && c->last && c->last->kind == TOKEN_WORD);
    return fresh || tight || code_insert(c, c->size, " ", 1);
}

// Writes a word or mark of the file, and goes on.
static bool take_as(struct code *c, const char *text, size_t length)
{
    if (!code_append_space(c, c->next) || !code_insert(c, c->size, text, length))
        return false;
    c->last = c->next++;
    return ++c->size_tokens <= USER_TOKENS ||
           code_fail(c, "the code has more than %d tokens after its macros and calls are expanded", USER_TOKENS);
}

bool code_take(struct code *c)
{
    return take_as(c, c->next->text, (size_t)c->next->length);
}

void code_print_own(const struct code *c, const struct user_token *name, char text[OWN_NAME])
{
    snprintf(text, OWN_NAME, "filter_%s", c->name);
    if (!user_token_is(name, text) || !user_token_is(name + 1, "("))
        snprintf(text, OWN_NAME, "own_%sX_%.*s", c->name, SHOWN(name));
}

// Writes a name of the filter.
bool code_take_own(struct code *c)
{
    char text[OWN_NAME];
    code_print_own(c, c->next, text);
    return take_as(c, text, strlen(text));
}

bool code_is(const struct code *c, const char *text)
{
    return user_token_is(c->next, text);
}

bool code_take_mark(struct code *c, const char *mark)
{
    return code_is(c, mark) ? code_take(c) : code_fail_here(c);
}

// ---- names ----

bool code_same_name(const struct user_token *a, const struct user_token *b)
{
    return a->length == b->length && memcmp(a->text, b->text, (size_t)a->length) == 0;
}

static const struct own *find_own(const struct owns *owns, const struct user_token *name)
{
    for (int i = owns->count - 1; i >= 0; i--) {
        if (code_same_name(owns->at[i].name, name))
            return &owns->at[i];
    }
    return NULL;
}

static const struct known *find_known(const struct known *row, const struct user_token *word)
{
    while (row->word && !user_token_is(word, row->word))
        row++;
    return row->word ? row : NULL;
}

// Notes the next token as the name of something new.
bool code_declare(struct code *c, struct owns *owns, int size)
{
    if (c->next->kind != TOKEN_WORD)
        return code_fail_here(c);
    if (user_word_is_known(c->next))
        return code_fail(c, "the language has the name '%.*s'; choose another one", SHOWN(c->next));
    if (find_own(&c->functions, c->next) || find_own(&c->structs, c->next))
        return code_fail(c, "the name '%.*s' is that of a function or struct; choose another one", SHOWN(c->next));
    if (owns->count == NAMES)
        return code_fail(c, "the code has more than %d names", NAMES);
    owns->at[owns->count++] = (struct own){c->next, size};
    return true;
}

bool code_is_type(const struct code *c)
{
    return code_is(c, "const") || code_is(c, "struct") || find_known(types, c->next) || find_own(&c->structs, c->next);
}

static const char no_type[] = "there is no type '%.*s'; a filter computes with int";

bool code_take_type(struct code *c, struct type *type)
{
    if (code_is(c, "struct"))
        c->next++;
    const struct own *own = find_own(&c->structs, c->next);
    *type = (struct type){find_known(types, c->next), c->next, own ? own->size : 0};
    if (type->known) {
        type->numbers = type->known->numbers;
        return take_as(c, type->known->safe, strlen(type->known->safe));
    }
    if (c->next->kind != TOKEN_WORD)
        return code_fail_here(c);
    return own ? code_take_own(c) : code_fail(c, no_type, SHOWN(c->next));
}

// ---- expressions ----

// An operand: its text is the end of the new text.
struct operand {
    const struct user_token *variable; // with its members, the operand can be changed; NULL: it cannot
    bool test;                         // it is a condition, which GLSL does not mix with integers
};

static bool take_expression(struct code *c, struct operand *operand);

bool code_enter(struct code *c)
{
    return ++c->depth <= USER_NESTING || code_fail(c, "the code is nested more than %d levels deep", USER_NESTING);
}

// Makes an integer or a condition of an operand, whose text begins at `left`.
static bool convert(struct code *c, size_t left, bool test, struct operand *operand)
{
    if (operand->test == test)
        return true;
    *operand = (struct operand){NULL, test};
    return code_insert(c, left, "((", 2) && code_append(c, test ? ") != 0)" : ") ? 1 : 0)");
}

// Writes an expression as an integer or a condition.
static bool take_converted(struct code *c, bool test)
{
    struct operand operand;
    const size_t left = c->size;
    return take_expression(c, &operand) && convert(c, left, test, &operand);
}

// ---- the order of changes ----

static bool note_change(struct code *c, const struct operand *operand)
{
    const struct user_token *name = operand->variable;
    if (!name)
        return code_fail(c, "only variables and their members can be changed");
    if (c->changes == CHANGES)
        return code_fail(c, "the expression changes more than %d variables; write several statements", CHANGES);
    c->changed[c->changes++] = (struct change){.name = name, .from = name, .to = name + 1};
    return true;
}

static const struct user_token *skip_brackets(const struct user_token *at, const struct user_token *end)
{
    while (at < end && (user_token_is(at, "(") || user_token_is(at, ")")))
        at++;
    return at;
}

static bool is_same_target(const struct change *a, const struct change *b)
{
    const struct user_token *x = skip_brackets(a->target, a->end), *y = skip_brackets(b->target, b->end);
    while (x < a->end && y < b->end && code_same_name(x, y)) {
        x = skip_brackets(x + 1, a->end);
        y = skip_brackets(y + 1, b->end);
    }
    return a->target && b->target && x == a->end && y == b->end;
}

// Returns true if the result of the part since `begin` depends on the order in which compilers evaluate it. The target
// of an assignment gets its value last.
static bool is_used_twice(const struct code *c, const struct change *change, const struct user_token *begin)
{
    for (const struct change *other = change + 1; other < c->changed + c->changes; other++) {
        if (is_same_target(change, other))
            return true;
    }
    for (const struct user_token *at = begin; at < c->next && !change->target; at++) {
        if (at == change->from)
            at = change->to - 1;
        else if (at->kind == TOKEN_WORD && code_same_name(at, change->name) && (at == begin || at[-1].text[0] != '.'))
            return true;
    }
    return false;
}

// Refuses a variable that the part of an expression since `begin` changes and uses a second time. The part is evaluated
// before or after the parts around it. `first`: its first change.
static bool check_part(struct code *c, int first, const struct user_token *begin)
{
    for (struct change *change = c->changed + first; change < c->changed + c->changes; change++) {
        if (is_used_twice(c, change, begin))
            return code_fail(c, "the expression changes '%.*s' and uses it twice; write two statements",
                             SHOWN(change->name));
        *change = (struct change){.name = change->name, .from = begin, .to = c->next};
    }
    return true;
}

// Notes that the parts since `begin`, which are checked, have a fixed order.
static void join_parts(struct code *c, int first, const struct user_token *begin)
{
    for (int i = first; i < c->changes; i++) {
        c->changed[i].from = begin;
        c->changed[i].to = c->next;
    }
}

// Writes an expression that is evaluated before or after the ones around it.
static bool take_part(struct code *c, struct operand *operand)
{
    const struct user_token *begin = c->next, *target = c->target;
    const int first = c->changes;
    c->target = begin;
    const bool ok = take_expression(c, operand) && check_part(c, first, begin);
    c->target = target;
    return ok;
}

// ---- operands and operators ----

static bool is_known_function(const struct code *c)
{
    return find_known(functions, c->next) || find_own(&c->functions, c->next);
}

// Writes the call of a function that is defined above or belongs to the language.
static bool take_call(struct code *c)
{
    const struct known *known = find_known(functions, c->next);
    const struct own *own = find_own(&c->functions, c->next);
    if (c->function && code_same_name(c->next, c->function))
        return code_fail(c, "the function '%.*s' calls itself; use a loop", SHOWN(c->next));
    if (!known && !own)
        return code_fail(
            c,
            "there is no function '%.*s'; a filter can call functions above it, and sat8, luma, root, min, "
            "max, clamp and tap",
            SHOWN(c->next));
    c->size_tokens += own ? own->size : 0;
    if (!(known ? take_as(c, known->safe, strlen(known->safe)) : code_take_own(c)) || !code_take(c) || !code_enter(c))
        return false;
    while (!code_is(c, ")")) {
        if (!take_converted(c, false))
            return false;
        if (!code_is(c, ")") && (!code_take_mark(c, ",") || code_is(c, ")")))
            return code_is(c, ")") ? code_fail_here(c) : false;
    }
    c->depth--;
    return code_take(c);
}

static bool take_variable(struct code *c, struct operand *operand)
{
    if (user_word_is_known(c->next))
        return code_fail_here(c);
    if (!find_own(&c->variables, c->next))
        return code_fail(c, c->next[1].kind == TOKEN_WORD ? no_type : "there is no variable '%.*s'", SHOWN(c->next));
    operand->variable = c->next;
    return code_take_own(c);
}

static bool take_group(struct code *c, struct operand *operand)
{
    if (!code_take(c) || !code_enter(c))
        return false;
    const bool word = c->next->kind == TOKEN_WORD && user_token_is(c->next + 1, ")");
    if (code_is_type(c) || (word && (c->next[2].kind == TOKEN_WORD || c->next[2].kind == TOKEN_NUMBER)))
        return code_fail(c, "a filter cannot have casts");
    if (!take_part(c, operand) || !code_take_mark(c, ")"))
        return false;
    c->depth--;
    return true;
}

// Writes the name of a member. The members of the language's types keep their names.
bool code_take_member(struct code *c)
{
    static const char *const kept[] = {"r", "g", "b", "a", "x", "y", "radius", NULL};
    if (c->next->kind != TOKEN_WORD || user_word_is_known(c->next))
        return code_fail_here(c);
    for (int i = 0; kept[i]; i++) {
        if (code_is(c, kept[i]))
            return code_take(c);
    }
    return code_take_own(c);
}

// Writes an operand with its postfixes: "f(x).r".
static bool take_postfix(struct code *c, struct operand *operand)
{
    bool ok;
    if (code_is(c, "("))
        ok = take_group(c, operand);
    else if (c->next->kind == TOKEN_NUMBER)
        ok = code_take(c);
    else if (c->next->kind != TOKEN_WORD)
        return code_fail_here(c);
    else if (user_token_is(c->next + 1, "(") && (is_known_function(c) || !user_word_is_known(c->next)))
        ok = take_call(c);
    else
        ok = take_variable(c, operand);
    while (ok && code_is(c, "."))
        ok = code_take(c) && code_take_member(c);
    if (ok && (code_is(c, "++") || code_is(c, "--"))) {
        ok = note_change(c, operand) && code_take(c);
        operand->variable = NULL;
    }
    return ok;
}

static bool take_unary(struct code *c, struct operand *operand)
{
    static const char *const prefixes[] = {"+", "-", "~", "!", "++", "--", NULL};
    *operand = (struct operand){NULL, false};
    for (int i = 0; prefixes[i]; i++) {
        if (!code_is(c, prefixes[i]))
            continue;
        const bool changes = prefixes[i][1], test = *prefixes[i] == '!';
        if (!code_enter(c) || !code_take(c))
            return false;
        const size_t right = c->size;
        if (!take_unary(c, operand) || !convert(c, right, test, operand) || (changes && !note_change(c, operand)))
            return false;
        c->depth--;
        operand->variable = NULL;
        return true;
    }
    return take_postfix(c, operand);
}

// Levels of operators whose operands are conditions, and whose result is one.
static bool takes_tests(int level)
{
    return level == 1 || level == 2;
}

static bool gives_test(int level)
{
    return takes_tests(level) || level == 6 || level == 7;
}

static int precedence(const struct code *c)
{
    static const char *const levels[][5] = {
        {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", ">", "<=", ">="},
        {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
    for (int level = 0; c->next->kind == TOKEN_MARK && level < (int)(sizeof(levels) / sizeof(*levels)); level++) {
        for (int i = 0; levels[level][i]; i++) {
            if (code_is(c, levels[level][i]))
                return level + 1;
        }
    }
    return 0;
}

// Writes a division whose left side begins at `left`.
static bool take_division(struct code *c, size_t left)
{
    struct operand operand;
    const bool remainder = code_is(c, "%");
    // GLSL has no rule for % with negative numbers.
    if (!remainder && c->next[1].kind == TOKEN_NUMBER && c->next[1].number > 0)
        return code_take(c) && take_unary(c, &operand);
    if (++c->divisions > USER_DIVISIONS)
        return code_fail(c, "the code has more than %d divisions", USER_DIVISIONS);
    const char *function = remainder ? " user_mod(" : " user_div(";
    c->next++;
    if (!code_insert(c, left, function, strlen(function)) || !code_append(c, ","))
        return false;
    const size_t right = c->size;
    return take_unary(c, &operand) && convert(c, right, false, &operand) && code_append(c, ")");
}

static bool take_binary(struct code *c, int least, struct operand *operand);

// Writes an operator that is no division, and its right side.
static bool take_right(struct code *c, int level)
{
    struct operand right;
    // GLSL compares structs, C does not: neither has a "+" for them.
    const char *plus = code_is(c, "==") || code_is(c, "!=") ? " +" : "";
    if (!code_take(c) || !code_append(c, plus))
        return false;
    const struct user_token *begin = c->next;
    const size_t left = c->size;
    const int first = c->changes;
    return take_binary(c, level + 1, &right) && convert(c, left, takes_tests(level), &right) &&
           (!takes_tests(level) || check_part(c, first, begin));
}

// Writes operators of at least this precedence, with their operands.
static bool take_binary(struct code *c, int least, struct operand *operand)
{
    const struct user_token *begin = c->next;
    const size_t left = c->size;
    const int first = c->changes;
    int divisions = 0, level;
    if (!take_unary(c, operand))
        return false;
    while ((level = precedence(c)) >= least) {
        if (!convert(c, left, takes_tests(level), operand) || (takes_tests(level) && !check_part(c, first, begin)))
            return false;
        *operand = (struct operand){NULL, gives_test(level)};
        if (++c->operators > USER_OPERATORS)
            return code_fail(c, "an expression has more than %d operators", USER_OPERATORS);
        if (code_is(c, "/") || code_is(c, "%")) {
            if (++divisions > USER_NESTING)
                return code_fail(c, "the code is nested more than %d levels deep", USER_NESTING);
            if (!take_division(c, left))
                return false;
        } else if (!take_right(c, level)) {
            return false;
        }
        if (takes_tests(level))
            join_parts(c, first, begin);
    }
    return true;
}

static bool take_conditional(struct code *c, struct operand *operand)
{
    const struct user_token *begin = c->next, *no;
    const int first = c->changes;
    size_t left = c->size;
    if (!take_binary(c, 1, operand))
        return false;
    if (!code_is(c, "?"))
        return true;
    if (!convert(c, left, true, operand) || !check_part(c, first, begin) || !code_enter(c) || !code_take(c))
        return false;
    left = c->size;
    if (!take_part(c, operand) || !convert(c, left, false, operand) || !code_take_mark(c, ":"))
        return false;
    left = c->size;
    no = c->next;
    const int no_first = c->changes;
    if (!take_conditional(c, operand) || !convert(c, left, false, operand) || !check_part(c, no_first, no))
        return false;
    join_parts(c, first, begin);
    operand->variable = NULL;
    c->depth--;
    return true;
}

// Writes "a /= b" as "a = user_div(a, b)". The left side begins at `left`.
static bool take_divide_assign(struct code *c, size_t left)
{
    const bool remainder = code_is(c, "%=");
    char *text = strndup(c->out + left, c->size - left);
    if (!text)
        return code_fail(c, "out of memory");
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at; // code_append would count the line again
    c->next++;
    const bool ok = code_append(c, remainder ? " = user_mod(" : " = user_div(") && code_append(c, text) &&
                    code_append(c, ",") && take_converted(c, false) && code_append(c, ")");
    free(text);
    return ok;
}

static bool take_expression(struct code *c, struct operand *operand)
{
    static const char *const assigns[] = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
    const struct user_token *begin = c->next;
    const size_t left = c->size;
    if (!take_conditional(c, operand))
        return false;
    for (int i = 0; assigns[i]; i++) {
        if (!code_is(c, assigns[i]))
            continue;
        if (!note_change(c, operand) || !code_enter(c))
            return false;
        if (begin == c->target) {
            c->changed[c->changes - 1].target = begin;
            c->changed[c->changes - 1].end = c->next;
            c->target = c->next + 1;
        }
        operand->variable = NULL;
        if (strchr("/%", *assigns[i]) ? !take_divide_assign(c, left) : !code_take(c) || !take_converted(c, false))
            return false;
        c->depth--;
    }
    return true;
}

bool code_take_whole(struct code *c, bool test)
{
    struct operand operand;
    const size_t left = c->size;
    c->changes = c->operators = 0;
    return take_part(c, &operand) && convert(c, left, test, &operand);
}
