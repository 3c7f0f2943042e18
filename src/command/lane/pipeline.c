// pipeline.c: makes the table of column sums of a frame
#include "command/lane/pipeline.h"

#include "base/log.h"
#include "image/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RIDGE = 3, LEVELS = 256, WEAK = 5 };

bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map, const struct image_shape *shape)
{
    const size_t pixels = (size_t)lane_view.columns * (size_t)lane_view.rows;
    const struct image_shape rgba = {.width = shape->width, .height = shape->height};
    *pipeline = (struct lane_pipeline){.map = *map};
    bool ok = image_alloc(&pipeline->rgba, &rgba);
    for (int i = 0; i < LANE_STAGES; i++)
        ok = (pipeline->stage[i] = malloc(pixels)) && ok;
    pipeline->sums = malloc(LANE_STRIPS * (size_t)lane_view.columns * sizeof(*pipeline->sums));
    if (ok && pipeline->sums)
        return true;
    log_error("cannot find lanes: out of memory");
    return false;
}

void lane_pipeline_finish(struct lane_pipeline *pipeline)
{
    image_free(&pipeline->rgba);
    for (int i = 0; i < LANE_STAGES; i++)
        free(pipeline->stage[i]);
    free(pipeline->sums);
}

static double luma(const struct image *rgba, int x, int y)
{
    if (x < 0 || y < 0 || x >= rgba->shape.width || y >= rgba->shape.height)
        return 0;
    const uint8_t *p = image_row(rgba, 0, y) + 4 * (size_t)x;
    return (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
}

static void warp(struct lane_pipeline *pipeline)
{
    uint8_t *to = pipeline->stage[LANE_BIRD];
    for (int row = 0; row < lane_view.rows; row++)
        for (int column = 0; column < lane_view.columns; column++) {
            double at[2];
            *to++ = 0;
            if (!lane_map_apply(pipeline->map.warp, column, row, at) || !(fabs(at[0]) < 1e6 && fabs(at[1]) < 1e6))
                continue;
            const int x = (int)floor(at[0]), y = (int)floor(at[1]);
            const double fx = at[0] - x, fy = at[1] - y;
            const double upper = luma(&pipeline->rgba, x, y) * (1 - fx) + luma(&pipeline->rgba, x + 1, y) * fx;
            const double lower = luma(&pipeline->rgba, x, y + 1) * (1 - fx) + luma(&pipeline->rgba, x + 1, y + 1) * fx;
            to[-1] = (uint8_t)(upper * (1 - fy) + lower * fy + 0.5);
        }
}

// Noise becomes 0. Weak lines, which are far or in the shadow, come nearer to strong ones: without this, the threshold
// is between weak and strong lines.
static uint8_t strengthen(int value)
{
    return value > WEAK ? (uint8_t)floor(255 * sqrt((value - WEAK) / 255.0) + 0.5) : 0;
}

// The mean of a bar minus the mean of its brighter side, strengthened.
static void ridge_row(const uint8_t *row, uint8_t *to, int width)
{
    memset(to, 0, (size_t)width);
    for (int x = RIDGE + RIDGE / 2; x < width - RIDGE - RIDGE / 2; x++) {
        int left = 0, middle = 0, right = 0;
        for (int i = 0; i < RIDGE; i++) {
            left += row[x - RIDGE / 2 - RIDGE + i];
            middle += row[x - RIDGE / 2 + i];
            right += row[x - RIDGE / 2 + RIDGE + i];
        }
        const int value = (middle - (left > right ? left : right)) / RIDGE;
        to[x] = strengthen(value);
    }
}

static int otsu(const uint8_t *pixel, size_t pixels)
{
    double count[LEVELS] = {0}, all = 0, below = 0, sum = 0, best = -1;
    int level = 0;
    for (size_t i = 0; i < pixels; i++)
        count[pixel[i]]++;
    for (int i = 0; i < LEVELS; i++)
        all += i * count[i];
    for (int i = 0; i < LEVELS; i++) {
        below += count[i];
        sum += i * count[i];
        const double above = (double)pixels - below;
        if (below <= 0 || above <= 0)
            continue;
        const double distance = sum / below - (all - sum) / above, between = below * above * distance * distance;
        if (between > best) {
            best = between;
            level = i;
        }
    }
    return level;
}

void lane_pipeline_run(struct lane_pipeline *pipeline, const struct image *frame, struct lane_table *table)
{
    const size_t columns = (size_t)lane_view.columns, rows = (size_t)lane_view.rows;
    uint8_t *ridge = pipeline->stage[LANE_RIDGE], *mask = pipeline->stage[LANE_MASK];
    convert_to_rgba(&pipeline->rgba, frame);
    warp(pipeline);
    for (size_t row = 0; row < rows; row++)
        ridge_row(pipeline->stage[LANE_BIRD] + row * columns, ridge + row * columns, lane_view.columns);
    const int level = otsu(ridge, rows * columns);
    memset(pipeline->sums, 0, LANE_STRIPS * columns * sizeof(*pipeline->sums));
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            const size_t i = row * columns + column;
            mask[i] = ridge[i] > level ? 255 : 0;
            pipeline->sums[row * LANE_STRIPS / rows * columns + column] += mask[i];
        }
    *table = (struct lane_table){.sums = pipeline->sums,
                                 .strips = LANE_STRIPS,
                                 .columns = lane_view.columns,
                                 .full = 255 * (uint32_t)lane_view.rows / LANE_STRIPS,
                                 .across = lane_view.across,
                                 .near = lane_view.near,
                                 .far = lane_view.far};
}
