// expression.h: evaluates the expressions of a tuning specification, a part of Python's; logs nothing
//
// Numbers, 'texts' and names; NAME[i]; + - * / // % **; == != < <= > >= (also a < b < c); in, not in with a list;
// and, or, not (also && || !); a if condition else b; parentheses; min, max, abs, int, ceil, floor, sqrt, log2.
// As in Python, / gives a real number, // rounds down, and % has the sign of its right operand.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { EXPRESSION_TEXT = 4096, EXPRESSION_DEPTH = 32, EXPRESSION_WHY = 160 };

enum value_kind {
    VALUE_NONE, // it cannot be computed: `problem`
    VALUE_INTEGER,
    VALUE_REAL,
    VALUE_TEXT,
};

struct value {
    enum value_kind kind;
    int64_t integer;
    double real;
    const char *text; // `length` bytes, borrowed
    int length;
    const char *problem; // a static text, such as "it divides by zero"
};

struct value value_of_integer(int64_t integer);
struct value value_of_real(double real);
// The number that the whole text is, or else the text, which is borrowed.
struct value value_of_text(const char *text);
double value_number(const struct value *value); // of an integer or a real; otherwise NAN
// Returns true if the value is an integer, or a real that is one; *integer is then its value.
bool value_whole(const struct value *value, int64_t *integer);
bool value_true(const struct value *value); // neither 0 nor an empty text

// Sets the value of a name, or of name[index] if `index` is not -1. Returns false if there is no such name. `name` is
// not NUL-terminated.
typedef bool expression_names(void *context, const char *name, int length, int64_t index, struct value *value);

// Evaluates an expression. Returns false if it is malformed, has an unknown name, is longer than EXPRESSION_TEXT or
// nested deeper than EXPRESSION_DEPTH, or cannot be computed, such as a division by zero; `why` has the reason.
bool expression_evaluate(const char *text, expression_names *names, void *context, struct value *value,
                         char why[EXPRESSION_WHY]);
// Returns false in the same cases, but not if it only cannot be computed. Calls `names` for each name in the text.
bool expression_check(const char *text, expression_names *names, void *context, char why[EXPRESSION_WHY]);
// Evaluates a list, such as "[1, 2, 4]". Calls each(context, value) for its elements, until that returns false. The
// result is as for expression_evaluate; also false, with `why` unchanged, if `each` returned false.
bool expression_list(const char *text, bool (*each)(void *context, const struct value *value), void *context,
                     char why[EXPRESSION_WHY]);
