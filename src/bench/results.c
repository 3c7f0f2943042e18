// results.c: reads results of `bench --json` and compares two of them
#include "bench/results.h"

#include "base/file.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/stats.h"
#include "bench/figure.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 64 << 20, TESTS_MAX = 256, FIGURES_MAX = 2048 };

// ---- reading ----

// Returns true if the members that --compare adds, and others that need not be there, have their types.
static bool has_types(const json_t *value)
{
    const json_t *measured = json_object_get(value, "measured"), *base = json_object_get(value, "base"), *item;
    size_t i;
    bool good = (!measured || json_is_string(measured)) && (!base || json_is_object(json_object_get(base, "device"))) &&
                (!base || json_is_array(json_object_get(value, "missing")));
    json_array_foreach(json_object_get(value, "figures"), i, item)
    {
        const json_t *event = json_object_get(item, "by_event"), *change = json_object_get(item, "change");
        const json_t *samples = json_object_get(item, "samples");
        good = good && (!event || json_is_number(event)) && (!change || json_is_number(change)) &&
               (!samples || json_is_array(samples));
    }
    return good;
}

static bool is_result(const json_t *value)
{
    const json_t *figures = json_object_get(value, "figures"), *item;
    json_t *tests = json_object_get(value, "tests"), *test;
    const char *key;
    size_t i;
    struct figure figure;
    bool good = json_is_array(figures) && json_array_size(figures) <= FIGURES_MAX && json_is_object(tests) &&
                json_object_size(tests) <= TESTS_MAX && has_types(value) &&
                json_is_string(json_object_get(json_object_get(value, "device"), "name"));
    json_object_foreach(tests, key, test) good =
        good && json_is_string(json_object_get(test, "unit")) && json_is_string(json_object_get(test, "definition"));
    json_array_foreach(figures, i, item) good =
        good && figure_read(item, &figure) && json_object_get(tests, figure.test) && !(figure.spread < 0);
    return good;
}

// Returns false if the value is not a result that this program understands (logged).
static bool check(const json_t *value, const char *name)
{
    const json_t *format = json_object_get(value, "format");
    if (json_is_integer(format) && json_integer_value(format) != RESULTS_FORMAT) {
        log_error("%s has format %lld, but this version reads format %d; measure again", name,
                  (long long)json_integer_value(format), RESULTS_FORMAT);
        return false;
    }
    if (json_is_integer(format) && is_result(value))
        return true;
    log_error("%s has no results of 'monocle bench --json'", name);
    return false;
}

json_t *results_parse(const char *text, size_t size, const char *name)
{
    json_t *results = json_array(), *value = NULL;
    json_error_t error;
    size_t at = 0;
    bool good = results != NULL, bad = false;
    // One object per line.
    while (good && at < size && (value = json_loadb(text + at, size - at, JSON_DISABLE_EOF_CHECK, &error))) {
        bad = !check(value, name);
        good = !bad && json_array_append(results, value) == 0;
        json_decref(value);
        at += (size_t)error.position;
        while (at < size && strchr(" \t\r\n", text[at]) && text[at])
            at++;
    }
    if (!bad && (!good || at < size || json_array_size(results) == 0)) {
        log_error("%s has no results of 'monocle bench --json'", name);
        good = false;
    }
    if (good)
        return results;
    json_decref(results);
    return NULL;
}

