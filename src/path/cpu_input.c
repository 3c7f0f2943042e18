// cpu_input.c: rows of the picture as a run's first pass takes them
#include "path/cpu_input.h"

#include "base/avx2.h"
#include "filter/rows.h"
#include "image/rgb_rows.h"

#include <string.h>

const uint8_t *cpu_point_filters(const struct stage *const *stages, int count, const uint8_t *from, uint8_t *rgba,
                                 int width)
{
    for (int i = 0; i < count; i++, from = rgba)
        stages[i]->filter->point_row(&stages[i]->arguments, from, rgba, width, false);
    return from;
}

static int picture_row(const struct cpu_run *run, int y)
{
    return run->passes[0].load_flip ? run->from->shape.height - 1 - y : y;
}

const uint8_t *cpu_input_row(const struct cpu_run *run, int y)
{
    return run->from->plane[0] + (size_t)picture_row(run, y) * run->from->stride[0];
}

const uint8_t *cpu_input_rgba_row(const struct cpu_run *run, int y)
{
    const struct image_shape *shape = &run->from->shape;
    return shape->format == PIXFMT_RGBA && y < shape->height ? cpu_input_row(run, y) : NULL;
}

// Row `y` in RGBA, mirrored if need be, and run through the first `points` of the filters ahead of the stencil. Returns
// where it is: in `rgba`, or in the picture itself, if nothing had to be done.
static const uint8_t *load_pixels(const struct cpu_run *run, int y, int points, uint8_t *rgba)
{
    const struct pass *pass = run->passes;
    const int width = run->from->shape.width;
    const uint8_t *at = cpu_input_rgba_row(run, y);
    if (!at) {
        convert_row_to_rgba(run->from, &run->coefficients, 0, picture_row(run, y), run->from->shape.width, rgba);
        at = rgba;
    }
    if (pass->load_mirror) {
        rgb_rows()->mirror(at, rgba, width);
        at = rgba;
    }
    return cpu_point_filters(pass->before, points, at, rgba, width);
}

void cpu_input_load(const struct cpu_run *run, int y, uint8_t *to)
{
    const uint8_t *at = load_pixels(run, y, run->passes[0].before_count, to);
    if (at != to)
        memcpy(to, at, 4 * (size_t)run->from->shape.width);
}

void cpu_input_load_grey(const struct cpu_run *run, int y, uint8_t *rgba, uint8_t *to)
{
    row_to_grey(load_pixels(run, y, run->passes[0].before_count, rgba), to, run->from->shape.width);
}

bool cpu_input_goes_past(const struct cpu_run *run)
{
    const struct pass *pass = run->passes;
    const bool last_turns = pass->before_count == 0 && pass->load_mirror;
    return run->past_caches && !pass->stencil && run->to->stride[0] % AVX2_PAST_ALIGNMENT == 0 &&
           (!last_turns || run->from->shape.format == PIXFMT_RGBA);
}

void cpu_input_load_past(const struct cpu_run *run, int y, uint8_t *rgba, uint8_t *to)
{
    const struct pass *pass = run->passes;
    const int last = pass->before_count - 1, width = run->from->shape.width;
    const uint8_t *pixels = cpu_input_rgba_row(run, y);
    if (last < 0 && pass->load_mirror) {
        rgb_rows()->mirror(pixels, to, width);
    } else if (last < 0 && pixels) {
        memcpy(to, pixels, 4 * (size_t)width);
    } else if (last < 0) {
        convert_row_to_rgba(run->from, &run->coefficients, 0, picture_row(run, y), run->from->shape.width, to);
    } else {
        const struct stage *stage = pass->before[last];
        stage->filter->point_row(&stage->arguments, load_pixels(run, y, last, rgba), to, width, true);
    }
}
