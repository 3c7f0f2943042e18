// score.h: compares lane lines with the truth: TuSimple's accuracy and CULane's F1 (docs/lane.md)
#pragma once

#include "lane/lines.h"

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
// False: out of memory (not logged).
bool score_frame(const struct lines_frame *truth, const struct lines_frame *found, int width, int height,
                 struct score_frame *score);

struct score_setup {
    const char *truth; // path of the truth file
    int width, height; // of the pictures; 0: the size in the name of the first frame, else 1280x720
};

// Reads the truth's file and the results (`found`: the open file of standard input), and scores all frames. Returns
// false on failure (logged).
bool score_read(const struct score_setup *setup, FILE *found, struct score *score);
