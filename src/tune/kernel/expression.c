// expression.c: evaluates the expressions of a description; logs nothing
#include "tune/kernel/spec.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// An expression is parsed and computed at once. A value that cannot be computed is VALUE_NONE and does not end the
// parsing, so that the branch that is not taken may divide by zero.
struct parser {
    const char *text, *at;
    expression_names *names;
    void *context;
    int depth;
    bool failed;
    char *why;
};

static struct value parse_any(struct parser *parser);
static struct value parse_unary(struct parser *parser);

// ---- values ----

static struct value none(const char *problem)
{
    return (struct value){.kind = VALUE_NONE, .problem = problem};
}

static bool is_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER || value->kind == VALUE_REAL;
}

bool value_true(const struct value *value)
{
    return value->kind == VALUE_TEXT ? value->length > 0 : is_number(value) && value_number(value) != 0;
}

// ---- operations ----

static struct value power(const struct value *a, const struct value *b)
{
    if (a->kind != VALUE_INTEGER || b->kind != VALUE_INTEGER || b->integer < 0)
        return value_of_real(pow(value_number(a), value_number(b)));
    int64_t result = 1, base = a->integer;
    for (int64_t left = b->integer; left > 0; left >>= 1) {
        if (left & 1 && __builtin_mul_overflow(result, base, &result))
            return none("a number is too large");
        if (left > 1 && __builtin_mul_overflow(base, base, &base))
            return none("a number is too large");
    }
    return value_of_integer(result);
}

// Integer // and %, which round down.
static struct value divide_down(const struct value *a, const struct value *b, bool remainder)
{
    if (b->integer == -1) {
        int64_t negative;
        if (__builtin_sub_overflow((int64_t)0, a->integer, &negative))
            return none("a number is too large");
        return value_of_integer(remainder ? 0 : negative);
    }
    int64_t quotient = a->integer / b->integer, rest = a->integer % b->integer;
    if (rest != 0 && (rest < 0) != (b->integer < 0)) {
        quotient--;
        rest += b->integer;
    }
    return value_of_integer(remainder ? rest : quotient);
}

static struct value compute_integers(char op, const struct value *a, const struct value *b)
{
    int64_t result;
    bool overflow;
    if (op == '+')
        overflow = __builtin_add_overflow(a->integer, b->integer, &result);
    else if (op == '-')
        overflow = __builtin_sub_overflow(a->integer, b->integer, &result);
    else if (op == '*')
        overflow = __builtin_mul_overflow(a->integer, b->integer, &result);
    else
        return divide_down(a, b, op == '%');
    return overflow ? none("a number is too large") : value_of_integer(result);
}

// Operators: + - * / % ^ for **, and | for //.
static struct value compute(char op, const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_NONE || b->kind == VALUE_NONE)
        return a->kind == VALUE_NONE ? *a : *b;
    if (!is_number(a) || !is_number(b))
        return none("it computes with a text");
    const double x = value_number(a), y = value_number(b);
    if (strchr("/|%", op) && y == 0)
        return none("it divides by zero");
    if (op == '^')
        return power(a, b);
    if (op != '/' && a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return compute_integers(op, a, b);
    switch (op) {
    case '+':
        return value_of_real(x + y);
    case '-':
        return value_of_real(x - y);
    case '*':
        return value_of_real(x * y);
    case '/':
        return value_of_real(x / y);
    case '|':
        return value_of_real(floor(x / y));
    default:
        return value_of_real(x - floor(x / y) * y);
    }
}

// A number and a text are not equal.
static struct value equals(const struct value *a, const struct value *b)
{
    int order;
    if (a->kind == VALUE_NONE || b->kind == VALUE_NONE)
        return a->kind == VALUE_NONE ? *a : *b;
    return value_of_integer(value_compare(a, b, &order) && order == 0);
}

static struct value negate(const struct value *value)
{
    return value->kind == VALUE_NONE ? *value : value_of_integer(!value_true(value));
}

