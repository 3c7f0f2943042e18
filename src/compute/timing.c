// timing.c: runs queued back to back, waited for once, their time taken from their events
#include "compute/timing.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>

struct span {
    cl_event first, last;
};

static cl_ulong stamp(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    return clGetEventProfilingInfo(event, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;
}

// The sum of all spans; 0 where a stamp is missing or absurd.
static double device_ns(const struct span *spans, int runs)
{
    double sum = 0;
    for (int i = 0; i < runs; i++) {
        const cl_ulong start = stamp(spans[i].first, CL_PROFILING_COMMAND_START);
        const cl_ulong end = stamp(spans[i].last, CL_PROFILING_COMMAND_END);
        if (start == 0 || end <= start)
            return 0;
        sum += (double)(end - start);
    }
    return sum;
}

bool timing_run(cl_command_queue queue, int runs,
                cl_int (*enqueue)(void *context, int run, cl_event *first, cl_event *last), void *context,
                struct timing *timing)
{
    assert(runs >= 1 && runs <= TIMING_RUNS);
    struct span spans[TIMING_RUNS] = {{0}};
    cl_int result = CL_SUCCESS;
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; result == CL_SUCCESS && i < runs; i++)
        result = enqueue(context, i, &spans[i].first, &spans[i].last);
    const cl_int finished = clFinish(queue);
    const int64_t end_ns = clock_now_ns();
    bool ok = compute_ok(result == CL_SUCCESS ? finished : result, "run a measurement on the device");
    if (ok) {
        timing->device_ms = device_ns(spans, runs) / 1e6 / runs;
        timing->wall_ms = (double)(end_ns - start_ns) / 1e6 / runs;
        ok = timing->device_ms > 0;
        if (!ok)
            log_error("the device does not report the times of its commands; use -p cpu");
    }
    for (int i = 0; i < runs; i++) {
        if (spans[i].first)
            clReleaseEvent(spans[i].first);
        if (spans[i].last)
            clReleaseEvent(spans[i].last);
    }
    return ok;
}
