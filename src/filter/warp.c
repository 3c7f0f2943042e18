// warp.c: computes the grid of a warp, and the weights of scale by area, Lanczos and nearest (docs/pixels.md section 3)
#include "filter/warp.h"

#include "filter/chain.h"

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

// ---- the filters ----

static int whole(float value)
{
    return (int)value;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

// ---- crop ----

static const struct param crop_params[] = {
    {"width", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16,
     .help = "width in pixels, at most the image's; 0: the image's"},
    {"height", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "height, likewise"},
    {"x", PARAM_INT, .min = -1, .max = CHAIN_SIDE_MAX, .preset = -1, .step = 16,
     .help = "left column; -1: in the middle"},
    {"y", PARAM_INT, .min = -1, .max = CHAIN_SIDE_MAX, .preset = -1, .step = 16, .help = "top row; -1: in the middle"},
    {0},
};

int warp_first_pixel(int wanted, int count, int all)
{
    return wanted < 0 ? (all - count) / 2 : smaller(wanted, all - count);
}

static void crop_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    const int wanted_width = whole(values->value[0]), wanted_height = whole(values->value[1]);
    map->width = wanted_width == 0 ? width : smaller(wanted_width, width);
    map->height = wanted_height == 0 ? height : smaller(wanted_height, height);
    const double x = warp_first_pixel(whole(values->value[2]), map->width, width);
    const double y = warp_first_pixel(whole(values->value[3]), map->height, height);
    memcpy(map->matrix, (double[]){1, 0, x, 0, 1, y, 0, 0, 1}, sizeof(map->matrix));
}

extern const struct filter filter_crop, filter_scale, filter_rotate, filter_warp, filter_pixelate;

const struct filter filter_crop = {
    .name = "crop",
    .summary = "keep a rectangle of the image",
    .example = "crop=200:160:150:40",
    .kind = FILTER_WARP,
    .params = crop_params,
    .warp = &(const struct filter_warping){.map = crop_map},
};

// ---- scale ----

enum { SCALE_WIDTH, SCALE_HEIGHT, SCALE_FACTOR, SCALE_MOST, SCALE_METHOD };
enum { METHOD_AUTO, METHOD_AREA, METHOD_LANCZOS, METHOD_BILINEAR, METHOD_NEAREST };

static const struct param scale_params[] = {
    {"width", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "width in pixels; 0: in proportion to the height"},
    {"height", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "height in pixels; 0: in proportion to the width"},
    {"factor", PARAM_REAL, .min = 0.01f, .max = 100, .preset = 1, .step = 0.25f,
     .help = "factor for both sides, without the other parameters"},
    {"most", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16,
     .help = "maximum width and height in pixels, alone; 0: none. Smaller images keep their size"},
    {"method", PARAM_CHOICE, .max = METHOD_NEAREST, .step = 1, .choices = "auto|area|lanczos|bilinear|nearest",
     .help = "auto: lanczos if a side shrinks, else bilinear"},
    {0},
};

static bool scale_prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const bool sides = values->value[SCALE_WIDTH] != 0 || values->value[SCALE_HEIGHT] != 0;
    const bool factor = values->value[SCALE_FACTOR] != scale_params[SCALE_FACTOR].preset;
    *why = "give only one of these: a size (width, height), factor, most";
    return sides + factor + (values->value[SCALE_MOST] != 0) <= 1;
}

// Returns count * over / under, rounded, but at least 1, and limited to the range of an int.
static int proportion(int count, double over, double under)
{
    return (int)fmin(fmax(floor(count * over / under + 0.5), 1), 1e9);
}

void warp_scale_map(struct filter_map *map, int width, int height, int to_width, int to_height, enum filter_taps taps)
{
    const double x = (double)width / to_width, y = (double)height / to_height;
    map->width = to_width;
    map->height = to_height;
    map->taps = to_width != width || to_height != height ? taps : TAPS_NONE;
    memcpy(map->matrix, (double[]){x, 0, 0.5 * x - 0.5, 0, y, 0.5 * y - 0.5, 0, 0, 1}, sizeof(map->matrix));
}

