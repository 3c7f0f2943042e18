// meter.h: statistics of frames: duration of each stage, age when shown, frame rate. One thread. Zeroed is empty.
#pragma once

#include "base/stats.h"
#include "base/trace.h"
#include "path/path.h"

#include <stdio.h>

enum { METER_STAGES = 48, METER_NAME = 160 };

struct meter_stage {
    char name[METER_NAME];
    enum stage_clock clock;
    struct stats ms;
};

struct meter {
    struct meter_stage stage[METER_STAGES];
    int stages;
    int frame_stage[METER_STAGES], frame_stages; // the stages of the frame being made, in order
    int shown_stage[METER_STAGES], shown_stages; // the stages of the frame last shown
    struct stats age_ms;                         // from a frame's capture until it was shown
    struct stats interval_ms;                    // between shown frames
    uint64_t frames;                             // shown
    int64_t opened_ns, first_ns, last_ns;        // when the run began, and when the first and last frame were shown
    uint64_t number;                             // of the present frame, from meter_begin
    bool paused;                                 // ignore the next interval
    struct trace *trace;                         // borrowed; NULL for none
};

// Begins frame `number`. Its stages follow in order; meter_shown or meter_shown_again ends it.
void meter_begin(struct meter *meter, uint64_t number);
// Adds a stage named `prefix` (NULL: none) and time->name. `track` is its track in the trace; NULL: not traced.
void meter_add(struct meter *meter, const char *track, const char *prefix, const struct stage_time *time);
// Adds a stage that the host measured.
void meter_host(struct meter *meter, const char *track, const char *name, int64_t start_ns, int64_t end_ns);
// Ends a frame that was shown before: its stages count, but not its age or interval.
void meter_shown_again(struct meter *meter);
void meter_shown(struct meter *meter, int64_t captured_ns, int64_t shown_ns);
// Forgets the stages and ages measured so far.
void meter_forget(struct meter *meter);
// The view is paused or continues: the interval up to the next frame does not count.
void meter_pause(struct meter *meter);

// Returns the duration of a stage of the frame last shown; 0: the frame has none of that name.
double meter_shown_ms(const struct meter *meter, const char *stage);
double meter_passes_ms(const struct meter *meter);      // median time of the passes of the frame last shown
double meter_fps(const struct meter *meter);            // over the whole run
double meter_fps_now(const struct meter *meter);        // over the last second
double meter_fps_low(const struct meter *meter);        // 1 % low: from the 99th percentile of the last 1000 intervals
double meter_first_frame_ms(const struct meter *meter); // from opened_ns to the first shown frame; 0 before it
double meter_late_ms(const struct stats *stats, double p); // percentile of the last 60 values

// Prints the stages, and the age if there is one, as a table. Prints nothing before the first frame.
void meter_print(const struct meter *meter, FILE *out);
