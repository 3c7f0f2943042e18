// spec_space.c: computes with the parameters of a description: its configurations, sizes and programs
#include "base/text.h"
#include "tune/kernel/spec.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Limit on the bytes of conditions that are evaluated: about 2 s.
static const size_t work_max = (size_t)100 << 20;

// ---- names ----

// The values of names in an expression.
struct values {
    const struct spec *spec;
    const uint16_t *tuple; // NULL: each parameter has its largest value
    int last;              // highest index of a parameter that was looked up; -1: none
};

static bool find_name(void *context, const char *name, int length, int64_t index, struct value *value)
{
    struct values *scope = context;
    const struct spec *spec = scope->spec;
    static const char problem[] = "ProblemSize";
    if (length == (int)strlen(problem) && memcmp(name, problem, (size_t)length) == 0 && spec->problems > 0) {
        const int64_t at = index < 0 ? 0 : index;
        *value = at < spec->problems ? spec->problem[at] : value_of_integer(1);
        return at < 3;
    }
    for (int p = 0; p < spec->space.params && index < 0; p++) {
        const struct space_param *param = &spec->space.param[p];
        if (strlen(param->name) != (size_t)length || memcmp(param->name, name, (size_t)length) != 0)
            continue;
        // The values are sorted.
        *value = value_of_text(param->value[scope->tuple ? scope->tuple[p] : param->values - 1]);
        scope->last = p > scope->last ? p : scope->last;
        return true;
    }
    return false;
}

bool spec_evaluate(const struct spec *spec, const char *text, const uint16_t *tuple, struct value *value,
                   char why[SPEC_WHY])
{
    struct values scope = {spec, tuple, -1};
    return expression_evaluate(text, find_name, &scope, value, why);
}

bool spec_check(const struct spec *spec, const char *text, int *last, char why[SPEC_WHY])
{
    struct values scope = {spec, NULL, -1};
    const bool ok = expression_check(text, find_name, &scope, why);
    *last = scope.last;
    return ok;
}

// ---- the configurations ----

struct walk {
    struct spec *spec;
    uint16_t tuple[SPACE_PARAMS];
    size_t work;
    char *why;
};

// Writes the values of the first `params` parameters.
static void print_values(const struct spec *spec, const uint16_t *tuple, int params, char text[SPACE_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int p = 0; p < params && used < SPACE_TEXT; p++)
        used += (size_t)snprintf(text + used, SPACE_TEXT - used, "%s%s=%s", p > 0 ? "," : "", spec->space.param[p].name,
                                 spec->space.param[p].value[tuple[p]]);
}

// Returns 1 if the conditions on parameters up to `last` allow the values; 0: they do not; -1: failure (`why`).
static int allows(struct walk *walk, int last)
{
    struct spec *spec = walk->spec;
    struct value value;
    char why[SPEC_WHY], values[SPACE_TEXT];
    for (int i = 0; i < spec->conditions; i++) {
        const struct spec_condition *condition = &spec->condition[i];
        if (condition->last != last && !(condition->last < 0 && last == 0))
            continue;
        walk->work += strlen(condition->text) + 64;
        if (!spec_evaluate(spec, condition->text, walk->tuple, &value, why)) {
            print_values(spec, walk->tuple, last + 1, values);
            snprintf(walk->why, SPEC_WHY, "condition '%.80s': %.100s with %.100s", condition->text, why, values);
            return -1;
        }
        if (!value_true(&value))
            return 0;
    }
    return 1;
}

// Adds the configurations whose first `param` values are those of the tuple. Returns false on failure.
static bool add_all(struct walk *walk, int param)
{
    struct space *space = &walk->spec->space;
    if (param == space->params) {
        if (space->count == SPEC_CONFIGURATIONS) {
            snprintf(walk->why, SPEC_WHY, "it has over %d configurations; remove values or add conditions",
                     SPEC_CONFIGURATIONS);
            return false;
        }
        return space_add(space, walk->tuple) || (snprintf(walk->why, SPEC_WHY, "out of memory"), false);
    }
    for (int v = 0; v < space->param[param].values; v++) {
        walk->tuple[param] = (uint16_t)v;
        const int allowed = allows(walk, param);
        if (allowed < 0 || (allowed == 1 && !add_all(walk, param + 1)))
            return false;
        if ((walk->work += 64) > work_max) {
            snprintf(walk->why, SPEC_WHY,
                     "it has too many combinations of values; write the parameters of a condition next to each other");
            return false;
        }
    }
    return true;
}

