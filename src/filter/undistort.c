// undistort.c: removes the distortion of a lens
#include "filter/filter.h"

#include <math.h>
#include <string.h>

enum { LENS_NUMBERS = 8, FIRST_TERM = 4 }; // without the radial model's k3

static const float most = 1e6f; // keeps all products far from the limits of double

enum { UNDISTORT_LENS, UNDISTORT_MODEL, UNDISTORT_ZOOM };

static const struct param undistort_params[] = {
    {"lens", PARAM_MAP, .step = 1, .choices = "none",
     .help = "OpenCV's fx fy cx cy in pixels, then k1 k2 p1 p2 and perhaps k3; fisheye: then k1 k2 k3 k4"},
    {"model", PARAM_CHOICE, .max = 1, .step = 1, .choices = "radial|fisheye",
     .help = "OpenCV's model: of calib3d, or of its fisheye part"},
    {"zoom", PARAM_REAL, .min = 0.1f, .max = 10, .preset = 1, .step = 0.1f,
     .help = "scale of the result; less than 1 shows more of the edges"},
    {0},
};

static bool undistort_prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const float *number = values->matrix;
    if (values->value[UNDISTORT_LENS] >= 0)
        return true;
    *why = "the fisheye model has 8 numbers: fx fy cx cy k1 k2 k3 k4";
    if (values->value[UNDISTORT_MODEL] > 0 && values->matrix_count > LENS_NUMBERS)
        return false;
    *why = "fx and fy must be 1 to 1000000, the other numbers -1000000 to 1000000";
    bool ok = number[0] >= 1 && number[1] >= 1;
    for (int i = 0; i < values->matrix_count; i++)
        ok = ok && fabsf(number[i]) <= most;
    return ok;
}

static void undistort_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    *map = (struct filter_map){.width = width, .height = height, .matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (values->value[UNDISTORT_LENS] >= 0)
        return;
    const float *number = values->matrix;
    struct lens *lens = &map->lens;
    *lens = (struct lens){values->value[UNDISTORT_MODEL] > 0 ? LENS_FISHEYE : LENS_RADIAL,
                          number[0],
                          number[1],
                          number[2],
                          number[3],
                          {0}};
    for (int i = FIRST_TERM; i < values->matrix_count; i++)
        lens->term[i - FIRST_TERM] = number[i];
    const double zoom = values->value[UNDISTORT_ZOOM];
    const double x = zoom * lens->focal_x, y = zoom * lens->focal_y;
    const double matrix[] = {1 / x, 0, -lens->centre_x / x, 0, 1 / y, -lens->centre_y / y, 0, 0, 1};
    memcpy(map->matrix, matrix, sizeof(matrix));
}

extern const struct filter filter_undistort;

const struct filter filter_undistort = {
    .name = "undistort",
    .summary = "remove the distortion of a lens",
    .example = "undistort=200 200 187.5 124.5 -0.3 0.1 0 0",
    .kind = FILTER_WARP,
    .params = undistort_params,
    .prepare = undistort_prepare,
    .warp = &(const struct filter_warping){.map = undistort_map},
};
