// test_stats.c: percentiles of measured values, the rank test, numbers in ranges and half-precision floats
#include "base/number.h"
#include "base/stats.h"

#include "unit.h"

#include <math.h>

static struct stats stats; // 16 KiB, so it is not on the stack

static void test_ring(void)
{
    CHECK_NUMBER(stats_percentile(&stats, 50), 0);
    CHECK_NUMBER(stats_recent(&stats, 0), 0);

    stats_add(&stats, 5);
    CHECK_NUMBER(stats_percentile(&stats, 0), 5);
    CHECK_NUMBER(stats_percentile(&stats, 50), 5);
    CHECK_NUMBER(stats_percentile(&stats, 100), 5);
    CHECK_NUMBER(stats_recent(&stats, 0), 5);
    CHECK_NUMBER(stats_recent(&stats, 1), 0);

    // 1..100 in an order that is neither rising nor falling.
    stats.count = 0;
    for (int i = 0; i < 100; i++)
        stats_add(&stats, i * 37 % 100 + 1);
    CHECK_NUMBER(stats_percentile(&stats, 1), 1);
    CHECK_NUMBER(stats_percentile(&stats, 50), 50);
    CHECK_NUMBER(stats_percentile(&stats, 95), 95);
    CHECK_NUMBER(stats_percentile(&stats, 99), 99);
    CHECK_NUMBER(stats_percentile(&stats, 99.5), 100);
    CHECK_NUMBER(stats_percentile(&stats, 100), 100);
    CHECK_NUMBER(stats_recent(&stats, 0), 99 * 37 % 100 + 1);
    CHECK_NUMBER(stats_recent(&stats, 99), 1);
    CHECK_NUMBER(stats_recent(&stats, 100), 0);

    // A full window forgets the oldest values.
    stats.count = 0;
    for (int i = 0; i < STATS_WINDOW + 10; i++)
        stats_add(&stats, i);
    CHECK_NUMBER(stats.count, STATS_WINDOW + 10);
    CHECK_NUMBER(stats_percentile(&stats, 0), 10);
    CHECK_NUMBER(stats_percentile(&stats, 100), STATS_WINDOW + 9);
    CHECK_NUMBER(stats_recent(&stats, 0), STATS_WINDOW + 9);
    CHECK_NUMBER(stats_recent(&stats, STATS_WINDOW - 1), 10);
    CHECK_NUMBER(stats_recent(&stats, STATS_WINDOW), 0);

    // An emptied ring has no old values.
    stats.count = 0;
    stats_add(&stats, 1);
    CHECK_NUMBER(stats_recent(&stats, 1), 0);
}

static struct samples filled(const double *values, int count)
{
    struct samples samples = {0};
    for (int i = 0; i < count; i++)
        samples_add(&samples, values[i]);
    return samples;
}

static void test_percentiles(void)
{
    struct samples samples = {0};
    CHECK_NUMBER(samples_percentile(&samples, 50), 0);
    for (int i = 0; i < 100; i++)
        samples_add(&samples, i * 37 % 100 + 1);
    CHECK_NUMBER(samples.count, 100);
    CHECK_NUMBER(samples_percentile(&samples, 0), 1);
    CHECK_NUMBER(samples_percentile(&samples, 5), 5);
    CHECK_NUMBER(samples_percentile(&samples, 50), 50);
    CHECK_NUMBER(samples_percentile(&samples, 95), 95);
    CHECK_NUMBER(samples_percentile(&samples, 100), 100);
    CHECK_NUMBER(samples.value[1], 38); // in the order in which they were added
    samples_free(&samples);
    CHECK_NUMBER(samples.count, 0);
    samples = filled((const double[]){50, 10, 40, 20, 30}, 5); // a rank between two values is the upper one
    CHECK_NUMBER(samples_percentile(&samples, 50), 30);
    CHECK_NUMBER(samples_percentile(&samples, 81), 50);
    CHECK_NUMBER(samples_percentile(&samples, 80), 40);
    samples_free(&samples);
}

static double same(const double *a, int na, const double *b, int nb)
{
    struct samples sa = filled(a, na), sb = filled(b, nb);
    const double p = samples_same(&sa, &sb), turned = samples_same(&sb, &sa);
    check_that(&unit, fabs(p - turned) < 1e-12, "one way %.6g, the other %.6g", p, turned);
    samples_free(&sa);
    samples_free(&sb);
    return p;
}

#define CHECK_NEAR(got, want) check_that(&unit, fabs((got) - (want)) < 2e-6, "line %d: %.8f", __LINE__, got)

// The expected values were computed independently of the code, by counting pairs instead of adding ranks.
static void test_difference(void)
{
    static const double low[] = {1, 2, 3, 4, 5, 6, 7, 8}, high[] = {9, 10, 11, 12, 13, 14, 15, 16};
    static const double mixed[] = {0.5, 2.5, 3.5, 4.5, 4.8, 6.5, 6.8, 9};
    static const double tied[] = {1, 1, 2, 2, 2, 3, 3, 3, 3, 4}, shifted[] = {2, 2, 3, 3, 3, 4, 4, 4, 4, 5};
    static const double flat[] = {5, 5, 5, 5};
    CHECK_NEAR(same(low, 8, high, 8), 0.00093911);
    CHECK_NEAR(same(low, 8, mixed, 8), 0.95812193);
    CHECK_NEAR(same(tied, 10, shifted, 10), 0.04528405);
    CHECK_NEAR(same(low, 5, high, 3), 0.03688843);
    CHECK_NUMBER(same(flat, 4, flat, 4), 1);
    CHECK_NUMBER(same(low, 8, low, 8), 1);
    CHECK_NUMBER(same(low, 8, NULL, 0), 1);
    CHECK(same(low, 7, high, 7) > 0.001);
    CHECK(same(low, 8, high, 8) < 0.001);
}

// The nearest number of a range, the least of an empty one; half-precision floats.
static void test_numbers(void)
{
    CHECK(clamp_int(5, 1, 9) == 5 && clamp_int(0, 1, 9) == 1 && clamp_int(10, 1, 9) == 9);
    CHECK(clamp_int(0, 0, -1) == 0 && clamp_int(7, 0, -1) == 0 && clamp_int(-3, 0, -1) == 0);
    CHECK(number_of_half(0x3c00) == 1 && number_of_half(0xc000) == -2 && number_of_half(1) == 0x1p-24);
    CHECK(isinf(number_of_half(0xfc00)) && number_of_half(0xfc00) < 0 && isnan(number_of_half(0x7c01)));
}

int main(void)
{
    test_ring();
    test_percentiles();
    test_difference();
    test_numbers();
    return check_end(&unit);
}
