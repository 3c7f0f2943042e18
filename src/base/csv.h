// csv.h: comma-separated values (RFC 4180)
#pragma once

#include <stdio.h>

// Prints a field, with control characters escaped as log_escape does.
void csv_print(FILE *out, const char *text);
