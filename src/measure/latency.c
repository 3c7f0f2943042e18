// latency.c: the test of the time that a launch takes, with a kernel that does almost nothing
#include "measure/bench_session.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STAMPS = 4 };
static const cl_profiling_info stamp_names[STAMPS] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                                      CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};

// A part of a launch: between two stamps of its event, or by the host's clock.
struct part {
    const char *name;
    enum { PART_EVENT, PART_HOST, PART_RESOLUTION } clock;
    int from, to;  // PART_EVENT: stamps
    bool profiled; // PART_HOST: on a queue with profiling
};

static const struct part parts[] = {
    {"queued", PART_EVENT, 0, 1, true},  {"submitted", PART_EVENT, 1, 2, true},
    {"running", PART_EVENT, 2, 3, true}, {"roundtrip", PART_HOST, 0, 0, false},
    {"profiled", PART_HOST, 0, 0, true}, {"resolution", PART_RESOLUTION, 0, 0, true},
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

struct launches {
    const struct part *part;
    cl_command_queue queue; // of the session, or one without profiling
    cl_mem launches;
};

// Launches the kernel once, waits, and reads the stamps. Returns the host's seconds; negative on failure (logged).
static double launch(struct bench_case *c, cl_ulong stamps[STAMPS])
{
    const struct launches *latency = c->data;
    static const size_t none[2] = {0};
    struct device_span span = {0};
    const int64_t start_ns = clock_now_ns();
    cl_int result = kernel_run(c->kernel, latency->queue, c->arguments, (cl_uint)c->argument_count, none, c->size,
                               c->local, NULL, &span);
    if (result == CL_SUCCESS)
        result = compute_finish(latency->queue);
    const double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    for (int i = 0; i < STAMPS; i++)
        stamps[i] = latency->part->profiled ? event_stamp(span.first, stamp_names[i]) : 0;
    span_release(&span);
    return compute_ok(result, "launch a kernel") ? seconds : -1;
}

// Returns the smaller of `least` and the smallest difference between stamps.
static double smallest_step(const cl_ulong stamps[STAMPS], double least)
{
    for (int i = 1; i < STAMPS; i++) {
        if (stamps[i] > stamps[i - 1])
            least = fmin(least, (double)(stamps[i] - stamps[i - 1]) / 1e9);
    }
    return least;
}

static double time_launches(struct bench_case *c, int runs)
{
    const struct launches *latency = c->data;
    const struct part *part = latency->part;
    double sum_s = 0, least_s = 1;
    for (int i = 0; i < runs; i++) {
        cl_ulong stamps[STAMPS];
        const double host_s = launch(c, stamps);
        if (host_s < 0)
            return -1;
        if (part->clock == PART_EVENT && (stamps[part->from] == 0 || stamps[part->to] < stamps[part->from]))
            return -1; // impossible
        least_s = smallest_step(stamps, least_s);
        sum_s += part->clock == PART_HOST ? host_s : (double)(stamps[part->to] - stamps[part->from]) / 1e9;
    }
    return part->clock == PART_RESOLUTION ? least_s : sum_s / runs;
}

// Every launch must have run.
static bool check(struct bench_case *c)
{
    enum { LAUNCHES = 10 };
    const struct launches *latency = c->data;
    cl_uint count = 0;
    cl_ulong stamps[STAMPS];
    cl_int result =
        clEnqueueWriteBuffer(latency->queue, latency->launches, CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL);
    for (int i = 0; i < LAUNCHES; i++)
        if (launch(c, stamps) < 0)
            return false;
    if (result == CL_SUCCESS)
        result =
            clEnqueueReadBuffer(latency->queue, latency->launches, CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL);
    return compute_ok(result, "read the number of launches") && count == LAUNCHES;
}

static void open_case(struct bench_case *c)
{
    struct launches *latency = c->data;
    if (!bench_kernel(c, "", "empty"))
        return;
    for (int i = 0; i < 2; i++)
        c->size[i] = c->local[i] = 1;
    bench_argument(c, &latency->launches, sizeof(cl_mem));
    c->time = time_launches;
    c->check = check;
}

static void run(struct bench_session *session)
{
    struct bench_case cases[PARTS] = {{0}};
    struct launches latencies[PARTS];
    cl_int result;
    cl_command_queue plain = device_queue(session->device, false, &result);
    cl_mem launches = result == CL_SUCCESS
                          ? clCreateBuffer(session->device->context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &result)
                          : NULL;
    for (int i = 0; i < PARTS; i++) {
        latencies[i] = (struct launches){&parts[i], parts[i].profiled ? session->queue : plain, launches};
        cases[i].data = &latencies[i];
        snprintf(cases[i].figure.parameters, sizeof(cases[i].figure.parameters), "part=%s", parts[i].name);
    }
    bench_run(session, cases, PARTS, compute_ok(result, "open a second queue and its memory"), open_case);
    memory_release(launches);
    if (plain)
        clReleaseCommandQueue(plain);
}

const struct measure_test measure_latency = {
    .name = "latency",
    .unit = "µs",
    .definition =
        "launch of an almost empty kernel; queued, submitted, running: time in this state, by the event clock; "
        "roundtrip: from enqueue to finish, by the host's clock; profiled: the same on a queue with "
        "profiling; resolution: smallest step of the event clock",
    .file = "bench/empty.cl",
    .seconds = 1,
    .run = run,
};
