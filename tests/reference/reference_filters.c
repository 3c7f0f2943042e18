// reference_filters.c: docs/pixels.md section 3: the effect of each filter on one pixel
#include "reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint8_t luma(const uint8_t *pixel)
{
    return (uint8_t)reference_shift(77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128, 8);
}

static void pixel_black(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    to[0] = to[1] = to[2] = 0;
}

static void pixel_none(const struct picture *from, int x, int y, const struct values *values, uint8_t *to) {}

void pixel_gray(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int average = (to[0] + to[1] + to[2] + 1) / 3;
    int paint = to[1] + reference_shift(to[0] - to[2], 1);
    paint = paint < 0 ? 0 : paint > 255 ? 255 : paint;
    int gray = values->value[0].number == 0 ? luma(to) : values->value[0].number == 1 ? average : paint;
    to[0] = to[1] = to[2] = (uint8_t)gray;
}

static void pixel_maxrgb(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    uint8_t max = to[0];
    for (int i = 1; i < 3; i++)
        max = to[i] > max ? to[i] : max;
    for (int i = 0; i < 3; i++)
        to[i] = to[i] == max ? max : 0;
}

static void pixel_invert(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = (uint8_t)(255 - to[i]);
}

static void pixel_threshold(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    to[0] = to[1] = to[2] = luma(to) >= values->value[0].number ? 255 : 0;
}

// A product of factors, in base 2^32, the lowest digit first.
struct product {
    uint64_t digit[10];
};

static void multiply(struct product *product, uint64_t factor)
{
    struct product result = {{0}};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 2 && i + k < 10; k++) {
            uint64_t part = product->digit[i] * (factor >> 32 * k & 0xffffffff);
            for (int at = i + k; at < 10 && part; at++) {
                part += result.digit[at];
                result.digit[at] = part & 0xffffffff;
                part >>= 32;
            }
        }
    *product = result;
}

// Returns true if a b b > c d d.
static bool larger(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    struct product x = {{1}}, y = {{1}};
    multiply(&x, a);
    multiply(&x, b);
    multiply(&x, b);
    multiply(&y, c);
    multiply(&y, d);
    multiply(&y, d);
    for (int i = 9; i >= 0; i--)
        if (x.digit[i] != y.digit[i])
            return x.digit[i] > y.digit[i];
    return false;
}

int reference_otsu(const uint64_t histogram[256])
{
    uint64_t best = 0, best_pairs = 1;
    int level = 0;
    for (int t = 0; t < 256; t++) {
        uint64_t n[2] = {0, 0}, s[2] = {0, 0};
        for (int i = 0; i < 256; i++) {
            n[i > t] += histogram[i];
            s[i > t] += histogram[i] * (uint64_t)i;
        }
        uint64_t pairs = n[0] * n[1], difference = s[1] * n[0] - s[0] * n[1];
        // difference^2 / pairs > best^2 / best_pairs
        if (pairs > 0 && larger(best_pairs, difference, pairs, best)) {
            best = difference;
            best_pairs = pairs;
            level = t;
        }
    }
    return level;
}

static bool prepare_otsu(const struct picture *from, struct values *values)
{
    uint64_t histogram[256] = {0};
    for (int i = 0; from && i < from->width * from->height; i++)
        histogram[luma(from->rgba + 4 * (size_t)i)]++;
    values->value[0].number = reference_otsu(histogram) + 1;
    return true;
}

static void pixel_gamma(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    double exponent = 1 / (double)values->value[0].real;
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(reference_round(255 * pow(to[i] / 255.0, exponent)));
}

static void pixel_contrast(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    double amount = values->value[0].real, brightness = values->value[1].real;
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(reference_round((to[i] - 127.5) * amount + 127.5 + brightness));
}

static void pixel_sepia(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int r = to[0], g = to[1], b = to[2];
    to[0] = reference_sat8(reference_shift(50 * r + 98 * g + 24 * b + 64, 7));
    to[1] = reference_sat8(reference_shift(45 * r + 88 * g + 22 * b + 64, 7));
    to[2] = reference_sat8(reference_shift(35 * r + 68 * g + 17 * b + 64, 7));
}

static void pixel_saturation(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int64_t q = reference_round((double)values->value[0].real * 256);
    int grey = luma(to);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(grey + reference_shift(q * (to[i] - grey) + 128, 8));
}

