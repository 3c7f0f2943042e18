// figure_table.h: the figures of a test as a table on standard output
#pragma once

#include "measure/measure.h"

enum { FIGURE_TEXT = 64, FIGURE_LINE = 80 };

// Writes "17.7 ±12%", or "-" for a skipped and "failed" for a failed figure.
void figure_text(const struct figure *figure, char text[FIGURE_TEXT]);

// Prints the figures of one test in lines of at most FIGURE_LINE columns, unless names are longer. The last parameter
// of a figure names its column, the others its row. The texts may come from a file.
void figure_table_print(const struct measure_test *test, const struct figure *figures, int count);
