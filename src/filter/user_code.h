// user_code.h: checks the code of a user's filter, and rewrites it so that it cannot end the process
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { USER_WHY = 200, USER_DIVISIONS = 1000, USER_NESTING = 64 };

// Returns the text of a filter's file with the changes below, NUL-terminated; the caller frees it. Its lines have the
// same numbers. NULL on failure: `why` gets one line, and *line the number of the line. The changes
// (kernels/user.cl has the functions):
// - a / b and a % b become user_div(a, b) and user_mod(a, b), which are defined for every b; a / 2 stays
// - a loop also counts its turns, and ends after USER_TURNS turns of all loops of its function
// - view, arguments, tap and ARG become user_view, user_arguments, user_tap and user_arg, which stay within the picture
//   and the arguments
// - comments become spaces
// The code has no pointers, arrays, recursion, prototypes, variables outside functions, goto and strings, no directive
// but #define, and no numbers but integers up to 2147483647, because monocle could not make these safe. A function is
// defined before any other use of its name, so that macros cannot hide a recursion.
char *user_code_make(const char *text, int *line, char why[USER_WHY]);
