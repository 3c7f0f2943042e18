// csv.h: the tried configurations of a run as a CSV file
#pragma once

#include "tune/tuner.h"

#include <stdio.h>

// The text of the file; zeroed: empty.
struct csv {
    FILE *out;
    char *text;
    size_t size;
};

// The fields that all rows of a subject have in common.
struct csv_place {
    const char *device, *chain, *format; // a user's kernel: the description, ""
    int width, height;                   // 0: no size
    const char *plan;                    // NULL: the chain has one plan
};

// Adds a row for each trial, and replaces the file. False on failure (logged).
bool csv_write(struct csv *csv, const char *path, const struct csv_place *place, const struct subject *subject,
               const struct tuner_state *state);
void csv_finish(struct csv *csv); // frees the text; accepts a zeroed one
