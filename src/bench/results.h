// results.h: the results of `bench`: figures of a device, read from JSON, compared with each other, written as JSON
#pragma once

#include "base/stats.h"

#include <stdbool.h>
#include <stddef.h>

// ---- figures ----

struct json_t;  // of jansson
struct samples; // of base/stats.h

enum figure_status {
    FIGURE_OK,
    FIGURE_SKIPPED, // the device does not support it
    FIGURE_FAILED,
};

enum { FIGURE_TEST = 32, FIGURE_PARAMETERS = 256, FIGURE_NOTE = 200, FIGURE_CASE = 120 };

struct figure {
    char test[FIGURE_TEST]; // the row's name, such as "compute"
    // Words "type=float width=4"; no two figures of a test have the same. Within a word, U+00A0 stands for a space.
    char parameters[FIGURE_PARAMETERS];
    enum figure_status status;
    double value;    // the median of the rounds, in the unit of the test
    double spread;   // half the interquartile range, divided by the median; NAN: unknown, after one round
    double by_event; // the value by the device's clock, where `value` is by the host's; 0: none
    int rounds;
    const struct samples *samples; // the values of the rounds; NULL: not kept, and never read from JSON
    bool checked;                  // the result was compared with the host's
    char note[FIGURE_NOTE];        // the reason if the status is not FIGURE_OK; else a remark or ""
};

const char *figure_status_name(enum figure_status status); // "ok"
bool figure_less_is_better(const char *unit);              // a unit of time or energy, not of speed

// Returns the text of a chain as the value of a parameter. A long text ends with a hash of its end.
const char *figure_case(const char *chain, char text[FIGURE_CASE]);

// Returns the figure as an object, which the caller frees. NULL: no memory.
struct json_t *figure_json(const struct figure *figure);
// Reads such an object. Returns false if it is not one.
bool figure_read(const struct json_t *object, struct figure *figure);

// ---- results ----

// In the order in which they are printed.
enum result_verdict {
    VERDICT_NONE, // not compared, or no value to compare
    VERDICT_SLOWER,
    VERDICT_MISSING,
    VERDICT_UNCLEAR,
    VERDICT_FASTER,
    VERDICT_NEW,
    VERDICT_SAME,
    VERDICTS
};
const char *result_verdict_name(enum result_verdict verdict); // "slower"

struct result_figure {
    struct figure figure;   // without samples
    struct samples samples; // the values of the rounds; empty: not kept
    // Of a comparison:
    enum result_verdict verdict;
    double base_value, base_spread; // of the base's figure; NAN: there is none; the spread is unknown
    double change, p;               // relative; of the rank test. NAN: unknown
};

// The figures of one device.
struct bench_result {
    // The other members of its JSON: "format", "monocle", "measured", "device", "tests", and "base" after a comparison.
    struct json_t *head;
    struct result_figure *figure, *missing; // `missing`: of the base, which this result lacks
    int figures, missings;
};
struct bench_results {
    struct bench_result *result;
    int count;
};

// Takes over the objects of the device and its tests, by name: unit, definition, and true "derived" if their figures
// follow from those of another test. The measurement is now.
struct bench_result result_begin(struct json_t *device, struct json_t *tests);
void result_add(struct bench_result *result, const struct figure *figure); // copies the samples
void result_free(struct bench_result *result);
// Returns the line of `bench --json` (bench.schema.json), which the caller frees.
struct json_t *result_json(const struct bench_result *result);

// Reads the results of `bench --json`, one for each device, which the caller frees. False: logged.
bool results_read(struct bench_results *results, const char *path);
// Reads results from memory in the same way; `name` is for messages.
bool results_parse(struct bench_results *results, const char *text, size_t size, const char *name);
void results_free(struct bench_results *results); // leaves it empty

// Compares the results of a device with those of the same device in `base`, or else with those of the first device
// there (logged). Sets the verdicts and `missing`. Returns how many figures are slower or missing.
int results_compare(struct bench_result *result, const struct bench_results *base);
