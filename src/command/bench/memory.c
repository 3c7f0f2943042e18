// memory.c: random pictures, by shape, in the host's memory and in a device's; the check of a case's result
#include "command/bench/memory.h"

#include "base/log.h"
#include "base/pages.h"
#include "image/convert.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPES_MAX = 2 * PIXFMT_COUNT * CASES_LIST };

// Pictures up to 4 megapixels are small.
static const size_t small_pixels = (size_t)4 << 20;
// More than the largest caches: 96 MiB of level 3 on one die, 60 MB of level 2 on the largest GPU.
static const size_t working_set_bytes = (size_t)160 << 20;

struct bench_memory {
    int pictures; // 0: by size
    struct pool {
        struct image_shape shape;
        struct bench_pictures pictures;
        struct resident *resident[2]; // the same pictures in the device's memory, by `to_image`; NULL: none yet
    } pool[SHAPES_MAX];
    int pools;
    uint8_t *copy_memory; // for copies on the host; allocated at first use
    size_t copy_bytes;
    uint64_t random;
};

static void pictures_free(struct bench_pictures *pictures)
{
    while (pictures->count > 0)
        image_free(&pictures->image[--pictures->count]);
    free(pictures->image);
}

struct bench_memory *bench_memory_open(int pictures)
{
    struct bench_memory *memory = calloc(1, sizeof(*memory));
    if (memory)
        memory->pictures = pictures;
    else
        log_error("cannot measure: out of memory");
    return memory;
}

void bench_memory_close(struct bench_memory *memory)
{
    if (!memory)
        return;
    for (struct pool *pool = memory->pool; pool < memory->pool + memory->pools; pool++) {
        resident_close(pool->resident[0]);
        resident_close(pool->resident[1]);
        pictures_free(&pool->pictures);
    }
    free(memory->copy_memory);
    free(memory);
}

// SplitMix64 (Steele and others, 2014).
static void fill_random(struct bench_memory *memory, uint8_t *to, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t z = memory->random += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        z ^= z >> 31;
        memcpy(to + i, &z, bytes - i < 8 ? bytes - i : 8);
    }
}

static int count_pictures(const struct bench_memory *memory, const struct image_shape *shape)
{
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    if (memory->pictures > 0 || pixels <= small_pixels)
        return memory->pictures > 0 ? memory->pictures : 1;
    const size_t outputs = 4 * pixels * BENCH_OUTPUTS;
    const size_t wanted = outputs < working_set_bytes ? (working_set_bytes - outputs) / image_bytes(shape) : 0;
    return wanted < 2 ? 2 : (int)wanted;
}

// Returns the pool of the shape, and makes it if it is new. NULL on failure (logged).
static struct pool *find_pool(struct bench_memory *memory, const struct image_shape *shape)
{
    struct pool *pool = memory->pool;
    for (; pool < memory->pool + memory->pools; pool++) {
        if (image_shape_equal(&pool->shape, shape))
            return pool;
    }
    const int count = count_pictures(memory, shape);
    struct bench_pictures made = {0};
    if (memory->pools < SHAPES_MAX)
        made.image = calloc((size_t)count, sizeof(*made.image));
    if (!made.image) {
        log_error("cannot allocate the images: out of memory, or too many sizes and formats in one run");
        return NULL;
    }
    for (; made.count < count && image_alloc(&made.image[made.count], shape); made.count++)
        fill_random(memory, made.image[made.count].memory, image_bytes(shape));
    if (made.count < count) {
        log_error("cannot allocate %d images of %dx%d: out of memory", count, shape->width, shape->height);
        pictures_free(&made);
        return NULL;
    }
    memory->pools++;
    *pool = (struct pool){.shape = *shape, .pictures = made};
    return pool;
}

const struct bench_pictures *bench_memory_pictures(struct bench_memory *memory, const struct image_shape *shape)
{
    const struct pool *pool = find_pool(memory, shape);
    return pool ? &pool->pictures : NULL;
}

struct resident *bench_memory_resident(struct bench_memory *memory, struct device *device,
                                       const struct image_shape *shape, bool to_image)
{
    struct pool *pool = find_pool(memory, shape);
    if (!pool || pool->resident[to_image])
        return pool ? pool->resident[to_image] : NULL;
    const struct path_setup setup = {.device = device, .input = *shape};
    struct resident *resident = resident_open(&setup, pool->pictures.count, to_image);
    bool ok = resident != NULL;
    for (int i = 0; ok && i < pool->pictures.count; i++)
        ok = resident_fill(resident, i, &pool->pictures.image[i]);
    if (ok)
        return pool->resident[to_image] = resident;
    resident_close(resident);
    return NULL;
}

uint8_t *bench_memory_copies(struct bench_memory *memory, size_t bytes)
{
    if (memory->copy_bytes >= bytes)
        return memory->copy_memory;
    uint8_t *grown = pages_alloc(bytes);
    if (!grown) {
        log_error("cannot measure copies: cannot allocate %zu bytes", bytes);
        return NULL;
    }
    free(memory->copy_memory);
    memory->copy_memory = grown;
    memory->copy_bytes = bytes;
    fill_random(memory, grown, bytes);
    return grown;
}

// ---- the check ----

// Runs one filter from RGBA to RGBA.
static bool run_stage(const struct image *from, const struct stage *stage, struct image *to)
{
    const struct chain chain = {.stage = {*stage}, .count = 1};
    const struct path_setup setup = {.kind = PATH_CPU, .input = from->shape, .chain = &chain};
    struct path_result result;
    bool lost;
    struct path *path = path_open(&setup, NULL);
    const bool ok =
        path && path_submit(path, from, 0, &lost) && path_collect(path, &result, &lost) && path_read(path, &result, to);
    path_close(path);
    return ok;
}

// Computes the chain's output for the picture. The caller frees. False: logged.
static bool expect(const struct image *picture, const struct chain *chain, struct image *rgba)
{
    const struct image_shape shape = {.width = picture->shape.width, .height = picture->shape.height};
    struct image next = {0};
    *rgba = (struct image){0};
    bool ok = image_alloc(rgba, &shape) && image_alloc(&next, &shape);
    if (!ok)
        log_error("cannot check the results: out of memory");
    else
        convert_to_rgba(rgba, picture);
    for (int i = 0; ok && i < chain->count; i++) {
        ok = run_stage(rgba, &chain->stage[i], &next);
        const struct image swapped = *rgba;
        *rgba = next;
        next = swapped;
    }
    image_free(&next);
    if (!ok)
        image_free(rgba);
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

bool bench_check(const struct bench_pictures *pictures, const struct chain *chain,
                 bool (*first)(void *context, struct image *rgba), void *context, const char *what)
{
    const struct image_shape *shape = &pictures->image[0].shape;
    const struct image_shape rgba = {.width = shape->width, .height = shape->height};
    struct image got = {0}, want = {0};
    const bool ok = image_alloc(&got, &rgba) && expect(&pictures->image[0], chain, &want) && first(context, &got) &&
                    same(&got, &want, what);
    image_free(&got);
    image_free(&want);
    return ok;
}
