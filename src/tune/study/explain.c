// explain.c: prints how the parameters of a space change the time
#include "tune/study/explain.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS_SHOWN = 5, PAIRS_MAX = SPACE_PARAMS * SPACE_PARAMS };
static const double pair_least = 0.02; // smallest share of a pair that is shown

struct pair {
    int a, b;
    double share; // beyond the shares of both parameters by themselves
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return x->share > y->share ? -1 : x->share < y->share;
}

static bool print_values(const struct space *space, const double *ms, int param)
{
    struct effect_group group;
    char name[48], value[48];
    log_escape(name, sizeof(name), space->param[param].name);
    for (int v = 0; v < space->param[param].values; v++) {
        if (!effect_of_value(space, ms, param, v, &group))
            return false;
        if (group.count == 0)
            continue;
        log_escape(value, sizeof(value), space->param[param].value[v]);
        printf("%-16s %-10s %14d %10.4f %10.4f\n", name, value, group.count, group.median_ms, group.best_ms);
    }
    return true;
}

static void print_pairs(const struct space *space, const double *ms, const double *share)
{
    struct pair pair[PAIRS_MAX];
    char a[48], b[48];
    int count = 0;
    for (int i = 0; i < space->params; i++) {
        for (int k = i + 1; k < space->params; k++) {
            const double more = effect_share(space, ms, i, k) - share[i] - share[k];
            if (more >= pair_least)
                pair[count++] = (struct pair){i, k, more};
        }
    }
    qsort(pair, (size_t)count, sizeof(*pair), compare_pairs);
    for (int i = 0; i < count && i < PAIRS_SHOWN; i++) {
        log_escape(a, sizeof(a), space->param[pair[i].a].name);
        log_escape(b, sizeof(b), space->param[pair[i].b].name);
        printf("  %s with %s: %.0f %% more than by themselves\n", a, b, 100 * pair[i].share);
    }
}

bool explain_print(const struct space *space, const double *ms)
{
    double share[SPACE_PARAMS];
    char name[48];
    printf("\n%-16s %-10s %14s %10s %10s\n", "parameter", "value", "configurations", "median ms", "best ms");
    for (int p = 0; p < space->params; p++) {
        if (!print_values(space, ms, p)) {
            log_error("cannot explain the times: out of memory");
            return false;
        }
    }
    printf("\nshare of the variation of times that a parameter explains:\n");
    for (int p = 0; p < space->params; p++) {
        share[p] = effect_share(space, ms, p, -1);
        log_escape(name, sizeof(name), space->param[p].name);
        if (isfinite(share[p]))
            printf("  %-16s %3.0f %%\n", name, 100 * share[p]);
    }
    print_pairs(space, ms, share);
    printf("\n");
    return true;
}

// ---- effects ----

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