static void pixel_hue(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    static const double c[3][2] = {{0.787, -0.715}, {-0.213, 0.285}, {-0.213, -0.715}};
    static const double s[3][2] = {{-0.213, -0.715}, {0.143, 0.140}, {-0.787, 0.715}};
    double angle = (double)values->value[0].real * acos(-1) / 180;
    int64_t r = to[0], g = to[1], b = to[2];
    for (int i = 0; i < 3; i++) {
        int64_t red = reference_round(4096 * (0.213 + cos(angle) * c[i][0] + sin(angle) * s[i][0]));
        int64_t green = reference_round(4096 * (0.715 + cos(angle) * c[i][1] + sin(angle) * s[i][1]));
        to[i] = reference_sat8(reference_shift(red * r + green * g + (4096 - red - green) * b + 2048, 12));
    }
}

static void pixel_vibrance(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int64_t q = reference_round((double)values->value[0].real * 256);
    int low = 255, high = 0, grey = luma(to);
    for (int i = 0; i < 3; i++) {
        low = to[i] < low ? to[i] : low;
        high = to[i] > high ? to[i] : high;
    }
    int s = high - low + (high - low >= 128);
    int64_t k = 256 + reference_shift(q * (256 - s) + 128, 8);
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(grey + reference_shift(k * (to[i] - grey) + 128, 8));
}

static void pixel_blur(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int radius = values->value[0].number, n = (2 * radius + 1) * (2 * radius + 1), sum[3] = {0, 0, 0};
    for (int dy = -radius; dy <= radius; dy++) {
        const uint8_t *row = picture_pixel(from, 0, y + dy);
        for (int at = x - radius; at <= x + radius; at++) {
            const uint8_t *p = row + 4 * (at < 0 ? 0 : at < from->width ? at : from->width - 1);
            for (int i = 0; i < 3; i++)
                sum[i] += p[i];
        }
    }
    for (int i = 0; i < 3; i++)
        to[i] = (uint8_t)((sum[i] + n / 2) / n);
}

static bool weights_fit(const struct value *matrix, double div, double bias, int shift, struct weights *weights)
{
    double scale = (double)(1 << shift);
    int64_t sum = 0;
    for (int i = 0; i < matrix->side * matrix->side; i++) {
        double scaled = (double)matrix->matrix[i] / div * scale;
        if (!(fabs(scaled) < 40000))
            return false;
        weights->q[i] = reference_round(scaled);
        if (llabs(weights->q[i]) > 32767)
            return false;
        sum += llabs(weights->q[i]);
    }
    weights->bias = reference_round(bias * scale);
    weights->shift = shift;
    return 255 * sum + llabs(weights->bias) + (1 << shift) < (int64_t)1 << 24;
}

static bool prepare_convolve(const struct picture *from, struct values *values)
{
    const struct value *matrix = &values->value[0];
    double div = values->value[1].real, bias = values->value[2].real;
    if (div == 0) {
        for (int i = 0; i < matrix->side * matrix->side; i++)
            div += (double)matrix->matrix[i];
        if (div == 0)
            div = 1;
    }
    for (int shift = 20; shift >= 0; shift--)
        if (weights_fit(matrix, div, bias, shift, &values->weights))
            return true;
    return false;
}

static void pixel_convolve(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    const struct weights *weights = &values->weights;
    int side = values->value[0].side, radius = side / 2;
    int64_t sum[3] = {0, 0, 0};
    for (int row = 0; row < side; row++)
        for (int column = 0; column < side; column++) {
            const uint8_t *p = picture_pixel(from, x + column - radius, y + row - radius);
            for (int i = 0; i < 3; i++)
                sum[i] += weights->q[row * side + column] * p[i];
        }
    int64_t half = (1 << weights->shift) / 2;
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(reference_shift(sum[i] + weights->bias + half, weights->shift));
}

static void pixel_unsharp(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int r = values->value[0].number, side = 2 * r + 1;
    int64_t q = reference_round(256 * values->value[1].real), b[9];
    for (int i = 0; i < side; i++) {
        b[i] = 1;
        for (int k = 0; k < i; k++)
            b[i] = b[i] * (2 * r - k) / (k + 1);
    }
    for (int i = 0; i < 3; i++) {
        int64_t sum = 0;
        for (int k = 0; k < side * side; k++)
            sum += b[k % side] * b[k / side] * picture_pixel(from, x + k % side - r, y + k / side - r)[i];
        int64_t d = 16 * to[i] - reference_shift(16 * sum + (1 << 4 * r) / 2, 4 * r);
        if (llabs(d) >= 16 * values->value[2].number)
            to[i] = reference_sat8(to[i] + reference_shift(q * d + (1 << 11), 12));
    }
}

