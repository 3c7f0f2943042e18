// effects.c: how much the parameters of a space change the time
#include "tune/study/effects.h"

#include <math.h>
#include <stdlib.h>

static const double rounding = 1e-20; // a smaller sum of squares is a rounding error

static bool has_time(double ms)
{
    return ms > 0 && isfinite(ms);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

bool effect_of_value(const struct space *space, const double *ms, int param, int value, struct effect_group *group)
{
    double *times = calloc((size_t)space->count + 1, sizeof(*times));
    *group = (struct effect_group){0};
    if (!times)
        return false;
    for (int c = 0; c < space->count; c++) {
        if (space_tuple(space, c)[param] == value && has_time(ms[c]))
            times[group->count++] = ms[c];
    }
    qsort(times, (size_t)group->count, sizeof(*times), compare_doubles);
    if (group->count > 0) {
        group->best_ms = times[0];
        group->median_ms = (times[(group->count - 1) / 2] + times[group->count / 2]) / 2;
    }
    free(times);
    return true;
}

// The sums of a group's values.
struct sums {
    double count, sum;
};

double effect_share(const struct space *space, const double *ms, int a, int b)
{
    const size_t values_b = b < 0 ? 1 : (size_t)space->param[b].values;
    const size_t groups = (size_t)space->param[a].values * values_b;
    struct sums *group = calloc(groups, sizeof(*group)), all = {0};
    double total = 0, between = 0;
    if (!group)
        return NAN;
    for (int c = 0; c < space->count; c++) {
        if (!has_time(ms[c]))
            continue;
        const uint16_t *tuple = space_tuple(space, c);
        struct sums *own = &group[tuple[a] * values_b + (b < 0 ? 0 : tuple[b])];
        own->count++;
        own->sum += log(ms[c]);
        all.count++;
        all.sum += log(ms[c]);
    }
    const double mean = all.sum / all.count;
    for (int c = 0; c < space->count; c++) {
        if (has_time(ms[c]))
            total += (log(ms[c]) - mean) * (log(ms[c]) - mean);
    }
    for (size_t i = 0; i < groups; i++) {
        if (group[i].count > 0) {
            const double distance = group[i].sum / group[i].count - mean;
            between += group[i].count * distance * distance;
        }
    }
    free(group);
    return total > rounding ? between / total : NAN;
}
