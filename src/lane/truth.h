// truth.h: the file of --truth: where the lane lines of a road are, one line of JSON per frame, in TuSimple's format
#pragma once

#include "base/file.h"
#include "source/source.h"

#include <stddef.h>
#include <stdio.h>

struct truth {
    struct claim claim;
    const struct road_spec *road;
    FILE *lines; // the text, in memory
    char *text;
    size_t size;
};

// Begins the truth of a source's frames. `path` may be NULL, and is borrowed, as the source is. False (logged) if the
// source is not a road, or the file cannot be written.
bool truth_open(struct truth *truth, const char *path, const struct source_info *info);
// Adds a frame. False: out of memory (logged).
bool truth_add(struct truth *truth, uint64_t frame);
// Writes the file, if a frame was added, as claim_write does. Returns false on failure (logged). Accepts a zeroed
// or closed struct.
bool truth_close(struct truth *truth);
