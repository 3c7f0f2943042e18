// user_expression.c: the parser of users' filters: new text and expressions
//
// A division becomes a call: its left side is the text since the operand began, so "a * b / c" is user_div(a * b, c).
#include "filter/user_parse.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// ---- the new text ----

bool code_insert(struct code *c, size_t at, const char *text, size_t size)
{
    if (c->size + size >= c->room) {
        c->room = 2 * (c->size + size) + 256;
        c->out = xrealloc(c->out, c->room);
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

bool code_take_as(struct code *c, const char *text, size_t length)
{
    if (!code_append_space(c, c->next) || !code_insert(c, c->size, text, length))
        return false;
    c->last = c->next++;
    return ++c->size_tokens <= USER_TOKENS ||
           code_fail(c, "the code has more than %d tokens after its macros and calls are expanded", USER_TOKENS);
}

bool code_take(struct code *c)
{
    return code_take_as(c, c->next->text, (size_t)c->next->length);
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
    return code_take_as(c, text, strlen(text));
}

bool code_is(const struct code *c, const char *text)
{
    return user_token_is(c->next, text);
}

bool code_take_mark(struct code *c, const char *mark)
{
    if (code_is(c, mark))
        return code_take(c);
    if (c->next->kind == TOKEN_END || user_token_is(c->next, "*") || user_token_is(c->next, "&"))
        return code_fail_here(c);
    return code_fail(c, "'%.*s' cannot stand here; '%s' is missing before it", SHOWN(c->next), mark);
}

// ---- expressions ----

// An operand: its text is the end of the new text.
struct operand {
    const struct user_token *begin;    // its first token
    const struct user_token *variable; // with its members, the operand can be changed; NULL: it cannot
    bool test;                         // it is a condition, which GLSL does not mix with integers
    struct type type;
    int value; // of an operand without names
};

static bool take_expression(struct code *c, struct operand *operand);

bool code_enter(struct code *c)
{
    return ++c->depth <= USER_NESTING || code_fail(c, "the code is nested more than %d levels deep", USER_NESTING);
}

static bool check_int(struct code *c, const struct operand *operand)
{
    return code_check_type(c, operand->begin, &code_int, &operand->type);
}

// Makes an integer or a condition of an operand, whose text begins at `left`.
static bool convert(struct code *c, size_t left, bool test, struct operand *operand)
{
    if (operand->test == test)
        return true;
    if (!check_int(c, operand))
        return false;
    *operand = (struct operand){operand->begin, NULL, test, code_int, test ? operand->value != 0 : operand->value};
    return code_insert(c, left, "((", 2) && code_append(c, test ? ") != 0)" : ") ? 1 : 0)");
}

// Writes an expression with a value of this type.
static bool take_value(struct code *c, const struct type *wanted)
{
    struct operand operand;
    const size_t left = c->size;
    return take_expression(c, &operand) && convert(c, left, false, &operand) &&
           code_check_type(c, operand.begin, wanted, &operand.type);
}

// ---- the order of changes ----

static bool note_change(struct code *c, const struct operand *operand)
{
    const struct user_token *name = operand->variable;
    if (!name)
        return code_fail(c, "only variables and their members can be changed");
    if (code_find(&c->variables, name)->constant)
        return code_fail(c, "the variable '%.*s' is const, so nothing can change it; remove 'const'", SHOWN(name));
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
    return code_find_function(c->next) || code_find(&c->functions, c->next);
}

static bool fail_count(struct code *c, const struct user_token *name, int wanted)
{
    return code_fail(c, "the function '%.*s' has %d parameter%s; give it as many arguments", SHOWN(name), wanted,
                     wanted == 1 ? "" : "s");
}

// Writes the arguments of a function of the language, or else of the filter.
static bool take_arguments(struct code *c, const struct user_token *name, const struct known *known,
                           const struct own *own)
{
    const int wanted = known ? known->count : own->fields;
    for (int i = 0; i < wanted; i++) {
        const struct type type = known ? code_known_type(known->takes[i]) : c->field[own->first + i].type;
        if (code_is(c, ")"))
            return fail_count(c, name, wanted);
        if ((i > 0 && !code_take_mark(c, ",")) || !take_value(c, &type))
            return false;
    }
    return code_is(c, ",") || (wanted == 0 && !code_is(c, ")")) ? fail_count(c, name, wanted) : true;
}

// Writes the call of a function that is defined above or belongs to the language.
static bool take_call(struct code *c, struct operand *operand)
{
    const struct user_token *name = c->next;
    const struct known *known = code_find_function(name);
    const struct own *own = known ? NULL : code_find(&c->functions, name);
    if (c->function && code_same_name(name, c->function))
        return code_fail(c, "the function '%.*s' calls itself; use a loop", SHOWN(name));
    if (!known && !own)
        return code_fail(
            c,
            "there is no function '%.*s'; a filter can call functions above it, and sat8, luma, root, min, "
            "max, clamp and tap",
            SHOWN(name));
    c->size_tokens += own ? own->size : 0;
    operand->type = own ? own->type : code_int;
    if (!(known ? code_take_as(c, known->safe, strlen(known->safe)) : code_take_own(c)) || !code_take(c) ||
        !code_enter(c) || !take_arguments(c, name, known, own))
        return false;
    c->depth--;
    return code_take_mark(c, ")");
}

static bool take_variable(struct code *c, struct operand *operand)
{
    if (user_word_is_known(c->next))
        return code_fail_here(c);
    const struct own *own = code_find(&c->variables, c->next);
    if (!own && c->next[1].kind == TOKEN_WORD)
        return code_fail_type(c);
    if (!own)
        return code_fail(c, "there is no variable '%.*s'; declare it before its use", SHOWN(c->next));
    operand->variable = c->next;
    operand->type = own->type;
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

// Writes an operand with its postfixes: "f(x).r".
static bool take_postfix(struct code *c, struct operand *operand)
{
    bool ok;
    if (code_is(c, "("))
        ok = take_group(c, operand);
    else if (code_is(c, "{"))
        return code_fail(c, "a filter cannot have lists of values in { }; set each member");
    else if (c->next->kind == TOKEN_NUMBER) {
        operand->type = code_int;
        operand->value = c->next->number;
        ok = code_take(c);
    } else if (c->next->kind != TOKEN_WORD)
        return code_fail_here(c);
    else if (user_token_is(c->next + 1, "(") && (is_known_function(c) || !user_word_is_known(c->next)))
        ok = take_call(c, operand);
    else
        ok = take_variable(c, operand);
    while (ok && code_is(c, "."))
        ok = code_take(c) && code_take_member_of(c, &operand->type);
    if (ok && (code_is(c, "++") || code_is(c, "--"))) {
        ok = check_int(c, operand) && note_change(c, operand) && code_take(c);
        operand->variable = NULL;
    }
    return ok;
}

// Returns the value of an operand behind a prefix.
static int prefixed(char prefix, int value)
{
    switch (prefix) {
    case '!':
        return !value;
    case '-':
        return (int)(0 - (unsigned)value);
    case '~':
        return ~value;
    default:
        return value;
    }
}

static bool take_unary(struct code *c, struct operand *operand)
{
    static const char *const prefixes[] = {"+", "-", "~", "!", "++", "--", NULL};
    *operand = (struct operand){.begin = c->next, .type = code_int};
    for (int i = 0; prefixes[i]; i++) {
        if (!code_is(c, prefixes[i]))
            continue;
        const bool changes = prefixes[i][1], test = *prefixes[i] == '!';
        if (!code_enter(c) || !code_take(c))
            return false;
        const size_t right = c->size;
        if (!take_unary(c, operand) || !convert(c, right, test, operand) || !check_int(c, operand) ||
            (changes && !note_change(c, operand)))
            return false;
        c->depth--;
        operand->variable = NULL;
        operand->value = prefixed(*prefixes[i], operand->value);
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
static bool take_division(struct code *c, size_t left, struct operand *operand)
{
    struct operand divisor;
    const bool remainder = code_is(c, "%");
    // GLSL has no rule for % with negative numbers.
    if (!remainder && c->next[1].kind == TOKEN_NUMBER && c->next[1].number > 0) {
        operand->value /= c->next[1].number;
        return code_take(c) && take_unary(c, &divisor);
    }
    if (++c->divisions > USER_DIVISIONS)
        return code_fail(c, "the code has more than %d divisions", USER_DIVISIONS);
    const char *function = remainder ? " user_mod(" : " user_div(";
    c->next++;
    if (!code_insert(c, left, function, strlen(function)) || !code_append(c, ","))
        return false;
    const size_t right = c->size;
    return take_unary(c, &divisor) && convert(c, right, false, &divisor) && check_int(c, &divisor) &&
           code_append(c, ")");
}

static bool take_binary(struct code *c, int least, struct operand *operand);

// Returns the result of an operator that is no division.
static int compute(const struct user_token *operator, int a, int b)
{
    const unsigned x = (unsigned)a, y = (unsigned)b;
    const bool one = operator->length == 1, equal = operator->text[1] == '=';
    switch (operator->text[0]) {
    case '|':
        return one ? a | b : a || b;
    case '&':
        return one ? a & b : a && b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        if (one)
            return a < b;
        return equal ? a <= b : (int)(x << (y & 31));
    case '>':
        if (one)
            return a > b;
        return equal ? a >= b : a >> (y & 31);
    case '+':
        return (int)(x + y);
    case '-':
        return (int)(x - y);
    default:
        return (int)(x * y);
    }
}

// Writes an operator that is no division, and its right side.
static bool take_right(struct code *c, int level, struct operand *operand)
{
    struct operand right;
    const struct user_token *operator= c->next;
    if (!code_take(c))
        return false;
    const struct user_token *begin = c->next;
    const size_t left = c->size;
    const int first = c->changes;
    if (!take_binary(c, level + 1, &right) || !convert(c, left, takes_tests(level), &right) || !check_int(c, &right) ||
        (takes_tests(level) && !check_part(c, first, begin)))
        return false;
    operand->value = compute(operator, operand->value, right.value);
    return true;
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
        if (!convert(c, left, takes_tests(level), operand) || !check_int(c, operand) ||
            (takes_tests(level) && !check_part(c, first, begin)))
            return false;
        *operand = (struct operand){begin, NULL, gives_test(level), code_int, operand->value};
        if (++c->operators > USER_OPERATORS)
            return code_fail(c, "an expression has more than %d operators", USER_OPERATORS);
        if (code_is(c, "/") || code_is(c, "%")) {
            if (++divisions > USER_NESTING)
                return code_fail(c, "the code is nested more than %d levels deep", USER_NESTING);
            if (!take_division(c, left, operand))
                return false;
        } else if (!take_right(c, level, operand)) {
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
    const int test = operand->value;
    struct operand other;
    left = c->size;
    if (!take_part(c, operand) || !convert(c, left, false, operand) || !code_take_mark(c, ":"))
        return false;
    left = c->size;
    no = c->next;
    const int no_first = c->changes;
    if (!take_conditional(c, &other) || !convert(c, left, false, &other) || !check_part(c, no_first, no) ||
        !code_check_type(c, other.begin, operand->type.numbers > 0 ? &operand->type : &code_int, &other.type) ||
        !code_check_type(c, operand->begin, &other.type, &operand->type))
        return false;
    join_parts(c, first, begin);
    operand->variable = NULL;
    operand->value = test ? operand->value : other.value;
    c->depth--;
    return true;
}

// Writes "a /= b" as "a = user_div(a, b)". The left side begins at `left`.
static bool take_divide_assign(struct code *c, size_t left)
{
    const bool remainder = code_is(c, "%=");
    char *text = xstrndup(c->out + left, c->size - left);
    for (char *at = text; *at; at++)
        *at = *at == '\n' ? ' ' : *at; // code_append would count the line again
    c->next++;
    const bool ok = code_append(c, remainder ? " = user_mod(" : " = user_div(") && code_append(c, text) &&
                    code_append(c, ",") && take_value(c, &code_int) && code_append(c, ")");
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
        const struct type type = operand->type;
        if (!note_change(c, operand) || (i > 0 && !check_int(c, operand)) || !code_enter(c))
            return false;
        if (begin == c->target) {
            c->changed[c->changes - 1].target = begin;
            c->changed[c->changes - 1].end = c->next;
            c->target = c->next + 1;
        }
        operand->variable = NULL;
        if (strchr("/%", *assigns[i]) ? !take_divide_assign(c, left) : !code_take(c) || !take_value(c, &type))
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

bool code_take_value(struct code *c, const struct type *wanted, int *constant)
{
    struct operand operand;
    const size_t left = c->size;
    c->changes = c->operators = 0;
    if (!take_part(c, &operand) || !convert(c, left, false, &operand) ||
        !code_check_type(c, operand.begin, wanted, &operand.type))
        return false;
    if (constant)
        *constant = operand.value;
    return true;
}
