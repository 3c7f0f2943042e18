// check.c: whether what is measured computes the right picture
#include "command/bench/bench.h"

#include "base/log.h"
#include "image/convert.h"

#include <stdlib.h>
#include <string.h>

// One filter alone, from RGBA to RGBA.
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

bool bench_expect(const struct image *picture, const struct chain *chain, struct image *rgba)
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

bool bench_same(const struct image *got, const struct image *want, const char *what)
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
