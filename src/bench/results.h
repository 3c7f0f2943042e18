// results.h: the results of `bench`: figures of a device, read from JSON, compared with each other, written as JSON
#pragma once

#include "base/stats.h"
#include "bench/figure.h"

#include <stddef.h>

struct json_t; // of jansson

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
