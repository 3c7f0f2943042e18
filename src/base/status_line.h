// status_line.h: a line of standard error, on a terminal, that the next one replaces
#pragma once

#include <stdbool.h>

// Whether standard error is a terminal that can do so.
bool status_line_possible(void);
// No more of it than the terminal is wide: what wraps could not be replaced. "" leaves none.
void status_line_show(const char *text);
