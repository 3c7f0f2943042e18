// launch.c: tests of the time of a launch, and of small launches
#include "bench/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "compute/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- one launch ----

enum { STAMPS = 4 };
static const cl_profiling_info stamp_names[STAMPS] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                                      CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};

// A part of a launch: between two stamps of its event, or by the host's clock.
struct launch_part {
    const char *name;
    enum { PART_EVENT, PART_HOST, PART_RESOLUTION } clock;
    int from, to;  // PART_EVENT: stamps
    bool profiled; // PART_HOST: on a queue with profiling
};

static const struct launch_part parts[] = {
    {"queued", PART_EVENT, 0, 1, true},  {"submitted", PART_EVENT, 1, 2, true},
    {"running", PART_EVENT, 2, 3, true}, {"roundtrip", PART_HOST, 0, 0, false},
    {"profiled", PART_HOST, 0, 0, true}, {"resolution", PART_RESOLUTION, 0, 0, true},
};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

struct launches {
    const struct launch_part *part;
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
    const struct launch_part *part = latency->part;
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
    const cl_int result =
        clEnqueueWriteBuffer(latency->queue, latency->launches, CL_TRUE, 0, sizeof(count), &count, 0, NULL, NULL);
    for (int i = 0; i < LAUNCHES; i++)
        if (launch(c, stamps) < 0)
            return false;
    return compute_ok(result, "clear the number of launches") &&
           bench_read(c->session, latency->launches, 0, &count, sizeof(count)) && count == LAUNCHES;
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
    cl_mem launches = compute_ok(result, "open a second queue") ? bench_memory(session, sizeof(cl_uint), NULL) : NULL;
    for (int i = 0; i < PARTS; i++) {
        latencies[i] = (struct launches){&parts[i], parts[i].profiled ? session->queue : plain, launches};
        cases[i].data = &latencies[i];
        bench_name(&cases[i], "part=%s", parts[i].name);
    }
    bench_run(session, cases, PARTS, launches, open_case);
}

