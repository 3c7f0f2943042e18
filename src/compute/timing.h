// timing.h: work on an OpenCL queue, timed by the device's clock and by the host's
#pragma once

#include "compute/cl.h"

#include <stdbool.h>

enum { TIMING_RUNS = 64 }; // in one call

// Averages over the runs of one call.
struct timing {
    double device_ms; // of a run by the device's own clock, from the start of its first command to the end of its last
    double wall_ms;   // by the host's clock, all runs queued at once and waited for together
};

// Calls enqueue(context, run, &first, &last) for run 0..runs-1, with at most TIMING_RUNS runs, and waits. The events
// are those of a run's first and last command; they may be one event retained twice, and are released here, also after
// a failure (NULL: none yet). The queue must have profiling. False on failure (logged).
bool timing_run(cl_command_queue queue, int runs,
                cl_int (*enqueue)(void *context, int run, cl_event *first, cl_event *last), void *context,
                struct timing *timing);
