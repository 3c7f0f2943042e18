// stats.c: percentiles of measured values, and the rank test
#include "base/stats.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double values_percentile(double *values, size_t count, double percent)
{
    qsort(values, count, sizeof(*values), compare_values);
    const double rank = ceil(percent / 100 * (double)count);
    const size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return values[index < count ? index : count - 1];
}

void stats_add(struct stats *stats, double value)
{
    stats->value[stats->count % STATS_WINDOW] = (float)value;
    stats->count++;
}

double stats_late(const struct stats *stats, size_t newest, double percent)
{
    size_t count = stats->count < STATS_WINDOW ? (size_t)stats->count : STATS_WINDOW;
    count = count < newest ? count : newest;
    double sorted[STATS_WINDOW];
    for (size_t i = 0; i < count; i++)
        sorted[i] = stats->value[(stats->count - 1 - i) % STATS_WINDOW];
    return count > 0 ? values_percentile(sorted, count, percent) : 0;
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

void samples_add(struct samples *samples, double value)
{
    samples->value = xgrow(samples->value, (size_t)samples->count, sizeof(*samples->value));
    samples->value[samples->count++] = value;
}

void samples_free(struct samples *samples)
{
    free(samples->value);
    *samples = (struct samples){0};
}

double samples_percentile(const struct samples *samples, double percent)
{
    const size_t count = (size_t)samples->count;
    if (count == 0)
        return 0;
    double *sorted = xcalloc(count, sizeof(*sorted));
    memcpy(sorted, samples->value, count * sizeof(*sorted));
    const double value = values_percentile(sorted, count, percent);
    free(sorted);
    return value;
}

// The value comes first, so that compare_values sorts these too.
struct ranked {
    double value;
    bool of_a;
};

double samples_same(const struct samples *a, const struct samples *b)
{
    const double na = a->count, nb = b->count, n = na + nb;
    if (a->count == 0 || b->count == 0)
        return 1;
    struct ranked *all = xcalloc((size_t)n, sizeof(*all));
    for (int i = 0; i < a->count; i++)
        all[i] = (struct ranked){a->value[i], true};
    for (int i = 0; i < b->count; i++)
        all[a->count + i] = (struct ranked){b->value[i], false};
    qsort(all, (size_t)n, sizeof(*all), compare_values);
    double rank_sum = 0, ties = 0; // of a's values; sum of t^3 - t over groups of t equal values
    for (int i = 0, end; i < (int)n; i = end) {
        for (end = i + 1; end < (int)n && all[end].value == all[i].value; end++)
            ;
        const double t = end - i, rank = (i + 1 + end) / 2.0;
        ties += t * t * t - t;
        for (int k = i; k < end; k++)
            rank_sum += all[k].of_a ? rank : 0;
    }
    free(all);
    const double u = rank_sum - na * (na + 1) / 2;
    const double variance = na * nb / 12 * (n + 1 - ties / (n * (n - 1)));
    const double distance = fabs(u - na * nb / 2) - 0.5;
    if (variance <= 0 || distance <= 0)
        return 1;
    return erfc(distance / sqrt(variance) / sqrt(2));
}
