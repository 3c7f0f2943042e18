// timing.c: measures commands on an OpenCL queue
#include "compute/timing.h"

#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <limits.h>

void event_release(cl_event *event)
{
    if (*event)
        clReleaseEvent(*event);
    *event = NULL;
}

// Returns the state of the command: CL_COMPLETE, which is CL_SUCCESS, or less if it failed, or more if it has not
// ended.
static cl_int event_result(cl_event event)
{
    cl_int status;
    const bool known =
        event && clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL) == CL_SUCCESS;
    return known ? status : CL_COMPLETE;
}

bool event_done(cl_event event)
{
    return event_result(event) <= CL_COMPLETE;
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
static double device_ns(struct device_span spans[][TIMING_QUEUES], int runs)
{
    double sum = 0;
    for (int i = 0; i < runs; i++) {
        cl_ulong least = ULONG_MAX, most = 0;
        for (int q = 0; q < TIMING_QUEUES; q++) {
            const cl_ulong start = event_stamp(spans[i][q].first, CL_PROFILING_COMMAND_START);
            const cl_ulong end = event_stamp(spans[i][q].last, CL_PROFILING_COMMAND_END);
            if (spans[i][q].first && (start == 0 || end <= start))
                return 0;
            least = spans[i][q].first && start < least ? start : least;
            most = end > most ? end : most;
        }
        if (most == 0)
            return 0;
        sum += (double)(most - least);
    }
    return sum;
}

cl_int timing_try(cl_command_queue queue, int runs, timing_enqueue *enqueue, void *context, struct timing *timing)
{
    assert(runs >= 1 && runs <= TIMING_RUNS);
    struct device_span spans[TIMING_RUNS][TIMING_QUEUES] = {{{0}}};
    cl_int result = CL_SUCCESS;
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; result == CL_SUCCESS && i < runs; i++)
        result = enqueue(context, i, spans[i]);
    const cl_int finished = compute_finish(queue);
    const int64_t end_ns = clock_now_ns();
    result = result == CL_SUCCESS ? finished : result;
    for (int i = 0; result == CL_SUCCESS && i < runs * TIMING_QUEUES; i++)
        result = event_result(spans[i / TIMING_QUEUES][i % TIMING_QUEUES].last);
    if (result == CL_SUCCESS) {
        timing->device_ms = device_ns(spans, runs) / 1e6 / runs;
        timing->wall_ms = (double)(end_ns - start_ns) / 1e6 / runs;
        result = timing->device_ms > 0 ? CL_SUCCESS : CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    for (int i = 0; i < runs * TIMING_QUEUES; i++)
        span_release(&spans[i / TIMING_QUEUES][i % TIMING_QUEUES]);
    return result;
}

bool timing_run(cl_command_queue queue, int runs, timing_enqueue *enqueue, void *context, struct timing *timing)
{
    const cl_int result = timing_try(queue, runs, enqueue, context, timing);
    if (result != CL_PROFILING_INFO_NOT_AVAILABLE)
        return compute_ok(result, "run a measurement on the device");
    log_error("the device does not report the times of its commands; use -p cpu");
    return false;
}
