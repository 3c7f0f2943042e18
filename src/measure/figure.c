// figure.c: writes a measured value as JSON, and reads it
#include "measure/figure.h"

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

bool figure_parameter(const struct figure *figure, const char *key, char *value, int size)
{
    const size_t length = strlen(key);
    for (const char *at = figure->parameters; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word > length && strncmp(at, key, length) == 0 && at[length] == '=') {
            snprintf(value, (size_t)size, "%.*s", (int)(word - length - 1), at + length + 1);
            return true;
        }
        at += word;
    }
    return false;
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

// ---- JSON ----

// Whole numbers become numbers.
static json_t *parameter_json(const char *text)
{
    char *end;
    const long long number = strtoll(text, &end, 10);
    return *text && !*end ? json_integer(number) : json_string(text);
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
    if (figure->note[0] || !ok)
        json_object_set_new(object, ok ? "note" : "reason", json_string(figure->note));
    return object;
}

static bool read_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value ? value : "");
    return value != NULL;
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
        const char *space = used ? " " : "";
        const int bytes = json_is_integer(value)
                              ? snprintf(words + used, FIGURE_PARAMETERS - used, "%s%s=%" JSON_INTEGER_FORMAT, space,
                                         key, json_integer_value(value))
                              : snprintf(words + used, FIGURE_PARAMETERS - used, "%s%s=%s", space, key,
                                         json_is_string(value) ? json_string_value(value) : "");
        if (bytes < 0 || (size_t)bytes >= FIGURE_PARAMETERS - used)
            return false;
        used += (size_t)bytes;
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
