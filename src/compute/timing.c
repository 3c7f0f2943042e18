// timing.c: measures commands on an OpenCL queue
#include "compute/timing.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>

void event_release(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

bool event_done(cl_event event)
{
    cl_int status;
    return !event ||
           clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL) != CL_SUCCESS ||
           status <= CL_COMPLETE; // negative: failed
}

cl_ulong event_stamp(cl_event event, cl_profiling_info what)
{
    cl_ulong value = 0;
    return event && clGetEventProfilingInfo(event, what, sizeof(value), &value, NULL) == CL_SUCCESS ? value : 0;
}

void span_join(struct device_span *span, struct device_span *next)
{
    if (!span->first) {
        *span = *next;
    } else if (next->first) {
        clReleaseEvent(span->last);
        clReleaseEvent(next->first);
        span->last = next->last;
    }
    *next = (struct device_span){0};
}

void span_add(struct device_span *span, cl_event event)
{
    clRetainEvent(event);
    span_join(span, &(struct device_span){event, event});
}

void span_release(struct device_span *span)
{
    event_release(&span->first);
    event_release(&span->last);
}

// Returns the sum of the spans in nanoseconds; 0 if a time is missing or impossible.
static double device_ns(const struct device_span *spans, int runs)
{
    double sum = 0;
    for (int i = 0; i < runs; i++) {
        const cl_ulong start = event_stamp(spans[i].first, CL_PROFILING_COMMAND_START);
        const cl_ulong end = event_stamp(spans[i].last, CL_PROFILING_COMMAND_END);
        if (start == 0 || end <= start)
            return 0;
        sum += (double)(end - start);
    }
    return sum;
}

bool timing_run(cl_command_queue queue, int runs, cl_int (*enqueue)(void *context, int run, struct device_span *span),
                void *context, struct timing *timing)
{
    assert(runs >= 1 && runs <= TIMING_RUNS);
    struct device_span spans[TIMING_RUNS] = {{0}};
    cl_int result = CL_SUCCESS;
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; result == CL_SUCCESS && i < runs; i++)
        result = enqueue(context, i, &spans[i]);
    const cl_int finished = compute_finish(queue);
    const int64_t end_ns = clock_now_ns();
    bool ok = compute_ok(result == CL_SUCCESS ? finished : result, "run a measurement on the device");
    if (ok) {
        timing->device_ms = device_ns(spans, runs) / 1e6 / runs;
        timing->wall_ms = (double)(end_ns - start_ns) / 1e6 / runs;
        ok = timing->device_ms > 0;
        if (!ok)
            log_error("the device does not report the times of its commands; use -p cpu");
    }
    for (int i = 0; i < runs; i++)
        span_release(&spans[i]);
    return ok;
}