static void scale_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    const int wanted_width = whole(values->value[SCALE_WIDTH]), wanted_height = whole(values->value[SCALE_HEIGHT]);
    const int longer = width > height ? width : height, most = whole(values->value[SCALE_MOST]);
    const double factor = most > 0 && most < longer ? (double)most / longer : values->value[SCALE_FACTOR];
    int to_width = wanted_width, to_height = wanted_height;
    if (wanted_width <= 0 && wanted_height <= 0) {
        to_width = proportion(width, factor, 1);
        to_height = proportion(height, factor, 1);
    } else if (wanted_width <= 0) {
        to_width = proportion(width, wanted_height, height);
    } else if (wanted_height <= 0) {
        to_height = proportion(height, wanted_width, width);
    }
    static const enum filter_taps taps[] = {[METHOD_AREA] = TAPS_AREA,
                                            [METHOD_LANCZOS] = TAPS_LANCZOS,
                                            [METHOD_BILINEAR] = TAPS_NONE,
                                            [METHOD_NEAREST] = TAPS_NEAREST};
    const bool shrinks = to_width < width || to_height < height;
    const int method = whole(values->value[SCALE_METHOD]), best = shrinks ? METHOD_LANCZOS : METHOD_BILINEAR;
    warp_scale_map(map, width, height, to_width, to_height, taps[method == METHOD_AUTO ? best : method]);
}

void warp_scale_to(struct filter_values *values, const struct filter_map *map)
{
    static const int methods[] = {[TAPS_NONE] = METHOD_BILINEAR,
                                  [TAPS_AREA] = METHOD_AREA,
                                  [TAPS_LANCZOS] = METHOD_LANCZOS,
                                  [TAPS_NEAREST] = METHOD_NEAREST};
    values->value[SCALE_WIDTH] = (float)map->width;
    values->value[SCALE_HEIGHT] = (float)map->height;
    values->value[SCALE_FACTOR] = 1;
    values->value[SCALE_MOST] = 0;
    values->value[SCALE_METHOD] = (float)methods[map->taps];
}

const struct filter filter_scale = {
    .name = "scale",
    .summary = "scale the image",
    .example = "scale=240:120",
    .kind = FILTER_WARP,
    .params = scale_params,
    .prepare = scale_prepare,
    .warp = &(const struct filter_warping){.map = scale_map},
};

// ---- pixelate ----

static const struct param pixelate_params[] = {
    {"size", PARAM_INT, .min = 2, .max = 256, .preset = 16, .step = 2, .help = "greatest side of a large pixel"},
    {0},
};

static void pixelate_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    const int size = whole(values->value[0]);
    warp_scale_map(map, width, height, (width + size - 1) / size, (height + size - 1) / size, TAPS_AREA);
}

const struct filter filter_pixelate = {
    .name = "pixelate",
    .summary = "make large pixels of the mean colours",
    .example = "pixelate=16",
    .kind = FILTER_WARP,
    .params = pixelate_params,
    .warp = &(const struct filter_warping){.map = pixelate_map, .returns = true},
};

// ---- rotate ----

static const struct param rotate_params[] = {
    {"angle", PARAM_REAL, .min = -360, .max = 360, .preset = 90, .step = 90,
     .help = "angle in degrees, clockwise; the image grows to hold all pixels"},
    {0},
};

// Multiples of 90 degrees give whole numbers, so they only move pixels.
static void turn_of(double degrees, double *cosine, double *sine)
{
    static const double cosines[] = {1, 0, -1, 0};
    const double quarters = degrees / 90, radians = degrees * acos(-1) / 180;
    const bool exact = quarters == floor(quarters);
    const int quarter = (int)floor(quarters) & 3;
    *cosine = exact ? cosines[quarter] : cos(radians);
    *sine = exact ? cosines[(quarter + 3) & 3] : sin(radians);
}

static void rotate_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    double c, s;
    turn_of(values->value[0], &c, &s);
    map->width = (int)ceil(fabs(c) * width + fabs(s) * height - 1e-6);
    map->height = (int)ceil(fabs(s) * width + fabs(c) * height - 1e-6);
    const double from_x = (width - 1) / 2.0, from_y = (height - 1) / 2.0;
    const double x = (map->width - 1) / 2.0, y = (map->height - 1) / 2.0;
    const double matrix[] = {c, s, from_x - c * x - s * y, -s, c, from_y + s * x - c * y, 0, 0, 1};
    memcpy(map->matrix, matrix, sizeof(matrix));
}

const struct filter filter_rotate = {
    .name = "rotate",
    .summary = "rotate the image clockwise",
    .example = "rotate=90",
    .kind = FILTER_WARP,
    .params = rotate_params,
    .warp = &(const struct filter_warping){.map = rotate_map},
};

// ---- warp ----

enum { WARP_IDENTITY, WARP_ROAD, WARP_WIDTH = 1, WARP_HEIGHT };

