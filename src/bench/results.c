// results.c: see results.h
#include "bench/results.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/stats.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RESULTS_FORMAT = 1, BYTES_MAX = 64 << 20, TESTS_MAX = 256, FIGURES_MAX = 2048 };

const char *result_verdict_name(enum result_verdict verdict)
{
    static const char *const names[VERDICTS] = {"", "slower", "missing", "unclear", "faster", "new", "same"};
    return names[verdict];
}

// ---- one result ----

struct bench_result result_begin(json_t *device, json_t *tests)
{
    char measured[32];
    const time_t now = time(NULL);
    struct tm utc;
    strftime(measured, sizeof(measured), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return (struct bench_result){.head = json_pack("{s:i,s:s,s:s,s:o,s:o}", "format", RESULTS_FORMAT, "monocle",
                                                   MONOCLE_VERSION, "measured", measured, "device", device, "tests",
                                                   tests)};
}

// Adds a figure to a list and returns it; without samples.
static struct result_figure *append(struct result_figure **list, int *count, const struct figure *figure)
{
    *list = xgrow(*list, (size_t)*count, sizeof(**list));
    struct result_figure *added = &(*list)[(*count)++];
    *added = (struct result_figure){.figure = *figure, .base_value = NAN, .base_spread = NAN, .change = NAN, .p = NAN};
    added->figure.samples = NULL;
    return added;
}

void result_add(struct bench_result *result, const struct figure *figure)
{
    struct result_figure *added = append(&result->figure, &result->figures, figure);
    for (int i = 0; figure->samples && i < figure->samples->count; i++)
        samples_add(&added->samples, figure->samples->value[i]);
}

static void free_figures(struct result_figure *list, int count)
{
    for (int i = 0; i < count; i++)
        samples_free(&list[i].samples);
    free(list);
}

void result_free(struct bench_result *result)
{
    json_decref(result->head);
    free_figures(result->figure, result->figures);
    free_figures(result->missing, result->missings);
    *result = (struct bench_result){0};
}

void results_free(struct bench_results *results)
{
    for (int i = 0; i < results->count; i++)
        result_free(&results->result[i]);
    free(results->result);
    *results = (struct bench_results){0};
}

// ---- JSON ----

static void set_number(json_t *object, const char *key, double value)
{
    if (!isnan(value))
        json_object_set_new(object, key, json_real(value));
}

// Returns null if the spread is unknown.
static json_t *spread_json(double spread)
{
    return isnan(spread) ? json_null() : json_real(spread);
}

static json_t *figures_json(const struct result_figure *list, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++) {
        struct figure figure = list[i].figure;
        figure.samples = list[i].samples.count > 0 ? &list[i].samples : NULL;
        json_t *object = figure_json(&figure);
        if (list[i].verdict != VERDICT_NONE)
            json_object_set_new(object, "verdict", json_string(result_verdict_name(list[i].verdict)));
        if (!isnan(list[i].base_value)) {
            set_number(object, "base_value", list[i].base_value);
            json_object_set_new(object, "base_spread", spread_json(list[i].base_spread));
        }
        set_number(object, "change", list[i].change);
        set_number(object, "p", list[i].p);
        json_array_append_new(array, object);
    }
    return array;
}

