// score.h: reads files of lane lines in TuSimple's format, one JSON object per line and frame, and compares them with
// the truth: TuSimple's accuracy and CULane's F1 (docs/lane.md)
#pragma once

#include "base/file.h"
#include "source/source.h"

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

// The score of one frame. The accuracy is 1 if the truth has no lines and none is found.
struct score_frame {
    double accuracy, false_positives, false_negatives; // TuSimple's; 0 to 1
    int truth, found, matches;                         // number of lines, and of CULane's pairs
};

struct score {
    size_t frames;
    double accuracy, false_positives, false_negatives; // means of all frames
    size_t truth, found, matches;                      // sums of all frames
    double precision, recall, f1;                      // of these sums
};

// Scores one frame; `width` and `height` are the picture's size. Both frames have the same rows, and the truth has `y`.
void score_frame(const struct lines_frame *truth, const struct lines_frame *found, int width, int height,
                 struct score_frame *score);

struct score_setup {
    const char *truth; // path of the truth file
    int width, height; // of the pictures; 0: the size in the name of the first frame, else 1280x720
};

// Reads the truth's file and the results (`found`: the open file of standard input), and scores all frames. Returns
// false on failure (logged).
bool score_read(const struct score_setup *setup, FILE *found, struct score *score);

// ---- the file of --truth: where the lane lines of a road are ----

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
void truth_add(struct truth *truth, uint64_t frame); // adds a frame
// Writes the file, if a frame was added, as claim_write does. Returns false on failure (logged). Accepts a zeroed
// or closed struct.
bool truth_close(struct truth *truth);
