// results.c: reads results of `bench device --json` and compares two of them
#include "command/bench/results.h"

#include "base/file.h"
#include "base/log.h"
#include "command/bench/figure_table.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 64 << 20, TESTS_MAX = 256, FIGURES_MAX = 2048 };

// ---- reading ----

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

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
        good = good && (!event || json_is_number(event)) && (!change || json_is_number(change));
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

// Returns false if the value is not a device's result that this program understands (logged).
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
    log_error("%s has no results of 'monocle bench device --json'", name);
    return false;
}

json_t *results_parse(const char *text, size_t size, const char *name)
{
    json_t *results = json_array(), *value = NULL;
    json_error_t error;
    size_t at = 0;
    bool good = results != NULL;
    // One object per line.
    while (good && at < size && (value = json_loadb(text + at, size - at, JSON_DISABLE_EOF_CHECK, &error))) {
        good = check(value, name) && json_array_append(results, value) == 0;
        json_decref(value);
        at += (size_t)error.position;
        while (at < size && strchr(" \t\r\n", text[at]) && text[at])
            at++;
    }
    if (good && (at < size || json_array_size(results) == 0)) {
        log_error("%s has no results of 'monocle bench device --json'", name);
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
static const double noise = 0.03;
// The spreads of few rounds are rough.
static const double spread_factor = 2;

static const char *const verdicts[] = {"slower", "missing", "unclear", "faster", "new", "same"};
enum { VERDICTS = sizeof(verdicts) / sizeof(*verdicts) };

static const char *judge(const struct figure *now, const struct figure *before, const char *unit)
{
    if (now->status != FIGURE_OK || before->status != FIGURE_OK)
        return now->status == FIGURE_OK ? "new" : before->status == FIGURE_OK ? "missing" : NULL;
    const double change = now->value - before->value;
    const double spreads = now->value * now->spread + before->value * before->spread; // NAN if one is unknown
    if (fabs(change) <= noise * before->value || before->value <= 0)
        return "same";
    if (!(fabs(change) > spread_factor * spreads))
        return "unclear";
    return (change > 0) == figure_less_is_better(unit) ? "slower" : "faster";
}

static bool find(const json_t *result, const struct figure *wanted, struct figure *found)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        if (figure_read(item, found) && strcmp(found->test, wanted->test) == 0 &&
            strcmp(found->parameters, wanted->parameters) == 0)
            return true;
    }
    *found = (struct figure){.status = FIGURE_SKIPPED};
    return false;
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
        if (strcmp(text_of(other, "name"), text_of(device, "name")) != 0 ||
            strcmp(text_of(other, "platform"), text_of(device, "platform")) != 0)
            continue;
        if (json_equal(json_object_get(other, "number"), json_object_get(device, "number")))
            return candidate;
        named = named ? named : candidate;
    }
    if (named)
        return named;
    log_warn("the base is from another device: %s; this one: %s", text_of(json_object_get(first, "device"), "name"),
             text_of(device, "name"));
    return first;
}

// Removes the comparison that a saved figure may have.
static void clear(json_t *figure)
{
    static const char *const keys[] = {"verdict", "base_value", "base_spread", "change"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        json_object_del(figure, keys[i]);
}

// Returns the base's figures of the same tests that `result` lacks.
static json_t *missing_figures(const json_t *result, const json_t *base)
{
    json_t *missing = json_array(), *item;
    size_t i;
    struct figure figure, found;
    json_array_foreach(json_object_get(base, "figures"), i, item)
    {
        if (figure_read(item, &figure) && figure.status == FIGURE_OK &&
            json_object_get(json_object_get(result, "tests"), figure.test) && !find(result, &figure, &found))
            json_array_append(missing, item);
    }
    return missing;
}

int results_compare(json_t *result, const json_t *base)
{
    const json_t *earlier = find_device(result, base);
    json_t *item, *missing = missing_figures(result, earlier);
    int worse = (int)json_array_size(missing);
    size_t i;
    json_array_foreach(json_object_get(result, "figures"), i, item)
    {
        struct figure now, before;
        clear(item);
        figure_read(item, &now);
        find(earlier, &now, &before);
        const json_t *test = json_object_get(json_object_get(result, "tests"), now.test);
        const char *verdict = judge(&now, &before, text_of(test, "unit"));
        if (!verdict)
            continue;
        worse += strcmp(verdict, "slower") == 0 || strcmp(verdict, "missing") == 0;
        json_object_set_new(item, "verdict", json_string(verdict));
        if (before.status != FIGURE_OK)
            continue;
        json_object_set_new(item, "base_value", json_real(before.value));
        json_object_set_new(item, "base_spread", figure_spread_json(before.spread));
        if (now.status == FIGURE_OK && before.value > 0 && isfinite(now.value / before.value))
            json_object_set_new(item, "change", json_real(now.value / before.value - 1));
    }
    json_object_set_new(result, "missing", missing);
    json_object_set_new(
        result, "base",
        json_pack("{s:O,s:s}", "device", json_object_get(earlier, "device"), "monocle", text_of(earlier, "monocle")));
    return worse;
}

// ---- the table ----

// Prints "slower   latency, part=running: 3.1 ±2% -> 4.5 ±3% µs (+45%)". The texts may come from a file.
static void print_figure(const char *verdict, const json_t *item, const json_t *tests)
{
    char line[512], shown[sizeof(line)], value[FIGURE_TEXT], earlier[FIGURE_TEXT];
    struct figure now;
    figure_read(item, &now);
    const json_t *base = json_object_get(item, "base_value"), *change = json_object_get(item, "change");
    const json_t *spread = json_object_get(item, "base_spread");
    const struct figure before = {.value = json_number_value(base),
                                  .spread = json_is_number(spread) ? json_number_value(spread) : NAN};
    figure_text(&now, value);
    figure_text(&before, earlier);
    int used =
        snprintf(line, sizeof(line), "%-8s %s, %s: %s%s%s %s", verdict, now.test, now.parameters, base ? earlier : "",
                 base ? " -> " : "", value, text_of(json_object_get(tests, now.test), "unit"));
    if (change && used < (int)sizeof(line))
        snprintf(line + used, sizeof(line) - (size_t)used, " (%+.1f%%)", 100 * json_number_value(change));
    log_escape(shown, sizeof(shown), line);
    printf("  %s\n", shown);
}

void results_print(const json_t *result)
{
    const json_t *base = json_object_get(result, "base"), *item, *missing = json_object_get(result, "missing");
    const json_t *tests = json_object_get(result, "tests"), *device = json_object_get(base, "device");
    char line[256], shown[sizeof(line)];
    size_t i;
    int count[VERDICTS] = {0};
    snprintf(line, sizeof(line), "%s, driver %s", text_of(device, "name"), text_of(device, "driver"));
    log_escape(shown, sizeof(shown), line);
    printf("compared with %s\n", shown);
    for (int v = 0; v < VERDICTS; v++) {
        json_array_foreach(json_object_get(result, "figures"), i, item)
        {
            if (strcmp(text_of(item, "verdict"), verdicts[v]) != 0)
                continue;
            count[v]++;
            if (strcmp(verdicts[v], "same") != 0)
                print_figure(verdicts[v], item, tests);
        }
    }
    json_array_foreach(missing, i, item) print_figure("missing", item, tests);
    count[1] += (int)json_array_size(missing);
    for (int v = 0; v < VERDICTS; v++)
        printf("%s%d %s", v ? ", " : "", count[v], verdicts[v]);
    printf("\n\n");
}
