// space.c: see space.h
#include "tune/space.h"

#include "base/alloc.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- values ----

struct value value_of_integer(int64_t integer)
{
    return (struct value){.kind = VALUE_INTEGER, .integer = integer};
}

struct value value_of_real(double real)
{
    return isfinite(real) ? (struct value){.kind = VALUE_REAL, .real = real}
                          : (struct value){.problem = "a number is too large, or is not a number"};
}

struct value value_of_text(const char *text)
{
    char *end, printed[VALUE_TEXT_MAX];
    struct value number = value_of_integer(strtoll(text, &end, 10));
    if (*end)
        number = value_of_real(strtod(text, NULL));
    value_print(&number, printed, sizeof(printed));
    if (number.kind != VALUE_NONE && strcmp(printed, text) == 0)
        return number;
    return (struct value){.kind = VALUE_TEXT, .text = text, .length = (int)strlen(text)};
}

struct value value_of_json(const json_t *json)
{
    if (json_is_string(json))
        return value_of_text(json_string_value(json));
    if (json_is_real(json))
        return value_of_real(json_real_value(json));
    if (json_is_integer(json))
        return value_of_integer(json_integer_value(json));
    return json_is_boolean(json) ? value_of_integer(json_is_true(json)) : (struct value){.kind = VALUE_NONE};
}

json_t *value_json(const struct value *value)
{
    char text[VALUE_TEXT_MAX];
    if (value->kind == VALUE_INTEGER)
        return json_integer(value->integer);
    if (value->kind == VALUE_REAL)
        return json_real(value->real);
    value_print(value, text, sizeof(text));
    return json_string(text);
}

double value_number(const struct value *value)
{
    if (value->kind == VALUE_INTEGER)
        return (double)value->integer;
    return value->kind == VALUE_REAL ? value->real : NAN;
}

bool value_whole(const struct value *value, int64_t *integer)
{
    if (value->kind == VALUE_REAL && fabs(value->real) < 0x1p62 && floor(value->real) == value->real)
        *integer = (int64_t)value->real;
    else if (value->kind == VALUE_INTEGER)
        *integer = value->integer;
    else
        return false;
    return true;
}

bool value_compare(const struct value *a, const struct value *b, int *order)
{
    const double x = value_number(a), y = value_number(b);
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER) {
        *order = (a->integer > b->integer) - (a->integer < b->integer);
    } else if (!isnan(x) && !isnan(y)) {
        *order = (x > y) - (x < y);
    } else if (a->kind == VALUE_TEXT && b->kind == VALUE_TEXT) {
        const int common = a->length < b->length ? a->length : b->length;
        const int first = memcmp(a->text, b->text, (size_t)common);
        *order = first != 0 ? first : (a->length > b->length) - (a->length < b->length);
    } else {
        return false;
    }
    return true;
}

void value_print(const struct value *value, char *text, size_t bytes)
{
    if (value->kind == VALUE_INTEGER) {
        snprintf(text, bytes, "%lld", (long long)value->integer);
    } else if (value->kind == VALUE_REAL) {
        char digits[32];
        snprintf(digits, sizeof(digits), "%.15g", value->real);
        if (strtod(digits, NULL) != value->real)
            snprintf(digits, sizeof(digits), "%.17g", value->real);
        snprintf(text, bytes, "%s%s", digits, strpbrk(digits, ".e") ? "" : ".0");
    } else if (value->kind == VALUE_TEXT) {
        snprintf(text, bytes, "%.*s", value->length, value->text);
    } else {
        snprintf(text, bytes, "-");
    }
}

// ---- the space ----

void space_finish(struct space *space)
{
    for (int p = 0; p < space->params; p++) {
        struct space_param *param = &space->param[p];
        for (int v = 0; v < param->values; v++)
            free((char *)param->value[v].text);
        free(param->value);
        free(param->name);
    }
    free(space->tuple);
    *space = (struct space){0};
}

int space_add_param(struct space *space, const char *name)
{
    if (space->params == SPACE_PARAMS)
        return -1;
    space->param[space->params] = (struct space_param){.name = xstrdup(name)};
    return space->params++;
}