json_t *result_json(const struct bench_result *result)
{
    json_t *object = json_copy(result->head);
    json_object_set_new(object, "figures", figures_json(result->figure, result->figures));
    if (json_object_get(object, "base"))
        json_object_set_new(object, "missing", figures_json(result->missing, result->missings));
    return object;
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static bool is_number(const json_t *value)
{
    return !value || json_is_number(value);
}

// Reads a figure of a list. False: it is none.
static bool read_figure(const json_t *json, struct result_figure **list, int *count)
{
    struct figure figure;
    const json_t *samples = json_object_get(json, "samples"), *value;
    const char *verdict = json_text(json, "verdict");
    if (!figure_read(json, &figure) || figure.spread < 0 || !is_number(json_object_get(json, "by_event")) ||
        !is_number(json_object_get(json, "change")) || (samples && !json_is_array(samples)))
        return false;
    struct result_figure *added = append(list, count, &figure);
    size_t i;
    json_array_foreach(samples, i, value) samples_add(&added->samples, json_number_value(value));
    for (int v = VERDICT_NONE + 1; v < VERDICTS; v++) {
        if (strcmp(verdict, result_verdict_name((enum result_verdict)v)) == 0)
            added->verdict = (enum result_verdict)v;
    }
    added->base_value = number_of(json, "base_value");
    added->base_spread = number_of(json, "base_spread");
    added->change = number_of(json, "change");
    added->p = number_of(json, "p");
    return true;
}

// Checks all members but the figures.
static bool is_head(const json_t *value)
{
    const json_t *measured = json_object_get(value, "measured"), *base = json_object_get(value, "base");
    json_t *tests = json_object_get(value, "tests"), *test;
    const char *key;
    if (!json_is_object(tests) || json_object_size(tests) > TESTS_MAX || (measured && !json_is_string(measured)) ||
        !json_is_string(json_object_get(json_object_get(value, "device"), "name")))
        return false;
    json_object_foreach(tests, key, test)
    {
        if (!json_is_string(json_object_get(test, "unit")) || !json_is_string(json_object_get(test, "definition")))
            return false;
    }
    return !base ||
           (json_is_object(json_object_get(base, "device")) && json_is_array(json_object_get(value, "missing")));
}

// Reads a result. False: it is none; it is then partly read.
static bool read_result(json_t *value, struct bench_result *result)
{
    const json_t *figures = json_object_get(value, "figures"), *missing = json_object_get(value, "missing"), *item;
    size_t i;
    if (!is_head(value) || !json_is_array(figures) || json_array_size(figures) > FIGURES_MAX ||
        json_array_size(missing) > FIGURES_MAX)
        return false;
    result->head = json_copy(value);
    json_object_del(result->head, "figures");
    json_object_del(result->head, "missing");
    json_array_foreach(figures, i, item)
    {
        if (!read_figure(item, &result->figure, &result->figures) ||
            !json_object_get(json_object_get(value, "tests"), result->figure[i].figure.test))
            return false;
    }
    json_array_foreach(missing, i, item)
    {
        if (!read_figure(item, &result->missing, &result->missings))
            return false;
    }
    return true;
}

// Adds the result. False: the value is not a result that this program understands (logged).
static bool take(struct bench_results *results, json_t *value, const char *name)
{
    const json_t *format = json_object_get(value, "format");
    if (json_is_integer(format) && json_integer_value(format) != RESULTS_FORMAT) {
        log_error("%s has format %lld, but this version reads format %d; measure again", name,
                  (long long)json_integer_value(format), RESULTS_FORMAT);
        return false;
    }
    results->result = xgrow(results->result, (size_t)results->count, sizeof(*results->result));
    struct bench_result *result = &results->result[results->count++];
    *result = (struct bench_result){0};
    if (json_is_integer(format) && read_result(value, result))
        return true;
    log_error("%s has no results of 'monocle bench --json'", name);
    return false;
}

bool results_parse(struct bench_results *results, const char *text, size_t size, const char *name)
{
    json_t *value = NULL;
    json_error_t error;
    size_t at = 0;
    bool good = true;
    *results = (struct bench_results){0};
    // One object per line.
    while (good && at < size && (value = json_loadb(text + at, size - at, JSON_DISABLE_EOF_CHECK, &error))) {
        good = take(results, value, name);
        json_decref(value);
        at += (size_t)error.position;
        while (at < size && strchr(" \t\r\n", text[at]) && text[at])
            at++;
    }
    if (good && (at < size || results->count == 0)) {
        log_error("%s has no results of 'monocle bench --json'", name);
        good = false;
    }
    if (!good)
        results_free(results);
    return good;
}

bool results_read(struct bench_results *results, const char *path)
{
    size_t size = 0;
    char *text = file_read(path, BYTES_MAX, &size);
    if (!text) {
        log_error("cannot read %s: %s", path, strerror(errno));
        return false;
    }
    const bool ok = results_parse(results, text, size, path);
    free(text);
    return ok;
}

// ---- comparison ----

// The medians of two runs of the same program differ by up to this much, because addresses and other programs differ.
// The rank test sees only the rounds of each run, so it cannot know this.
static const double noise = 0.03;
static const double p_limit = 0.001;
// The spreads of few rounds are rough.
static const double spread_factor = 2;
enum { ROUNDS_LEAST = 8 }; // with fewer in both runs, p never falls below p_limit (samples_same)

// Two figures of the same case. `p`: of the rank test; NAN: a result has no rounds.
struct result_pair {
    const struct figure *now, *before; // `before` NULL: the base lacks it
    double p, copy_change;             // by how much the plain copy of the case became slower; 0: unknown
};

static bool has_value(const struct figure *figure)
{
    return figure && figure->status == FIGURE_OK;
}

static enum result_verdict judge(const struct result_pair *pair, const char *unit)
{
    const struct figure *now = pair->now, *before = pair->before;
    if (!has_value(now))
        return has_value(before) ? VERDICT_MISSING : VERDICT_NONE;
    if (!has_value(before))
        return VERDICT_NEW;
    const double change = now->value - before->value;
    const double spreads = now->value * now->spread + before->value * before->spread; // NAN if one is unknown
    if (fabs(change) <= noise * before->value || before->value <= 0)
        return VERDICT_SAME;
    if (isnan(pair->p) ? !(fabs(change) > spread_factor * spreads) : pair->p >= p_limit)
        return VERDICT_UNCLEAR;
    // The machine became slower or faster, not the case.
    const double copy = change > 0 ? fmax(pair->copy_change, 0) : fmax(-pair->copy_change, 0);
    if (fabs(change) <= (noise + copy) * before->value)
        return VERDICT_SAME;
    return (change > 0) == figure_less_is_better(unit) ? VERDICT_SLOWER : VERDICT_FASTER;
}

// Returns the figure with the same test, with this added to its name, and the same parameters; NULL: there is none.
static const struct result_figure *find(const struct bench_result *result, const struct figure *wanted,
                                        const char *more)
{
    const size_t length = strlen(wanted->test);
    for (int i = 0; i < result->figures; i++) {
        const struct figure *found = &result->figure[i].figure;
        if (strncmp(found->test, wanted->test, length) == 0 && strcmp(found->test + length, more) == 0 &&
            strcmp(found->parameters, wanted->parameters) == 0)
            return &result->figure[i];
    }
    return NULL;
}

// Returns the time of the plain copy of a case, from its part of the case's time; 0: there is none.
static double copy_time(const struct bench_result *result, const struct figure *figure)
{
    const struct result_figure *copy = figure ? find(result, figure, ".copy") : NULL;
    return copy ? copy->figure.value * figure->value : 0;
}

// Returns the p of the rank test, and lowers *least to the number of rounds of a run that has too few.
static double rank_test(const struct samples *now, const struct samples *before, int *least)
{
    if (now->count == 0 || before->count == 0)
        return NAN;
    *least = now->count < *least ? now->count : *least;
    *least = before->count < *least ? before->count : *least;
    return samples_same(now, before);
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
static const struct bench_result *find_device(const struct bench_result *result, const struct bench_results *base)
{
    const json_t *device = json_object_get(result->head, "device");
    const struct bench_result *named = NULL;
    for (int i = 0; i < base->count; i++) {
        const json_t *other = json_object_get(base->result[i].head, "device");
        if (!same_device(other, device))
            continue;
        if (json_equal(json_object_get(other, "number"), json_object_get(device, "number")))
            return &base->result[i];
        named = named ? named : &base->result[i];
    }
    if (named)
        return named;
    log_warn("the base is from another device: %s; this one: %s",
             json_text(json_object_get(base->result[0].head, "device"), "name"), json_text(device, "name"));
    return &base->result[0];
}

static const json_t *test_of(const struct bench_result *result, const char *test)
{
    return json_object_get(json_object_get(result->head, "tests"), test);
}

// Returns true if the figures of a test follow from those of another.
static bool is_derived(const struct bench_result *result, const char *test)
{
    return json_is_true(json_object_get(test_of(result, test), "derived"));
}

// Lists the base's figures of the same tests that `result` lacks.
static void find_missing(struct bench_result *result, const struct bench_result *base)
{
    free_figures(result->missing, result->missings);
    result->missing = NULL;
    result->missings = 0;
    for (int i = 0; i < base->figures; i++) {
        const struct figure *figure = &base->figure[i].figure;
        if (!has_value(figure) || is_derived(base, figure->test) || !test_of(result, figure->test) ||
            find(result, figure, ""))
            continue;
        const struct samples *samples = &base->figure[i].samples;
        struct result_figure *added = append(&result->missing, &result->missings, figure);
        for (int k = 0; k < samples->count; k++)
            samples_add(&added->samples, samples->value[k]);
    }
}

// Replaces the comparison that a saved figure may have.
static void compare_figure(const struct bench_result *result, const struct bench_result *base,
                           struct result_figure *item, int *least)
{
    const struct figure *now = &item->figure;
    item->verdict = VERDICT_NONE;
    item->base_value = item->base_spread = item->change = item->p = NAN;
    if (is_derived(result, now->test))
        return;
    const struct result_figure *earlier = find(base, now, "");
    struct result_pair pair = {.now = now, .before = earlier ? &earlier->figure : NULL, .p = NAN};
    const double copy = copy_time(result, now), earlier_copy = copy_time(base, pair.before);
    int rounds = *least;
    if (has_value(now) && has_value(pair.before))
        pair.p = rank_test(&item->samples, &earlier->samples, &rounds);
    pair.copy_change = copy > 0 && earlier_copy > 0 ? copy / earlier_copy - 1 : 0;
    item->verdict = judge(&pair, json_text(test_of(result, now->test), "unit"));
    if (item->verdict == VERDICT_UNCLEAR)
        *least = rounds;
    if (item->verdict == VERDICT_NONE || !has_value(pair.before))
        return;
    item->base_value = pair.before->value;
    item->base_spread = pair.before->spread;
    item->p = pair.p;
    if (has_value(now) && pair.before->value > 0 && isfinite(now->value / pair.before->value))
        item->change = now->value / pair.before->value - 1;
}

int results_compare(struct bench_result *result, const struct bench_results *base)
{
    const struct bench_result *earlier = find_device(result, base);
    find_missing(result, earlier);
    int worse = result->missings, least = ROUNDS_LEAST;
    for (int i = 0; i < result->figures; i++) {
        compare_figure(result, earlier, &result->figure[i], &least);
        worse += result->figure[i].verdict == VERDICT_SLOWER || result->figure[i].verdict == VERDICT_MISSING;
    }
    if (least < ROUNDS_LEAST)
        log_warn("%d rounds are too few for a verdict; use --rounds %d or more in both runs", least, ROUNDS_LEAST);
    json_object_set_new(result->head, "base",
                        json_pack("{s:O,s:s}", "device", json_object_get(earlier->head, "device"), "monocle",
                                  json_text(earlier->head, "monocle")));
    return worse;
}

// ---- figures ----

static const char *const names[] = {[FIGURE_OK] = "ok", [FIGURE_SKIPPED] = "skipped", [FIGURE_FAILED] = "failed"};
enum { NAMES = sizeof(names) / sizeof(*names) };

const char *figure_status_name(enum figure_status status)
{
    return names[status];
}

bool figure_less_is_better(const char *unit)
{
    const char *const costs[] = {"s", "ms", "us", "µs", "ns", "J", "mJ"};
    if (strstr(unit, "J/"))
        return true;
    for (size_t i = 0; i < sizeof(costs) / sizeof(*costs); i++)
        if (strcmp(unit, costs[i]) == 0)
            return true;
    return false;
}

static const char wide_space[] = "\xc2\xa0"; // U+00A0

const char *figure_case(const char *chain, char text[FIGURE_CASE])
{
    enum { END = 12 };
    int used = 0;
    for (; *chain && used < FIGURE_CASE - END; chain++) {
        const char letter[] = {*chain > ' ' && *chain <= '~' ? *chain : '?', '\0'};
        used += snprintf(text + used, (size_t)(FIGURE_CASE - used), "%s", *chain == ' ' ? wide_space : letter);
    }
    text[used] = '\0';
    if (*chain)
        snprintf(text + used, (size_t)(FIGURE_CASE - used), "..%08x", (unsigned)hash_64(chain, strlen(chain)));
    return text;
}

// ---- JSON ----

// Whole numbers become numbers.
static json_t *parameter_json(char *text)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    for (char *at = text; (at = strstr(at, wide_space)); memmove(at + 1, at + 2, strlen(at + 1)))
        *at = ' ';
    return *text && !*end ? json_integer(number) : text_json(text);
}

static json_t *parameters_json(const char *words)
{
    char copy[FIGURE_PARAMETERS], *rest = NULL;
    json_t *object = json_object();
    snprintf(copy, sizeof(copy), "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        json_object_set_new(object, word, parameter_json(equals + 1));
    }
    return object;
}

json_t *figure_json(const struct figure *figure)
{
    const bool ok = figure->status == FIGURE_OK;
    json_t *object = json_pack("{s:s,s:o,s:s}", "test", figure->test, "parameters", parameters_json(figure->parameters),
                               "status", names[figure->status]);
    if (ok)
        json_object_update_new(object, json_pack("{s:f,s:o,s:i,s:b}", "value", figure->value, "spread",
                                                 spread_json(figure->spread), "rounds", figure->rounds, "checked",
                                                 (int)figure->checked));
    if (ok && figure->by_event > 0)
        json_object_set_new(object, "by_event", json_real(figure->by_event));
    json_t *samples = ok && figure->samples ? json_array() : NULL;
    for (int i = 0; samples && i < figure->samples->count; i++)
        json_array_append_new(samples, json_real(figure->samples->value[i]));
    if (samples)
        json_object_set_new(object, "samples", samples);
    if (figure->note[0] || !ok)
        json_object_set_new(object, ok ? "note" : "reason", text_json(figure->note));
    return object;
}

static bool read_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value ? value : "");
    return value != NULL;
}

