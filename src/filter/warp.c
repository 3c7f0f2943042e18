// warp.c: computes the grid of a warp, and the weights of scale by area, Lanczos and nearest (docs/pixels.md section 3)
#include "filter/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- grids ----

enum {
    SHIFT_MOST = 4,
    PLACE_MAX = (1 << 23) - 1, // the kernel's sums then fit in 31 bits
    NODES_MOST = 1 << 24,      // a texture of GL holds their places
    // In 1/256 pixel, halfway between nodes. There the error of 1 / (a x + b) is at least half the greatest one.
    ERROR_MOST = 16,
};

static int nodes(int pixels, int shift)
{
    return ((pixels - 1) >> shift) + 2;
}

static int64_t count_nodes(const struct filter_map *map, int shift)
{
    return (int64_t)nodes(map->width, shift) * nodes(map->height, shift);
}

int warp_count(const struct filter_map *map)
{
    return WARP_GRID_AT + 2 * (int)count_nodes(map, map->shift);
}

static int32_t rounded(double at)
{
    return (int32_t)floor(fmin(fmax(256 * at, -PLACE_MAX), PLACE_MAX) + 0.5);
}

void lens_distort(const struct lens *lens, double point[2])
{
    const double a = point[0], b = point[1], r = a * a + b * b, *k = lens->term;
    if (lens->model == LENS_NONE)
        return;
    if (lens->model == LENS_RADIAL) {
        const double m = 1 + r * (k[0] + r * (k[1] + r * k[4]));
        point[0] = lens->focal_x * (a * m + 2 * k[2] * a * b + k[3] * (r + 2 * a * a)) + lens->centre_x;
        point[1] = lens->focal_y * (b * m + k[2] * (r + 2 * b * b) + 2 * k[3] * a * b) + lens->centre_y;
        return;
    }
    const double s = sqrt(r), o = atan(s), z = o * o;
    const double m = s > 0 ? o * (1 + z * (k[0] + z * (k[1] + z * (k[2] + z * k[3])))) / s : 1;
    point[0] = lens->focal_x * (a * m) + lens->centre_x;
    point[1] = lens->focal_y * (b * m) + lens->centre_y;
}

// Computes the place of an output pixel, in 1/256 pixel.
static void find_place(const struct filter_map *map, int x, int y, int32_t place[2])
{
    const double *m = map->matrix;
    const double w = fmax(m[6] * x + m[7] * y + m[8], 1e-9); // a pixel that looks backwards gets a place far outside
    double point[] = {(m[0] * x + m[1] * y + m[2]) / w, (m[3] * x + m[4] * y + m[5]) / w};
    lens_distort(&map->lens, point);
    place[0] = rounded(point[0]);
    place[1] = rounded(point[1]);
}

static int limited(int place, int pixels)
{
    const int last = 256 * (pixels - 1);
    if (place < 0)
        return 0;
    return place > last ? last : place;
}

// Returns true if a place halfway between nodes is near the mean of their places. Both are first limited to the input.
static bool is_near(const int32_t place[2], const int32_t a[2], const int32_t b[2], const int32_t c[2],
                    const int32_t d[2], const int size[2])
{
    for (int i = 0; i < 2; i++) {
        const int32_t mean = (int32_t)(((int64_t)a[i] + b[i] + c[i] + d[i] + 2) >> 2);
        const int error = limited(mean, size[i]) - limited(place[i], size[i]);
        if (error < -ERROR_MOST || error > ERROR_MOST)
            return false;
    }
    return true;
}

// Returns true if the pixels in the middle of each cell and of each side of a cell are near their exact places.
static bool is_exact(const struct filter_map *map, const int size[2], int shift)
{
    const int side = 1 << shift, half = side / 2;
    for (int y = 0; y < map->height; y += side) {
        const bool lower = y + half < map->height;
        int32_t at[3][3][2]; // the places around a cell, by column and row
        for (int x = 0; x < map->width; x += side) {
            for (int i = x > 0; i < 3; i++) {
                for (int j = 0; j < 3; j++)
                    find_place(map, x + i * half, y + j * half, at[i][j]);
            }
            const bool right = x + half < map->width;
            if ((right && !is_near(at[1][0], at[0][0], at[0][0], at[2][0], at[2][0], size)) ||
                (lower && !is_near(at[0][1], at[0][0], at[0][0], at[0][2], at[0][2], size)) ||
                (right && lower && !is_near(at[1][1], at[0][0], at[2][0], at[0][2], at[2][2], size)))
                return false;
            memcpy(at[0], at[2], sizeof(at[0]));
        }
    }
    return true;
}

int warp_shift(const struct filter_map *map, int width, int height)
{
    int shift = SHIFT_MOST;
    while (shift > 0 && count_nodes(map, shift - 1) <= NODES_MOST && !is_exact(map, (int[]){width, height}, shift))
        shift--;
    return shift;
}

bool warp_is_whole(const struct filter_map *map)
{
    const double *m = map->matrix;
    bool whole = map->lens.model == LENS_NONE && m[6] == 0 && m[7] == 0 && m[8] == 1;
    for (int i = 0; i < 6; i++)
        whole = whole && fabs(m[i] - floor(m[i] + 0.5)) < 1e-9;
    // The grid clamps places far outside; a clamped place need not be whole.
    for (int corner = 0; whole && corner < 4; corner++) {
        const int x = corner % 2 * (nodes(map->width, map->shift) - 1) << map->shift;
        const int y = corner / 2 * (nodes(map->height, map->shift) - 1) << map->shift;
        int32_t place[2];
        find_place(map, x, y, place);
        whole = abs(place[0]) < PLACE_MAX && abs(place[1]) < PLACE_MAX;
    }
    return whole;
}

void warp_fill(const struct filter_map *map, int32_t *arguments)
{
    int32_t *to = arguments + WARP_GRID_AT;
    const int columns = nodes(map->width, map->shift), rows = nodes(map->height, map->shift);
    arguments[WARP_WIDTH_AT] = map->width;
    arguments[WARP_HEIGHT_AT] = map->height;
    arguments[WARP_COLUMNS_AT] = columns;
    arguments[WARP_SHIFT_AT] = map->shift;
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++, to += 2)
            find_place(map, i << map->shift, j << map->shift, to);
    }
}

// ---- weights ----

enum { TAPS_ONE = 1 << 14, LOBES = 3 };

// One side of the input and of the output.
struct axis {
    enum filter_taps taps;
    int from, to, count; // count: of the taps
};

static struct axis axis_of(const struct filter_map *map, int width, int height)
{
    struct axis axis = {map->taps, height, map->height, 1};
    if (map->part == FILTER_ALONG_ROWS)
        axis = (struct axis){map->taps, width, map->width, 1};
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
