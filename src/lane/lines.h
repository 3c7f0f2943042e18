// lines.h: reads files of lane lines: TuSimple's format, one JSON object per line and frame
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    LINES_BYTES = 1 << 20, // longest line of a file
    LINES_LANES = 32,      // lane lines of a frame
    LINES_ROWS = 1000,     // rows of a frame
    LINES_X = 100000,      // largest coordinate
    LINES_FRAMES = 1000000,
};

// The lane lines of a frame.
struct lines_frame {
    char *name;  // "raw_file"; NULL: none
    size_t line; // number in the file, from 1
    int rows, lanes;
    int *y;    // "h_samples": `rows` rows of the picture, from top to bottom; NULL: none
    double *x; // "lanes": `rows` values for each lane; negative: the line has no point in this row
};

struct lines {
    struct lines_frame *frame;
    size_t count;
};

// Reads a file. `spoken` is its name for messages. Ignores blank lines and objects with the member "event". A lane
// without any point is left out. Returns false on failure (logged); free the lines in any case.
bool lines_read(struct lines *lines, FILE *file, const char *spoken);
void lines_free(struct lines *lines);