void pixel_gaussian(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    double s = values->value[0].real, sum = 1;
    int r = (int)ceil(3 * s), q[61] = {1 << 14};
    for (int i = 1; i <= r; i++)
        sum += 2 * exp(-i * i / (2 * s * s));
    for (int i = 1; i <= r; i++) {
        q[i] = (int)reference_round(16384 * exp(-i * i / (2 * s * s)) / sum);
        q[0] -= 2 * q[i];
    }
    int64_t column[3] = {0};
    for (int dy = -r; dy <= r; dy++) {
        int64_t row[3] = {0};
        for (int dx = -r; dx <= r; dx++)
            for (int i = 0; i < 3; i++)
                row[i] += q[abs(dx)] * picture_pixel(from, x + dx, y + dy)[i];
        for (int i = 0; i < 3; i++)
            column[i] += q[abs(dy)] * reference_shift(row[i] + (1 << 13), 14);
    }
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(reference_shift(column[i] + (1 << 13), 14));
}

static int square_of(int n)
{
    return n * n;
}

static void pixel_bilateral(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int r = values->value[0].number;
    double s = values->value[1].real, t = values->value[2].real;
    for (int i = 0; i < 3; i++) {
        int64_t sum = 0, all = 0;
        for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++) {
                int n = picture_pixel(from, x + dx, y + dy)[i];
                int64_t across = reference_round(1024 * exp(-dx * dx / (2 * s * s)));
                int64_t down = reference_round(1024 * exp(-dy * dy / (2 * s * s)));
                int64_t range = reference_round(255 * exp(-square_of(n - to[i]) / (2 * t * t)));
                int64_t weight = reference_shift(across * down + 4096, 13) * range;
                all += weight;
                sum += weight * n;
            }
        to[i] = (uint8_t)((sum + all / 2) / all);
    }
}

static void pixel_nlmeans(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int p = values->value[1].number / 2, q = values->value[2].number / 2, k = 0, weight[256] = {0};
    double h = 10 * (double)values->value[0].real;
    while (255 * pow(2, k) < 7 * h * h)
        k++;
    for (int i = 0; i < 255; i++)
        weight[i] = (int)reference_round(255 * exp(-((i + 0.5) * pow(2, k) - 0.5) / (h * h)));
    for (int i = 0; i < 3; i++) {
        int sum = 255 * to[i], all = 255;
        for (int place = 0; place < square_of(2 * q + 1); place++) {
            int u = place % (2 * q + 1) - q, v = place / (2 * q + 1) - q, d = 0;
            for (int dy = -p; dy <= p; dy++)
                for (int dx = -p; dx <= p; dx++)
                    d += square_of(picture_pixel(from, x + dx, y + dy)[i] -
                                   picture_pixel(from, x + u + dx, y + v + dy)[i]);
            int level = d / (1 << k) < 255 ? d / (1 << k) : 255;
            if (u || v) {
                sum += weight[level] * picture_pixel(from, x + u, y + v)[i];
                all += weight[level];
            }
        }
        to[i] = (uint8_t)((sum + all / 2) / all);
    }
}

static void extreme(const struct picture *from, int x, int y, const struct values *values, bool largest, uint8_t *to)
{
    int radius = values->value[0].number, most = values->value[1].number == 1 ? radius * radius : 2 * radius * radius;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++)
            for (int i = 0; i < 3 && dx * dx + dy * dy <= most; i++) {
                int c = picture_pixel(from, x + dx, y + dy)[i];
                to[i] = (uint8_t)((c > to[i]) == largest ? c : to[i]);
            }
}

void pixel_erode(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    extreme(from, x, y, values, false, to);
}

void pixel_dilate(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    extreme(from, x, y, values, true, to);
}

static void pixel_emboss(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    static const int ring[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}};
    static const int weight[8] = {-1, -1, 0, 1, 1, 1, 0, -1}; // by the distance on the ring from the direction
    int direction = values->value[0].number, sum[3] = {0, 0, 0};
    for (int k = 0; k < 8; k++) {
        const int *offset = ring[(direction + k) % 8];
        const uint8_t *p = picture_pixel(from, x + offset[0], y + offset[1]);
        for (int i = 0; i < 3; i++)
            sum[i] += weight[k] * p[i];
    }
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(128 + sum[i]);
}

