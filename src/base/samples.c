// samples.c: percentiles and the rank test
#include "base/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 32 };

bool samples_add(struct samples *samples, double value)
{
    if (samples->count == samples->room) {
        const int room = samples->room ? 2 * samples->room : ROOM_FIRST;
        double *grown = realloc(samples->value, (size_t)room * sizeof(*grown));
        if (!grown)
            return false;
        samples->value = grown;
        samples->room = room;
    }
    samples->value[samples->count++] = value;
    return true;
}

void samples_free(struct samples *samples)
{
    free(samples->value);
    *samples = (struct samples){0};
}

static int compare_values(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double samples_percentile(const struct samples *samples, double percent)
{
    const int count = samples->count;
    double *sorted = count > 0 ? malloc((size_t)count * sizeof(*sorted)) : NULL;
    if (!sorted)
        return 0;
    memcpy(sorted, samples->value, (size_t)count * sizeof(*sorted));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare_values);
    const int rank = (int)ceil(percent / 100 * count);
    const double value = sorted[rank < 1 ? 0 : rank > count ? count - 1 : rank - 1];
    free(sorted);
    return value;
}

// A value and the set it is from; sorts by the value, which comes first.
struct ranked {
    double value;
    bool of_a;
};

double samples_same(const struct samples *a, const struct samples *b)
{
    const double na = a->count, nb = b->count, n = na + nb;
    struct ranked *all = na > 0 && nb > 0 ? malloc((size_t)n * sizeof(*all)) : NULL;
    if (!all)
        return 1;
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
