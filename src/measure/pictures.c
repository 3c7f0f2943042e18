// pictures.c: random pictures, and the check of a chain's result
#include "measure/pictures.h"

#include "base/log.h"
#include "base/random.h"
#include "image/convert.h"
#include "path/path.h"

#include <stdlib.h>
#include <string.h>

void pictures_free(struct pictures *pictures)
{
    while (pictures->count > 0)
        image_free(&pictures->image[--pictures->count]);
    free(pictures->image);
    pictures->image = NULL;
}

bool pictures_make(struct pictures *pictures, const struct image_shape *shape, int count)
{
    *pictures = (struct pictures){.image = calloc((size_t)count, sizeof(*pictures->image))};
    while (pictures->image && pictures->count < count && image_alloc(&pictures->image[pictures->count], shape)) {
        random_fill(pictures->image[pictures->count].memory, image_bytes(shape), (uint32_t)pictures->count + 1);
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

// Runs one filter from RGBA to RGBA, a picture of another size if the filter changes it. The caller frees `to`.
static bool run_stage(const struct image *from, const struct stage *stage, struct image *to)
{
    const struct chain chain = {.stage = {*stage}, .count = 1};
    const struct path_setup setup = {.kind = PATH_CPU, .input = from->shape, .chain = &chain};
    struct path_result result;
    bool lost;
    struct path *path = path_open(&setup, NULL);
    const bool ok = path && path_submit(path, from, 0, &lost) && path_collect(path, &result, &lost) &&
                    image_alloc(to, &result.image.shape) && path_read(path, &result, to);
    path_close(path);
    return ok;
}

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
        ok = run_stage(rgba, &chain->stage[i], &next);
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
