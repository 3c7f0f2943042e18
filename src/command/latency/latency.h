// latency.h: the state of the `latency` command. Main thread.
#pragma once

#include "base/log.h"
#include "base/stats.h"
#include "command/command.h"
#include "measure/flash_finder.h"
#include "path/path.h"
#include "screen/renderer.h"
#include "source/capture.h"

struct latency_options {
    const char *filters;
    int path; // enum path_kind
    const char *device;
    struct option_size size;
    double rate;
    const char *pixel_format;
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

enum { LATENCY_FLASHES_MAX = 1000 };

struct latency {
    struct latency_options options;
    const char *source_text;
    struct source_setting setting[OPTION_TEXTS_MAX];
    struct chain chain;

    struct source *source;
    const struct source_info *info;
    struct capture *capture;
    struct window *window;
    struct renderer *renderer;
    struct device *device; // NULL: the cpu path
    struct path *path;

    struct image flash; // RGBA of the camera's size, black or white
    unsigned flash_texture, picture_texture;
    struct finder finder;
    bool learning; // true while `finder` learns
    int round;     // of learning
    struct status_line status_line;
    struct latency_sample sample[LATENCY_FLASHES_MAX];
    int samples, missed;
    enum exit_code code;
    bool quit;
};

// loop.c: learns which cells show the flash, then measures. False if there is no sample. Failures are logged and set
// `code`.
bool latency_measure(struct latency *latency);

// report.c
void latency_report_start(const struct latency *latency);
void latency_report_sample(const struct latency *latency, int index);
void latency_report(const struct latency *latency);