// Checks the sizes of all launches, so that a wrong expression is found before the search.
static bool check_launches(const struct spec *spec, char why[SPEC_WHY])
{
    struct spec_launch launch;
    size_t bytes;
    for (int c = 0; c < spec->space.count; c++) {
        const uint16_t *tuple = space_tuple(&spec->space, c);
        for (int k = 0; k < spec->kernels; k++) {
            if (!spec_launch(spec, &spec->kernel[k], tuple, &launch, why))
                return false;
        }
        for (int a = 0; a < spec->arguments; a++) {
            if (spec->argument[a].memory == SPEC_LOCAL &&
                !spec_local_bytes(spec, &spec->argument[a], tuple, &bytes, why))
                return false;
        }
    }
    return true;
}

bool spec_enumerate(struct spec *spec, char why[SPEC_WHY])
{
    struct walk walk = {.spec = spec, .why = why};
    bool ok = add_all(&walk, 0);
    if (ok && !(ok = spec->space.count > 0))
        snprintf(why, SPEC_WHY, "the conditions allow no configuration");
    if (ok) {
        space_sort(&spec->space);
        ok = check_launches(spec, why);
    }
    if (!ok)
        text_join_lines(why); // of values
    return ok;
}

// ---- a configuration ----

// Computes a whole number from 1 to INT_MAX.
static bool compute_size(const struct spec *spec, const char *what, const char *text, const uint16_t *tuple,
                         int64_t *size, char why[SPEC_WHY])
{
    struct value value;
    char values[SPACE_TEXT], problem[SPEC_WHY] = "";
    if (spec_evaluate(spec, text, tuple, &value, problem)) {
        if (value_whole(&value, size) && *size >= 1 && *size <= INT_MAX)
            return true;
        snprintf(problem, sizeof(problem), "it is %.6g, but must be a whole number from 1 to %d", value_number(&value),
                 INT_MAX);
    }
    print_values(spec, tuple, spec->space.params, values);
    snprintf(why, SPEC_WHY, "%s '%.60s': %.120s, with %.120s", what, text, problem, values);
    return false;
}

bool spec_launch(const struct spec *spec, const struct spec_kernel *kernel, const uint16_t *tuple,
                 struct spec_launch *launch, char why[SPEC_WHY])
{
    for (int i = 0; i < 3; i++) {
        int64_t global, local;
        if (!compute_size(spec, "GlobalSize", kernel->global[i], tuple, &global, why) ||
            !compute_size(spec, "LocalSize", kernel->local[i], tuple, &local, why))
            return false;
        launch->local[i] = (size_t)local;
        launch->global[i] = (size_t)(kernel->groups ? global * local : (global + local - 1) / local * local);
    }
    return true;
}

bool spec_local_bytes(const struct spec *spec, const struct spec_argument *argument, const uint16_t *tuple,
                      size_t *bytes, char why[SPEC_WHY])
{
    int64_t count;
    if (!compute_size(spec, "Size", argument->size, tuple, &count, why))
        return false;
    *bytes = (size_t)count * (size_t)argument->type.bytes * (size_t)argument->type.lanes;
    return true;
}

char *spec_program(const struct spec *spec, const struct spec_kernel *kernel, const uint16_t *tuple)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    if (!out)
        return NULL;
    for (int p = 0; p < spec->space.params; p++)
        fprintf(out, "#define %s %s\n", spec->space.param[p].name, spec->space.param[p].value[tuple[p]]);
    if (kernel->included[0])
        fprintf(out, "// included: %s\n", kernel->included); // for the keys of cached programs
    fprintf(out, "#line 1 \"%s\"\n%s", strpbrk(kernel->file, "\"\\\n") ? "kernel" : kernel->file, kernel->text);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