// Python's `and` and `or`, with the result 0 or 1. The right side counts only if the left one does not decide.
static struct value decide(const struct value *a, const struct value *b, bool by)
{
    if (a->kind == VALUE_NONE)
        return *a;
    if (value_true(a) == by)
        return value_of_integer(by);
    return b->kind == VALUE_NONE ? *b : value_of_integer(value_true(b));
}

// ---- words ----

// Always returns VALUE_NONE.
static struct value refuse(struct parser *parser, const char *what)
{
    if (!parser->failed)
        snprintf(parser->why, EXPRESSION_WHY, "%s at '%.20s'", what, *parser->at ? parser->at : "the end");
    parser->failed = true;
    return none("it is malformed");
}

static void skip_spaces(struct parser *parser)
{
    while (isspace((unsigned char)*parser->at))
        parser->at++;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Takes an operator or a word, if it is the next.
static bool take(struct parser *parser, const char *word)
{
    const size_t length = strlen(word);
    skip_spaces(parser);
    if (parser->failed || strncmp(parser->at, word, length) != 0 ||
        (is_letter(word[0]) && is_letter(parser->at[length])))
        return false;
    parser->at += length;
    return true;
}

// Takes one of the operators, which end with NULL, if it is the next. Returns its index; -1: none is.
static int take_one(struct parser *parser, const char *const *ops)
{
    for (int i = 0; ops[i]; i++) {
        if (take(parser, ops[i]))
            return i;
    }
    return -1;
}

static bool expect(struct parser *parser, const char *word)
{
    char what[32];
    if (take(parser, word))
        return true;
    snprintf(what, sizeof(what), "'%s' is missing", word);
    refuse(parser, what);
    return false;
}

static bool enter(struct parser *parser)
{
    if (++parser->depth > EXPRESSION_DEPTH)
        refuse(parser, "it is nested too deep");
    return !parser->failed;
}

// ---- the grammar ----

enum { ARGUMENTS_MAX = 16 };

static struct value call(const char *name, int length, const struct value *argument, int count)
{
    static const char *const names[] = {"min", "max", "abs", "int", "ceil", "floor", "sqrt", "log2"};
    size_t which = 0;
    while (which < 8 && (strlen(names[which]) != (size_t)length || strncmp(names[which], name, (size_t)length) != 0))
        which++;
    if (which == 8)
        return none(NULL); // unknown
    if (count < 1 || (count > 1 && which > 1))
        return none("a function has a wrong number of arguments");
    struct value result = argument[0];
    for (int i = 0; i < count; i++) {
        if (!is_number(&argument[i]))
            return argument[i].kind == VALUE_NONE ? argument[i] : none("it computes with a text");
        const double x = value_number(&argument[i]), best = value_number(&result);
        if (which == 0 ? x < best : which == 1 && x > best)
            result = argument[i];
    }
    const double x = value_number(&result);
    if (which < 2 || (result.kind == VALUE_INTEGER && which != 2 && which < 6))
        return result;
    if (which == 2 && result.kind == VALUE_REAL)
        return value_of_real(fabs(x));
    if (which == 2)
        return compute(x < 0 ? '-' : '+', &(struct value){.kind = VALUE_INTEGER}, &result);
    if (which >= 6)
        return value_of_real(which == 6 ? sqrt(x) : log2(x));
    double whole = floor(x);
    if (which == 3)
        whole = trunc(x);
    else if (which == 4)
        whole = ceil(x);
    return fabs(whole) < 0x1p62 ? value_of_integer((int64_t)whole) : none("a number is too large");
}

static struct value parse_call(struct parser *parser, const char *name, int length)
{
    struct value argument[ARGUMENTS_MAX];
    int count = 0;
    if (!take(parser, ")")) {
        do {
            if (count == ARGUMENTS_MAX)
                return refuse(parser, "there are too many arguments");
            argument[count++] = parse_any(parser);
        } while (!parser->failed && take(parser, ","));
        if (!parser->failed)
            expect(parser, ")");
    }
    if (parser->failed)
        return none("");
    struct value result = call(name, length, argument, count);
    if (result.kind == VALUE_NONE && !result.problem) {
        snprintf(parser->why, EXPRESSION_WHY, "there is no function '%.*s'", length < 60 ? length : 60, name);
        parser->failed = true;
    }
    return result;
}

static struct value parse_name(struct parser *parser)
{
    const char *name = parser->at;
    while (is_letter(*parser->at))
        parser->at++;
    const int length = (int)(parser->at - name);
    if (take(parser, "("))
        return parse_call(parser, name, length);
    int64_t index = -1;
    if (take(parser, "[")) {
        struct value at = parse_any(parser);
        if (parser->failed || !expect(parser, "]"))
            return none("");
        if (!value_whole(&at, &index) || index < 0)
            return none("an index is not a number from 0");
    }
    struct value result = none("it has no value");
    if ((length == 4 && strncmp(name, "True", 4) == 0) || (length == 5 && strncmp(name, "False", 5) == 0))
        return value_of_integer(length == 4);
    if (!parser->names || !parser->names(parser->context, name, length, index, &result)) {
        snprintf(parser->why, EXPRESSION_WHY, "there is no name '%.*s'", length < 60 ? length : 60, name);
        parser->failed = true;
    }
    return result;
}

static struct value parse_number(struct parser *parser)
{
    char digits[64], *end;
    size_t length = strspn(parser->at, "0123456789.eE");
    while (length > 0 && (parser->at[length - 1] == 'e' || parser->at[length - 1] == 'E') &&
           (parser->at[length] == '+' || parser->at[length] == '-'))
        length += 1 + strspn(parser->at + length + 1, "0123456789");
    if (length >= sizeof(digits))
        return refuse(parser, "a number is too long");
    memcpy(digits, parser->at, length);
    digits[length] = '\0';
    const bool whole = strspn(digits, "0123456789") == length;
    const double real = strtod(digits, &end);
    if (*end || end == digits || is_letter(parser->at[length]))
        return refuse(parser, "a number is wrong");
    parser->at += length;
    if (!whole)
        return value_of_real(real);
    return length < 19 ? value_of_integer(strtoll(digits, NULL, 10)) : none("a number is too large");
}

// A text is that of a description's list: one that is printed like a number is the number.
static struct value parse_text(struct parser *parser)
{
    char copy[VALUE_TEXT_MAX];
    const char quote = *parser->at++, *text = parser->at, *end = strchr(text, quote);
    if (!end)
        return refuse(parser, "a quote is missing");
    parser->at = end + 1;
    snprintf(copy, sizeof(copy), "%.*s", (int)(end - text), text);
    const struct value value = value_of_text(copy);
    if (value.kind != VALUE_TEXT)
        return value;
    return (struct value){.kind = VALUE_TEXT, .text = text, .length = (int)(end - text)};
}

static struct value parse_primary(struct parser *parser)
{
    skip_spaces(parser);
    const char c = *parser->at;
    if (take(parser, "(")) {
        const struct value value = parse_any(parser);
        if (!parser->failed)
            expect(parser, ")");
        return value;
    }
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(parser);
    if (c == '\'' || c == '"')
        return parse_text(parser);
    if (is_letter(c))
        return parse_name(parser);
    return refuse(parser, "a number or name is missing");
}

static struct value parse_power(struct parser *parser)
{
    const struct value base = parse_primary(parser);
    if (!take(parser, "**"))
        return base;
    const struct value exponent = parse_unary(parser);
    return compute('^', &base, &exponent);
}

static struct value parse_unary(struct parser *parser)
{
    static const struct value zero = {.kind = VALUE_INTEGER};
    struct value value = none("");
    if (!enter(parser))
        return value;
    skip_spaces(parser);
    if (take(parser, "-")) {
        value = parse_unary(parser);
        value = compute('-', &zero, &value);
    } else if (take(parser, "+")) {
        value = parse_unary(parser);
    } else if (strncmp(parser->at, "!=", 2) != 0 && take(parser, "!")) {
        value = parse_unary(parser);
        value = negate(&value);
    } else {
        value = parse_power(parser);
    }
    parser->depth--;
    return value;
}

static struct value parse_product(struct parser *parser)
{
    static const char *const ops[] = {"//", "/", "%", "*", NULL};
    struct value left = parse_unary(parser);
    for (int op; (op = take_one(parser, ops)) >= 0;) {
        const struct value right = parse_unary(parser);
        left = compute("|/%*"[op], &left, &right);
    }
    return left;
}

static struct value parse_sum(struct parser *parser)
{
    static const char *const ops[] = {"+", "-", NULL};
    struct value left = parse_product(parser);
    for (int op; (op = take_one(parser, ops)) >= 0;) {
        const struct value right = parse_product(parser);
        left = compute("+-"[op], &left, &right);
    }
    return left;
}

// Parses a list after `in`, and returns whether it has the value.
static struct value parse_list(struct parser *parser, const struct value *value)
{
    const bool square = take(parser, "[");
    const char *close = square ? "]" : ")";
    struct value found = value->kind == VALUE_NONE ? *value : value_of_integer(0);
    if (!square && !expect(parser, "("))
        return found;
    while (!parser->failed && !take(parser, close)) {
        const struct value element = parse_sum(parser);
        const struct value equal = equals(value, &element);
        found = found.kind == VALUE_NONE || value_true(&found) ? found : equal;
        if (!take(parser, ",") && expect(parser, close))
            break;
    }
    return found;
}

static struct value order_result(const char *op, const struct value *a, const struct value *b)
{
    int order;
    if (op[1] == '=' && (op[0] == '=' || op[0] == '!')) {
        const struct value equal = equals(a, b);
        return op[0] == '=' ? equal : negate(&equal);
    }
    if (a->kind == VALUE_NONE || b->kind == VALUE_NONE)
        return a->kind == VALUE_NONE ? *a : *b;
    if (!value_compare(a, b, &order))
        return none("it compares a number and a text");
    const bool less = op[0] == '<';
    return value_of_integer((op[1] == '=' && order == 0) || (less ? order < 0 : order > 0));
}

static struct value parse_comparison(struct parser *parser)
{
    static const char *const ops[] = {"==", "!=", "<=", ">=", "<", ">", NULL};
    struct value left = parse_sum(parser), result = left;
    for (bool first = true; !parser->failed; first = false) {
        struct value step;
        const char *before = parser->at;
        const bool not = take(parser, "not");
        if (take(parser, "in")) {
            step = parse_list(parser, &left);
            step = not ? negate(&step) : step;
        } else {
            parser->at = before;
            const int op = take_one(parser, ops);
            if (op < 0)
                break;
            const struct value right = parse_sum(parser);
            step = order_result(ops[op], &left, &right);
            left = right;
        }
        result = first ? step : decide(&result, &step, false);
    }
    return result;
}

static struct value parse_not(struct parser *parser)
{
    struct value value = none("");
    if (!take(parser, "not"))
        return parse_comparison(parser);
    if (enter(parser)) {
        value = parse_not(parser);
        value = negate(&value);
        parser->depth--;
    }
    return value;
}

static struct value parse_and(struct parser *parser)
{
    struct value left = parse_not(parser);
    while (take(parser, "and") || take(parser, "&&")) {
        const struct value right = parse_not(parser);
        left = decide(&left, &right, false);
    }
    return left;
}

static struct value parse_or(struct parser *parser)
{
    struct value left = parse_and(parser);
    while (take(parser, "or") || take(parser, "||")) {
        const struct value right = parse_and(parser);
        left = decide(&left, &right, true);
    }
    return left;
}

static struct value parse_any(struct parser *parser)
{
    struct value value = none("");
    if (!enter(parser))
        return value;
    value = parse_or(parser);
    if (take(parser, "if")) {
        const struct value condition = parse_or(parser);
        struct value other = none("");
        if (!parser->failed && expect(parser, "else"))
            other = parse_any(parser);
        if (condition.kind == VALUE_NONE)
            value = condition;
        else if (!value_true(&condition))
            value = other;
    }
    parser->depth--;
    return value;
}

// ---- callers ----

static bool begin(struct parser *parser)
{
    if (strlen(parser->text) <= EXPRESSION_TEXT)
        return true;
    snprintf(parser->why, EXPRESSION_WHY, "it has over %d bytes", EXPRESSION_TEXT);
    return false;
}

static bool parse_all(struct parser *parser, struct value *value)
{
    if (!begin(parser))
        return false;
    *value = parse_any(parser);
    skip_spaces(parser);
    if (!parser->failed && *parser->at)
        refuse(parser, "an operator is missing");
    return !parser->failed;
}

bool expression_evaluate(const char *text, expression_names *names, void *context, struct value *value,
                         char why[EXPRESSION_WHY])
{
    struct parser parser = {.text = text, .at = text, .names = names, .context = context, .why = why};
    if (!parse_all(&parser, value))
        return false;
    if (value->kind == VALUE_NONE)
        snprintf(why, EXPRESSION_WHY, "%s", value->problem);
    return value->kind != VALUE_NONE;
}

bool expression_check(const char *text, expression_names *names, void *context, char why[EXPRESSION_WHY])
{
    struct parser parser = {.text = text, .at = text, .names = names, .context = context, .why = why};
    struct value value;
    return parse_all(&parser, &value);
}

// ---- lists ----

enum { LIST_VALUES = 4096 };

// Gets the values of a list. False: it does not want more.
typedef bool list_each(void *context, const struct value *value);

// The name of a comprehension.
struct bound {
    const char *name; // NULL: all names are 1
    int length;
    struct value value;
    expression_names *outer;
    void *context;
};

struct listed {
    struct value value[LIST_VALUES];
    int count;
};

static bool find_bound(void *context, const char *name, int length, int64_t index, struct value *value)
{
    const struct bound *bound = context;
    const bool found =
        !bound->name || (index < 0 && length == bound->length && !memcmp(name, bound->name, (size_t)length));
    *value = bound->name ? bound->value : value_of_integer(1);
    return found || (bound->outer && bound->outer(bound->context, name, length, index, value));
}

static bool add_listed(void *context, const struct value *value)
{
    struct listed *listed = context;
    if (listed->count < LIST_VALUES)
        listed->value[listed->count] = *value;
    return listed->count++ < LIST_VALUES;
}

// Returns false if the value cannot be computed, or if `each` does not want it.
static bool give(struct parser *parser, const struct value *value, list_each *each, void *context)
{
    if (!parser->failed && value->kind == VALUE_NONE) {
        snprintf(parser->why, EXPRESSION_WHY, "%s", value->problem);
        parser->failed = true;
    }
    return !parser->failed && each(context, value);
}

static bool parse_lists(struct parser *parser, list_each *each, void *context);

// Parses "1, 2]".
static bool parse_elements(struct parser *parser, list_each *each, void *context)
{
    while (!parser->failed && !take(parser, "]")) {
        const struct value value = parse_any(parser);
        if (!give(parser, &value, each, context))
            return false;
        if (!take(parser, ",") && expect(parser, "]"))
            break;
    }
    return !parser->failed;
}

// Returns true if an expression and the word "for" follow, and skips them.
static bool is_comprehension(struct parser *parser)
{
    char why[EXPRESSION_WHY];
    struct bound all = {.name = NULL};
    struct parser ahead = *parser;
    ahead.names = find_bound;
    ahead.context = &all;
    ahead.why = why;
    parse_any(&ahead);
    const bool found = take(&ahead, "for");
    if (found)
        parser->at = ahead.at;
    return found;
}

// Evaluates the element, which begins at `element`, and the condition (NULL: none), for each value of the name.
static bool give_each(struct parser *parser, const char *element, const char *condition, struct bound *bound,
                      const struct listed *listed, list_each *each, void *context)
{
    bool more = true;
    const struct parser before = *parser;
    parser->names = find_bound;
    parser->context = bound;
    for (int i = 0; more && !parser->failed && i < listed->count; i++) {
        struct value value = value_of_integer(1);
        bound->value = listed->value[i];
        if ((parser->at = condition))
            value = parse_or(parser);
        if (condition && !value_true(&value) && value.kind != VALUE_NONE)
            continue;
        parser->at = element;
        if (value.kind != VALUE_NONE)
            value = parse_any(parser);
        more = give(parser, &value, each, context);
    }
    parser->at = before.at;
    parser->names = before.names;
    parser->context = before.context;
    return more && !parser->failed;
}

// Parses "i in range(3) if i > 1]" after "[ELEMENT for".
static bool parse_comprehension(struct parser *parser, const char *element, list_each *each, void *context)
{
    struct bound bound = {.outer = parser->names, .context = parser->context}, all = {.name = NULL};
    struct listed *listed = calloc(1, sizeof(*listed));
    const char *condition = NULL;
    skip_spaces(parser);
    bound.name = parser->at;
    while (is_letter(*parser->at))
        parser->at++;
    bound.length = (int)(parser->at - bound.name);
    bool ok = listed && expect(parser, "in") && parse_lists(parser, add_listed, listed);
    if (listed && listed->count > LIST_VALUES)
        refuse(parser, "a list is too long");
    if (ok && take(parser, "if")) {
        expression_names *names = parser->names;
        condition = parser->at;
        parser->names = find_bound;
        parser->context = &all;
        parse_or(parser);
        parser->names = names;
        parser->context = bound.context;
    }
    ok = ok && give_each(parser, element, condition, &bound, listed, each, context) && expect(parser, "]");
    free(listed);
    return ok;
}

// Parses "10)", "1, 10)" or "1, 10, 2)" after "range(".
static bool parse_range(struct parser *parser, list_each *each, void *context)
{
    int64_t number[3] = {0, 0, 1};
    int count = 0;
    do {
        const struct value value = parse_any(parser);
        if (!parser->failed && !value_whole(&value, &number[count++]))
            refuse(parser, "range needs whole numbers");
    } while (!parser->failed && count < 3 && take(parser, ","));
    expect(parser, ")");
    if (count == 1) {
        number[1] = number[0];
        number[0] = 0;
    }
    if (!parser->failed && number[2] == 0)
        refuse(parser, "the step of range is 0");
    bool more = !parser->failed;
    for (int64_t i = number[0]; more && (number[2] > 0 ? i < number[1] : i > number[1]);) {
        const struct value value = value_of_integer(i);
        more = each(context, &value) && !__builtin_add_overflow(i, number[2], &i);
    }
    return more;
}

// Parses one list.
static bool parse_one_list(struct parser *parser, list_each *each, void *context)
{
    bool ok = enter(parser);
    if (ok && take(parser, "list")) {
        ok = expect(parser, "(") && parse_lists(parser, each, context) && expect(parser, ")");
    } else if (ok && take(parser, "range")) {
        ok = expect(parser, "(") && parse_range(parser, each, context);
    } else if (ok && expect(parser, "[")) {
        const char *element = parser->at;
        ok = is_comprehension(parser) ? parse_comprehension(parser, element, each, context)
                                      : parse_elements(parser, each, context);
    }
    parser->depth--;
    return ok && !parser->failed;
}

// Parses lists and + between them.
static bool parse_lists(struct parser *parser, list_each *each, void *context)
{
    bool ok;
    do {
        ok = parse_one_list(parser, each, context);
    } while (ok && take(parser, "+"));
    return ok;
}

bool expression_list(const char *text, bool (*each)(void *context, const struct value *value), void *context,
                     char why[EXPRESSION_WHY])
{
    struct parser parser = {.text = text, .at = text, .why = why};
    if (!begin(&parser) || !parse_lists(&parser, each, context))
        return false;
    skip_spaces(&parser);
    if (*parser.at)
        refuse(&parser, "there is more after the list");
    return !parser.failed;
}
