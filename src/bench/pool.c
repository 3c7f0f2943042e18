// pool.c: random pictures in the memory of the host and of a device, frames of a path, and plain copies
#include "bench/pool.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "compute/memory.h"
#include "compute/program.h"
#include "image/convert.h"
#include "path/path.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- pictures ----

void pictures_free(struct pictures *pictures)
{
    while (pictures->count > 0)
        image_free(&pictures->image[--pictures->count]);
    free(pictures->image);
    pictures->image = NULL;
}

static bool pictures_make(struct pictures *pictures, const struct image_shape *shape, int count)
{
    *pictures = (struct pictures){.image = xcalloc((size_t)count, sizeof(*pictures->image))};
    while (pictures->count < count && image_alloc(&pictures->image[pictures->count], shape)) {
        image_randomize(&pictures->image[pictures->count], (uint32_t)pictures->count + 1);
        pictures->count++;
    }
    if (pictures->count == count)
        return true;
    log_error("cannot allocate %d images of %dx%d: out of memory", count, shape->width, shape->height);
    pictures_free(pictures);
    return false;
}

bool pictures_make_camera(struct pictures *pictures, int width, int height)
{
    const struct color unknown = {0};
    const struct image_shape shape = {
        .format = PIXFMT_NV21,
        .width = width,
        .height = height,
        .color = color_resolve(unknown, unknown, false, width, height),
    };
    return pictures_make(pictures, &shape, 1);
}

// ---- the check ----

// Returns the end of the filters from `first` on that one path must compute: a mask needs the filters that it limits.
static int group_end(const struct chain *chain, int first)
{
    int end = first + 1;
    for (int i = end; i < chain->count; i++) {
        if (filter_is_mask(chain->stage[i].filter) && chain_kept(chain, i) < end)
            end = i + 1;
    }
    return end;
}

// Computes the chain's output for the picture. The caller frees. False: logged.
static bool expect(const struct image *picture, const struct chain *chain, struct image *rgba)
{
    const struct image_shape shape = {.width = picture->shape.width, .height = picture->shape.height};
    *rgba = (struct image){0};
    bool ok = image_alloc(rgba, &shape);
    if (ok)
        convert_to_rgba(rgba, picture);
    for (int i = 0, end; ok && i < chain->count; i = end) {
        struct image next = {0};
        struct chain part = {0};
        for (end = group_end(chain, i); i + part.count < end; part.count++)
            part.stage[part.count] = chain->stage[i + part.count];
        const struct path_setup setup = {.kind = PATH_CPU, .input = rgba->shape, .chain = &part};
        ok = path_filter(&setup, rgba, &next, NULL);
        image_free(rgba);
        *rgba = next;
    }
    if (!ok) {
        log_error("cannot check the results: out of memory");
        image_free(rgba);
    }
    return ok;
}

static bool same(const struct image *got, const struct image *want, const char *what)
{
    const size_t row = 4 * (size_t)want->shape.width;
    for (int y = 0; y < want->shape.height; y++) {
        const uint8_t *a = got->plane[0] + (size_t)y * got->stride[0];
        const uint8_t *b = want->plane[0] + (size_t)y * want->stride[0];
        if (memcmp(a, b, row) == 0)
            continue;
        size_t x = 0;
        while (a[x] == b[x])
            x++;
        log_error("%s differs from the cpu path: channel %zu of pixel %zu,%d is %d instead of %d; this case is skipped",
                  what, x % 4, x / 4, y, a[x], b[x]);
        return false;
    }
    return true;
}

bool pictures_check(const struct pictures *pictures, const struct chain *chain,
                    bool (*first)(void *context, struct image *rgba), void *context, const char *what)
{
    struct image got = {0}, want = {0};
    const bool ok = expect(&pictures->image[0], chain, &want) && image_alloc(&got, &want.shape) &&
                    first(context, &got) && same(&got, &want, what);
    image_free(&got);
    image_free(&want);
    return ok;
}

// ---- the pool ----

enum { SHAPES_MAX = 2 * PIXFMT_COUNT * CASES_LIST };

// Pictures up to 4 megapixels are small.
static const size_t small_pixels = (size_t)4 << 20;
// More than the largest caches: 96 MiB of level 3 on one die, 60 MB of level 2 on the largest GPU.
static const size_t working_set_bytes = (size_t)160 << 20;

