// test_warp.c: the grids of warps, whose places must be within 1/8 pixel of the exact ones
#include "check.h"
#include "filter/chain.h"
#include "filter/warp.h"
#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 360, FOCAL = 400, NODE_BITS = 8 };

static double limited(double place, int pixels)
{
    return fmin(fmax(place, 0), pixels - 1);
}

// Sets the exact place of an output pixel.
static void exact_place(const struct filter_map *map, int x, int y, double place[2])
{
    const double *m = map->matrix, t = fmax(m[6] * x + m[7] * y + m[8], 1e-9);
    place[0] = (m[0] * x + m[1] * y + m[2]) / t;
    place[1] = (m[3] * x + m[4] * y + m[5]) / t;
    lens_distort(&map->lens, place);
}

// Returns u (axis 0) or v of an output pixel, by the rule of docs/pixels.md.
static double grid_place(const int32_t *numbers, int x, int y, int axis)
{
    const int shift = numbers[WARP_SHIFT_AT], side = 1 << shift, f = x % side, g = y % side;
    const int32_t *node = numbers + WARP_GRID_AT + 2 * ((y >> shift) * numbers[WARP_COLUMNS_AT] + (x >> shift)) + axis;
    const int32_t *below = node + 2 * numbers[WARP_COLUMNS_AT];
    const double sum = ((double)node[0] * (side - f) + (double)node[2] * f) * (side - g) +
                       ((double)below[0] * (side - f) + (double)below[2] * f) * g;
    return floor(sum / (side * side) + 0.5) / (1 << NODE_BITS);
}

// Returns the greatest error of a place in the picture, in pixels.
static double greatest_error(const struct filter_map *map)
{
    int32_t *numbers = calloc((size_t)warp_count(map), sizeof(*numbers));
    double most = 0;
    if (!numbers)
        abort();
    warp_fill(map, numbers);
    for (int y = 0; y < map->height; y++) {
        for (int x = 0; x < map->width; x++) {
            double exact[2];
            exact_place(map, x, y, exact);
            for (int axis = 0; axis < 2; axis++) {
                const int pixels = axis == 0 ? WIDTH : HEIGHT;
                most =
                    fmax(most, fabs(limited(grid_place(numbers, x, y, axis), pixels) - limited(exact[axis], pixels)));
            }
        }
    }
    free(numbers);
    return most;
}

static int random_number(struct random *random, int most)
{
    return random_range(random, -most, most);
}

// Writes a warp by four points or by a matrix, or a lens.
static void make_text(struct random *random, int kind, char text[256])
{
    const int right = WIDTH - 1, bottom = HEIGHT - 1, a = random_range(random, 5, 300);
    if (kind == 0)
        snprintf(text, 256, "warp=%d %d %d %d %d %d %d %d", right / 2 - a, random_range(random, 0, 150), right / 2 + a,
                 random_range(random, 0, 150), right, bottom, 0, bottom);
    else if (kind == 1)
        snprintf(text, 256, "warp=1 %g %d %g 1 %d %g %g 1", random_number(random, 900) / 1000.0,
                 random_number(random, 99), random_number(random, 900) / 1000.0, random_number(random, 99),
                 random_number(random, 99) / 20000.0, random_number(random, 99) / 20000.0);
    else if (kind == 2)
        snprintf(text, 256, "undistort=%d %d 320 180 %g %g %g %g", FOCAL, FOCAL, random_number(random, 400) / 1000.0,
                 random_number(random, 200) / 1000.0, random_number(random, 50) / 1000.0,
                 random_number(random, 50) / 1000.0);
    else
        snprintf(text, 256, "undistort=%d %d 320 180 %g 0.01 0 0:fisheye:%g", FOCAL, FOCAL,
                 random_number(random, 90) / 1000.0, random_range(random, 3, 20) / 10.0);
}

int main(void)
{
    enum { ROUNDS = 120, KINDS = 4, SHIFTS = 5 };
    struct check check = {.name = "test_warp"};
    struct random random = {.state = 1};
    int seen[SHIFTS] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct chain chain;
        struct filter_map map = {0};
        char text[256], error[CHAIN_ERROR];
        make_text(&random, round % KINDS, text);
        if (!chain_parse(&chain, text, error))
            continue; // no convex quadrilateral, or no inverse
        chain.stage[0].filter->warp->map(&chain.stage[0].values, WIDTH, HEIGHT, &map);
        map.shift = warp_shift(&map, WIDTH, HEIGHT);
        seen[map.shift]++;
        const double most = greatest_error(&map);
        check_that(&check, most <= 1 / 8.0, "%s: an error of %g pixels, nodes at every %d pixels", text, most,
                   1 << map.shift);
    }
    for (int i = 0; i < SHIFTS; i++)
        check_that(&check, seen[i] > 0, "no warp needs nodes at every %d pixels", 1 << i);
    return check_end(&check);
}
