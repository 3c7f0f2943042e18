// reference_warps.c: docs/pixels.md section 3: crop, scale, rotate, warp and undistort
#include "reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 32768 };

// The output of a warp: its size, the matrix from its pixels to the input, row by row, and what happens to (p, q).
struct map {
    double width, height, m[9];
    const struct lens *lens; // NULL: nothing
    int side;                // pixels between nodes
};

struct lens {
    bool fisheye;
    double fx, fy, cx, cy, k[5]; // k: the numbers after cy
};

static double limited(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

static void bend(const struct lens *lens, double at[2])
{
    double a = at[0], b = at[1], r = a * a + b * b;
    if (lens->fisheye) {
        double s = sqrt(r), o = atan(s), z = o * o;
        const double *k = lens->k;
        double m = s == 0 ? 1 : o * (1 + z * (k[0] + z * (k[1] + z * (k[2] + z * k[3])))) / s;
        at[0] = lens->fx * (a * m) + lens->cx;
        at[1] = lens->fy * (b * m) + lens->cy;
    } else {
        double k1 = lens->k[0], k2 = lens->k[1], p1 = lens->k[2], p2 = lens->k[3], k3 = lens->k[4];
        double m = 1 + r * (k1 + r * (k2 + r * k3));
        at[0] = lens->fx * (a * m + 2 * p1 * a * b + p2 * (r + 2 * a * a)) + lens->cx;
        at[1] = lens->fy * (b * m + p1 * (r + 2 * b * b) + 2 * p2 * a * b) + lens->cy;
    }
}

// Sets the place of a pixel by the formulas.
static void exact_place(const struct map *map, double x, double y, int64_t place[2])
{
    double most = (1 << 23) - 1, at[2];
    double t = map->m[6] * x + map->m[7] * y + map->m[8];
    for (int k = 0; k < 2; k++) {
        double p = map->m[3 * k] * x + map->m[3 * k + 1] * y + map->m[3 * k + 2];
        at[k] = p / (t > 1e-9 ? t : 1e-9);
    }
    if (map->lens)
        bend(map->lens, at);
    for (int k = 0; k < 2; k++)
        place[k] = reference_round(limited(256 * at[k], -most, most));
}

// Sets the place of a pixel between the nodes.
static void grid_place(const struct map *map, int x, int y, int64_t place[2])
{
    int64_t nodes[2][2][2];
    int s = map->side, f = x % s, g = y % s;
    if (s == 1) {
        exact_place(map, x, y, place);
        return;
    }
    for (int j = 0; j < 2; j++)
        for (int i = 0; i < 2; i++)
            exact_place(map, (double)s * (x / s + i), (double)s * (y / s + j), nodes[j][i]);
    for (int k = 0; k < 2; k++)
        place[k] = (int64_t)floor((double)((nodes[0][0][k] * (s - f) + nodes[0][1][k] * f) * (s - g) +
                                           (nodes[1][0][k] * (s - f) + nodes[1][1][k] * f) * g + s * s / 2) /
                                  (s * s));
}

static bool near_enough(const struct picture *from, const struct map *map)
{
    int size[2] = {from->width, from->height};
    for (int y = 0; y < map->height; y += map->side / 2)
        for (int x = 0; x < map->width; x += map->side / 2) {
            int64_t exact[2], place[2];
            exact_place(map, x, y, exact);
            grid_place(map, x, y, place);
            for (int k = 0; k < 2; k++) {
                double last = 256.0 * (size[k] - 1);
                if (fabs(limited((double)exact[k], 0, last) - limited((double)place[k], 0, last)) > 16)
                    return false;
            }
        }
    return true;
}

static double count_nodes(const struct map *map, int side)
{
    return (floor((map->width - 1) / side) + 2) * (floor((map->height - 1) / side) + 2);
}

static void warped_pixel(const struct picture *from, const struct map *map, int x, int y, uint8_t *to)
{
    int64_t place[2];
    grid_place(map, x, y, place);
    int left = (int)reference_shift(place[0], 8), top = (int)reference_shift(place[1], 8);
    int64_t a = place[0] - 256 * (int64_t)left, b = place[1] - 256 * (int64_t)top;
    for (int i = 0; i < 4; i++) {
        int64_t p = picture_pixel(from, left, top)[i], q = picture_pixel(from, left + 1, top)[i];
        int64_t r = picture_pixel(from, left, top + 1)[i], s = picture_pixel(from, left + 1, top + 1)[i];
        to[i] = (uint8_t)reference_shift((p * (256 - a) + q * a) * (256 - b) + (r * (256 - a) + s * a) * b + 32768, 16);
    }
}

void reference_weigh(struct picture *picture)
{
    uint8_t *p = picture->rgba;
    for (size_t i = 0; i < 4 * (size_t)picture->width * (size_t)picture->height; i++)
        if (i % 4 != 3)
            p[i] = (uint8_t)((p[i] * p[i - i % 4 + 3] + 127) / 255);
}

void reference_unweigh(struct picture *picture)
{
    uint8_t *p = picture->rgba;
    for (size_t i = 0; i < 4 * (size_t)picture->width * (size_t)picture->height; i++) {
        int a = p[i - i % 4 + 3];
        if (i % 4 != 3)
            p[i] = a == 0 ? 0 : reference_sat8((255 * p[i] + a / 2) / a);
    }
}

static bool only_moves(const struct map *map)
{
    bool whole = !map->lens && map->m[6] == 0 && map->m[7] == 0;
    for (int i = 0; i < 6; i++)
        whole = whole && floor(map->m[i]) == map->m[i];
    return whole;
}

static bool interpolate(struct picture *picture, struct map *map)
{
    if (map->width > SIDE || map->height > SIDE || map->width * map->height > 1 << 28)
        return false;
    map->side = 16;
    while (map->side > 1 && count_nodes(map, map->side / 2) <= 1 << 24 && !near_enough(picture, map))
        map->side /= 2;
    struct picture to = picture_new((int)map->width, (int)map->height);
    for (int y = 0; y < to.height; y++)
        for (int x = 0; x < to.width; x++)
            warped_pixel(picture, map, x, y, to.rgba + 4 * ((size_t)y * (size_t)to.width + (size_t)x));
    picture_free(picture);
    *picture = to;
    return true;
}

static bool run(struct picture *picture, struct map *map)
{
    bool mixes = !only_moves(map);
    if (mixes)
        reference_weigh(picture);
    bool ok = interpolate(picture, map);
    if (mixes)
        reference_unweigh(picture);
    return ok;
}

static int first_of(int wanted, int count, int all)
{
    if (wanted == -1)
        return (all - count) / 2;
    return wanted + count > all ? all - count : wanted;
}

static bool warp_crop(struct picture *picture, const struct values *values)
{
    const struct value *v = values->value;
    int w = picture->width, h = picture->height;
    int width = v[0].number == 0 || v[0].number > w ? w : v[0].number;
    int height = v[1].number == 0 || v[1].number > h ? h : v[1].number;
    int x = first_of(v[2].number, width, w), y = first_of(v[3].number, height, h);
    return run(picture, &(struct map){width, height, {1, 0, x, 0, 1, y, 0, 0, 1}, NULL, 0});
}

static bool check_scale(const struct picture *picture, struct values *values)
{
    const struct value *v = values->value;
    return (v[0].number != 0 || v[1].number != 0) + (v[2].real != 1) + (v[3].number != 0) < 2;
}

// Returns a side of the output; `wanted` is the parameter of this side, `other` the one of the other side.
static double scaled_side(int side, int wanted, int other, int other_side, double factor)
{
    if (wanted > 0)
        return wanted;
    double value = other > 0 ? (double)side * other / other_side : side * factor;
    return fmax(1, floor(value + 0.5));
}

static double lanczos(double x)
{
    double pi = acos(-1);
    if (x == 0)
        return 1;
    return fabs(x) < 3 ? sin(pi * x) / (pi * x) * (sin(pi * (x / 3)) / (pi * (x / 3))) : 0;
}

// The weight of pixel i of n for pixel x of m, by a method of scale.
static double tap_weight(const char *method, int n, int m, int x, int i)
{
    double k = (double)n / m, centre = (x + 0.5) * k - 0.5, width = k > 1 ? k : 1, far = fabs(i - centre) / width;
    if (!strcmp(method, "nearest"))
        return i == (int)floor((x + 0.5) * k);
    if (!strcmp(method, "lanczos"))
        return lanczos(far);
    if (n <= m)
        return far < 1 ? 1 - far : 0;
    double left = (double)x * n / m, right = (x + 1.0) * n / m;
    return fmax(0, fmin(right, i + 1) - fmax(left, i));
}

// Scales one side of the picture to m pixels. `down`: the height.
static void scale_side(struct picture *picture, const char *method, int m, bool down)
{
    int n = down ? picture->height : picture->width;
    struct picture to = picture_new(down ? picture->width : m, down ? m : picture->height);
    for (int y = 0; y < to.height; y++)
        for (int x = 0; x < to.width; x++) {
            int at = down ? y : x, centre = (int)floor((at + 0.5) * n / m - 0.5), reach = 3 * (n / m + 1) + 1;
            double all = 0, sum = 0;
            int64_t before = 0, total[4] = {0};
            for (int i = centre - reach; i <= centre + reach; i++)
                all += tap_weight(method, n, m, at, i);
            for (int i = centre - reach; i <= centre + reach; i++) {
                sum += tap_weight(method, n, m, at, i);
                int64_t until = reference_round(16384 * (sum / all) + 1e-9);
                const uint8_t *p = picture_pixel(picture, down ? x : i, down ? i : y);
                for (int c = 0; c < 4; c++)
                    total[c] += (until - before) * p[c];
                before = until;
            }
            for (int c = 0; c < 4; c++)
                to.rgba[4 * ((size_t)y * (size_t)to.width + (size_t)x) + (size_t)c] =
                    reference_sat8(reference_shift(total[c] + 8192, 14));
        }
    picture_free(picture);
    *picture = to;
}

bool reference_scale(struct picture *picture, const struct values *values)
{
    const struct value *v = values->value;
    double w = picture->width, h = picture->height, factor = v[2].real;
    if (v[3].number != 0 && v[3].number < fmax(w, h))
        factor = v[3].number / fmax(w, h);
    double width = scaled_side(picture->width, v[0].number, v[1].number, picture->height, factor);
    double height = scaled_side(picture->height, v[1].number, v[0].number, picture->width, factor);
    static const char *const methods[] = {"auto", "area", "lanczos", "bilinear", "nearest"};
    const char *method = methods[v[4].number];
    if (v[4].number == 0)
        method = width < w || height < h ? "lanczos" : "bilinear";
    double k = w / width, l = h / height;
    if (strcmp(method, "bilinear") != 0 && width <= SIDE && height <= SIDE && width * height <= 1 << 28) {
        if (height != h)
            scale_side(picture, method, (int)height, true);
        if (width != w)
            scale_side(picture, method, (int)width, false);
        return true;
    }
    return interpolate(picture,
                       &(struct map){width, height, {k, 0, 0.5 * k - 0.5, 0, l, 0.5 * l - 0.5, 0, 0, 1}, NULL, 0});
}

static bool warp_scale(struct picture *picture, const struct values *values)
{
    int w = picture->width, h = picture->height;
    struct picture other = picture_new(w, h);
    memcpy(other.rgba, picture->rgba, 4 * (size_t)w * (size_t)h);
    reference_weigh(&other);
    bool ok = reference_scale(&other, values);
    if (!ok || (other.width == w && other.height == h) || values->value[4].number == 4) { // nearest
        picture_free(&other);
        return reference_scale(picture, values);
    }
    reference_unweigh(&other);
    picture_free(picture);
    *picture = other;
    return true;
}

static bool warp_rotate(struct picture *picture, const struct values *values)
{
    double degrees = values->value[0].real, w = picture->width, h = picture->height;
    double c = cos(degrees * acos(-1) / 180), s = sin(degrees * acos(-1) / 180);
    if (fmod(degrees, 90) == 0) {
        c = round(c);
        s = round(s);
    }
    double width = ceil(fabs(c) * w + fabs(s) * h - 1e-6), height = ceil(fabs(s) * w + fabs(c) * h - 1e-6);
    double m = (w - 1) / 2, n = (h - 1) / 2, x = (width - 1) / 2, y = (height - 1) / 2;
    return run(picture,
               &(struct map){width, height, {c, s, m - c * x - s * y, -s, c, n + s * x - c * y, 0, 0, 1}, NULL, 0});
}

// The matrix from the unit square to four points. Returns false if they are not convex.
static bool points_matrix(const double *points, double *m)
{
    const double *a = points, *b = points + 2, *c = points + 4, *d = points + 6;
    double e[2], f[2], sum[2];
    for (int k = 0; k < 2; k++) {
        e[k] = b[k] - c[k];
        f[k] = d[k] - c[k];
        sum[k] = a[k] - b[k] + c[k] - d[k];
    }
    double n = e[0] * f[1] - f[0] * e[1];
    double g = (sum[0] * f[1] - f[0] * sum[1]) / n, h = (e[0] * sum[1] - sum[0] * e[1]) / n;
    for (int k = 0; k < 2; k++) {
        m[3 * k] = b[k] - a[k] + g * b[k];
        m[3 * k + 1] = d[k] - a[k] + h * d[k];
        m[3 * k + 2] = a[k];
    }
    m[6] = g;
    m[7] = h;
    m[8] = 1;
    return isfinite(g) && isfinite(h) && 1 + g > 0 && 1 + h > 0 && 1 + g + h > 0;
}

// Returns false if the matrix has no inverse.
static bool inverse_matrix(const double *m, double *inverse)
{
    double determinant = 0, size = 0;
    bool ok = true;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) { // the minor without row `column` and column `row`
            int r1 = (column + 1) % 3, r2 = (column + 2) % 3, c1 = (row + 1) % 3, c2 = (row + 2) % 3;
            inverse[3 * row + column] = m[3 * r1 + c1] * m[3 * r2 + c2] - m[3 * r1 + c2] * m[3 * r2 + c1];
        }
    for (int i = 0; i < 3; i++) {
        determinant += m[i] * inverse[3 * i];
        size += fabs(m[i] * inverse[3 * i]);
    }
    if (!(fabs(determinant) > 1e-12 * size))
        return false;
    for (int i = 0; i < 9; i++) {
        inverse[i] /= determinant;
        ok = ok && fabs(inverse[i]) < 1e30;
    }
    return ok;
}

