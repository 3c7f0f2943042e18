// copy.c: copies from one part of a large buffer to another
#include "bench/pool.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/random.h"
#include "compute/memory.h"
#include "compute/program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PIECE = 16,    // bytes that the kernel copies at once
    TRIES = 5,     // runs of each way to find the fastest
    WARM_RUNS = 2, // unmeasured runs of each way: drivers finish compiling in the first run
    FILL_BYTES = 1 << 20,
    TARGETS = 2,
};

// A way to copy.
struct copy_way {
    const char *name;
    int copies;   // pieces per work-item; 0: the driver's own copy
    size_t group; // work-items: 256 suit GPUs, more suit CPU devices
};

static const struct copy_way ways[] = {
    {"driver", 0, 1},
    {"kernel", 1, 256},
    {"kernel by 4", 4, 256},
    {"kernel, long", 1, 4096},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

struct device_copy {
    cl_command_queue queue;
    cl_mem memory;
    size_t bytes, place; // of a copy; from one place in the memory to the next (at least `bytes`)
    int sources, next;   // next: number of the next run
    cl_kernel kernel[WAYS];
    const struct copy_way *way; // the fastest
};

// Returns the bytes that a way copies: `bytes` rounded up to whole work-groups.
static size_t whole_bytes(const struct copy_way *way, size_t bytes)
{
    const size_t unit = PIECE * way->group * (size_t)(way->copies ? way->copies : 1);
    return (bytes + unit - 1) / unit * unit;
}

static cl_int enqueue(void *context, int run, struct device_span *span)
{
    struct device_copy *copy = context;
    const struct copy_way *way = copy->way;
    const size_t bytes = whole_bytes(way, copy->bytes);
    const size_t from = copy->place * (size_t)(copy->next % copy->sources);
    const size_t to = copy->place * (size_t)(copy->sources + copy->next % TARGETS);
    copy->next++;
    if (way->copies == 0) {
        cl_event event;
        const cl_int result =
            clEnqueueCopyBuffer(copy->queue, copy->memory, copy->memory, from, to, bytes, 0, NULL, &event);
        if (result == CL_SUCCESS)
            span_add(span, event);
        return result;
    }
    const cl_ulong offset[2] = {from / PIECE, to / PIECE};
    const size_t none[2] = {0}, items[2] = {bytes / PIECE / (size_t)way->copies, 1}, group[2] = {way->group, 1};
    const struct kernel_argument memory = {sizeof(cl_mem), &copy->memory};
    const struct kernel_argument arguments[] = {
        memory, {sizeof(*offset), &offset[0]}, memory, {sizeof(*offset), &offset[1]}};
    return kernel_run(copy->kernel[way - ways], copy->queue, arguments, 4, none, items, group, NULL, span);
}

bool device_copy_run(struct device_copy *copy, int runs, struct timing *timing)
{
    if (!timing_run(copy->queue, runs, enqueue, copy, timing))
        return false;
    const double share = (double)copy->bytes / (double)whole_bytes(copy->way, copy->bytes);
    timing->device_ms *= share;
    timing->wall_ms *= share;
    return true;
}

static bool make_kernel(struct device_copy *copy, struct device *device, int index)
{
    char options[64], *why;
    snprintf(options, sizeof(options), "-cl-std=CL1.2 -DCOPIES=%d", ways[index].copies);
    copy->kernel[index] = program_file_kernel(device, "copy.cl", options, "copy", &why);
    if (!copy->kernel[index])
        log_message(LOG_ERROR + LOG_LINES, "cannot measure copies: %s", why);
    free(why);
    return copy->kernel[index] != NULL;
}

// Fills the memory with repetitions of random bytes, because some GPUs copy zeros faster.
static bool fill(struct device_copy *copy)
{
    void *random = xmalloc(FILL_BYTES);
    random_fill(random, FILL_BYTES, 1);
    cl_int result = CL_SUCCESS;
    const size_t size = copy->place * (size_t)(copy->sources + TARGETS);
    for (size_t at = 0; result == CL_SUCCESS && at < size; at += FILL_BYTES) {
        const size_t bytes = size - at < FILL_BYTES ? size - at : FILL_BYTES;
        result = clEnqueueWriteBuffer(copy->queue, copy->memory, CL_TRUE, at, bytes, random, 0, NULL, NULL);
    }
    free(random);
    return compute_ok(result, "fill memory on the device");
}

static bool choose_way(struct device_copy *copy, struct device *device)
{
    double best_ms = 0;
    const struct copy_way *best = NULL;
    for (int i = 0; i < WAYS; i++) {
        struct timing timing;
        if (ways[i].group > device->info.max_work_group)
            continue;
        if (ways[i].copies && !make_kernel(copy, device, i))
            return false;
        copy->way = &ways[i];
        if (!device_copy_run(copy, WARM_RUNS, &timing) || !device_copy_run(copy, TRIES, &timing))
            return false;
        log_debug("%s: %zu bytes in %.3f ms", ways[i].name, copy->bytes, timing.device_ms);
        if (!best || timing.device_ms < best_ms) {
            best_ms = timing.device_ms;
            best = &ways[i];
        }
    }
    copy->way = best;
    return best != NULL;
}

struct device_copy *device_copy_open(struct device *device, size_t bytes, int sources)
{
    struct device_copy *copy = xalloc(sizeof(*copy));
    copy->bytes = bytes;
    copy->sources = sources;
    for (int i = 0; i < WAYS; i++)
        copy->place = whole_bytes(&ways[i], bytes) > copy->place ? whole_bytes(&ways[i], bytes) : copy->place;
    cl_int result;
    copy->queue = device_queue(device, true, &result);
    if (result == CL_SUCCESS)
        copy->memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE, copy->place * (size_t)(sources + TARGETS),
                                      NULL, &result);
    if (!compute_ok(result, "allocate device memory for copies") || !fill(copy) || !choose_way(copy, device)) {
        device_copy_close(copy);
        return NULL;
    }
    return copy;
}

void device_copy_close(struct device_copy *copy)
{
    if (!copy)
        return;
    if (copy->queue)
        compute_finish(copy->queue);
    for (int i = 0; i < WAYS; i++) {
        if (copy->kernel[i])
            clReleaseKernel(copy->kernel[i]);
    }
    memory_release(copy->memory);
    if (copy->queue)
        clReleaseCommandQueue(copy->queue);
    free(copy);
}
