// bench_command.h: the bench command: its options, and the parts of it; call all on the main thread
#pragma once

#include "bench/bench.h"
#include "bench/chosen.h"
#include "bench/results.h"
#include "command/shared.h"

struct bench_options {
    struct case_options cases;
    const char *measures, *paths, *threads; // lists, separated by commas; NULL: not given
    const char *device;
    int rounds;     // 0: not given
    double seconds; // 0: not given
    int pictures;   // 0: not given
    bool json, csv;
    const char *compare, *report, *kernels, *filter_dir;
};

// A run of the command.
struct bench {
    const struct bench_options *options;
    const struct measurement *measurement; // NULL: tests of devices
    const char **word;                     // the operands after the measurement's name
    int words;
    double load;                      // average number of processes that ran in the minute before; negative: unknown
    const struct bench_results *base; // results to compare with; NULL: none
};

// Returns the name of a measurement, for completion; NULL after the last.
const char *bench_word(int index);

// Measures, or reads results, and prints them. Returns the exit code.
int figures_run(const struct bench *bench, struct chosen *chosen);

struct json_t; // of jansson

// Copies the value of a figure's parameter, as in "format=nv12"; "": there is none.
void figure_parameter(const char *parameters, const char *name, char value[FIGURE_PARAMETERS]);
// Adds "doubt", a text, "" for usable results, and "conclusions", sentences about `bench paths`.
void conclusion_add(const struct bench_result *result, struct json_t *object);
void conclusion_print(const struct bench_result *result); // prints both
// Returns the figures of `bench paths` with the sums of their stages, as columns of a row for each path. The caller
// frees them.
struct figure *conclusion_rows(const struct bench_result *result, int *count);

enum { FIGURE_TEXT = 64, FIGURE_LINE = 80 };

// Prints the figures of one test in lines of at most FIGURE_LINE columns, unless names are longer; nothing if there are
// none. The last parameter of a figure names its column, the others its row. The texts may come from a file.
void figure_table_print(const struct bench_test *test, const struct bench_result *result);
// Prints the verdicts of a result that was compared.
void figure_table_verdicts(const struct bench_result *result);
