// timing.h: commands on an OpenCL queue: their events, and their times by the device's clock and by the host's
#pragma once

#include "compute/cl.h"

// The events of a piece of work: of its first command and its last one. One event is retained twice if there is one
// command. NULL: none yet.
struct span {
    cl_event first, last;
};
void span_add(struct span *span, cl_event event);     // takes over the event of the next command
void span_join(struct span *span, struct span *next); // takes over the events of the work that follows
void span_release(struct span *span);                 // leaves it empty

void event_release(cl_event *event);                          // takes NULL events; sets it to NULL
bool event_done(cl_event event);                              // true for finished and failed commands, and NULL
cl_ulong event_stamp(cl_event event, cl_profiling_info what); // ns of the device's clock; 0: none, or NULL

enum { TIMING_RUNS = 64 }; // in one call

// Averages over the runs of one call.
struct timing {
    double device_ms; // of a run by the device's clock, from the start of its first command to the end of its last
    double wall_ms;   // by the host's clock; all runs are queued at once and waited for together
};

// Calls enqueue(context, run, &span) for each run, 0 to runs - 1, with at most TIMING_RUNS runs; waits; then releases
// the spans. The queue must be timed. False on failure (logged).
bool timing_run(cl_command_queue queue, int runs, cl_int (*enqueue)(void *context, int run, struct span *span),
                void *context, struct timing *timing);
