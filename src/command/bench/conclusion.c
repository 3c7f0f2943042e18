// conclusion.c: sentences about the results of `bench paths`: the fastest path, the reason, and doubts
#include "base/alloc.h"
#include "base/json_text.h"
#include "base/options.h"
#include "base/text.h"
#include "command/bench/bench_command.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WORD = FIGURE_PARAMETERS, SENTENCE = 1024, PATHS_MOST = 8 };
#define SPREAD_MOST 0.2 // the median spread of usable results

// The fastest figure of a path, for one case, format and size.
struct fastest {
    char path[WORD];
    const struct figure *figure;
};

static bool same(const struct figure *a, const struct figure *b, const char *const *names)
{
    char left[WORD], right[WORD];
    bool all = true;
    for (; *names; names++) {
        figure_parameter(a->parameters, *names, left);
        figure_parameter(b->parameters, *names, right);
        all = all && strcmp(left, right) == 0;
    }
    return all;
}

static const char *const group[] = {"case", "format", "to", "size", NULL};
static const char *const row[] = {"case", "format", "to", "size", "path", "threads", "frames", NULL};

// Returns a stage's time in the row of a figure; 0: it has none.
static double stage_ms(const struct bench_result *result, const struct figure *of, const char *stage)
{
    char value[WORD];
    for (int i = 0; i < result->figures; i++) {
        const struct figure *figure = &result->figure[i].figure;
        figure_parameter(figure->parameters, "stage", value);
        if (figure->status == FIGURE_OK && strcmp(value, stage) == 0 && same(figure, of, row))
            return figure->value;
    }
    return 0;
}

static const char *const copies[] = {"copy_in", "upload", "share", "download", "texture", NULL};

static double sum_ms(const struct bench_result *result, const struct figure *of, const char *const *stages)
{
    double sum = 0;
    for (; *stages; stages++)
        sum += stage_ms(result, of, *stages);
    return sum;
}

struct figure *conclusion_rows(const struct bench_result *result, int *count)
{
    static const char *const wait[] = {"wait", NULL}, *const passes[] = {"passes", NULL},
                             *const latency[] = {"latency", NULL};
    static const struct {
        const char *name, *const *stages;
    } columns[] = {{"frame", NULL},    {"fps", NULL},       {"wait", wait},
                   {"copies", copies}, {"filters", passes}, {"latency", latency}};
    enum { COLUMNS = sizeof(columns) / sizeof(*columns), RATE = 1 };
    struct figure *rows = xcalloc((size_t)result->figures * COLUMNS, sizeof(*rows));
    *count = 0;
    for (int i = 0; i < result->figures * COLUMNS; i++) {
        const struct figure *from = &result->figure[i / COLUMNS].figure;
        struct figure *to = &rows[*count];
        const int c = i % COLUMNS;
        if (strcmp(from->test, "paths") != 0 || (c > 0 && from->status != FIGURE_OK))
            continue;
        *to = *from;
        if (c == RATE)
            to->value = 1e3 / from->value;
        else if (c > 0)
            to->value = sum_ms(result, from, columns[c].stages);
        if (c > 0)
            to->spread = NAN;
        text_append(to->parameters, FIGURE_PARAMETERS, " ms=%s", columns[c].name);
        ++*count;
    }
    return rows;
}

// Writes the reason why the first path is the fastest.
static void reason(const struct bench_result *result, const struct fastest *first, const struct fastest *second,
                   char text[SENTENCE])
{
    const json_t *device = json_object_get(result->head, "device");
    const char *type = json_text(device, "type"), *gl = json_text(device, "gl");
    const bool gpu =
        (type[0] && strcmp(type, "cpu") != 0) || (gl[0] && !strstr(gl, "llvmpipe") && !strstr(gl, "softpipe"));
    const bool cpu = strcmp(first->path, "cpu") == 0;
    text[0] = '\0';
    if (cpu && !gpu)
        snprintf(text, SENTENCE, ", because there is no GPU");
    else if (second && cpu)
        snprintf(text, SENTENCE, ": %s needs %.3g ms for copies and %.3g ms for the filters", second->path,
                 sum_ms(result, second->figure, copies), stage_ms(result, second->figure, "passes"));
    else if (second)
        snprintf(text, SENTENCE, ": its filters take %.3g ms, those of %s %.3g ms",
                 stage_ms(result, first->figure, "passes"), second->path, stage_ms(result, second->figure, "passes"));
}