static const struct param warp_params[] = {
    {"map", PARAM_MAP, .max = 1, .step = 1, .choices = "none|road",
     .help = "8 numbers: x y of the pixels that become the corners, clockwise from the top left; "
             "or 9: matrix from input to output, as for OpenCV's warpPerspective; road: bird's-eye view of a road"},
    {"width", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "width of the result in pixels; 0: the image's"},
    {"height", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "height, likewise"},
    {0},
};

// Sets the map from the unit square to the quadrilateral of four points. False: it is not convex.
static bool square_to_points(const double *points, double *m)
{
    const double *a = points, *b = points + 2, *c = points + 4, *d = points + 6;
    const double x1 = b[0] - c[0], x2 = d[0] - c[0], x3 = a[0] - b[0] + c[0] - d[0];
    const double y1 = b[1] - c[1], y2 = d[1] - c[1], y3 = a[1] - b[1] + c[1] - d[1];
    const double scale = x1 * y2 - x2 * y1, g = (x3 * y2 - x2 * y3) / scale, h = (x1 * y3 - x3 * y1) / scale;
    m[0] = b[0] - a[0] + g * b[0];
    m[1] = d[0] - a[0] + h * d[0];
    m[2] = a[0];
    m[3] = b[1] - a[1] + g * b[1];
    m[4] = d[1] - a[1] + h * d[1];
    m[5] = a[1];
    m[6] = g;
    m[7] = h;
    m[8] = 1;
    return isfinite(g) && isfinite(h) && 1 + g > 0 && 1 + h > 0 && 1 + g + h > 0;
}

// Sets `inverse` to the inverse of a matrix, row by row. False: it has none, or one that is too inexact.
static bool invert(const double *m, double *inverse)
{
    const double adjoint[] = {
        m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
        m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
        m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3],
    };
    const double sum[] = {m[0] * adjoint[0], m[1] * adjoint[3], m[2] * adjoint[6]};
    const double determinant = sum[0] + sum[1] + sum[2], size = fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]);
    bool ok = fabs(determinant) > 1e-12 * size;
    for (int i = 0; i < 9; i++) {
        inverse[i] = adjoint[i] / determinant;
        ok = ok && fabs(inverse[i]) < 1e30;
    }
    return ok;
}

static bool warp_prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    double numbers[9], matrix[9];
    if (values->value[0] >= 0)
        return true;
    for (int i = 0; i < values->matrix_count; i++)
        numbers[i] = values->matrix[i];
    const bool points = values->matrix_count == 8;
    *why = points ? "the four points are not the corners of a convex quadrilateral, in order around it"
                  : "the matrix has no inverse";
    return (points ? square_to_points : invert)(numbers, matrix);
}

static void warp_map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    const int preset = whole(values->value[0]);
    double numbers[9], *m = map->matrix;
    map->width = values->value[WARP_WIDTH] > 0 ? whole(values->value[WARP_WIDTH]) : width;
    map->height = values->value[WARP_HEIGHT] > 0 ? whole(values->value[WARP_HEIGHT]) : height;
    for (int i = 0; i < values->matrix_count; i++)
        numbers[i] = values->matrix[i];
    if (preset < 0 && values->matrix_count == 9) {
        invert(numbers, m);
        // The centre of the output is in front of the camera.
        const double w = m[6] * (map->width - 1) / 2 + m[7] * (map->height - 1) / 2 + m[8];
        for (int i = 0; i < 9; i++)
            m[i] = w < 0 ? -m[i] : m[i];
        return;
    }
    if (preset >= 0) {
        const double right = fmax(width - 1, 1), bottom = fmax(height - 1, 1);
        const double whole_image[] = {0, 0, right, 0, right, bottom, 0, bottom};
        const double road[] = {0.45 * right, 0.6 * bottom, 0.55 * right, 0.6 * bottom, right, 0.95 * bottom, 0,
                               0.95 * bottom};
        memcpy(numbers, preset == WARP_ROAD ? road : whole_image, sizeof(road));
    }
    square_to_points(numbers, m);
    for (int row = 0; row < 3; row++) {
        m[3 * row] /= map->width > 1 ? map->width - 1 : 1;
        m[3 * row + 1] /= map->height > 1 ? map->height - 1 : 1;
    }
}

const struct filter filter_warp = {
    .name = "warp",
    .summary = "change the perspective",
    .example = "warp=90 40 260 20 300 180 40 190:240:240",
    .kind = FILTER_WARP,
    .params = warp_params,
    .prepare = warp_prepare,
    .warp = &(const struct filter_warping){.map = warp_map},
};
