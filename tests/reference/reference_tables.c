// reference_tables.c: docs/pixels.md section 3: filters that look up each channel in a table
#include "reference_rules.h"

#include <math.h>

void pixel_tables(const struct picture *from, int x, int y, const struct values *values, uint8_t *to)
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

bool prepare_levels(const struct picture *from, struct values *values)
{
    const struct value *v = values->value;
    int black = v[0].number, white = v[1].number, low = v[3].number, high = v[4].number;
    for (int c = 0; c < 256 && black < white; c++) {
        double part = c <= black ? 0 : c >= white ? 1 : (c - black) / (double)(white - black);
        set(values, v[5].number, c, low + (high - low) * pow(part, 1 / (double)v[2].real));
    }
    return black < white;
}

bool prepare_posterize(const struct picture *from, struct values *values)
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

bool prepare_curves(const struct picture *from, struct values *values)
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

bool prepare_exposure(const struct picture *from, struct values *values)
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

bool prepare_temperature(const struct picture *from, struct values *values)
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

bool prepare_autolevels(const struct picture *from, struct values *values)
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

bool prepare_equalize(const struct picture *from, struct values *values)
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
