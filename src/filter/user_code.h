// user_code.h: checks the code of a user's filter, and rewrites it so that it cannot end the process
#pragma once

#include <stdbool.h>

// USER_TOKENS also limits the code after calls are expanded .
enum { USER_WHY = 200, USER_TOKENS = 20000, USER_NESTING = 64, USER_WORD_BYTES = 64 };
enum { USER_DIVISIONS = 1000, USER_OPERATORS = 1000, USER_BRANCHES = 200, USER_STRUCT = 64 };

// Returns the code of a filter's file, NUL-terminated; the caller frees it. Its lines have the same numbers. NULL on
// failure: `why` gets one line, and *line the number of the line. The code is parsed, so that
// only the kernel language reaches a compiler: no pointers, arrays, casts, recursion, variables outside functions, and
// no numbers but integers. The changes (kernels/user.cl has the functions):
// - macros are expanded, and comments are removed
// - all names except filter_NAME and those of the language get the prefix own_NAMEX_, so that no other code has them
// - a / b and a % b become user_div(a, b) and user_mod(a, b), which are defined for every b; a / 2 stays
// - a loop also counts its turns, and ends after USER_TURNS turns of all loops of its function
// - view, arguments, tap and ARG become user_view, user_arguments, user_tap and user_arg, which stay within the picture
//   and the arguments; clamp and root become user_clamp and user_root, which are defined for all numbers
// - a variable without a value begins with 0
// - an integer becomes a condition where one is needed, and a condition an integer, because GLSL does not mix them
// - const is removed, because GLSL ES has it only for constant expressions
// The types of all values are checked, so that no compiler finds a mistake: their messages differ.
// An expression that changes a variable cannot use it a second time if compilers differ in the order of evaluation.
// Limits: the code has at most USER_TOKENS tokens after macros and calls are expanded, USER_NESTING levels of brackets
// and statements, USER_BRANCHES `else if` in a row, USER_OPERATORS operators in an expression and USER_DIVISIONS
// divisions; a struct has at most USER_STRUCT numbers.
// `stencil`: the kind of the filter, whose code may have the type view.
char *user_code_make(const char *name, bool stencil, const char *text, int *line, char why[USER_WHY]);
// Changes the names in a compiler's message back to the author's own.
void user_code_show(char *text);
