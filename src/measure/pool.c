// pool.c: random pictures, by shape, in the host's memory and in a device's
#include "measure/pool.h"

#include "base/log.h"
#include "base/pages.h"
#include "base/random.h"

#include <stdlib.h>

enum { SHAPES_MAX = 2 * PIXFMT_COUNT * CASES_LIST };

// Pictures up to 4 megapixels are small.
static const size_t small_pixels = (size_t)4 << 20;
// More than the largest caches: 96 MiB of level 3 on one die, 60 MB of level 2 on the largest GPU.
static const size_t working_set_bytes = (size_t)160 << 20;

struct pool {
    int pictures; // 0: by size
    struct lot {
        struct image_shape shape;
        struct pictures pictures;
        struct resident *resident[2]; // the same pictures in the device's memory, by `to_image`; NULL: none yet
    } lot[SHAPES_MAX];
    int lots;
    uint8_t *copy_memory; // for copies on the host; allocated at first use
    size_t copy_bytes;
};

struct pool *pool_open(int pictures)
{
    struct pool *pool = calloc(1, sizeof(*pool));
    if (pool)
        pool->pictures = pictures;
    else
        log_error("cannot measure: out of memory");
    return pool;
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    for (struct lot *lot = pool->lot; lot < pool->lot + pool->lots; lot++) {
        resident_close(lot->resident[0]);
        resident_close(lot->resident[1]);
        pictures_free(&lot->pictures);
    }
    free(pool->copy_memory);
    free(pool);
}

static int count_pictures(const struct pool *pool, const struct image_shape *shape)
{
    const size_t pixels = (size_t)shape->width * (size_t)shape->height;
    if (pool->pictures > 0 || pixels <= small_pixels)
        return pool->pictures > 0 ? pool->pictures : 1;
    const size_t outputs = 4 * pixels * POOL_OUTPUTS;
    const size_t wanted = outputs < working_set_bytes ? (working_set_bytes - outputs) / image_bytes(shape) : 0;
    return wanted < 2 ? 2 : (int)wanted;
}

// Returns the lot of the shape, and makes it if it is new. NULL on failure (logged).
static struct lot *find_lot(struct pool *pool, const struct image_shape *shape)
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

const struct pictures *pool_pictures(struct pool *pool, const struct image_shape *shape)
{
    const struct lot *lot = find_lot(pool, shape);
    return lot ? &lot->pictures : NULL;
}

struct resident *pool_resident(struct pool *pool, struct device *device, const struct image_shape *shape, bool to_image)
{
    struct lot *lot = find_lot(pool, shape);
    if (!lot || lot->resident[to_image])
        return lot ? lot->resident[to_image] : NULL;
    const struct path_setup setup = {.device = device, .input = *shape};
    struct resident *resident = resident_open(&setup, lot->pictures.count, to_image);
    bool ok = resident != NULL;
    for (int i = 0; ok && i < lot->pictures.count; i++)
        ok = resident_fill(resident, i, &lot->pictures.image[i]);
    if (ok)
        return lot->resident[to_image] = resident;
    resident_close(resident);
    return NULL;
}

uint8_t *pool_copies(struct pool *pool, size_t bytes)
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
