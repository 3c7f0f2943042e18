// reference_tables.c: docs/pixels.md section 3: filters that look up each channel in a table
#include "reference_rules.h"

#include <math.h>
#include <stdlib.h>

static void pixel_tables(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = values->table[i][to[i]];
}

// Sets an entry; `channel`: 0 for all, or 1 to 3.
static void set(struct values *values, int channel, int c, double result)
{
    for (int i = 0; i < 3; i++)
        values->table[i][c] =
            channel == 0 || channel == i + 1 ? reference_sat8(reference_round(result + 1e-9)) : (uint8_t)c;
}

static bool prepare_levels(const struct picture *from, struct values *values)
{
    const struct value *v = values->value;
    int black = v[0].number, white = v[1].number, low = v[3].number, high = v[4].number;
    for (int c = 0; c < 256 && black < white; c++) {
        double part = c <= black ? 0 : c >= white ? 1 : (c - black) / (double)(white - black);
        set(values, v[5].number, c, low + (high - low) * pow(part, 1 / (double)v[2].real));
    }
    return black < white;
}

static bool prepare_posterize(const struct picture *from, struct values *values)
{
    int n = values->value[0].number;
    for (int c = 0; c < 256; c++)
        set(values, 0, c, ((c * n >> 8) * 255 + (n - 1) / 2) / (n - 1));
    return true;
}

// Solves the equations of the second derivatives by Gaussian elimination of the whole matrix.
static void solve(int n, double a[40][41], double *m)
{
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++) {
            double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (int j = k; j <= n && i != k; j++)
                a[i][j] -= factor * a[k][j];
        }
    for (int k = 0; k < n; k++)
        m[k] = a[k][n] / a[k][k];
}

static bool prepare_curves(const struct picture *from, struct values *values)
{
    int n = values->value[0].count / 2;
    double a[40][41] = {{0}}, m[40], p[MATRIX_NUMBERS];
    for (int i = 0; i < 2 * n; i++)
        p[i] = values->value[0].matrix[i];
    for (int i = 0; i < n; i++)
        if (p[2 * i] < 0 || p[2 * i] > 255 || p[2 * i + 1] < 0 || p[2 * i + 1] > 255 ||
            (i > 0 && p[2 * i] < p[2 * i - 2] + 1))
            return false;
    a[0][0] = a[n - 1][n - 1] = 1;
    for (int i = 1; i < n - 1; i++) {
        double h = p[2 * i] - p[2 * i - 2], k = p[2 * i + 2] - p[2 * i];
        a[i][i - 1] = h;
        a[i][i] = 2 * (h + k);
        a[i][i + 1] = k;
        a[i][n] = 6 * ((p[2 * i + 3] - p[2 * i + 1]) / k - (p[2 * i + 1] - p[2 * i - 1]) / h);
    }
    solve(n, a, m);
    for (int c = 0; c < 256; c++) {
        double y = c <= p[0] ? p[1] : p[2 * n - 1];
        for (int i = 0; i < n - 1; i++)
            if (c > p[2 * i] && c <= p[2 * i + 2]) {
                double h = p[2 * i + 2] - p[2 * i], s = p[2 * i + 2] - c, t = c - p[2 * i];
                y = (m[i] * s * s * s + m[i + 1] * t * t * t) / (6 * h) + (p[2 * i + 1] / h - m[i] * h / 6) * s +
                    (p[2 * i + 3] / h - m[i + 1] * h / 6) * t;
            }
        set(values, values->value[1].number, c, y);
    }
    return true;
}

static double srgb(double v, bool to_light)
{
    if (to_light)
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    return v <= 0.0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
}

static void multiply(struct values *values, int channel, double factor)
{
    for (int c = 0; c < 256; c++)
        values->table[channel][c] =
            reference_sat8(reference_round(255 * srgb(factor * srgb(c / 255.0, true), false) + 1e-9));
}

static bool prepare_exposure(const struct picture *from, struct values *values)
{
    for (int i = 0; i < 3; i++)
        multiply(values, i, pow(2, (double)values->value[0].real));
    return true;
}

