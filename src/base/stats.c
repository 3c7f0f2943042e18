// stats.c: a ring of values and its percentiles
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

void stats_add(struct stats *stats, double value)
{
    stats->value[stats->count % STATS_WINDOW] = (float)value;
    stats->count++;
}

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a;
    const float y = *(const float *)b;
    return (x > y) - (x < y);
}

double stats_late(const struct stats *stats, size_t newest, double percent)
{
    size_t count = stats->count < STATS_WINDOW ? (size_t)stats->count : STATS_WINDOW;
    if (count > newest)
        count = newest;
    if (count == 0)
        return 0;
    float sorted[STATS_WINDOW];
    for (size_t i = 0; i < count; i++)
        sorted[i] = stats->value[(stats->count - 1 - i) % STATS_WINDOW];
    qsort(sorted, count, sizeof(*sorted), compare_floats);
    const double rank = ceil(percent / 100 * (double)count);
    const size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}

double stats_percentile(const struct stats *stats, double percent)
{
    return stats_late(stats, STATS_WINDOW, percent);
}

double stats_recent(const struct stats *stats, size_t age)
{
    if (age >= stats->count || age >= STATS_WINDOW)
        return 0;
    return stats->value[(stats->count - 1 - age) % STATS_WINDOW];
}
