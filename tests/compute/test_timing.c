// test_timing.c: times of runs, from the time stamps of a fake device
#include "base/clock.h"
#include "compute/timing.h"

#include "unit.h"

enum { EVENTS = 6 };

// Two events of each run: the start of its first command and the end of its last one count.
static struct made_up {
    cl_ulong start_ns, end_ns;
} stamps[EVENTS];

static struct {
    int fails_at;          // the run that is not enqueued; -1: none
    cl_int finish, result; // result: of the last command
    int runs, events;
    bool apart; // the commands of a run are in two queues
    int64_t now_ns;
} queue;

cl_int __wrap_clFinish(cl_command_queue of);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size);
cl_int __wrap_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value, size_t *size);
cl_int __wrap_clReleaseEvent(cl_event event);
int64_t __wrap_clock_now_ns(void);

cl_int __wrap_clFinish(cl_command_queue of)
{
    queue.now_ns += 30000000;
    return queue.finish;
}

cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void *value, size_t *size)
{
    const struct made_up *stamp = (const struct made_up *)event;
    *(cl_ulong *)value = what == CL_PROFILING_COMMAND_START ? stamp->start_ns : stamp->end_ns;
    return CL_SUCCESS;
}

cl_int __wrap_clGetEventInfo(cl_event event, cl_event_info what, size_t room, void *value, size_t *size)
{
    *(cl_int *)value = event == (cl_event)&stamps[EVENTS - 1] ? queue.result : CL_COMPLETE;
    return CL_SUCCESS;
}

cl_int __wrap_clReleaseEvent(cl_event event)
{
    queue.events--;
    return CL_SUCCESS;
}

int64_t __wrap_clock_now_ns(void)
{
    return queue.now_ns;
}

static cl_int enqueue(void *context, int run, struct device_span *span)
{
    queue.runs++;
    if (run == queue.fails_at)
        return CL_OUT_OF_RESOURCES;
    const cl_event first = (cl_event)&stamps[2 * run], last = (cl_event)&stamps[2 * run + 1];
    span[0] = (struct device_span){first, last};
    if (queue.apart) {
        span[run % 2] = (struct device_span){last, last};
        span[1 - run % 2] = (struct device_span){first, first};
    }
    queue.events += queue.apart ? 4 : 2;
    return CL_SUCCESS;
}

// Three runs of 2, 4 and 6 ms within 30. Returns the logged error.
static const char *run(int fails_at, cl_int finish, struct timing *timing)
{
    static struct captured said;
    queue.fails_at = fails_at;
    queue.finish = finish;
    queue.runs = 0;
    capture_stderr(&said);
    const bool ok = timing_run(NULL, 3, enqueue, NULL, timing);
    captured_stderr(&said);
    CHECK(ok == (said.text[0] == '\0'));
    CHECK_NUMBER(queue.events, 0);
    return said.text;
}

static void stamp_all(void)
{
    for (int i = 0; i < EVENTS; i++) {
        stamps[i].start_ns = 1000000 + (cl_ulong)(i / 2) * 100000000 + (cl_ulong)(i % 2) * 1000000;
        stamps[i].end_ns = stamps[i].start_ns + (i % 2 ? (cl_ulong)(i / 2) * 2000000 + 1000000 : 500000);
    }
}

int main(void)
{
    struct timing timing;
    stamp_all();
    CHECK_TEXT(run(-1, CL_SUCCESS, &timing), "");
    CHECK_NUMBER(timing.device_ms, 4);
    CHECK_NUMBER(timing.wall_ms, 10);
    queue.apart = true;
    CHECK_TEXT(run(-1, CL_SUCCESS, &timing), "");
    CHECK_NUMBER(timing.device_ms, 4);
    queue.apart = false;
    CHECK_HAS(run(1, CL_SUCCESS, &timing), "CL_OUT_OF_RESOURCES");
    CHECK_NUMBER(queue.runs, 2);
    CHECK_HAS(run(-1, CL_INVALID_COMMAND_QUEUE, &timing), "CL_INVALID_COMMAND_QUEUE");
    CHECK_HAS(run(1, CL_INVALID_COMMAND_QUEUE, &timing), "CL_OUT_OF_RESOURCES");
    queue.result = CL_OUT_OF_HOST_MEMORY; // though the queue has finished
    CHECK_HAS(run(-1, CL_SUCCESS, &timing), "CL_OUT_OF_HOST_MEMORY");
    queue.result = CL_COMPLETE;
    stamps[2].start_ns = 0;
    CHECK_HAS(run(-1, CL_SUCCESS, &timing), "does not report the times");
    stamp_all();
    stamps[3].end_ns = stamps[2].start_ns - 1;
    CHECK_HAS(run(-1, CL_SUCCESS, &timing), "does not report the times");
    return check_end(&unit);
}
