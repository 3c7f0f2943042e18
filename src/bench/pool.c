// pool.c: random pictures, by shape, in the host's memory and in a device's
#include "bench/pool.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/pages.h"
#include "base/random.h"
#include "image/convert.h"
#include "path/path.h"

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

bool pictures_make(struct pictures *pictures, const struct image_shape *shape, int count)
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

// Computes the chain's output for the picture. The caller frees. False: logged.
static bool expect(const struct image *picture, const struct chain *chain, struct image *rgba)
{
    const struct image_shape shape = {.width = picture->shape.width, .height = picture->shape.height};
    *rgba = (struct image){0};
    bool ok = image_alloc(rgba, &shape);
    if (ok)
        convert_to_rgba(rgba, picture);
    for (int i = 0; ok && i < chain->count; i++) {
        struct image next = {0};
        const struct chain stage = {.stage = {chain->stage[i]}, .count = 1};
        const struct path_setup setup = {.kind = PATH_CPU, .input = rgba->shape, .chain = &stage};
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