static size_t append_part(char words[FIGURE_PARAMETERS], size_t used, const char *text)
{
    for (; *text && used < FIGURE_PARAMETERS; text++)
        used += (size_t)snprintf(words + used, FIGURE_PARAMETERS - used, *text == ' ' ? wide_space : "%c", *text);
    return used;
}

// The words are in the order of the object, which jansson keeps.
static bool read_parameters(json_t *parameters, char words[FIGURE_PARAMETERS])
{
    const char *key;
    json_t *value;
    size_t used = 0;
    words[0] = '\0';
    json_object_foreach(parameters, key, value)
    {
        char number[32] = "";
        if (json_is_integer(value))
            snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        if (used > 0 && used < FIGURE_PARAMETERS - 1)
            used += (size_t)snprintf(words + used, FIGURE_PARAMETERS - used, " ");
        used = append_part(words, used, key);
        used = append_part(words, used, "=");
        used = append_part(words, used, json_is_string(value) ? json_string_value(value) : number);
        if (used >= FIGURE_PARAMETERS)
            return false;
    }
    return json_is_object(parameters);
}

bool figure_read(const json_t *object, struct figure *figure)
{
    char status[16];
    const json_t *value = json_object_get(object, "value"), *spread = json_object_get(object, "spread");
    *figure = (struct figure){.value = json_number_value(value),
                              .by_event = json_number_value(json_object_get(object, "by_event")),
                              .rounds = (int)json_integer_value(json_object_get(object, "rounds")),
                              .checked = json_is_true(json_object_get(object, "checked"))};
    figure->spread = figure->rounds > 1 && json_is_number(spread) ? json_number_value(spread) : NAN;
    if (!read_text(object, "test", figure->test, sizeof(figure->test)) ||
        !read_parameters(json_object_get(object, "parameters"), figure->parameters) ||
        !read_text(object, "status", status, sizeof(status)))
        return false;
    for (int i = 0; i < NAMES; i++) {
        if (strcmp(status, names[i]) != 0)
            continue;
        figure->status = (enum figure_status)i;
        read_text(object, i == FIGURE_OK ? "note" : "reason", figure->note, sizeof(figure->note));
        return i != FIGURE_OK ||
               (figure->rounds > 0 && json_is_number(value) && (json_is_number(spread) || json_is_null(spread)));
    }
    return false;
}
