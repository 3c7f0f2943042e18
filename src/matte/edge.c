// edge.c: makes a program's mattes calm, larger and softer, and lets their edges follow the frame; in integers
#include "matte/matte.h"

#include "base/alloc.h"
#include "base/number.h"

#include <stdlib.h>

enum { CALM = 24 }; // levels: a smaller change may be noise
enum { REACH = 4, NOISE = 400, STEEPEST = 16 * 256 };

void matte_smooth(uint8_t *old, const uint8_t *raw, int count)
{
    for (int i = 0; i < count; i++) {
        const int change = raw[i] - old[i], size = abs(change);
        const int weight = 32 + clamp_int(3 * (size - CALM), 0, 224);
        const int step = (size * weight + 255) / 256; // away from zero: a smaller step would never arrive
        old[i] = (uint8_t)(old[i] + (change < 0 ? -step : step));
    }
}

void matte_hold(uint8_t *held, const uint8_t *raw, int count, int fall)
{
    for (int i = 0; i < count; i++) {
        const int low = held[i] > fall ? held[i] - fall : 0;
        held[i] = (uint8_t)(raw[i] > low ? raw[i] : low);
    }
}

// Replaces each value by the sum, or the largest value, of the 2 * reach + 1 values around it, without those outside.
static void combine_line(int32_t *values, int count, int stride, int reach, bool largest)
{
    int32_t line[MATTE_SIDE];
    for (int i = 0; i < count; i++)
        line[i] = values[i * stride];
    int32_t sum = 0;
    for (int i = 0; i < reach && i < count; i++)
        sum += line[i];
    for (int i = 0; i < count; i++) {
        const int first = clamp_int(i - reach, 0, count - 1), last = clamp_int(i + reach, 0, count - 1);
        if (largest) {
            int32_t most = 0;
            for (int k = first; k <= last; k++)
                most = line[k] > most ? line[k] : most;
            values[i * stride] = most;
            continue;
        }
        sum += i + reach < count ? line[i + reach] : 0;
        sum -= i > reach ? line[i - reach - 1] : 0;
        values[i * stride] = sum;
    }
}

static void combine(int32_t *values, struct matte_size size, int reach, bool largest)
{
    for (int y = 0; reach > 0 && y < size.height; y++)
        combine_line(values + y * size.width, size.width, 1, reach, largest);
    for (int x = 0; reach > 0 && x < size.width; x++)
        combine_line(values + x, size.height, size.width, reach, largest);
}

// Returns the number of places of `count` within the reach of place `at`.
static int count_near(int at, int count, int reach)
{
    return clamp_int(at + reach, 0, count - 1) - clamp_int(at - reach, 0, count - 1) + 1;
}

// Divides whole numbers below 2^53 as `/` does, but faster. The result must fit.
static inline int32_t quotient(double dividend, int32_t divisor)
{
    return (int32_t)(dividend / divisor);
}

// Replaces each value by the mean of those within its reach.
static void average(int32_t *values, struct matte_size size, int reach)
{
    combine(values, size, reach, false);
    for (int y = 0; y < size.height; y++) {
        const int rows = count_near(y, size.height, reach);
        for (int x = 0; x < size.width; x++, values++)
            *values = quotient(*values, count_near(x, size.width, reach) * rows);
    }
}

// The guided filter: for each pixel, the line m = a * luma + b that fits the matte best in the pixels around it.
static void fit_lines(const int32_t *matte, const uint8_t *luma, struct matte_size size, int32_t *a, int32_t *b,
                      int32_t *work)
{
    const int count = size.width * size.height;
    int32_t *products = work, *squares = work + count;
    for (int i = 0; i < count; i++) {
        a[i] = matte[i];
        b[i] = luma[i];
        products[i] = matte[i] * luma[i];
        squares[i] = luma[i] * luma[i];
    }
    combine(a, size, REACH, false);
    combine(b, size, REACH, false);
    combine(products, size, REACH, false);
    combine(squares, size, REACH, false);
    for (int y = 0, i = 0; y < size.height; y++) {
        const int32_t rows = count_near(y, size.height, REACH);
        for (int x = 0; x < size.width; x++, i++) {
            const int32_t n = count_near(x, size.width, REACH) * rows, mattes = a[i], lumas = b[i];
            const int32_t common = n * products[i] - mattes * lumas; // below 2^29
            const int32_t spread = n * squares[i] - lumas * lumas + NOISE * n * n;
            a[i] = clamp_int(quotient(common * 256.0, spread), -STEEPEST, STEEPEST);
            b[i] = quotient(mattes * 256 - a[i] * lumas, n);
        }
    }
    average(a, size, REACH);
    average(b, size, REACH);
}

void matte_refine(const uint8_t *matte, const uint8_t *luma, struct matte_size size, const struct matte_edge *edge,
                  int32_t *numbers)
{
    const int count = size.width * size.height;
    int32_t *planes = xcalloc(5 * (size_t)count, sizeof(*planes));
    int32_t *grown = planes, *a = planes + count, *b = a + count, *work = b + count;
    for (int i = 0; i < count; i++)
        grown[i] = matte[i];
    combine(grown, size, edge->grow, true);
    if (edge->feather > 0)
        average(grown, size, edge->feather);
    if (edge->follows)
        fit_lines(grown, luma, size, a, b, work);
    // The curve (m - 64) * 2 makes the line steep: without it, a haze remains around the person. One half of the slope
    // is for the luma of the small frame, which has less noise.
    for (int i = 0; i < count; i++) {
        numbers[2 * i] = edge->follows ? a[i] : 0;
        numbers[2 * i + 1] = edge->follows ? a[i] * luma[i] + b[i] * 2 - 128 * 256 : grown[i] * 256;
    }
    free(planes);
}
