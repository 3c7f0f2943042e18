// flash_finder.c: which cells of a camera frame follow the flash
#include "command/latency/latency.h"

#include "base/alloc.h"
#include "image/convert.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS_LOOKED_AT = 4, // rows sampled per cell
    STEP_MIN = 6,       // smallest change of luma that counts: codecs and sensors cause smaller changes
    CELLS_MIN = 4,
};
static const double noise_times = 3; // minimum ratio of the step to the noise of single frames

void finder_look(const struct image *picture, struct finder_look *look)
{
    const struct image_shape *shape = &picture->shape;
    uint8_t *rgba = xmalloc((size_t)shape->width * 4);
    const struct color_coefficients coefficients =
        pixfmt_info(shape->format)->yuv ? color_to_rgb(shape->color) : (struct color_coefficients){0};
    for (int row = 0; row < FINDER_ROWS; row++) {
        uint64_t sum[FINDER_COLUMNS] = {0}, count[FINDER_COLUMNS] = {0};
        for (int i = 0; i < ROWS_LOOKED_AT; i++) {
            const int y = (int)((int64_t)shape->height * (row * ROWS_LOOKED_AT + i) / (FINDER_ROWS * ROWS_LOOKED_AT));
            convert_row_to_rgba(picture, &coefficients, 0, y, shape->width, rgba, ROW_CACHED);
            for (int x = 0; x < shape->width; x++) {
                const int column = (int)((int64_t)x * FINDER_COLUMNS / shape->width);
                const uint8_t *p = rgba + 4 * x;
                sum[column] += (uint64_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
                count[column]++;
            }
        }
        for (int column = 0; column < FINDER_COLUMNS; column++)
            look->cell[row * FINDER_COLUMNS + column] = count[column] ? (float)sum[column] / (float)count[column] : 0;
    }
    free(rgba);
}

void finder_learn(struct finder *finder, bool light, const struct finder_look *look)
{
    struct finder_sums *sums = &finder->seen[light];
    for (int i = 0; i < FINDER_CELLS; i++) {
        sums->sum[i] += look->cell[i];
        sums->squares[i] += (double)look->cell[i] * look->cell[i];
    }
    sums->count++;
}

static double deviation(const struct finder_sums *sums, int cell)
{
    const double mean = sums->sum[cell] / sums->count;
    return sqrt(fmax(0, sums->squares[cell] / sums->count - mean * mean));
}

void finder_end_round(struct finder *finder)
{
    const struct finder_sums *dark = &finder->seen[false], *light = &finder->seen[true];
    if (dark->count == 0 || light->count == 0)
        return;
    for (int i = 0; i < FINDER_CELLS; i++) {
        const double low = dark->sum[i] / dark->count, step = light->sum[i] / light->count - low;
        const double noise = fmax(deviation(dark, i), deviation(light, i));
        finder->step[i] = finder->rounds == 0 ? (float)step : fminf(finder->step[i], (float)step);
        finder->noise[i] = fmaxf(finder->noise[i], (float)noise);
        finder->dark[i] += ((float)low - finder->dark[i]) / (float)(finder->rounds + 1);
    }
    finder->rounds++;
    memset(finder->seen, 0, sizeof(finder->seen));
}

bool finder_ready(struct finder *finder)
{
    finder->weights = finder->strongest = 0;
    finder->cells = 0;
    for (int i = 0; i < FINDER_CELLS && finder->rounds > 0; i++) {
        const bool counts = finder->step[i] >= STEP_MIN && finder->step[i] >= noise_times * finder->noise[i];
        finder->strongest = fmaxf(finder->strongest, finder->step[i]);
        finder->weight[i] = counts ? finder->step[i] : 0;
        finder->weights += finder->weight[i] * finder->step[i];
        finder->cells += counts;
    }
    return finder->cells >= CELLS_MIN;
}

double finder_level(const struct finder *finder, const struct finder_look *look)
{
    double sum = 0;
    for (int i = 0; i < FINDER_CELLS; i++)
        sum += (double)finder->weight[i] * (look->cell[i] - finder->dark[i]);
    return finder->weights > 0 ? sum / finder->weights : 0;
}
