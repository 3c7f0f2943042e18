// lane_lens.c: the camera's lens
#include "lane/lane_lens.h"

#include "filter/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REACH_STEPS = 1000, ROUNDS = 40 };
static const double reach_step = 0.01;
static const double difference = 1e-6; // for derivatives
static const double exact = 1e-3;      // pixels

// Returns the distance from the axis up to which the distorted distance grows.
static double find_reach(const struct lens *lens)
{
    struct lens plain = *lens;
    plain.focal_x = plain.focal_y = 1;
    plain.centre_x = plain.centre_y = 0;
    if (plain.model == LENS_RADIAL)
        plain.term[2] = plain.term[3] = 0; // p1 and p2 are small
    double last = 0;
    for (int i = 1; i <= REACH_STEPS; i++) {
        double point[2] = {i * reach_step, 0};
        lens_distort(&plain, point);
        if (!(point[0] > last))
            return (i - 1) * reach_step;
        last = point[0];
    }
    return REACH_STEPS * reach_step;
}

bool lane_lens_parse(struct lane_lens *lens, const char *text, char *error, size_t size)
{
    char line[LANE_LENS_TEXT + 16], why[CHAIN_ERROR] = "out of memory";
    struct chain *chain = malloc(sizeof(*chain)); // too large for the stack
    *lens = (struct lane_lens){.text = ""};
    snprintf(line, sizeof(line), "undistort=%s", text);
    bool ok = chain && strlen(text) < sizeof(lens->text) && chain_parse(chain, line, why);
    if (ok && (chain->count != 1 || strcmp(chain->stage[0].filter->name, "undistort") != 0)) {
        snprintf(why, sizeof(why), "only one filter is possible");
        ok = false;
    }
    if (ok) {
        const struct stage *stage = &chain->stage[0];
        memcpy(lens->text, text, strlen(text) + 1);
        stage->filter->map(&stage->values, 1, 1, &lens->map);
        lens->reach = find_reach(&lens->map.lens);
    } else {
        snprintf(error, size, "lens must have arguments of the undistort filter: %s",
                 strlen(text) < sizeof(lens->text) ? why : "the text is too long");
    }
    free(chain);
    return ok;
}

bool lane_lens_bends(const struct lane_lens *lens)
{
    return lens->map.lens.model != LENS_NONE;
}

bool lane_lens_apply(const struct lane_lens *lens, double point[2])
{
    const double *m = lens->map.matrix;
    if (!lane_lens_bends(lens))
        return true;
    point[0] = m[0] * point[0] + m[2];
    point[1] = m[4] * point[1] + m[5];
    const bool shown = hypot(point[0], point[1]) <= lens->reach;
    lens_distort(&lens->map.lens, point);
    return shown;
}

// Newton's method on the plane, from the place that a lens without distortion has.
bool lane_lens_remove(const struct lane_lens *lens, double point[2])
{
    const struct lens *to = &lens->map.lens;
    const double *m = lens->map.matrix;
    if (!lane_lens_bends(lens))
        return true;
    double a = (point[0] - to->centre_x) / to->focal_x, b = (point[1] - to->centre_y) / to->focal_y;
    double error[2] = {INFINITY, INFINITY};
    for (int i = 0; i < ROUNDS; i++) {
        double at[2] = {a, b}, right[2] = {a + difference, b}, down[2] = {a, b + difference};
        lens_distort(to, at);
        lens_distort(to, right);
        lens_distort(to, down);
        error[0] = point[0] - at[0];
        error[1] = point[1] - at[1];
        if (hypot(error[0], error[1]) < exact)
            break;
        const double xa = (right[0] - at[0]) / difference, xb = (down[0] - at[0]) / difference;
        const double ya = (right[1] - at[1]) / difference, yb = (down[1] - at[1]) / difference;
        const double area = xa * yb - xb * ya;
        a += (error[0] * yb - error[1] * xb) / area;
        b += (error[1] * xa - error[0] * ya) / area;
    }
    point[0] = (a - m[2]) / m[0];
    point[1] = (b - m[5]) / m[4];
    return hypot(error[0], error[1]) < exact && hypot(a, b) <= lens->reach;
}
