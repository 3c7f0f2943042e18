// copy.c: plain copies in the host's memory, or in a device's
#include "command/bench/memory.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "compute/copy.h"

#include <stdlib.h>
#include <string.h>

struct bench_copy {
    struct bench_memory *memory;
    struct workers *workers;
    struct device_copy *device; // instead of workers
    size_t bytes;
    int sources, next;  // next: run
    uint8_t *from, *to; // of the running copy
};

// One part per thread: the longer a copy, the better the C library does it.
static void copy_part(void *context, int part)
{
    const struct bench_copy *copy = context;
    const size_t parts = (size_t)workers_count(copy->workers);
    const size_t first = copy->bytes * (size_t)part / parts, end = copy->bytes * (size_t)(part + 1) / parts;
    memcpy(copy->to + first, copy->from + first, end - first);
}

// From as many places as a case has pictures, to as many as it has outputs.
static uint8_t *host_memory(struct bench_copy *copy)
{
    return bench_memory_copies(copy->memory, copy->bytes * (size_t)(copy->sources + BENCH_OUTPUTS));
}

static bool run_on_host(struct bench_copy *copy, int runs, struct trial_time *time)
{
    uint8_t *memory = host_memory(copy);
    if (!memory)
        return false;
    const int64_t start_ns = clock_now_ns();
    for (int i = 0; i < runs; i++, copy->next++) {
        copy->from = memory + copy->bytes * (size_t)(copy->next % copy->sources);
        copy->to = memory + copy->bytes * (size_t)(copy->sources + copy->next % BENCH_OUTPUTS);
        workers_run(copy->workers, copy_part, copy, workers_count(copy->workers));
    }
    time->ms = time->wall_ms = (double)(clock_now_ns() - start_ns) / 1e6 / runs;
    return true;
}

bool bench_copy_run(void *context, int runs, struct trial_time *time)
{
    struct bench_copy *copy = context;
    if (!copy->device)
        return run_on_host(copy, runs, time);
    struct timing timing;
    if (!device_copy_run(copy->device, runs, &timing))
        return false;
    *time = (struct trial_time){timing.device_ms, timing.wall_ms};
    return true;
}

struct bench_copy *bench_copy_open(struct bench_memory *memory, const struct bench_copy_setup *setup)
{
    struct bench_copy *copy = calloc(1, sizeof(*copy));
    if (!copy) {
        log_error("cannot measure copies: out of memory");
        return NULL;
    }
    copy->memory = memory;
    copy->bytes = setup->bytes;
    copy->sources = setup->sources;
    const bool ok = setup->device
                        ? (copy->device = device_copy_open(setup->device, setup->bytes, setup->sources)) != NULL
                        : host_memory(copy) != NULL && (copy->workers = workers_open(setup->threads)) != NULL;
    if (ok)
        return copy;
    bench_copy_close(copy);
    return NULL;
}

void bench_copy_close(struct bench_copy *copy)
{
    if (!copy)
        return;
    workers_close(copy->workers);
    device_copy_close(copy->device);
    free(copy);
}

const char *bench_copy_way(const struct bench_copy *copy)
{
    return copy->device ? device_copy_way(copy->device) : "memcpy";
}
