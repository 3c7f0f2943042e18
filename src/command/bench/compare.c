// compare.c: rows set against an earlier run's
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/samples.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Two runs of one and the same program differ by up to this much in their medians (memory lies elsewhere, other
// programs run beside); a rank test, which sees only the rounds of each run, does not know of it.
static const double noise = 0.03;
static const double p_limit = 0.001;
enum { ROUNDS_LEAST = 8 }; // with fewer on both sides p never falls below that (samples_same)

// Two rows belong to the same case if these values are equal.
static const char *const identity[] = {"case",    "format",    "width",  "height",  "path",
                                       "threads", "in_flight", "device", "variant", NULL};

json_t *bench_base_read(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        log_error("--compare: cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *rows = json_array(), *value;
    json_error_t error;
    // One object per line, or one array of them all.
    while ((value = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error))) {
        if (json_is_array(value))
            json_array_extend(rows, value);
        else
            json_array_append(rows, value);
        json_decref(value);
    }
    const bool ended = feof(file);
    fclose(file);
    if (ended && json_array_size(rows) > 0)
        return rows;
    log_error("--compare: %s has no results of 'monocle bench --json'", path);
    json_decref(rows);
    return NULL;
}

static bool same_case(const json_t *a, const json_t *b)
{
    for (int i = 0; identity[i]; i++) {
        const json_t *x = json_object_get(a, identity[i]), *y = json_object_get(b, identity[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

static const json_t *find(const json_t *base, const json_t *row)
{
    size_t i;
    const json_t *candidate;
    json_array_foreach(base, i, candidate)
    {
        if (same_case(candidate, row))
            return candidate;
    }
    return NULL;
}

static struct samples samples_of(const json_t *row)
{
    struct samples samples = {0};
    size_t i;
    const json_t *value;
    json_array_foreach(json_object_get(row, "samples_ms"), i, value) samples_add(&samples, json_number_value(value));
    return samples;
}

// By how much `key` grew, 0.1 for a tenth; 0 where it is missing.
static double growth(const json_t *row, const json_t *base, const char *key)
{
    const double before = json_number_value(json_object_get(base, key));
    const double now = json_number_value(json_object_get(row, key));
    return before > 0 && now > 0 ? now / before - 1 : 0;
}

static const char *judge(double change, double copy_change, double p)
{
    if (p < p_limit && change > noise + fmax(copy_change, 0))
        return "slower";
    if (p < p_limit && change < -noise + fmin(copy_change, 0))
        return "faster";
    return "same";
}

int bench_compare(json_t *rows, const json_t *base)
{
    int slower = 0, least = ROUNDS_LEAST;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        const json_t *earlier = find(base, row);
        const char *verdict = "new";
        double p = 1, change = 0;
        if (earlier) {
            struct samples now = samples_of(row), before = samples_of(earlier);
            p = samples_same(&now, &before);
            change = growth(row, earlier, "ms_median");
            verdict = judge(change, growth(row, earlier, "copy_ms_median"), p);
            const int rounds = now.count < before.count ? now.count : before.count;
            if (rounds < least && strcmp(verdict, "same") == 0)
                least = rounds;
            samples_free(&now);
            samples_free(&before);
        }
        slower += strcmp(verdict, "slower") == 0;
        json_object_set_new(row, "verdict", json_string(verdict));
        json_object_set(row, "base_ms_median", earlier ? json_object_get(earlier, "ms_median") : json_null());
        json_object_set_new(row, "change", earlier ? json_real(change) : json_null());
        json_object_set_new(row, "p", earlier ? json_real(p) : json_null());
    }
    if (least < ROUNDS_LEAST)
        log_warn("%d rounds are too few for a verdict; use --rounds %d or more in both runs", least, ROUNDS_LEAST);
    return slower;
}