json_t *results_read(const char *path)
{
    size_t size = 0;
    char *text = file_read(path, BYTES_MAX, &size);
    if (!text) {
        log_error("cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    json_t *results = results_parse(text, size, path);
    free(text);
    return results;
}

// ---- comparison ----

// The medians of two runs of the same program differ by up to this much, because addresses and other programs differ.
// The rank test sees only the rounds of each run, so it cannot know this.
static const double noise = 0.03;
static const double p_limit = 0.001;
// The spreads of few rounds are rough.
static const double spread_factor = 2;
enum { ROUNDS_LEAST = 8 }; // with fewer in both runs, p never falls below p_limit (samples_same)

// Two figures of the same case. `p`: of the rank test; negative: a result has no rounds.
struct pair {
    struct figure now, before;
    double p, copy_change; // by how much the plain copy of the case became slower; 0: unknown
};

static const char *judge(const struct pair *pair, const char *unit)
{
    const struct figure *now = &pair->now, *before = &pair->before;
    if (now->status != FIGURE_OK || before->status != FIGURE_OK)
        return now->status == FIGURE_OK ? "new" : before->status == FIGURE_OK ? "missing" : NULL;
    const double change = now->value - before->value;
    const double spreads = now->value * now->spread + before->value * before->spread; // NAN if one is unknown
    if (fabs(change) <= noise * before->value || before->value <= 0)
        return "same";
    if (pair->p >= 0 ? pair->p >= p_limit : !(fabs(change) > spread_factor * spreads))
        return "unclear";
    // The machine became slower or faster, not the case.
    const double copy = change > 0 ? fmax(pair->copy_change, 0) : fmax(-pair->copy_change, 0);
    if (fabs(change) <= (noise + copy) * before->value)
        return "same";
    return (change > 0) == figure_less_is_better(unit) ? "slower" : "faster";
}

// Returns the figure with the same test, with this added to its name, and the same parameters; NULL: there is none.
static const json_t *find(const json_t *result, const struct figure *wanted, const char *more, struct figure *found)
{
    const size_t length = strlen(wanted->test);
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        if (figure_read(item, found) && strncmp(found->test, wanted->test, length) == 0 &&
            strcmp(found->test + length, more) == 0 && strcmp(found->parameters, wanted->parameters) == 0)
            return item;
    }
    *found = (struct figure){.status = FIGURE_SKIPPED};
    return NULL;
}

// Returns the time of the plain copy of a case, from its part of the case's time; 0: there is none.
static double copy_time(const json_t *result, const struct figure *figure)
{
    struct figure copy;
    return find(result, figure, ".copy", &copy) ? copy.value * figure->value : 0;
}

// Returns the p of the rank test, and lowers *least to the number of rounds of a run that has too few.
static double rank_test(const json_t *now, const json_t *before, int *least)
{
    const json_t *const rounds[2] = {json_object_get(now, "samples"), json_object_get(before, "samples")};
    struct samples samples[2] = {{0}};
    if (!rounds[0] || !rounds[1])
        return -1;
    for (int i = 0; i < 2; i++) {
        const json_t *value;
        size_t k;
        json_array_foreach(rounds[i], k, value) samples_add(&samples[i], json_number_value(value));
        *least = samples[i].count < *least ? samples[i].count : *least;
    }
    const double p = samples_same(&samples[0], &samples[1]);
    samples_free(&samples[0]);
    samples_free(&samples[1]);
    return p;
}

// An unknown processor is equal to all.
static bool same_device(const json_t *a, const json_t *b)
{
    const char *one = json_text(a, "processor"), *other = json_text(b, "processor");
    return strcmp(json_text(a, "name"), json_text(b, "name")) == 0 &&
           strcmp(json_text(a, "platform"), json_text(b, "platform")) == 0 &&
           (!one[0] || !other[0] || strcmp(one, other) == 0);
}

// Several devices may have one name: then prefers the device with the same number.
static const json_t *find_device(const json_t *result, const json_t *base)
{
    const json_t *device = json_object_get(result, "device"), *candidate, *named = NULL,
                 *first = json_array_get(base, 0);
    size_t i;
    json_array_foreach(base, i, candidate)
    {
        const json_t *other = json_object_get(candidate, "device");
        if (!same_device(other, device))
            continue;
        if (json_equal(json_object_get(other, "number"), json_object_get(device, "number")))
            return candidate;
        named = named ? named : candidate;
    }
    if (named)
        return named;
    log_warn("the base is from another device: %s; this one: %s", json_text(json_object_get(first, "device"), "name"),
             json_text(device, "name"));
    return first;
}

// Returns true if the figures of a test follow from those of another.
static bool is_derived(const json_t *result, const char *test)
{
    return json_is_true(json_object_get(json_object_get(json_object_get(result, "tests"), test), "derived"));
}

// Returns the base's figures of the same tests that `result` lacks.
static json_t *missing_figures(const json_t *result, const json_t *base)
{
    json_t *missing = json_array(), *item;
    size_t i;
    struct figure figure, found;
    json_array_foreach(json_object_get(base, "figures"), i, item)
    {
        if (figure_read(item, &figure) && figure.status == FIGURE_OK && !is_derived(base, figure.test) &&
            json_object_get(json_object_get(result, "tests"), figure.test) && !find(result, &figure, "", &found))
            json_array_append(missing, item);
    }
    return missing;
}

// Replaces the comparison that a saved figure may have. Returns true if the figure is worse than that of `base`.
static bool compare_figure(const json_t *result, const json_t *base, json_t *item, int *least)
{
    static const char *const keys[] = {"verdict", "base_value", "base_spread", "change", "p"};
    struct pair pair = {.p = -1};
    struct figure *now = &pair.now, *before = &pair.before;
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        json_object_del(item, keys[i]);
    figure_read(item, now);
    if (is_derived(result, now->test))
        return false;
    const json_t *earlier = find(base, now, "", before);
    const double copy = copy_time(result, now), earlier_copy = copy_time(base, before);
    int rounds = *least;
    if (earlier && now->status == FIGURE_OK && before->status == FIGURE_OK)
        pair.p = rank_test(item, earlier, &rounds);
    pair.copy_change = copy > 0 && earlier_copy > 0 ? copy / earlier_copy - 1 : 0;
    const json_t *test = json_object_get(json_object_get(result, "tests"), now->test);
    const char *verdict = judge(&pair, json_text(test, "unit"));
    if (!verdict)
        return false;
    if (strcmp(verdict, "unclear") == 0)
        *least = rounds;
    json_object_set_new(item, "verdict", json_string(verdict));
    if (before->status == FIGURE_OK) {
        json_object_set_new(item, "base_value", json_real(before->value));
        json_object_set_new(item, "base_spread", figure_spread_json(before->spread));
        if (now->status == FIGURE_OK && before->value > 0 && isfinite(now->value / before->value))
            json_object_set_new(item, "change", json_real(now->value / before->value - 1));
        if (pair.p >= 0)
            json_object_set_new(item, "p", json_real(pair.p));
    }
    return strcmp(verdict, "slower") == 0 || strcmp(verdict, "missing") == 0;
}

int results_compare(json_t *result, const json_t *base)
{
    const json_t *earlier = find_device(result, base);
    json_t *item, *missing = missing_figures(result, earlier);
    int worse = (int)json_array_size(missing), least = ROUNDS_LEAST;
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, item) worse +=
        compare_figure(result, earlier, item, &least);
    if (least < ROUNDS_LEAST)
        log_warn("%d rounds are too few for a verdict; use --rounds %d or more in both runs", least, ROUNDS_LEAST);
    json_object_set_new(result, "missing", missing);
    json_object_set_new(
        result, "base",
        json_pack("{s:O,s:s}", "device", json_object_get(earlier, "device"), "monocle", json_text(earlier, "monocle")));
    return worse;
}
