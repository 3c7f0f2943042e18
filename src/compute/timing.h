// timing.h: events of commands on an OpenCL queue, and their times on the device's clock and on the host's
#pragma once

#include "compute/cl.h"

// The events of the first and the last command of a piece of work. If it has one command, its event is retained twice.
// NULL: no command yet.
struct device_span {
    cl_event first, last;
};
void span_add(struct device_span *span, cl_event event);            // adds the next command; takes over its event
void span_join(struct device_span *span, struct device_span *next); // adds the work that follows; takes over its events
void span_release(struct device_span *span);                        // leaves it empty

void event_release(cl_event *event);                          // accepts NULL events; sets it to NULL
bool event_done(cl_event event);                              // true if the command has finished or failed, or for NULL
cl_ulong event_stamp(cl_event event, cl_profiling_info what); // ns of the device's clock; 0: unknown

enum { TIMING_RUNS = 64, TIMING_QUEUES = 2 }; // maximum per call

// Averages over the runs of one call.
struct timing {
    double device_ms; // on the device's clock, from the first start of a run's commands to their last end
    double wall_ms;   // on the host's clock: all runs are queued at once and waited for together
};

// `span`: one for each queue that has commands of the run. The queue of timing_try ends last.
typedef cl_int timing_enqueue(void *context, int run, struct device_span span[TIMING_QUEUES]);

// Calls enqueue(context, run, &span) for each run from 0 to runs - 1 (`runs`: 1 to TIMING_RUNS), waits for all, and
// releases the spans. The queue must be timed (device_queue). CL_PROFILING_INFO_NOT_AVAILABLE: the device reports no
// times.
cl_int timing_try(cl_command_queue queue, int runs, timing_enqueue *enqueue, void *context, struct timing *timing);
// The same; false on failure (logged).
bool timing_run(cl_command_queue queue, int runs, timing_enqueue *enqueue, void *context, struct timing *timing);