static double light(double t, double tint, int channel)
{
    static const double m[3][3] = {{3.2406, -1.5372, -0.4986}, {-0.9689, 1.8758, 0.0415}, {0.0557, -0.2040, 1.0570}};
    double u =
        (0.860117757 + 1.54118254e-4 * t + 1.28641212e-7 * t * t) / (1 + 8.42420235e-4 * t + 7.08145163e-7 * t * t);
    double v =
        (0.317398726 + 4.22806245e-5 * t + 4.20481691e-8 * t * t) / (1 - 2.89741816e-5 * t + 1.61456053e-7 * t * t) +
        tint / 3000;
    double x = 3 * u / (2 * u - 8 * v + 4), y = 2 * v / (2 * u - 8 * v + 4);
    double light = m[channel][0] * x / y + m[channel][1] + m[channel][2] * (1 - x - y) / y;
    return light > 0 ? light : 0;
}

static bool prepare_temperature(const struct picture *from, struct values *values)
{
    for (int i = 0; i < 3; i++)
        multiply(values, i, light(values->value[0].number, values->value[1].real, i) / light(6500, 0, i));
    return true;
}

// Counts the luma of a picture. Returns the number of pixels.
static double count(const struct picture *from, double n[256])
{
    int pixels = from ? from->width * from->height : 0;
    for (int i = 0; i < pixels; i++) {
        const uint8_t *p = from->rgba + 4 * (size_t)i;
        n[(77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256]++;
    }
    return pixels;
}

static void set_all(struct values *values, int c, double result)
{
    for (int i = 0; i < 3; i++)
        values->table[i][c] = reference_sat8((int64_t)floor(result));
}

static bool prepare_autolevels(const struct picture *from, struct values *values)
{
    double n[256] = {0}, all = count(from, n), dark = 0, bright = 0;
    int64_t q = reference_round(100 * (double)values->value[0].real);
    int b = -1, w = 256;
    while (b < 255 && !(b >= 0 && 10000 * dark > (double)q * all))
        dark += n[++b];
    while (w > 0 && !(w < 256 && 10000 * bright > (double)q * all))
        bright += n[--w];
    for (int c = 0; c < 256; c++)
        set_all(values, c, b >= w ? c : c <= b ? 0 : c >= w ? 255 : (510.0 * (c - b) + w - b) / (2.0 * (w - b)));
    return true;
}

static bool prepare_equalize(const struct picture *from, struct values *values)
{
    double n[256] = {0}, all = count(from, n), sum = 0;
    int m = 0;
    while (m < 255 && n[m] == 0)
        m++;
    for (int c = 0; c < 256; c++) {
        sum += n[c];
        set_all(values, c, all == n[m] ? c : (510 * (sum > n[m] ? sum - n[m] : 0) + all - n[m]) / (2 * (all - n[m])));
    }
    return true;
}

// The tables of clahe.
struct tiles {
    int width, height; // of a tile
    uint8_t table[16][16][256];
};

// Returns the pixel of a picture that is mirrored at its right and lower edge, as often as it must be.
static const uint8_t *mirrored(const struct picture *from, int x, int y)
{
    int place[2] = {x, y}, side[2] = {from->width, from->height};
    for (int i = 0; i < 2; i++)
        while (place[i] < 0 || place[i] >= side[i])
            place[i] = side[i] == 1 ? 0 : place[i] < 0 ? -place[i] : 2 * (side[i] - 1) - place[i];
    return picture_pixel(from, place[0], place[1]);
}

static void fill_tile(const struct picture *from, int left, int top, struct tiles *tiles, double clip,
                      uint8_t table[256])
{
    int64_t n[256] = {0}, all = (int64_t)tiles->width * tiles->height, sum = 0, over = 0;
    for (int y = top; y < top + tiles->height; y++)
        for (int x = left; x < left + tiles->width; x++) {
            const uint8_t *p = mirrored(from, x, y);
            n[(77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256]++;
        }
    int64_t q = reference_round(100 * clip), limit = q * all / 25600;
    limit = limit < 1 ? 1 : limit;
    for (int i = 0; i < 256 && q != 0; i++)
        if (n[i] > limit) {
            over += n[i] - limit;
            n[i] = limit;
        }
    for (int i = 0; i < 256; i++)
        n[i] += over / 256;
    int64_t rest = over % 256, step = rest ? 256 / rest : 1;
    for (int64_t i = 0; i < 256 && rest > 0; i += step, rest--)
        n[i]++;
    for (int c = 0; c < 256; c++) {
        sum += n[c];
        table[c] = (uint8_t)((510 * sum + all) / (2 * all));
    }
}

static bool prepare_clahe(const struct picture *from, struct values *values)
{
    int count = values->value[1].number;
    if (!from)
        return true;
    if (!(values->tiles = calloc(1, sizeof(*values->tiles))))
        exit(1);
    struct tiles *tiles = values->tiles;
    int whole = from->width % count == 0 && from->height % count == 0;
    tiles->width = from->width / count + !whole;
    tiles->height = from->height / count + !whole;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++)
            fill_tile(from, i * tiles->width, j * tiles->height, tiles, (double)values->value[0].real,
                      tiles->table[j][i]);
    return true;
}

// Sets the tiles before and behind a pixel, and the weight of the one behind.
static void place_of(int x, int side, int count, int tile[2], int64_t *weight)
{
    int64_t to_centre = 2 * x - side, n = reference_round(floor((double)to_centre / (2 * side)));
    *weight = ((to_centre - 2 * side * n) * 2048 + side) / (2 * side);
    tile[0] = n < 0 ? 0 : (int)n;
    tile[1] = n + 1 > count - 1 ? count - 1 : (int)n + 1;
}

static void pixel_clahe(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct tiles *tiles = values->tiles;
    int across[2], down[2], count = values->value[1].number;
    int64_t a, b;
    place_of(x, tiles->width, count, across, &a);
    place_of(y, tiles->height, count, down, &b);
    for (int i = 0; i < 3; i++) {
        int64_t p = tiles->table[down[0]][across[0]][to[i]], q = tiles->table[down[0]][across[1]][to[i]];
        int64_t r = tiles->table[down[1]][across[0]][to[i]], s = tiles->table[down[1]][across[1]][to[i]];
        to[i] = (uint8_t)reference_shift(
            (p * (2048 - a) + q * a) * (2048 - b) + (r * (2048 - a) + s * a) * b + (1 << 21), 22);
    }
}

static bool prepare_grayworld(const struct picture *from, struct values *values)
{
    int64_t sum[3] = {0}, all;
    for (int i = 0; from && i < from->width * from->height; i++)
        for (int k = 0; k < 3; k++)
            sum[k] += from->rgba[4 * (size_t)i + (size_t)k];
    all = sum[0] + sum[1] + sum[2];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 256; c++)
            values->table[k][c] = sum[k] == 0 ? (uint8_t)c : reference_sat8((2 * c * all + 3 * sum[k]) / (6 * sum[k]));
    return true;
}