const struct bench_test bench_test_latency = {
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

// ---- small launches ----

enum { SIDE_LEAST = 64, SIDE_MOST = 300, GROUP_WIDTH = 16, GROUP_HEIGHT = 8, PIXEL = 4, ROWS = 16 };
enum { QUEUE_PARTS = 4, BATCHES = 2, IMAGES_GPU = 1000, IMAGES_CPU = 48, IMAGES_LEAST = QUEUE_PARTS * BATCHES };

struct small_image {
    cl_int at, width, height, unused; // at: offset in its part, in pixels
};

// Each part has its own memory objects, because two queues must not change the same one at the same
// time.
struct queue_part {
    cl_mem from, to;
    int first, count;     // of the images
    size_t offset, bytes; // in the host's memory
};

struct small_images {
    struct small_image image[IMAGES_GPU];
    struct queue_part part[QUEUE_PARTS];
    int count;
    size_t bytes;
    cl_mem table;
    struct pinned from, to; // the host's memory
    uint8_t *expected;
    cl_command_queue queue[QUEUE_PARTS];
};

struct small_case {
    const struct small_images *images;
    bool packed, copies;
    int queues;
};

// ---- one run ----

static cl_int launch_small(const struct bench_case *c, cl_command_queue queue, const struct queue_part *part,
                           cl_int first, int count)
{
    const struct small_case *small = c->data;
    const struct small_image *image = &small->images->image[first];
    const size_t local[2] = {GROUP_WIDTH, GROUP_HEIGHT};
    const size_t each[2] = {bench_round_up(image->width, GROUP_WIDTH), bench_round_up(image->height, GROUP_HEIGHT)};
    const size_t packed[2] = {bench_round_up(SIDE_MOST, GROUP_WIDTH), (size_t)(ROWS * count)};
    cl_int result = clSetKernelArg(c->kernel, 0, sizeof(cl_mem), &part->from);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(c->kernel, 1, sizeof(cl_mem), &part->to);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(c->kernel, 2, sizeof(cl_mem), &small->images->table);
    if (result == CL_SUCCESS)
        result = clSetKernelArg(c->kernel, 3, sizeof(first), &first);
    if (result == CL_SUCCESS)
        result = clEnqueueNDRangeKernel(queue, c->kernel, 2, NULL, small->packed ? packed : each, local, 0, NULL, NULL);
    return result;
}

// Enqueues the work on the images from `first`. The queue runs its commands in order.
static cl_int enqueue(const struct bench_case *c, cl_command_queue queue, const struct queue_part *part, int first,
                      int count)
{
    const struct small_case *small = c->data;
    const struct small_images *m = small->images;
    const struct small_image *last = &m->image[first + count - 1];
    const size_t begin = (size_t)m->image[first].at * PIXEL,
                 bytes = (size_t)(last->at + last->width * last->height) * PIXEL - begin;
    cl_int result = CL_SUCCESS;
    if (small->copies)
        result = clEnqueueWriteBuffer(queue, part->from, CL_FALSE, begin, bytes, m->from.at + part->offset + begin, 0,
                                      NULL, NULL);
    if (result == CL_SUCCESS)
        result = launch_small(c, queue, part, first, count);
    if (result == CL_SUCCESS && small->copies)
        result = clEnqueueReadBuffer(queue, part->to, CL_FALSE, begin, bytes, m->to.at + part->offset + begin, 0, NULL,
                                     NULL);
    return result;
}

// Processes all images once and waits. The parts take turns, so that all queues have work.
static bool run_once(const struct bench_case *c)
{
    const struct small_case *small = c->data;
    const struct small_images *m = small->images;
    cl_int result = CL_SUCCESS;
    const int batches = small->packed ? BATCHES : m->part[0].count;
    for (int i = 0; result == CL_SUCCESS && i < batches * QUEUE_PARTS; i++) {
        const struct queue_part *part = &m->part[i % QUEUE_PARTS];
        const int begin = part->count * (i / QUEUE_PARTS) / batches,
                  end = part->count * (i / QUEUE_PARTS + 1) / batches;
        const cl_command_queue queue = m->queue[i % QUEUE_PARTS % small->queues];
        result = enqueue(c, queue, part, part->first + begin, end - begin);
        if (result == CL_SUCCESS && i < QUEUE_PARTS)
            result = clFlush(queue); // starts early; drivers start long queues themselves
    }
    for (int i = 0; result == CL_SUCCESS && i < small->queues; i++)
        result = clFlush(m->queue[i]);
    for (int i = 0; i < small->queues; i++) {
        const cl_int finished = compute_finish(m->queue[i]); // also after an error: commands use the memory
        result = result == CL_SUCCESS ? finished : result;
    }
    return compute_ok(result, "process small images");
}

// ---- check ----

// Clears the memory first. The run must then write all pixels, and copy them both ways if the case copies.
static bool check_small(struct bench_case *c)
{
    const struct small_case *small = c->data;
    const struct small_images *m = small->images;
    const cl_uint zero = 0;
    cl_int result = CL_SUCCESS;
    memset(m->to.at, 0, m->bytes);
    for (int i = 0; i < QUEUE_PARTS && result == CL_SUCCESS; i++) {
        const struct queue_part *part = &m->part[i];
        result = clEnqueueFillBuffer(m->queue[0], part->to, &zero, sizeof(zero), 0, part->bytes, 0, NULL, NULL);
        if (result == CL_SUCCESS && small->copies)
            result = clEnqueueFillBuffer(m->queue[0], part->from, &zero, sizeof(zero), 0, part->bytes, 0, NULL, NULL);
        else if (result == CL_SUCCESS)
            result = clEnqueueWriteBuffer(m->queue[0], part->from, CL_FALSE, 0, part->bytes, m->from.at + part->offset,
                                          0, NULL, NULL);
    }
    const cl_int finished = compute_finish(m->queue[0]);
    if (!compute_ok(result == CL_SUCCESS ? finished : result, "clear the images") || !run_once(c))
        return false;
    for (int i = 0; i < QUEUE_PARTS && result == CL_SUCCESS && !small->copies; i++)
        result = clEnqueueReadBuffer(m->queue[0], m->part[i].to, CL_TRUE, 0, m->part[i].bytes,
                                     m->to.at + m->part[i].offset, 0, NULL, NULL);
    return compute_ok(result, "read the images") && memcmp(m->to.at, m->expected, m->bytes) == 0;
}

static void emboss(const struct small_image *image, const uint8_t *from, uint8_t *to)
{
    const int width = image->width, height = image->height;
    for (int i = 0; i < width * height; i++) {
        const int x = i % width, y = i / width;
        const int left = clamp_int(x - 1, 0, width - 1), right = clamp_int(x + 1, 0, width - 1);
        const int above = clamp_int(y - 1, 0, height - 1) * width, below = clamp_int(y + 1, 0, height - 1) * width;
        const int row = y * width;
        for (int n = 0; n < PIXEL - 1; n++) {
            const int sum = 128 + from[(row + right) * PIXEL + n] - from[(row + left) * PIXEL + n] +
                            from[(below + x) * PIXEL + n] - from[(above + x) * PIXEL + n] +
                            from[(below + right) * PIXEL + n] - from[(above + left) * PIXEL + n];
            to[i * PIXEL + n] = (uint8_t)clamp_int(sum, 0, UINT8_MAX);
        }
        to[i * PIXEL + PIXEL - 1] = from[i * PIXEL + PIXEL - 1];
    }
}

// ---- memory ----

// Chooses the number and the sizes of images, and places them. The sizes are the same in each run of the
// program.
static void place_images(struct small_images *m, const struct device_info *info)
{
    uint64_t random = 1;
    m->count = info->type & CL_DEVICE_TYPE_CPU ? IMAGES_CPU : IMAGES_GPU;
    while (m->count / 2 >= IMAGES_LEAST && (size_t)m->count * SIDE_MOST * SIDE_MOST * PIXEL > info->memory_bytes / 8)
        m->count /= 2;
    for (int p = 0; p < QUEUE_PARTS; p++) {
        struct queue_part *part = &m->part[p];
        part->count = m->count / QUEUE_PARTS;
        part->first = p * part->count;
        part->offset = m->bytes;
        cl_int at = 0;
        for (struct small_image *image = &m->image[part->first]; image < &m->image[part->first + part->count];
             image++) {
            image->at = at;
            image->width = SIDE_LEAST + (int)(random_next(&random) % (SIDE_MOST - SIDE_LEAST + 1));
            image->height = SIDE_LEAST + (int)(random_next(&random) % (SIDE_MOST - SIDE_LEAST + 1));
            at += image->width * image->height;
        }
        part->bytes = (size_t)at * PIXEL;
        m->bytes += part->bytes;
    }
    m->count = QUEUE_PARTS * m->part[0].count;
}

// False on failure (logged).
static bool open_images(struct small_images *m, const struct bench_session *session)
{
    const struct device *device = session->device;
    cl_int result = CL_SUCCESS;
    place_images(m, &device->info);
    m->expected = xmalloc(m->bytes);
    bool ok = (m->table = bench_memory(session, sizeof(*m->image) * (size_t)m->count, m->image));
    for (int i = 0; i < QUEUE_PARTS && ok; i++) {
        struct queue_part *part = &m->part[i];
        m->queue[i] = device_queue(device, false, &result);
        part->from = bench_memory(session, part->bytes, NULL);
        part->to = bench_memory(session, part->bytes, NULL);
        ok = m->queue[i] && part->from && part->to;
    }
    if (ok)
        result = pinned_open(&m->from, device->context, m->queue[0], m->bytes);
    if (ok && result == CL_SUCCESS)
        result = pinned_open(&m->to, device->context, m->queue[0], m->bytes);
    if (!compute_ok(result, "allocate small images") || !ok)
        return false;
    random_fill(m->from.at, m->bytes, 1);
    for (int i = 0; i < m->count; i++) {
        const size_t at = m->part[i / m->part[0].count].offset + (size_t)m->image[i].at * PIXEL;
        emboss(&m->image[i], m->from.at + at, m->expected + at);
    }
    return true;
}

// ---- the cases ----

static void open_small(struct bench_case *c)
{
    const struct small_case *small = c->data;
    char options[32];
    snprintf(options, sizeof(options), "-DROWS=%d", ROWS);
    if (!bench_kernel(c, options, small->packed ? "packed" : "each") ||
        !bench_group_fits(c, GROUP_WIDTH * GROUP_HEIGHT))
        return;
    c->once = run_once;
    c->check = check_small;
    c->work = small->images->count;
}

static void run_small(struct bench_session *session)
{
    enum { WAYS = 2, QUEUES = 3, CASES = 2 * WAYS * QUEUES };
    struct bench_case cases[CASES] = {{0}};
    struct small_case all[CASES];
    struct small_images *images = xalloc(sizeof(*images)); // too large for the stack
    const bool open = open_images(images, session);
    for (int i = 0; i < CASES; i++) {
        struct bench_case *c = &cases[i];
        all[i] = (struct small_case){
            .images = images,
            .packed = i % WAYS == 1,
            .queues = 1 << (i / WAYS % QUEUES),
            .copies = i / WAYS / QUEUES == 1,
        };
        c->data = &all[i];
        const char *copies = all[i].copies ? "both" : "none";
        const char *way = all[i].packed ? "packed" : "each";
        bench_name(c, "copies=%s queues=%d way=%s", copies, all[i].queues, way);
    }
    bench_run(session, cases, CASES, open, open_small);
}

const struct bench_test bench_test_small = {
    .name = "small",
    .unit = "image/s",
    .definition =
        "emboss of 1000 RGBA images (48 on a CPU device) of 64x64 to 300x300 pixels, by the host's clock; each: "
        "one launch per image; packed: 8 launches for all images; queues: the images use this number of "
        "queues, so that copies and kernels can overlap; copies=both: copies each image to the device and "
        "back; none: the images stay on the device",
    .file = "bench/small.cl",
    .seconds = 2,
    .run = run_small,
};