struct picture_pool {
    int pictures; // 0: by size
    struct lot {
        struct image_shape shape;
        struct pictures pictures;
        struct rig *rig[2]; // the same pictures in the device's memory, by `to_image`; NULL: none yet
    } lot[SHAPES_MAX];
    int lots;
    uint8_t *copy_memory; // for copies on the host; allocated at first use
    size_t copy_bytes;
};

struct picture_pool *pool_open(int pictures)
{
    struct picture_pool *pool = xalloc(sizeof(*pool));
    pool->pictures = pictures;
    return pool;
}

void pool_close(struct picture_pool *pool)
{
    if (!pool)
        return;
    for (struct lot *lot = pool->lot; lot < pool->lot + pool->lots; lot++) {
        rig_close(lot->rig[0]);
        rig_close(lot->rig[1]);
        pictures_free(&lot->pictures);
    }
    free(pool->copy_memory);
    free(pool);
}

static int count_pictures(const struct picture_pool *pool, const struct image_shape *shape)
{
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    if (pool->pictures > 0 || pixels <= small_pixels)
        return pool->pictures > 0 ? pool->pictures : 1;
    const size_t outputs = 4 * pixels * POOL_OUTPUTS;
    const size_t wanted = outputs < working_set_bytes ? (working_set_bytes - outputs) / image_bytes(shape) : 0;
    return wanted < 2 ? 2 : (int)wanted;
}

// Returns the lot of the shape, and makes it if it is new. NULL on failure (logged).
static struct lot *find_lot(struct picture_pool *pool, const struct image_shape *shape)
{
    struct lot *lot = pool->lot;
    for (; lot < pool->lot + pool->lots; lot++) {
        if (image_shape_equal(&lot->shape, shape))
            return lot;
    }
    const int count = count_pictures(pool, shape);
    struct pictures made;
    if (pool->lots == SHAPES_MAX) {
        log_error("there are more than %d sizes and formats in one run", SHAPES_MAX);
        return NULL;
    }
    if (!pictures_make(&made, shape, count))
        return NULL;
    pool->lots++;
    *lot = (struct lot){.shape = *shape, .pictures = made};
    return lot;
}

const struct pictures *pool_pictures(struct picture_pool *pool, const struct image_shape *shape)
{
    const struct lot *lot = find_lot(pool, shape);
    return lot ? &lot->pictures : NULL;
}

struct rig *pool_rig(struct picture_pool *pool, struct device *device, const struct image_shape *shape, bool to_image)
{
    struct lot *lot = find_lot(pool, shape);
    if (!lot || lot->rig[to_image])
        return lot ? lot->rig[to_image] : NULL;
    const struct path_setup setup = {.device = device, .input = *shape};
    struct rig *rig = rig_open(&setup, lot->pictures.count, to_image);
    bool ok = rig != NULL;
    for (int i = 0; ok && i < lot->pictures.count; i++)
        ok = rig_fill(rig, i, &lot->pictures.image[i]);
    if (ok)
        return lot->rig[to_image] = rig;
    rig_close(rig);
    return NULL;
}

uint8_t *pool_copies(struct picture_pool *pool, size_t bytes)
{
    if (pool->copy_bytes >= bytes)
        return pool->copy_memory;
    uint8_t *grown = pages_alloc(bytes);
    if (!grown) {
        log_error("cannot measure copies: cannot allocate %zu bytes", bytes);
        return NULL;
    }
    free(pool->copy_memory);
    pool->copy_memory = grown;
    pool->copy_bytes = bytes;
    random_fill(grown, bytes, 1);
    return grown;
}

// ---- whole frames through a path, from the source's memory to a texture or to the host's memory ----

const char *const frame_part_names[FRAME_PARTS] = {
    [FRAME_LATENCY] = "latency", [FRAME_PINNED] = "pinned",     [FRAME_WAIT] = "wait",
    [FRAME_COPY_IN] = "copy_in", [FRAME_UPLOAD] = "upload",     [FRAME_PASSES] = "passes",
    [FRAME_SHARE] = "share",     [FRAME_DOWNLOAD] = "download", [FRAME_TEXTURE] = "texture",
};

// The beginnings of the stages' names in src/path/opencl.c.
static const struct {
    const char *stage;
    enum frame_part part;
} stage_parts[] = {
    {"copy in", FRAME_COPY_IN}, {"device wait", FRAME_WAIT}, {"upload", FRAME_UPLOAD},     {"pass ", FRAME_PASSES},
    {"acquire", FRAME_SHARE},   {"release", FRAME_SHARE},    {"download", FRAME_DOWNLOAD}, {"map", FRAME_DOWNLOAD},
};