const struct rule tables_rules[] = {
    {"levels",
     pixel_tables,
     prepare_levels,
     {{"black", INTEGER, 0, 254, "0", {0}, {0}},
      {"white", INTEGER, 1, 255, "255", {0}, {0}},
      {"gamma", REAL, 0.1f, 10, "1", {0}, {0}},
      {"low", INTEGER, 0, 255, "0", {0}, {0}},
      {"high", INTEGER, 0, 255, "255", {0}, {0}},
      {"channel", WORD, 0, 0, "all", {"all", "red", "green", "blue"}, {0}}}},
    {"autolevels", pixel_tables, prepare_autolevels, {{"cut", REAL, 0, 20, "0.5", {0}, {0}}}},
    {"equalize", pixel_tables, prepare_equalize, {{0}}},
    {"clahe",
     pixel_clahe,
     prepare_clahe,
     {{"clip", REAL, 0, 100, "2", {0}, {0}}, {"tiles", INTEGER, 1, 16, "8", {0}, {0}}}},
    {"curves",
     pixel_tables,
     prepare_curves,
     {{"points",
       POINTS,
       0,
       0,
       "none",
       {"none", "contrast", "lighter", "darker", "negative"},
       {"0/0 255/255", "0/0 64/44 128/128 192/212 255/255", "0/0 110/150 255/255", "0/0 150/110 255/255",
        "0/255 255/0"}},
      {"channel", WORD, 0, 0, "all", {"all", "red", "green", "blue"}, {0}}}},
    {"exposure", pixel_tables, prepare_exposure, {{"stops", REAL, -5, 5, "1", {0}, {0}}}},
    {"posterize", pixel_tables, prepare_posterize, {{"levels", INTEGER, 2, 64, "4", {0}, {0}}}},
    {"temperature",
     pixel_tables,
     prepare_temperature,
     {{"kelvin", INTEGER, 2000, 12000, "5000", {0}, {0}}, {"tint", REAL, -100, 100, "0", {0}, {0}}}},
    {"grayworld", pixel_tables, prepare_grayworld, {{0}}},
    {0},
};
