// taps.c: the weights of scale by area, Lanczos and nearest (docs/pixels.md section 3)
#include "filter/warp.h"

#include <math.h>

enum { TAPS_ONE = 1 << 14, LOBES = 3 };

// One side of the input and of the output.
struct axis {
    enum filter_taps taps;
    int from, to, count; // count: of the taps
};

static struct axis axis_of(const struct filter_map *map, int width, int height)
{
    const bool rows = map->part == FILTER_ALONG_ROWS;
    struct axis axis = {map->taps, rows ? width : height, rows ? map->width : map->height, 1};
    const double step = (double)axis.from / axis.to;
    if (map->taps == TAPS_AREA)
        axis.count = step > 1 ? (int)ceil(step) + 1 : 2;
    if (map->taps == TAPS_LANCZOS)
        axis.count = 2 * (int)ceil(LOBES * fmax(step, 1));
    return axis;
}

// Returns sin(pi x) / (pi x).
static double sinc(double x)
{
    const double angle = acos(-1) * x;
    return x == 0 ? 1 : sin(angle) / angle;
}

// Returns the first tap of output pixel `x`.
static int first_tap(const struct axis *axis, int x)
{
    const double step = (double)axis->from / axis->to, centre = (x + 0.5) * step - 0.5;
    if (axis->taps == TAPS_NEAREST)
        return (int)floor((x + 0.5) * step);
    if (axis->taps == TAPS_AREA && step > 1)
        return (int)floor((double)x * axis->from / axis->to);
    return (int)floor(centre) - axis->count / 2 + 1;
}

// Returns the weight of input pixel `at` for output pixel `x`.
static double weight_of(const struct axis *axis, int x, int at)
{
    const double step = (double)axis->from / axis->to, centre = (x + 0.5) * step - 0.5;
    const double begin = (double)x * axis->from / axis->to, end = (x + 1.0) * axis->from / axis->to;
    const double distance = fabs(at - centre) / fmax(step, 1);
    if (axis->taps == TAPS_NEAREST)
        return 1;
    if (axis->taps == TAPS_AREA)
        return step > 1 ? fmax(fmin(end, at + 1) - fmax(begin, at), 0) : 1 - distance;
    return distance < LOBES ? sinc(distance) * sinc(distance / LOBES) : 0;
}

int taps_count(const struct filter_map *map, int width, int height)
{
    const struct axis axis = axis_of(map, width, height);
    return TAPS_AT + axis.to * (1 + axis.count);
}

void taps_fill(const struct filter_map *map, int width, int height, int32_t *arguments)
{
    const struct axis axis = axis_of(map, width, height);
    int32_t *to = arguments + TAPS_AT;
    arguments[WARP_WIDTH_AT] = map->width;
    arguments[WARP_HEIGHT_AT] = map->height;
    arguments[TAPS_COUNT_AT] = axis.count;
    arguments[TAPS_DOWN_AT] = map->part == FILTER_ALONG_COLUMNS;
    for (int x = 0; x < axis.to; x++) {
        const int first = first_tap(&axis, x);
        double all = 0, sum = 0;
        int32_t before = 0;
        for (int i = 0; i < axis.count; i++)
            all += weight_of(&axis, x, first + i);
        *to++ = first;
        for (int i = 0; i < axis.count; i++) {
            sum += weight_of(&axis, x, first + i);
            const int32_t until = (int32_t)floor(TAPS_ONE * (sum / all) + 1e-9 + 0.5);
            *to++ = until - before;
            before = until;
        }
    }
}
