// space.c: see space.h
#include "tune/space.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void space_finish(struct space *space)
{
    for (int p = 0; p < space->params; p++) {
        struct space_param *param = &space->param[p];
        for (int v = 0; v < param->values; v++)
            free(param->value[v]);
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

int space_add_value(struct space *space, int param, const char *text)
{
    struct space_param *p = &space->param[param];
    const int found = space_find_value(space, param, text);
    if (found >= 0 || p->values == SPACE_VALUES)
        return found;
    p->value = xgrow(p->value, (size_t)p->values, sizeof(*p->value));
    p->value[p->values] = xstrdup(text);
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

int space_find_value(const struct space *space, int param, const char *text)
{
    const struct space_param *p = &space->param[param];
    for (int v = 0; v < p->values; v++) {
        if (strcmp(p->value[v], text) == 0)
            return v;
    }
    return -1;
}

static double number_of(const char *text)
{
    return strcmp(text, SPACE_ABSENT) == 0 ? INFINITY : strtod(text, NULL);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = number_of(*(char *const *)a), y = number_of(*(char *const *)b);
    return (x > y) - (x < y);
}

void space_sort_values(struct space *space, int param)
{
    const struct space_param *p = &space->param[param];
    for (int v = 0; v < p->values; v++) {
        char *end;
        if (strcmp(p->value[v], SPACE_ABSENT) == 0)
            continue;
        strtod(p->value[v], &end);
        if (end == p->value[v] || *end)
            return;
    }
    qsort(p->value, (size_t)p->values, sizeof(*p->value), compare_numbers);
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
    size_t used = 0;
    text[0] = '\0';
    for (int p = 0; p < params && used < SPACE_TEXT; p++) {
        const struct space_param *param = &space->param[p];
        used += (size_t)snprintf(text + used, SPACE_TEXT - used, "%s%s=%s", p > 0 ? "," : "", param->name,
                                 param->value[tuple[p]]);
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