// Finds the fastest figure of each path in the group of a figure, fastest first. Returns their number.
static int find_fastest(const struct bench_result *result, const struct figure *of, struct fastest found[PATHS_MOST])
{
    int count = 0;
    for (int i = 0; i < result->figures; i++) {
        struct fastest one = {.figure = &result->figure[i].figure};
        if (strcmp(one.figure->test, "paths") != 0 || one.figure->status != FIGURE_OK || !same(one.figure, of, group))
            continue;
        figure_parameter(one.figure->parameters, "path", one.path);
        int old = 0, at = 0;
        while (old < count && strcmp(found[old].path, one.path) != 0)
            old++;
        if (old == PATHS_MOST || (old < count && found[old].figure->value <= one.figure->value))
            continue;
        memmove(&found[old], &found[old + 1], (size_t)(old < count ? count - old - 1 : 0) * sizeof(*found));
        count -= old < count;
        while (at < count && found[at].figure->value <= one.figure->value)
            at++;
        memmove(&found[at + 1], &found[at], (size_t)(count - at) * sizeof(*found));
        found[at] = one;
        count++;
    }
    return count;
}

// Writes "On this machine cpu is fastest for 640x360: 0.32 ms a frame, because ...; opencl takes 7.9 times as long".
static void conclude(const struct bench_result *result, const struct figure *of, char text[SENTENCE])
{
    struct fastest found[PATHS_MOST + 1];
    const int count = find_fastest(result, of, found);
    char size[WORD], chain[WORD], frames[WORD], why[SENTENCE];
    figure_parameter(of->parameters, "size", size);
    figure_parameter(of->parameters, "case", chain);
    text[0] = '\0';
    if (count == 0)
        return;
    const struct figure *first = found[0].figure, *second = count > 1 ? found[1].figure : NULL;
    const bool unclear =
        second && second->value - first->value < first->value * first->spread + second->value * second->spread;
    figure_parameter(first->parameters, "frames", frames);
    reason(result, &found[0], count > 1 ? &found[1] : NULL, why);
    text_append(text, SENTENCE,
                "On this machine %s%s%s for %s and %s: %.3g ms per frame, %.*f frames/s, %s in flight%s", found[0].path,
                text_if(unclear, " or "), unclear ? found[1].path : " is fastest", size, chain, first->value,
                1e3 / first->value < 100, 1e3 / first->value, frames, unclear ? "" : why);
    if (unclear)
        text_append(text, SENTENCE, "; the spread hides which one is fastest");
    for (int i = 1 + unclear; i < count; i++) {
        const double times = found[i].figure->value / first->value;
        text_append(text, SENTENCE, "; %s takes %.*f times as long", found[i].path, times < 10, times);
    }
    text_append(text, SENTENCE, ".");
}

// Writes why the results say little; "": they are usable.
static void doubt(const struct bench_result *result, char text[SENTENCE])
{
    const json_t *device = json_object_get(result->head, "device");
    const double load = json_number_value(json_object_get(device, "load"));
    const int processors = (int)json_integer_value(json_object_get(device, "processors"));
    int ok = 0, wide = 0;
    for (int i = 0; i < result->figures; i++) {
        const struct figure *figure = &result->figure[i].figure;
        ok += figure->status == FIGURE_OK && !isnan(figure->spread);
        wide += figure->status == FIGURE_OK && figure->spread > SPREAD_MOST;
    }
    const bool busy = processors > 0 && load >= processors, wild = ok > 0 && 2 * wide > ok;
    text[0] = '\0';
    if (!busy && !wild)
        return;
    snprintf(text, SENTENCE, "These figures say little: ");
    if (busy)
        text_append(text, SENTENCE, "at the start the load was %.1f on %d processors%s", load, processors,
                    text_if(wild, ", and "));
    if (wild)
        text_append(text, SENTENCE, "most figures have a spread above %.0f%%", 100 * SPREAD_MOST);
    text_append(text, SENTENCE, ". Measure again while nothing else runs.");
}

void conclusion_add(const struct bench_result *result, json_t *object)
{
    char text[SENTENCE];
    json_t *lines = json_array();
    doubt(result, text);
    json_object_set_new(object, "doubt", text_json(text));
    for (int i = 0; i < result->figures; i++) {
        const struct figure *figure = &result->figure[i].figure;
        bool done = strcmp(figure->test, "paths") != 0;
        for (int k = 0; k < i && !done; k++)
            done =
                strcmp(result->figure[k].figure.test, "paths") == 0 && same(&result->figure[k].figure, figure, group);
        if (!done)
            conclude(result, figure, text);
        if (!done && text[0])
            json_array_append_new(lines, text_json(text));
    }
    json_object_set_new(object, "conclusions", lines);
}

void conclusion_print(const struct bench_result *result)
{
    json_t *object = json_object();
    conclusion_add(result, object);
    const json_t *lines = json_object_get(object, "conclusions");
    if (json_array_size(lines) > 0 || json_text(object, "doubt")[0])
        printf("\n");
    if (json_text(object, "doubt")[0])
        options_print_text(stdout, json_text(object, "doubt"), 0, 2, FIGURE_LINE);
    for (size_t i = 0; i < json_array_size(lines); i++)
        options_print_text(stdout, json_string_value(json_array_get(lines, i)), 0, 2, FIGURE_LINE);
    json_decref(object);
}
