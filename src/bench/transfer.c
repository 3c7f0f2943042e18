// transfer.c: the tests of copies between the host's memory and the device's, at sizes of camera frames and in a sweep
#include "bench/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "compute/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { WAY_WRITE, WAY_READ, WAY_QUEUE_WRITE, WAY_QUEUE_READ, WAY_MAP_WRITE, WAY_MAP_READ };
enum { QUEUED = 4 }; // copies per run of WAY_QUEUE_WRITE and WAY_QUEUE_READ

// The host's clock decides: the time of a copy is over when the call, which waits, returns.
struct transfer {
    enum way way;
    size_t bytes;
    cl_mem device;
    uint8_t *host; // pageable, or a mapped buffer of CL_MEM_ALLOC_HOST_PTR
    const uint8_t *random;
    double event_s; // of all copies; negative: an event had an impossible time
    int copies;
};

struct way_row {
    const char *name;
    enum way way;
    bool pinned;
};
static const struct way_row ways[] = {
    {"write", WAY_WRITE, false},
    {"read", WAY_READ, false},
    {"pin-write", WAY_WRITE, true},
    {"pin-read", WAY_READ, true},
    {"queue-write", WAY_QUEUE_WRITE, true},
    {"queue-read", WAY_QUEUE_READ, true},
    {"map-write", WAY_MAP_WRITE, false},
    {"map-read", WAY_MAP_READ, false},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

// ---- one copy ----

// Maps the device's buffer, and touches each page: a driver may copy nothing until then.
static cl_int map(struct bench_case *c, cl_event *event)
{
    struct transfer *t = c->data;
    const bool read = t->way == WAY_MAP_READ;
    cl_int result;
    cl_event done = NULL;
    const cl_map_flags flags = read ? CL_MAP_READ : CL_MAP_WRITE_INVALIDATE_REGION;
    uint8_t *mapped = clEnqueueMapBuffer(c->session->queue, t->device, CL_TRUE, flags, 0, t->bytes, 0, NULL,
                                         read ? event : NULL, &result);
    if (result != CL_SUCCESS)
        return result;
    if (read)
        memcpy(t->host, mapped, t->bytes);
    else
        memcpy(mapped, t->host, t->bytes);
    result = clEnqueueUnmapMemObject(c->session->queue, t->device, mapped, 0, NULL, read ? &done : event);
    if (result == CL_SUCCESS)
        result = compute_finish(c->session->queue);
    event_release(&done);
    return result;
}

// Enqueues several copies and waits once.
static cl_int copy_queued(struct bench_case *c)
{
    const struct transfer *t = c->data;
    const cl_command_queue queue = c->session->queue;
    cl_int result = CL_SUCCESS;
    for (int i = 0; i < QUEUED && result == CL_SUCCESS; i++)
        result = t->way == WAY_QUEUE_WRITE
                     ? clEnqueueWriteBuffer(queue, t->device, CL_FALSE, 0, t->bytes, t->host, 0, NULL, NULL)
                     : clEnqueueReadBuffer(queue, t->device, CL_FALSE, 0, t->bytes, t->host, 0, NULL, NULL);
    const cl_int finished = compute_finish(queue);
    return result == CL_SUCCESS ? finished : result;
}

static cl_int copy(struct bench_case *c, cl_event *event)
{
    struct transfer *t = c->data;
    switch (t->way) {
    case WAY_WRITE:
        return clEnqueueWriteBuffer(c->session->queue, t->device, CL_TRUE, 0, t->bytes, t->host, 0, NULL, event);
    case WAY_READ:
        return clEnqueueReadBuffer(c->session->queue, t->device, CL_TRUE, 0, t->bytes, t->host, 0, NULL, event);
    case WAY_QUEUE_WRITE:
    case WAY_QUEUE_READ:
        return copy_queued(c);
    default:
        return map(c, event);
    }
}

static double time_copies(struct bench_case *c, int runs)
{
    struct transfer *t = c->data;
    double host_s = 0;
    for (int i = 0; i < runs; i++) {
        cl_event event = NULL;
        const int64_t start_ns = clock_now_ns();
        const cl_int result = copy(c, &event);
        const double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
        const cl_ulong start = event_stamp(event, CL_PROFILING_COMMAND_START);
        const cl_ulong end = event_stamp(event, CL_PROFILING_COMMAND_END);
        event_release(&event);
        if (!compute_ok(result, "copy to or from the device"))
            return -1;
        host_s += seconds;
        // A copy that takes longer than the call that waits for it, or ends before it starts, is impossible.
        if (start == 0 || end < start || (double)(end - start) / 1e9 > seconds)
            t->event_s = -1;
        if (t->event_s >= 0)
            t->event_s += (double)(end - start) / 1e9;
        t->copies++;
    }
    return host_s / runs;
}

// ---- check ----

// Writes random bytes to the device, in the way of the case or plainly, reads them and compares.
static bool check(struct bench_case *c)
{
    struct transfer *t = c->data;
    const bool writes = t->way == WAY_WRITE || t->way == WAY_QUEUE_WRITE || t->way == WAY_MAP_WRITE;
    const cl_command_queue queue = c->session->queue;
    const cl_uint zero = 0;
    cl_event event = NULL;
    cl_int result;
    if (writes) { // the memory may have these bytes from another case
        result = clEnqueueFillBuffer(queue, t->device, &zero, sizeof(zero), 0, t->bytes / sizeof(zero) * sizeof(zero),
                                     0, NULL, NULL);
        memcpy(t->host, t->random, t->bytes);
    } else {
        memset(t->host, 0, t->bytes);
        result = clEnqueueWriteBuffer(queue, t->device, CL_TRUE, 0, t->bytes, t->random, 0, NULL, NULL);
    }
    if (result == CL_SUCCESS)
        result = copy(c, &event);
    event_release(&event);
    if (result == CL_SUCCESS && writes) {
        memset(t->host, 0, t->bytes);
        result = clEnqueueReadBuffer(queue, t->device, CL_TRUE, 0, t->bytes, t->host, 0, NULL, NULL);
    }
    return compute_ok(result, "copy to or from the device") && memcmp(t->host, t->random, t->bytes) == 0;
}

// ---- the cases ----

struct memories {
    cl_mem device;
    struct pinned pinned;
    uint8_t *pageable, *random;
    size_t bytes;
};

// Returns the shortest seconds of several mappings of `bytes`; negative on failure. Before each, the device writes to
// the memory: a driver need not copy bytes that the host has already.
static double mapping_seconds(const struct bench_session *session, cl_mem buffer, size_t bytes)
{
    enum { TRIES = 30, WRITTEN = 4096 };
    double least_s = -1;
    for (cl_uint i = 0; i < TRIES; i++) {
        cl_int result = clEnqueueFillBuffer(session->queue, buffer, &i, sizeof(i), 0, WRITTEN, 0, NULL, NULL);
        compute_finish(session->queue);
        const int64_t start_ns = clock_now_ns();
        void *mapped = result == CL_SUCCESS ? clEnqueueMapBuffer(session->queue, buffer, CL_TRUE, CL_MAP_READ, 0, bytes,
                                                                 0, NULL, NULL, &result)
                                            : NULL;
        const double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
        if (result == CL_SUCCESS)
            result = clEnqueueUnmapMemObject(session->queue, buffer, mapped, 0, NULL, NULL);
        if (result != CL_SUCCESS || compute_finish(session->queue) != CL_SUCCESS)
            return -1;
        least_s = least_s < 0 ? seconds : fmin(least_s, seconds);
    }
    return least_s;
}

// Returns true if mapping copies nothing: mapping much memory takes no longer than mapping little. The difference must
// be shorter than a copy at LINK_GBPS, which is faster than any link between a device and the host. Comparing with the
// host's own copy is not enough: a device copies several times as fast as one processor.
static bool is_zero_copy(const struct bench_session *session, const struct memories *m)
{
    enum { LINK_GBPS = 500, PARTS = 16 };
    const size_t least = m->bytes / PARTS;
    const double less_s = mapping_seconds(session, m->device, least),
                 more_s = mapping_seconds(session, m->device, m->bytes);
    return less_s >= 0 && more_s >= 0 && more_s - less_s < (double)(m->bytes - least) / LINK_GBPS / 1e9;
}

// Allocates and touches all memory. False on failure (logged).
static bool open_memories(struct memories *m, const struct bench_session *session, size_t bytes)
{
    enum { ALIGNMENT = 4096 };
    cl_int result = CL_OUT_OF_HOST_MEMORY;
    *m = (struct memories){.bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT};
    m->pageable = aligned_alloc(ALIGNMENT, m->bytes);
    m->random = aligned_alloc(ALIGNMENT, m->bytes);
    if (!(m->device = bench_memory(session, m->bytes, NULL)))
        return false;
    if (m->pageable && m->random)
        result = pinned_open(&m->pinned, session->device->context, session->queue, m->bytes);
    if (!compute_ok(result, "allocate memory for copies"))
        return false;
    random_fill(m->random, m->bytes, 1);
    memcpy(m->pageable, m->random, m->bytes);
    memcpy(m->pinned.at, m->random, m->bytes);
    return true;
}

// Sets no event time for mappings, whose events cover only a part of their time, nor for queued copies, whose events
// overlap.
static void add_event(struct bench_case *c)
{
    const struct transfer *t = c->data;
    if (t->way > WAY_READ)
        return;
    if (t->event_s > 0)
        c->figure.by_event = c->work * t->copies / t->event_s;
    else
        snprintf(c->figure.note, sizeof(c->figure.note), "the event has impossible times");
}

struct transfer_size {
    const char *name;
    size_t bytes;
};

// The name is the first parameter of a case, and the way the second.
static void run_sizes(struct bench_session *session, const char *key, const struct transfer_size *sizes, int count)
{
    const int total = count * WAYS;
    struct bench_case *cases = xcalloc((size_t)total, sizeof(*cases));
    struct transfer *transfers = xcalloc((size_t)total, sizeof(*transfers));
    struct memories memories = {0};
    size_t most = 0;
    for (int i = 0; i < count; i++)
        most = sizes[i].bytes > most ? sizes[i].bytes : most;
    const bool open = open_memories(&memories, session, most);
    const bool zero_copy = open && is_zero_copy(session, &memories);
    for (int i = 0; i < total; i++) {
        const struct way_row *way = &ways[i % WAYS];
        struct bench_case *c = &cases[i];
        c->data = &transfers[i];
        bench_name(c, "%s=%s way=%s", key, sizes[i / WAYS].name, way->name);
        transfers[i] = (struct transfer){
            .way = way->way,
            .bytes = sizes[i / WAYS].bytes,
            .device = memories.device,
            .host = way->pinned ? memories.pinned.at : memories.pageable,
            .random = memories.random,
        };
        c->time = time_copies;
        c->check = check;
        c->finish = add_event;
        c->work = (double)transfers[i].bytes / 1e9;
        if (way->way == WAY_QUEUE_WRITE || way->way == WAY_QUEUE_READ)
            c->work *= QUEUED;
        if (zero_copy && way->way == WAY_MAP_READ && transfers[i].bytes == most)
            snprintf(c->figure.note, sizeof(c->figure.note), "zero copy: the mapping itself copies nothing");
    }
    bench_run(session, cases, total, open, NULL);
}

static void run_frames(struct bench_session *session)
{
    static const struct transfer_size sizes[] = {
        {"640x480-nv21", 640 * 480 * 3 / 2},     {"1280x720-nv21", 1280 * 720 * 3 / 2},
        {"1920x1080-nv21", 1920 * 1080 * 3 / 2}, {"1920x1080-rgba", 1920 * 1080 * 4},
        {"3840x2160-nv21", 3840 * 2160 * 3 / 2}, {"3840x2160-rgba", 3840 * 2160 * 4},
    };
    run_sizes(session, "frame", sizes, sizeof(sizes) / sizeof(*sizes));
}

static void run_sweep(struct bench_session *session)
{
    static const struct transfer_size sizes[] = {
        {"4KiB", 4 << 10}, {"64KiB", 64 << 10}, {"1MiB", 1 << 20}, {"16MiB", 16 << 20}, {"64MiB", 64 << 20},
    };
    run_sizes(session, "size", sizes, sizeof(sizes) / sizeof(*sizes));
}

const struct bench_test bench_test_transfer_frame = {
    .name = "transfer.frame",
    .unit = "GB/s",
    .definition =
        "copies a camera frame to the device (write) or back (read), by the host's clock; pin: host memory that the "
        "driver allocated; queue: enqueues four copies of 'pin', then waits once; map: the host maps, copies and "
        "unmaps",
    .seconds = 4,
    .run = run_frames,
};

const struct bench_test bench_test_transfer_size = {
    .name = "transfer.size",
    .unit = "GB/s",
    .definition = "as transfer.frame, for sizes from 4 KiB to 64 MiB",
    .seconds = 4,
    .run = run_sweep,
};
