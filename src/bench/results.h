// results.h: results of `bench` as JSON: read from files, compared with each other
#pragma once

#include <stddef.h>

struct json_t; // of jansson

enum { RESULTS_FORMAT = 1 }; // "format" of a result

// Reads the results of `bench --json` as an array of devices, which the caller frees. NULL on failure (logged).
struct json_t *results_read(const char *path);
// Reads results from memory in the same way; `name` is for messages.
struct json_t *results_parse(const char *text, size_t size, const char *name);

// Compares the results of a device with those of the same device in `base`, or else with those of the first device
// there (logged). Adds to each figure its "verdict", and to `result` the array "missing" and the object "base".
// Returns how many figures are slower or missing.
int results_compare(struct json_t *result, const struct json_t *base);
