// test_expression.c: expressions of tuning specifications have Python's values; malformed ones are refused
#include "tune/kernel/spec.h"

#include "unit.h"

#include <math.h>

static bool names(void *context, const char *name, int length, int64_t index, struct value *value)
{
    if (length == 1 && (*name == 'x' || *name == 'y') && index == -1)
        *value = value_of_integer(*name == 'x' ? 7 : -3);
    else if (length == 1 && *name == 'z' && index >= 0 && index < 3)
        *value = value_of_integer(100 + index);
    else if (length == 4 && strncmp(name, "kind", 4) == 0)
        *value = value_of_text("tile");
    else
        return false;
    (*(int *)context)++;
    return true;
}

static const struct {
    const char *text;
    double want;
} good[] = {
    {"1", 1},
    {" 2 + 3 * 4 ", 14},
    {"(2 + 3) * 4", 20},
    {"2 - 3 - 4", -5},
    {"7 / 2", 3.5},
    {"7 // 2", 3},
    {"-7 // 2", -4},
    {"7 // -2", -4},
    {"-7 // -2", 3},
    {"7 % 3", 1},
    {"-7 % 3", 2},
    {"7 % -3", -2},
    {"-7.5 % 2", 0.5},
    {"7.5 // 2", 3},
    {"5 % -1", 0},
    {"2 ** 10", 1024},
    {"2 ** 3 ** 2", 512},
    {"-2 ** 2", -4},
    {"2 ** -1", 0.5},
    {"(-2) ** 3", -8},
    {"4 ** 0.5", 2},
    {"1e3 + .5", 1000.5},
    {"1.5e-1", 0.15},
    {"x * y", -21},
    {"z[1] + z[x - 5]", 203},
    {"1 < 2", 1},
    {"1 < 2 < 2", 0},
    {"x == '7' and '1.5' == 1.5 and '2' < '10'", 1}, // as in a description's lists
    {"'07' == 7 or '1e3' == 1000", 0},
    {"1 <= x <= 10", 1},
    {"3 > 2 > 1", 1},
    {"x == 7 and y == -3", 1},
    {"x == 7 && y == 3", 0},
    {"x == 8 or y == -3", 1},
    {"x == 8 || y == 3", 0},
    {"not x == 8", 1},
    {"!x == 0", 1},
    {"not not 3", 1},
    {"x != 7", 0},
    {"x in [1, 7, 9]", 1},
    {"x in (1, 2)", 0},
    {"x not in [1, 2]", 1},
    {"kind == 'tile'", 1},
    {"kind != \"tile\"", 0},
    {"kind in ['a', 'tile']", 1},
    {"kind == 7", 0},
    {"'a' < 'ab'", 1},
    {"min(3, x, y)", -3},
    {"max(3, x, y)", 7},
    {"max(x)", 7},
    {"abs(y) + abs(-2.5)", 5.5},
    {"int(-2.5)", -2},
    {"ceil(7 / 2)", 4},
    {"floor(-0.5)", -1},
    {"sqrt(16) + log2(8)", 7},
    {"True + False", 1},
    {"x if y < 0 else 1 // 0", 7},
    {"1 // 0 if y > 0 else 5", 5},
    {"1 if 0 else 2 if 0 else 3", 3},
    {"y == 0 or 6 // y == -2", 1},
    {"0 and 1 // 0", 0},
    {"1 or 1 // 0", 1},
    {"(i // 4 if 0 else x) if 0 else 9", -1}, // an unknown name, also in a part that does not count
    {"9223372036854775807", -1},
    {"922337203685477580 * 10", 9223372036854775800.},
    {"922337203685477580 * 11", -1},
    {"922337203685477580 * 10 + 8", -1},
    {"2 ** 63", -1},
    {"10 ** 400.0", -1},
    {"0 ** -1", -1},
    {"1 // 0", -1},
    {"1 % 0", -1},
    {"1 / 0.0", -1},
    {"kind + 1", -1},
    {"kind < 1", -1},
    {"sqrt(-1)", -1},
    {"z[-1]", -1},
    {"z[3]", -1},
    {"min()", -1},
    {"int(1, 2)", -1},
    {"", -1},
    {"1 +", -1},
    {"1 2", -1},
    {"(1", -1},
    {"1)", -1},
    {"a", -1},
    {"sin(1)", -1},
    {"1.2.3", -1},
    {"12ab", -1},
    {"'abc", -1},
    {"x in 7", -1},
    {"x in [1", -1},
    {"1 if 2", -1},
    {"1 = 1", -1},
    {"__import__('os')", -1},
};

