// test_stats.c: the ring of values and its percentiles
#include "base/stats.h"

#include "unit.h"

static struct stats stats; // 16 KiB: too large for comfort on the stack

int main(void)
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

    // Nor does it know, begun anew, what it had before.
    stats.count = 0;
    stats_add(&stats, 1);
    CHECK_NUMBER(stats_recent(&stats, 1), 0);
    return check_end(&unit);
}
