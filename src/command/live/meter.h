// meter.h: how long every stage of every frame took, how old shown frames are and how often they come
#pragma once

#include "base/stats.h"
#include "base/trace.h"
#include "path/path.h"

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
    struct stats age_ms;                         // from the capture of a frame until it was shown
    struct stats interval_ms;                    // between shown frames
    uint64_t frames;                             // shown
    int64_t opened_ns, first_ns, last_ns;        // times: start, first and last frame shown; 0: not yet
    bool paused;                                 // the next interval is not one of the stream
    struct trace *trace;                         // borrowed; NULL for none
};

// A frame's stages, in order, go between meter_begin and meter_shown or meter_shown_again.
void meter_begin(struct meter *meter);
// `prefix` NULL: none. `track` names the row of the trace; NULL: not in the trace, as its place in time is not known.
void meter_add(struct meter *meter, const char *track, const char *prefix, const struct stage_time *time,
               uint64_t frame);
void meter_host(struct meter *meter, const char *track, const char *name, int64_t start_ns, int64_t end_ns,
                uint64_t frame);
// The same frame once more, through another chain or path: its stages count, not when it came.
void meter_shown_again(struct meter *meter);
void meter_shown(struct meter *meter, int64_t captured_ns, int64_t shown_ns);
// Forgets the stages and ages measured so far.
void meter_forget(struct meter *meter);
// No frame is due for a while (frozen): the gap says nothing about the rate.
void meter_pause(struct meter *meter);

double meter_fps(const struct meter *meter);               // over the whole run
double meter_fps_now(const struct meter *meter);           // over the last second
double meter_fps_low(const struct meter *meter);           // 1 % low: the rate of the slowest hundredth of late frames
double meter_first_frame_ms(const struct meter *meter);    // from start to the first shown frame; 0 before it
double meter_late_ms(const struct stats *stats, double p); // percentile of the last two seconds or so
