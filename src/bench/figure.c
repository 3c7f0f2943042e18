// figure.c: writes a measured value as JSON, and reads it
#include "bench/figure.h"

#include "base/hash.h"
#include "base/json_text.h"
#include "base/stats.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

json_t *figure_spread_json(double spread)
{
    return isnan(spread) ? json_null() : json_real(spread);
}

json_t *figure_json(const struct figure *figure)
{
    const bool ok = figure->status == FIGURE_OK;
    json_t *object = json_pack("{s:s,s:o,s:s}", "test", figure->test, "parameters", parameters_json(figure->parameters),
                               "status", names[figure->status]);
    if (ok)
        json_object_update_new(object, json_pack("{s:f,s:o,s:i,s:b}", "value", figure->value, "spread",
                                                 figure_spread_json(figure->spread), "rounds", figure->rounds,
                                                 "checked", (int)figure->checked));
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

static size_t append(char words[FIGURE_PARAMETERS], size_t used, const char *text)
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
        used = append(words, used, key);
        used = append(words, used, "=");
        used = append(words, used, json_is_string(value) ? json_string_value(value) : number);
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