bool frames_open(struct frames *frames, const struct path_setup *setup, const struct pictures *pictures, char **error)
{
    *frames = (struct frames){
        .path = path_open(setup, error), .pictures = pictures, .depth = setup->depth, .gl = setup->textures};
    return frames->path != NULL;
}

void frames_close(struct frames *frames)
{
    path_close(frames->path);
    if (frames->gl)
        upload_finish(&frames->upload);
    *frames = (struct frames){0};
}

static double ms_between(int64_t start_ns, int64_t end_ns)
{
    return (double)(end_ns - start_ns) / 1e6;
}

static void add(struct frames *frames, enum frame_part part, double ms)
{
    frames->part[part].sum_ms += ms;
    frames->part[part].count++;
}

// Adds each part of the frame once, even if several stages belong to it.
static void add_parts(struct frames *frames, const struct path_result *result)
{
    double part_ms[FRAME_PARTS] = {0};
    bool has[FRAME_PARTS] = {false};
    for (int i = 0; i < result->stages; i++) {
        const struct stage_time *stage = &result->stage[i];
        for (size_t k = 0; k < sizeof(stage_parts) / sizeof(*stage_parts); k++) {
            if (strncmp(stage->name, stage_parts[k].stage, strlen(stage_parts[k].stage)) == 0) {
                part_ms[stage_parts[k].part] += ms_between(stage->start_ns, stage->end_ns);
                has[stage_parts[k].part] = true;
            }
        }
    }
    for (int i = 0; i < FRAME_PARTS; i++) {
        if (has[i])
            add(frames, (enum frame_part)i, part_ms[i]);
    }
}

// Waits for the oldest frame and returns the time at which it was finished; 0 on failure (logged).
static int64_t finish_frame(struct frames *frames, int64_t submitted_ns)
{
    struct path_result result;
    if (!path_collect(frames->path, &result))
        return 0;
    int64_t end_ns = clock_now_ns();
    if (frames->gl && !result.texture) {
        const int64_t start_ns = end_ns;
        if (!upload_picture(&frames->upload, &result.image))
            return 0;
        if (!upload_wait()) {
            log_error("GL did not finish the upload of a frame to a texture");
            return 0;
        }
        end_ns = clock_now_ns();
        add(frames, FRAME_TEXTURE, ms_between(start_ns, end_ns));
    }
    const bool copied = result.stages > 0 && strcmp(result.stage[0].name, "copy in") == 0;
    add_parts(frames, &result);
    add(frames, FRAME_LATENCY, ms_between(submitted_ns, end_ns));
    add(frames, FRAME_PINNED, ms_between(copied ? result.stage[0].end_ns : submitted_ns, end_ns));
    return end_ns;
}

// The clock starts and stops with a full pipeline, so that it counts as many starts of frames as ends.
bool frames_run(struct frames *frames, int runs, double *ms)
{
    const int first = frames->depth - 1, last = first + runs, total = last + frames->depth;
    int64_t submitted_ns[PATH_DEPTH_MAX], first_ns = 0;
    for (int i = 0; i < FRAME_PARTS; i++)
        frames->part[i].sum_ms = frames->part[i].count = 0;
    for (int submitted = 0, done = 0; done < total; done++) {
        for (; submitted < total && submitted - done < frames->depth; submitted++) {
            const struct image *picture = &frames->pictures->image[frames->next];
            frames->next = (frames->next + 1) % frames->pictures->count;
            submitted_ns[submitted % frames->depth] = clock_now_ns();
            if (!path_submit(frames->path, picture, NULL))
                return false;
        }
        const int64_t end_ns = finish_frame(frames, submitted_ns[done % frames->depth]);
        if (end_ns == 0)
            return false;
        if (done == first)
            first_ns = end_ns;
        if (done == last)
            *ms = ms_between(first_ns, end_ns) / runs;
    }
    return true;
}

bool frames_first(void *context, struct image *rgba)
{
    const struct frames *frames = context;
    struct path_result result;
    return path_submit(frames->path, &frames->pictures->image[0], NULL) && path_collect(frames->path, &result) &&
           path_read(frames->path, &result, rgba);
}

// ---- plain copies within the memory of a device ----

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
