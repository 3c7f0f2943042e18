// memory.c: random pictures, by shape, in the host's memory and in a device's
#include "command/bench/memory.h"

#include "base/log.h"
#include "base/pages.h"
#include "base/random.h"

#include <stdlib.h>

enum { SHAPES_MAX = 2 * PIXFMT_COUNT * CASES_LIST };

// Pictures up to 4 megapixels are small.
static const size_t small_pixels = (size_t)4 << 20;
// More than the largest caches: 96 MiB of level 3 on one die, 60 MB of level 2 on the largest GPU.
static const size_t working_set_bytes = (size_t)160 << 20;

struct bench_memory {
    int pictures; // 0: by size
    struct pool {
        struct image_shape shape;
        struct pictures pictures;
        struct resident *resident[2]; // the same pictures in the device's memory, by `to_image`; NULL: none yet
    } pool[SHAPES_MAX];
    int pools;
    uint8_t *copy_memory; // for copies on the host; allocated at first use
    size_t copy_bytes;
};

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
    struct pictures made;
    if (memory->pools == SHAPES_MAX) {
        log_error("there are more than %d sizes and formats in one run", SHAPES_MAX);
        return NULL;
    }
    if (!pictures_make(&made, shape, count))
        return NULL;
    memory->pools++;
    *pool = (struct pool){.shape = *shape, .pictures = made};
    return pool;
}

const struct pictures *bench_memory_pictures(struct bench_memory *memory, const struct image_shape *shape)
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
    random_fill(grown, bytes, 1);
    return grown;
}