static void numbers_of(const struct value *value, double numbers[9])
{
    for (int i = 0; i < value->count; i++)
        numbers[i] = value->matrix[i];
}

static bool check_warp(const struct picture *picture, struct values *values)
{
    const struct value *map = &values->value[0];
    double numbers[9], m[9];
    if (map->count == 0)
        return true;
    numbers_of(map, numbers);
    return map->count == 8 ? points_matrix(numbers, m) : inverse_matrix(numbers, m);
}

static bool warp_warp(struct picture *picture, const struct values *values)
{
    const struct value *v = values->value;
    int w = picture->width, h = picture->height;
    struct map map = {v[1].number ? v[1].number : w, v[2].number ? v[2].number : h, {0}, NULL, 0};
    double right = w > 1 ? w - 1 : 1, low = h > 1 ? h - 1 : 1, numbers[9] = {0, 0, right, 0, right, low, 0, low};
    double road[] = {0.45 * right, 0.6 * low, 0.55 * right, 0.6 * low, right, 0.95 * low, 0, 0.95 * low};
    if (v[0].count)
        numbers_of(&v[0], numbers);
    else if (v[0].number == 1)
        memcpy(numbers, road, sizeof(road));
    if (v[0].count == 9) {
        inverse_matrix(numbers, map.m);
        bool behind = map.m[6] * (map.width - 1) / 2 + map.m[7] * (map.height - 1) / 2 + map.m[8] < 0;
        for (int i = 0; behind && i < 9; i++)
            map.m[i] = -map.m[i];
        return run(picture, &map);
    }
    points_matrix(numbers, map.m);
    for (int i = 0; i < 9; i += 3) {
        map.m[i] /= fmax(map.width - 1, 1);
        map.m[i + 1] /= fmax(map.height - 1, 1);
    }
    return run(picture, &map);
}