static void test_values(void)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct value value = {.kind = VALUE_NONE};
        char why[EXPRESSION_WHY] = "";
        int looked_up = 0;
        const bool ok = expression_evaluate(good[i].text, names, &looked_up, &value, why);
        const double got = ok ? value_number(&value) : -1;
        check_that(&unit, fabs(got - good[i].want) < 1e-9 * fmax(1, fabs(got)), "'%s' is %.17g, not %.17g (%s)",
                   good[i].text, got, good[i].want, why);
        check_that(&unit, ok || (why[0] && !strchr(why, '\n')), "'%s' is refused without a reason", good[i].text);
    }
}

static void test_check(void)
{
    char why[EXPRESSION_WHY] = "";
    int looked_up = 0;
    CHECK(expression_check("x // 0 + (y if 0 else z[1])", names, &looked_up, why));
    CHECK_NUMBER(looked_up, 3);
    CHECK(!expression_check("x + q", names, &looked_up, why));
    CHECK_TEXT(why, "there is no name 'q'");
    CHECK(!expression_check("x + * 2", names, &looked_up, why));
    CHECK_TEXT(why, "a number or name is missing at '* 2'");
}

// Long and deep texts.
static void test_limits(void)
{
    static char text[3 * EXPRESSION_TEXT];
    struct value value;
    char why[EXPRESSION_WHY] = "";
    static const char *const nests[] = {"(", "-", "not ", "!", "max(", "z[", "1 if 1 else ", "2 ** ", "0 or ("};
    for (size_t n = 0; n < sizeof(nests) / sizeof(*nests); n++) {
        text[0] = '\0';
        for (int i = 0; i < 2 * EXPRESSION_DEPTH; i++)
            strcat(text, nests[n]);
        strcat(text, "1");
        CHECK(!expression_evaluate(text, names, &(int){0}, &value, why));
        CHECK_HAS(why, "nested too deep");
    }
    memset(text, '1', sizeof(text) - 1);
    CHECK(!expression_evaluate(text, NULL, NULL, &value, why));
    CHECK_HAS(why, "over 4096 bytes");
    text[0] = '\0';
    for (int i = 0; i < 1000; i++)
        strcat(text, "1+");
    strcat(text, "1");
    CHECK(expression_evaluate(text, NULL, NULL, &value, why) && value.integer == 1001);
}

static bool add(void *context, const struct value *value)
{
    char *list = context;
    snprintf(list + strlen(list), 100 - strlen(list), "%g;", value_number(value));
    return strlen(list) < 20;
}

static void test_list(void)
{
    static const struct {
        const char *text, *got;
        bool ok;
    } lists[] = {
        {"[1, 2 ** 3, -1.5,]", "1;8;-1.5;", true},
        {"[]", "", true},
        {" [ 4 ] ", "4;", true},
        {"1, 2", "", false},
        {"[1, 2", "1;2;", false},
        {"[1 2]", "1;", false},
        {"[1] 2", "1;", false},
        {"[1, 1 // 0]", "1;", false},
        {"range(3)", "0;1;2;", true},
        {"list(range(1, 10+1, 3))", "1;4;7;10;", true},
        {"[2**i for i in range(5, 8)]", "32;64;128;", true},
        {"[1] + [2*i for i in range(1, 3)] + list([9])", "1;2;4;9;", true},
        {"[i if i > 1 else 7 for i in [1, 2, 3] if i % 2 == 1]", "7;3;", true},
        {"[j + 1 for j in [i * 2 for i in range(2)]]", "1;3;", true},
        {"range(9, 1, -4)", "9;5;", true},
        {"range(1, 1)", "", true},
        {"[8 // i for i in range(2)]", "", false},
        {"[1 for i in range(9) if 1 // i]", "", false},
        {"[k for i in range(2)]", "", false},
        {"[7 for i in range(4096) if i > 4094]", "7;", true},
        {"[1 for i in range(4097)]", "", false},
        {"range(1, 2, 0)", "", false},
        {"range(1.5)", "", false},
        {"range(1, 2, 3, 4)", "", false},
        {"list(4)", "", false},
        {"[1] +", "1;", false},
        {"[i for i in range(2) if]", "", false},
        {"[1111111, 22222222, 3333333, 4]", "1.11111e+06;2.22222e+07;", false},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        char got[100] = "", why[EXPRESSION_WHY] = "";
        const bool ok = expression_list(lists[i].text, add, got, why);
        check_that(&unit, ok == lists[i].ok, "'%s' is %d (%s)", lists[i].text, ok, why);
        CHECK_TEXT(got, lists[i].got);
    }
}

int main(void)
{
    test_values();
    test_check();
    test_limits();
    test_list();
    return check_end(&unit);
}