// Writes the integers nearest to sqrt((gx^2 + gy^2) / divisor), at most 255. gx is the correlation with the kernel, gy
// that with its transpose.
static void gradient(const struct picture *from, int x, int y, const int kernel[3][3], int divisor, uint8_t *to)
{
    for (int i = 0; i < 3; i++) {
        int gx = 0, gy = 0;
        for (int row = 0; row < 3; row++)
            for (int column = 0; column < 3; column++) {
                int c = picture_pixel(from, x + column - 1, y + row - 1)[i];
                gx += kernel[row][column] * c;
                gy += kernel[column][row] * c;
            }
        // k is the nearest integer while k - 1/2 lies below the root; (k - 1/2)^2 is never an integer.
        int square = (gx * gx + gy * gy + divisor / 2) / divisor, k = 0;
        while (k < 255 && (k + 1) * (k + 1) - (k + 1) < square)
            k++;
        to[i] = (uint8_t)k;
    }
}

static void pixel_sobel(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    gradient(from, x, y, (const int[3][3]){{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}}, 1, to);
}

static void pixel_prewitt(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    gradient(from, x, y, (const int[3][3]){{-1, 0, 1}, {-1, 0, 1}, {-1, 0, 1}}, 1, to);
}

static void pixel_scharr(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    gradient(from, x, y, (const int[3][3]){{-3, 0, 3}, {-10, 0, 10}, {-3, 0, 3}}, 16, to);
}

static void pixel_roberts(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    for (int i = 0; i < 3; i++) {
        int a = picture_pixel(from, x - 1, y - 1)[i] - to[i];
        int b = picture_pixel(from, x, y - 1)[i] - picture_pixel(from, x - 1, y)[i];
        to[i] = reference_sat8((int64_t)floor(sqrt(a * a + b * b) + 0.5));
    }
}

static void pixel_laplacian(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = reference_sat8(abs(4 * to[i] - picture_pixel(from, x, y - 1)[i] - picture_pixel(from, x, y + 1)[i] -
                                   picture_pixel(from, x - 1, y)[i] - picture_pixel(from, x + 1, y)[i]));
}

static void pixel_deinterlace(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    for (int i = 0; i < 3; i++)
        to[i] = (uint8_t)((picture_pixel(from, x, y - 1)[i] + 2 * to[i] + picture_pixel(from, x, y + 1)[i] + 2) / 4);
}

static void pixel_sharpen(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int64_t q = reference_round((double)values->value[0].real * 256);
    for (int i = 0; i < 3; i++) {
        int c = to[i];
        int n = picture_pixel(from, x, y - 1)[i], s = picture_pixel(from, x, y + 1)[i];
        int w = picture_pixel(from, x - 1, y)[i], e = picture_pixel(from, x + 1, y)[i];
        to[i] = reference_sat8(c + reference_shift(q * (4 * c - n - e - s - w) + 128, 8));
    }
}

static void pixel_median(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int r = values->value[0].number, middle = (2 * r + 1) * (2 * r + 1) / 2 + 1;
    for (int i = 0; i < 3; i++) {
        int seen[256] = {0}, value = -1;
        for (int dy = -r; dy <= r; dy++)
            for (int dx = -r; dx <= r; dx++)
                seen[picture_pixel(from, x + dx, y + dy)[i]]++;
        for (int passed = 0; passed < middle; passed += seen[value])
            value++;
        to[i] = (uint8_t)value;
    }
}

static void pixel_ridge(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    int width = values->value[0].number, begin = x - width / 2;
    for (int i = 0; i < 3; i++) {
        int sum[3] = {0, 0, 0}; // left, centre, right
        for (int k = 0; k < 3 * width; k++)
            sum[k / width] += picture_pixel(from, begin - width + k, y)[i];
        int more = sum[1] - (sum[0] > sum[2] ? sum[0] : sum[2]);
        to[i] = (uint8_t)(more > 0 ? more / width : 0);
    }
}

static void pixel_mirror(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    memcpy(to, picture_pixel(from, from->width - 1 - x, y), 4);
}