static bool check_undistort(const struct picture *picture, struct values *values)
{
    const struct value *lens = &values->value[0];
    if (lens->count == 0)
        return true;
    for (int i = 0; i < lens->count; i++)
        if (fabs((double)lens->matrix[i]) > 1e6 || (i < 2 && lens->matrix[i] < 1))
            return false;
    return values->value[1].number == 0 || lens->count == 8;
}

static bool warp_undistort(struct picture *picture, const struct values *values)
{
    const struct value *v = values->value;
    double n[9] = {0}, zoom = v[2].real;
    struct map map = {picture->width, picture->height, {1, 0, 0, 0, 1, 0, 0, 0, 1}, NULL, 0};
    if (v[0].count == 0)
        return run(picture, &map);
    numbers_of(&v[0], n);
    struct lens lens = {v[1].number == 1, n[0], n[1], n[2], n[3], {n[4], n[5], n[6], n[7], n[8]}};
    map.m[0] = 1 / (zoom * n[0]);
    map.m[2] = -n[2] / (zoom * n[0]);
    map.m[4] = 1 / (zoom * n[1]);
    map.m[5] = -n[3] / (zoom * n[1]);
    map.lens = &lens;
    return run(picture, &map);
}

bool reference_warp(struct picture *picture, const char *name, const struct values *values)
{
    static const struct {
        const char *name;
        bool (*run)(struct picture *picture, const struct values *values);
    } warps[] = {{"crop", warp_crop},
                 {"scale", warp_scale},
                 {"rotate", warp_rotate},
                 {"warp", warp_warp},
                 {"undistort", warp_undistort},
                 {"pad", reference_pad},
                 {"pixelate", reference_pixelate},
                 {"remap", reference_remap}};
    int i = 0;
    while (strcmp(warps[i].name, name))
        i++;
    return warps[i].run(picture, values);
}

