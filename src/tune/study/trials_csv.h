// trials_csv.h: the tried configurations of a run as a CSV file
#pragma once

#include "base/file.h"
#include "tune/tuner.h"

#include <stdio.h>

// The text of the file; zeroed: empty.
struct trials_csv {
    FILE *out;
    char *text;
    size_t size;
};

// The fields that all rows of a subject have in common.
struct trials_place {
    const char *device, *chain, *format; // a user's kernel: the description, ""
    int width, height;                   // 0: no size
    const char *plan;                    // NULL: the chain has one plan
};

// Adds a row for each trial, and replaces the file. False on failure (logged).
bool trials_csv_write(struct trials_csv *csv, struct claim *claim, const struct trials_place *place,
                      const struct subject *subject, const struct tuner_state *state);
void trials_csv_finish(struct trials_csv *csv); // frees the text; accepts a zeroed one