int space_add_value(struct space *space, int param, struct value value)
{
    struct space_param *p = &space->param[param];
    const int found = space_find_value(space, param, value);
    if (found >= 0 || p->values == SPACE_VALUES)
        return found;
    p->value = xgrow(p->value, (size_t)p->values, sizeof(*p->value));
    if (value.kind == VALUE_TEXT)
        value.text = xstrndup(value.text, (size_t)value.length);
    p->value[p->values] = value;
    return p->values++;
}

int space_find_param(const struct space *space, const char *name)
{
    for (int p = 0; p < space->params; p++) {
        if (strcmp(space->param[p].name, name) == 0)
            return p;
    }
    return -1;
}

int space_find_value(const struct space *space, int param, struct value value)
{
    const struct space_param *p = &space->param[param];
    int order = 1;
    for (int v = 0; v < p->values; v++) {
        const bool none = value.kind == VALUE_NONE && p->value[v].kind == VALUE_NONE;
        if (none || (value_compare(&p->value[v], &value, &order) && order == 0))
            return v;
    }
    return -1;
}

static int compare_values(const void *a, const void *b)
{
    const struct value *x = a, *y = b;
    int order;
    return value_compare(x, y, &order) ? order : (x->kind == VALUE_NONE) - (y->kind == VALUE_NONE);
}

void space_sort_values(struct space *space, int param)
{
    const struct space_param *p = &space->param[param];
    for (int v = 0; v < p->values; v++) {
        if (p->value[v].kind == VALUE_TEXT)
            return;
    }
    qsort(p->value, (size_t)p->values, sizeof(*p->value), compare_values);
}

void space_add(struct space *space, const uint16_t *tuple)
{
    const size_t params = (size_t)space->params;
    space->tuple = xgrow(space->tuple, (size_t)space->count, sizeof(*tuple) * params);
    memcpy(space->tuple + params * (size_t)space->count++, tuple, sizeof(*tuple) * params);
}

static int compare_tuples(const void *a, const void *b, void *params)
{
    const uint16_t *x = a, *y = b;
    for (int p = 0; p < *(int *)params; p++) {
        if (x[p] != y[p])
            return x[p] < y[p] ? -1 : 1;
    }
    return 0;
}

void space_sort(struct space *space)
{
    const size_t size = sizeof(*space->tuple) * (size_t)space->params;
    int kept = 0;
    if (space->count == 0)
        return;
    qsort_r(space->tuple, (size_t)space->count, size, compare_tuples, &space->params);
    for (int c = 1; c < space->count; c++) {
        if (memcmp(space_tuple(space, kept), space_tuple(space, c), size) != 0)
            memmove(space->tuple + (size_t)++kept * (size_t)space->params, space_tuple(space, c), size);
    }
    space->count = kept + 1;
}

int space_find(const struct space *space, const uint16_t *tuple)
{
    int low = 0, high = space->count;
    int params = space->params;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const int order = compare_tuples(tuple, space_tuple(space, middle), &params);
        if (order == 0)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

void space_print(const struct space *space, int configuration, char text[SPACE_TEXT])
{
    space_print_tuple(space, space_tuple(space, configuration), space->params, text);
}

void space_print_tuple(const struct space *space, const uint16_t *tuple, int params, char text[SPACE_TEXT])
{
    char value[VALUE_TEXT_MAX];
    size_t used = 0;
    text[0] = '\0';
    for (int p = 0; p < params && used < SPACE_TEXT; p++) {
        const struct space_param *param = &space->param[p];
        value_print(&param->value[tuple[p]], value, sizeof(value));
        used += (size_t)snprintf(text + used, SPACE_TEXT - used, "%s%s=%s", p > 0 ? "," : "", param->name, value);
    }
}

int space_neighbours(const struct space *space, int configuration, int *out, int most)
{
    uint16_t tuple[SPACE_PARAMS];
    int count = 0;
    memcpy(tuple, space_tuple(space, configuration), sizeof(*tuple) * (size_t)space->params);
    for (int p = 0; p < space->params; p++) {
        const int own = tuple[p];
        for (int direction = -1; direction <= 1; direction += 2) {
            for (int v = own + direction; v >= 0 && v < space->param[p].values && count < most; v += direction) {
                tuple[p] = (uint16_t)v;
                const int found = space_find(space, tuple);
                if (found >= 0)
                    out[count++] = found;
            }
        }
        tuple[p] = (uint16_t)own;
    }
    return count;
}