const struct rule warps_rules[] = {
    {"crop",
     NULL,
     NULL,
     {{"width", INTEGER, 0, 32768, "0", {0}, {0}},
      {"height", INTEGER, 0, 32768, "0", {0}, {0}},
      {"x", INTEGER, -1, 32768, "-1", {0}, {0}},
      {"y", INTEGER, -1, 32768, "-1", {0}, {0}}}},
    {"scale",
     NULL,
     check_scale,
     {{"width", INTEGER, 0, 32768, "0", {0}, {0}},
      {"height", INTEGER, 0, 32768, "0", {0}, {0}},
      {"factor", REAL, 0.01f, 100, "1", {0}, {0}},
      {"most", INTEGER, 0, 32768, "0", {0}, {0}},
      {"method", WORD, 0, 0, "auto", {"auto", "area", "lanczos", "bilinear", "nearest"}, {0}}}},
    {"rotate", NULL, NULL, {{"angle", REAL, -360, 360, "90", {0}, {0}}}},
    {"warp",
     NULL,
     check_warp,
     {{"map", MAP, 0, 0, "none", {"none", "road"}, {0}},
      {"width", INTEGER, 0, 32768, "0", {0}, {0}},
      {"height", INTEGER, 0, 32768, "0", {0}, {0}}}},
    {"undistort",
     NULL,
     check_undistort,
     {{"lens", MAP, 0, 0, "none", {"none"}, {0}},
      {"model", WORD, 0, 0, "radial", {"radial", "fisheye"}, {0}},
      {"zoom", REAL, 0.1f, 10, "1", {0}, {0}}}},
    {0},
};
