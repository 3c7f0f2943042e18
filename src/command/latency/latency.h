// latency.h: the state of the `latency` command. Main thread.
#pragma once

#include "base/log.h"
#include "base/stats.h"
#include "command/shared.h"
#include "screen/renderer.h"
#include "stream/stream.h"

// ---- finds the cells of a camera frame that show the flash, and measures their brightness ----

enum { FINDER_COLUMNS = 32, FINDER_ROWS = 24, FINDER_CELLS = FINDER_COLUMNS * FINDER_ROWS };

// The mean luma, 0 to 255, of each cell of a grid over a frame.
struct finder_look {
    float cell[FINDER_CELLS];
};

struct finder_sums {
    double sum[FINDER_CELLS], squares[FINDER_CELLS];
    int count; // looks
};

// Learns from rounds. In each round the screen is dark, then light. Zeroed is empty.
struct finder {
    struct finder_sums seen[2];                    // of the current round: [0] dark, [1] light
    float step[FINDER_CELLS], noise[FINDER_CELLS]; // smallest step from dark to light and largest noise of any round
    float dark[FINDER_CELLS];                      // mean of all rounds
    float weight[FINDER_CELLS];                    // 0: the cell does not show the flash
    float weights;                                 // sum of weight * step
    int rounds, cells;                             // cells: the number with a weight
    float strongest;                               // largest step of any cell
};

// Measures a frame.
void finder_look(const struct image *picture, struct finder_look *look);

void finder_learn(struct finder *finder, bool light, const struct finder_look *look);
// Ends a round. A round without a dark or without a light look does not count.
void finder_end_round(struct finder *finder);
// Picks the cells that became lighter with the flash in every round. False if they are too few: the camera does not see
// the flash (not logged).
bool finder_ready(struct finder *finder);
// Returns about 0 if the picked cells are as dark as the learnt darkness, about 1 if they are as light as the learnt
// light.
double finder_level(const struct finder *finder, const struct finder_look *look);

// ---- the command ----

struct latency_options {
    const char *filters;
    int path; // enum path_kind; -1: not given
    const char *device;
    struct mode_options mode;
    struct option_texts controls;
    int flashes;
    int vsync; // 0: on, 1: off
    bool fullscreen, json;
    int log_level;
};

// One flash. Times since the buffer swap that showed it: when the camera captured the first frame with the flash, and
// when the swap that showed this frame returned.
struct latency_sample {
    int64_t captured_ns, shown_ns;
};

// A camera frame that was measured and shown.
struct latency_shown {
    struct finder_look look;
    int64_t captured_ns, shown_ns;
};

enum { LATENCY_FLASHES_MAX = 1000 };

struct latency {
    struct latency_options options;
    const char *source_text;
    struct source_setting setting[OPTION_TEXTS_MAX];

    struct stream stream;
    struct renderer *renderer;

    struct image flash; // RGBA of the camera's size, black or white
    unsigned flash_texture, picture_texture;
    struct finder finder;
    bool learning; // true while `finder` learns
    int round;     // of learning
    struct status_line status_line;
    struct latency_sample sample[LATENCY_FLASHES_MAX];
    int samples, missed;
    struct latency_shown shown; // the latest camera frame
};

// loop.c: shows the frames of the stream, whose context is the struct.
extern const struct stream_client latency_client;
// Learns which cells show the flash, then measures. False if there is no sample. Failures are logged and set
// stream.code.
bool latency_measure(struct latency *latency);

// latency_command.c: print a sample when it is measured, and the report.
void latency_report_sample(const struct latency *latency, int index);
void latency_report(const struct latency *latency);
