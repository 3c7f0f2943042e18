// chain_property.c: properties of chain_parse that hold for any text
#include "chain_property.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool values_equal(const struct filter *filter, const struct filter_values *a, const struct filter_values *b)
{
    for (int i = 0; i < filter_param_count(filter); i++)
        if (a->value[i] != b->value[i])
            return false;
    if (a->matrix_count != b->matrix_count)
        return false;
    for (int i = 0; i < a->matrix_count; i++)
        if (a->matrix[i] != b->matrix[i])
            return false;
    return true;
}

static bool stages_equal(const struct stage *a, const struct stage *b)
{
    return a->filter == b->filter && values_equal(a->filter, &a->values, &b->values) &&
           a->arguments.radius == b->arguments.radius && a->arguments.count == b->arguments.count &&
           !memcmp(filter_numbers(&a->arguments), filter_numbers(&b->arguments),
                   sizeof(*a->arguments.value) * (size_t)a->arguments.count);
}

static int skip_none(const struct chain *chain, int stage)
{
    while (stage < chain->count && !strcmp(chain->stage[stage].filter->name, "none"))
        stage++;
    return stage;
}

bool chains_equal(const struct chain *a, const struct chain *b)
{
    int i = skip_none(a, 0), j = skip_none(b, 0);
    for (; i < a->count && j < b->count; i = skip_none(a, i + 1), j = skip_none(b, j + 1))
        if (!stages_equal(&a->stage[i], &b->stage[j]))
            return false;
    return i >= a->count && j >= b->count;
}

// A value that lies in its parameter's range; a matrix of numbers that are finite.
static bool stage_sound(const struct stage *stage)
{
    for (int i = 0; i < filter_param_count(stage->filter); i++) {
        const struct param *param = &stage->filter->params[i];
        float value = stage->values.value[i];
        if (param_has_numbers(param)) {
            int count = stage->values.matrix_count; // 0 for a preset
            if (value < 0 ? count < 1 || count > FILTER_MATRIX : value > param->max)
                return false;
            for (int k = 0; k < count; k++)
                if (!isfinite(stage->values.matrix[k]))
                    return false;
        } else if (!(value >= param->min && value <= param->max)) {
            return false;
        } else if (param->type != PARAM_REAL && value != floorf(value)) {
            return false;
        }
    }
    const struct filter_arguments *arguments = &stage->arguments;
    return arguments->radius >= 0 && arguments->radius <= FILTER_REACH_MAX && arguments->rows <= arguments->radius &&
           arguments->count >= 0 && (arguments->resource || arguments->count <= FILTER_ARGUMENTS);
}

static bool error_sound(const char *error)
{
    const char *end = memchr(error, 0, CHAIN_ERROR);
    if (!end || end == error)
        return false;
    for (const char *c = error; c < end; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            return false;
    return true;
}

bool chain_property(const char *text, char problem[PROPERTY_TEXT])
{
    struct chain first, second;
    char error[CHAIN_ERROR], printed[CHAIN_TEXT], again[CHAIN_TEXT];
    memset(&first, 0xA5, sizeof(first));
    memset(error, 'x', sizeof(error));
    if (!chain_parse(&first, text, error)) {
        snprintf(problem, PROPERTY_TEXT, "the error is not one line of text");
        return error_sound(error);
    }
    snprintf(problem, PROPERTY_TEXT, "%d filters", first.count);
    if (first.count < 0 || first.count > CHAIN_MAX)
        return false;
    for (int i = 0; i < first.count; i++) {
        snprintf(problem, PROPERTY_TEXT, "filter %d has a value out of range", i + 1);
        if (!first.stage[i].filter || !stage_sound(&first.stage[i]))
            return false;
    }
    memset(printed, 'x', sizeof(printed));
    chain_print(&first, printed);
    snprintf(problem, PROPERTY_TEXT, "printed without an end");
    if (!memchr(printed, 0, sizeof(printed)))
        return false;
    memset(&second, 0x5A, sizeof(second));
    bool parsed = chain_parse(&second, printed, error);
    snprintf(problem, PROPERTY_TEXT, "printed as \"%.300s\", which %s", printed,
             parsed ? "is another chain" : "is refused");
    if (!parsed || !chains_equal(&first, &second))
        return false;
    chain_print(&second, again);
    snprintf(problem, PROPERTY_TEXT, "printed as \"%.200s\", then as \"%.200s\"", printed, again);
    return !strcmp(printed, again);
}
