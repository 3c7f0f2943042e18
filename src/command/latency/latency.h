// latency.h: the state of the `latency` command. Main thread.
#pragma once

#include "base/log.h"
#include "base/stats.h"
#include "command/latency/flash_finder.h"
#include "command/shared.h"
#include "screen/renderer.h"
#include "stream/stream.h"

struct latency_options {
    const char *filters;
    int path; // enum path_kind; -1: not given
    const char *device;
    struct mode_options mode;
    struct option_texts controls;
    int flashes;
    int vsync; // 0: on, 1: off
    bool fullscreen, json;
    int log_level; // -1: not given
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
