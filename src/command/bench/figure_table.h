// figure_table.h: the figures of a test as a table on standard output
#pragma once

#include "bench/bench.h"
#include "bench/results.h"

enum { FIGURE_TEXT = 64, FIGURE_LINE = 80 };

// Prints the figures of one test in lines of at most FIGURE_LINE columns, unless names are longer; nothing if there are
// none. The last parameter of a figure names its column, the others its row. The texts may come from a file.
void figure_table_print(const struct bench_test *test, const struct bench_result *result);
// Prints the verdicts of a result that was compared.
void figure_table_verdicts(const struct bench_result *result);