static void pixel_flip(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
{
    memcpy(to, picture_pixel(from, x, from->height - 1 - y), 4);
}

const struct rule filters_rules[] = {
    {"none", pixel_none, NULL, {{0}}},
    {"keep", pixel_none, NULL, {{0}}},
    {"gray", pixel_gray, NULL, {{"mode", WORD, 0, 0, "luma", {"luma", "average", "paint"}, {0}}}},
    {"maxrgb", pixel_maxrgb, NULL, {{0}}},
    {"invert", pixel_invert, NULL, {{0}}},
    {"threshold", pixel_threshold, NULL, {{"level", INTEGER, 0, 255, "128", {0}, {0}}}},
    {"otsu", pixel_threshold, prepare_otsu, {{0}}},
    {"gamma", pixel_gamma, NULL, {{"value", REAL, 0.1f, 10, "2.2", {0}, {0}}}},
    {"contrast",
     pixel_contrast,
     NULL,
     {{"amount", REAL, 0, 10, "1.5", {0}, {0}}, {"brightness", REAL, -255, 255, "0", {0}, {0}}}},
    {"sepia", pixel_sepia, NULL, {{0}}},
    {"saturation", pixel_saturation, NULL, {{"amount", REAL, 0, 4, "1.5", {0}, {0}}}},
    {"vibrance", pixel_vibrance, NULL, {{"amount", REAL, -1, 2, "0.5", {0}, {0}}}},
    {"hue", pixel_hue, NULL, {{"angle", REAL, -180, 180, "90", {0}, {0}}}},
    {"blur", pixel_blur, NULL, {{"radius", INTEGER, 1, 15, "2", {0}, {0}}}},
    {"convolve",
     pixel_convolve,
     prepare_convolve,
     {{"matrix",
       MATRIX,
       0,
       0,
       "sharpen",
       {"sharpen", "edge", "gaussian", "laplacian"},
       {"0 -1 0 -1 5 -1 0 -1 0", "-1 -1 -1 -1 8 -1 -1 -1 -1",
        "1 4 6 4 1 4 16 24 16 4 6 24 36 24 6 4 16 24 16 4 1 4 6 4 1", "0 1 0 1 -4 1 0 1 0"}},
      {"div", REAL, -1000000, 1000000, "0", {0}, {0}},
      {"bias", REAL, -255, 255, "0", {0}, {0}}}},
    {"emboss",
     pixel_emboss,
     NULL,
     {{"direction", WORD, 0, 0, "nw", {"nw", "n", "ne", "e", "se", "s", "sw", "w"}, {0}}}},
    {"sobel", pixel_sobel, NULL, {{0}}},
    {"prewitt", pixel_prewitt, NULL, {{0}}},
    {"scharr", pixel_scharr, NULL, {{0}}},
    {"roberts", pixel_roberts, NULL, {{0}}},
    {"laplacian", pixel_laplacian, NULL, {{0}}},
    {"deinterlace", pixel_deinterlace, NULL, {{0}}},
    {"sharpen", pixel_sharpen, NULL, {{"amount", REAL, 0, 8, "1", {0}, {0}}}},
    {"unsharp",
     pixel_unsharp,
     NULL,
     {{"radius", INTEGER, 1, 4, "2", {0}, {0}},
      {"amount", REAL, -1, 5, "1", {0}, {0}},
      {"threshold", INTEGER, 0, 255, "0", {0}, {0}}}},
    {"gaussian", pixel_gaussian, NULL, {{"sigma", REAL, 0.1f, 20, "2", {0}, {0}}}},
    {"bilateral",
     pixel_bilateral,
     NULL,
     {{"radius", INTEGER, 1, 7, "4", {0}, {0}},
      {"sigma_space", REAL, 0.1f, 20, "2", {0}, {0}},
      {"sigma_range", REAL, 1, 255, "25", {0}, {0}}}},
    {"nlmeans",
     pixel_nlmeans,
     NULL,
     {{"strength", REAL, 0.1f, 30, "3", {0}, {0}},
      {"patch", INTEGER, 1, 7, "3", {0}, {0}},
      {"research", INTEGER, 3, 15, "9", {0}, {0}}}},
    {"motion", pixel_black, NULL, {{"gain", INTEGER, 1, 32, "4", {0}, {0}}}}, // without a previous input
    {"denoise", // without a previous output; tests/path/test_denoise.py has the rule
     pixel_none,
     NULL,
     {{"strength", REAL, 0, 0.97f, "0.8", {0}, {0}}, {"threshold", INTEGER, 1, 64, "32", {0}, {0}}}},
    {"erode",
     pixel_erode,
     NULL,
     {{"radius", INTEGER, 1, 60, "1", {0}, {0}}, {"shape", WORD, 0, 0, "box", {"box", "disc"}, {0}}}},
    {"dilate",
     pixel_dilate,
     NULL,
     {{"radius", INTEGER, 1, 60, "1", {0}, {0}}, {"shape", WORD, 0, 0, "box", {"box", "disc"}, {0}}}},
    {"median", pixel_median, NULL, {{"radius", INTEGER, 1, 5, "1", {0}, {0}}}},
    {"ridge", pixel_ridge, NULL, {{"width", INTEGER, 1, 21, "5", {0}, {0}}}},
    {"mirror", pixel_mirror, NULL, {{0}}},
    {"flip", pixel_flip, NULL, {{0}}},
    {0},
};
