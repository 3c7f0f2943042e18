// spec_run.c: computes with the parameters of a description: its configurations, and what each one launches
#include "base/alloc.h"
#include "base/text.h"
#include "tune/kernel/spec.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Limit on the bytes of conditions that are evaluated, and on combinations: about 2 s.
static const size_t work_max = (size_t)100 << 20;
enum { STEP_WORK = 2, LAUNCHES_CHECKED = 200000 };
static const int64_t bytes_max = (int64_t)1 << 40; // of a vector

// ---- names ----

// The values of names in an expression.
struct values {
    const struct spec *spec;
    const uint16_t *tuple; // NULL: each parameter has its largest value
    uint32_t params;       // bits of the parameters that were looked up
    int loops;             // number of the repetitions
    int64_t loop[SPEC_LOOPS];
    double ms; // of the name `time`; 0: there is no such name
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
        *value = param->value[scope->tuple ? scope->tuple[p] : param->values - 1];
        scope->params |= (uint32_t)1 << p;
        return true;
    }
    if (scope->ms > 0 && length == 4 && memcmp(name, "time", 4) == 0 && index < 0) {
        *value = value_of_real(scope->ms);
        return true;
    }
    const int loop = name[0] - 'i';
    if (length != 1 || index >= 0 || loop < 0 || loop >= scope->loops)
        return false;
    *value = value_of_integer(scope->loop[loop]);
    return true;
}

bool spec_evaluate(const struct spec *spec, const char *text, const uint16_t *tuple, struct value *value,
                   char why[SPEC_WHY])
{
    struct values scope = {.spec = spec, .tuple = tuple, .loops = tuple ? 0 : spec->loops};
    return expression_evaluate(text, find_name, &scope, value, why);
}

bool spec_check(const struct spec *spec, const char *text, uint32_t *params, char why[SPEC_WHY])
{
    struct values scope = {.spec = spec, .loops = spec->loops, .ms = spec->metrics.timed};
    const bool ok = expression_check(text, find_name, &scope, why);
    *params = scope.params;
    return ok;
}

double spec_metric(const struct spec *spec, int metric, const uint16_t *tuple, double ms)
{
    struct values scope = {.spec = spec, .tuple = tuple, .ms = ms};
    struct value value;
    char why[EXPRESSION_WHY];
    const bool ok = expression_evaluate(spec->metrics.list[metric].text, find_name, &scope, &value, why);
    return ok ? value_number(&value) : NAN;
}

// ---- the configurations ----

// What is known of an expression, for each combination of the values of its parameters.
struct memo {
    uint32_t params;
    uint8_t *known; // NULL: there are too many combinations
};

static struct memo memo_make(const struct space *space, uint32_t params)
{
    static const size_t most = (size_t)4 << 20;
    size_t count = 1;
    for (int p = 0; p < space->params && count <= most; p++)
        count *= params >> p & 1 ? (size_t)space->param[p].values : 1;
    return (struct memo){params, count <= most ? xcalloc(count, 1) : NULL};
}

// Returns the place of a combination; `other` if there is none.
static uint8_t *memo_at(const struct memo *memo, const struct space *space, const uint16_t *tuple, uint8_t *other)
{
    size_t at = 0;
    *other = 0;
    for (uint32_t rest = memo->params; memo->known && rest; rest &= rest - 1) {
        const int p = __builtin_ctz(rest);
        at = at * (size_t)space->param[p].values + tuple[p];
    }
    return memo->known ? memo->known + at : other;
}

struct walk {
    struct memo memo[SPEC_CONDITIONS];
    struct spec *spec;
    uint16_t tuple[SPACE_PARAMS];
    size_t work;
    char *why;
};

enum { UNKNOWN, ALLOWED, REFUSED, FAILED };

// Evaluates a condition. `params`: number of parameters that have values. Failure: `why`.
static uint8_t evaluate(struct walk *walk, const struct spec_condition *condition, int params)
{
    struct value value;
    char why[SPEC_WHY], values[SPACE_TEXT];
    walk->work += strlen(condition->text) + 64;
    if (spec_evaluate(walk->spec, condition->text, walk->tuple, &value, why))
        return value_true(&value) ? ALLOWED : REFUSED;
    space_print_tuple(&walk->spec->space, walk->tuple, params, values);
    snprintf(walk->why, SPEC_WHY, "condition '%.80s': %.100s with %.100s", condition->text, why, values);
    return FAILED;
}

// Returns ALLOWED if the conditions whose last parameter is this one allow the values, or REFUSED, or FAILED (`why`).
static uint8_t allows(struct walk *walk, int last)
{
    const struct spec *spec = walk->spec;
    uint8_t result = ALLOWED, other;
    for (int i = 0; result == ALLOWED && i < spec->conditions; i++) {
        const uint32_t params = spec->condition[i].params;
        if (params >> last > 1 || (params >> last == 0 && (params || last > 0)))
            continue;
        uint8_t *known = memo_at(&walk->memo[i], &spec->space, walk->tuple, &other);
        if (*known == UNKNOWN)
            *known = evaluate(walk, &spec->condition[i], last + 1);
        result = *known;
    }
    return result;
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
        space_add(space, walk->tuple);
        return true;
    }
    for (int v = 0; v < space->param[param].values; v++) {
        walk->tuple[param] = (uint16_t)v;
        const uint8_t allowed = allows(walk, param);
        if (allowed == FAILED || (allowed == ALLOWED && !add_all(walk, param + 1)))
            return false;
        if ((walk->work += STEP_WORK) > work_max) {
            snprintf(walk->why, SPEC_WHY,
                     "it has too many combinations of values; write the parameters of a condition next to each other");
            return false;
        }
    }
    return true;
}

// ---- the expressions of a configuration ----

// Writes the reason, with the values of the parameters and repetitions. Always returns false.
static bool refuse(const struct values *scope, const char *what, const char *text, const char *problem,
                   char why[SPEC_WHY])
{
    char values[SPACE_TEXT];
    space_print_tuple(&scope->spec->space, scope->tuple, scope->spec->space.params, values);
    int used = snprintf(why, SPEC_WHY, "%s '%.60s': %.120s, with ", what, text, problem);
    for (int i = 0; i < scope->loops; i++)
        used += snprintf(why + used, SPEC_WHY - (size_t)used, "%c=%lld,", 'i' + i, (long long)scope->loop[i]);
    snprintf(why + used, SPEC_WHY - (size_t)used, "%.120s", values);
    return false;
}

// Evaluates the expression of the member `what`. False: `why`.
static bool compute(struct values *scope, const char *what, const char *text, struct value *value, char why[SPEC_WHY])
{
    char problem[EXPRESSION_WHY];
    return expression_evaluate(text, find_name, scope, value, problem) || refuse(scope, what, text, problem, why);
}

// Computes a whole number from `least` to `most`.
static bool compute_whole(struct values *scope, const char *what, const char *text, int64_t least, int64_t most,
                          int64_t *whole, char why[SPEC_WHY])
{
    struct value value;
    char problem[EXPRESSION_WHY];
    if (!compute(scope, what, text, &value, why))
        return false;
    if (value_whole(&value, whole) && *whole >= least && *whole <= most)
        return true;
    snprintf(problem, sizeof(problem), "it is %.6g, but must be a whole number from %lld to %lld", value_number(&value),
             (long long)least, (long long)most);
    return refuse(scope, what, text, problem, why);
}

static bool compute_number(struct values *scope, const char *what, const char *text, double *number, char why[SPEC_WHY])
{
    struct value value;
    if (!compute(scope, what, text, &value, why))
        return false;
    *number = value_number(&value);
    return value.kind != VALUE_TEXT || refuse(scope, what, text, "it is a text", why);
}

// Computes the bytes of a vector or of local memory, with `size` elements in a row.
static bool compute_bytes(struct values *scope, const struct spec_argument *argument, const char *size, size_t *bytes,
                          size_t region[3], char why[SPEC_WHY])
{
    const int64_t element = (int64_t)argument->type.bytes * argument->type.lanes;
    const int64_t most = argument->memory == SPEC_LOCAL ? INT_MAX : bytes_max / element;
    int64_t count, height = 1;
    char what[48];
    snprintf(what, sizeof(what), "the size of '%.30s'", argument->name);
    if (!compute_whole(scope, what, size, 1, most, &count, why) ||
        (argument->height && !compute_whole(scope, what, argument->height, 1, most / count, &height, why)))
        return false;
    *bytes = (size_t)(count * height * element);
    region[0] = (size_t)count;
    region[1] = (size_t)height;
    region[2] = 1;
    return true;
}

bool spec_size(struct spec *spec, const uint16_t *tuple, char why[SPEC_WHY])
{
    struct values scope = {.spec = spec, .tuple = tuple};
    bool ok = true;
    for (int i = 0; ok && i < spec->arguments; i++) {
        struct spec_argument *argument = &spec->argument[i];
        if (argument->memory != SPEC_VECTOR)
            continue;
        ok = compute_bytes(&scope, argument, argument->size, &argument->bytes, argument->region, why) &&
             (argument->in.fill >= SPEC_GENERATOR || !argument->in.source ||
              compute_number(&scope, "FillValue", argument->in.source, &argument->in.value[0], why));
    }
    return ok;
}

// ---- checks of all configurations, so that the search does not find wrong expressions ----

typedef bool check_one(struct values *scope, void *context, char why[SPEC_WHY]);

// Checks what depends on these parameters with all their combinations.
static bool check_all(const struct spec *spec, uint32_t params, check_one *check, void *context, char why[SPEC_WHY])
{
    uint8_t other;
    bool ok = true;
    const struct memo memo = memo_make(&spec->space, params);
    for (int c = 0; ok && c < spec->space.count; c++) {
        struct values scope = {.spec = spec, .tuple = space_tuple(&spec->space, c)};
        uint8_t *known = memo_at(&memo, &spec->space, scope.tuple, &other);
        ok = *known || check(&scope, context, why);
        *known = 1;
    }
    free(memo.known);
    return ok;
}

// Keeps the largest size of a vector.
static bool check_argument(struct values *scope, void *context, char why[SPEC_WHY])
{
    struct spec_argument *argument = context;
    size_t bytes, region[3];
    if (!compute_bytes(scope, argument, argument->size, &bytes, region, why))
        return false;
    if (bytes < argument->bytes)
        return true;
    argument->bytes = bytes;
    memcpy(argument->region, region, sizeof(region));
    return true;
}

// Checks the launches, up to a limit: a configuration that this leaves out fails when it is tried.
static bool check_run(struct values *scope, void *context, char why[SPEC_WHY])
{
    int *launches = context;
    struct spec_run run;
    if (*launches > LAUNCHES_CHECKED)
        return true;
    const bool ok = spec_run_open(&run, scope->spec, false, scope->tuple, why);
    *launches += 1 + run.launches;
    spec_run_close(&run);
    return ok;
}

static bool check_configurations(struct spec *spec, char why[SPEC_WHY])
{
    int launches = 0;
    bool ok = check_all(spec, spec->params, check_run, &launches, why);
    for (int i = 0; ok && i < spec->arguments; i++)
        ok = spec->argument[i].memory != SPEC_VECTOR ||
             check_all(spec, spec->argument[i].params, check_argument, &spec->argument[i], why);
    return ok;
}

bool spec_enumerate(struct spec *spec, char why[SPEC_WHY])
{
    struct walk walk = {.spec = spec, .why = why};
    for (int i = 0; i < spec->conditions; i++)
        walk.memo[i] = memo_make(&spec->space, spec->condition[i].params);
    bool ok = add_all(&walk, 0);
    for (int i = 0; i < spec->conditions; i++)
        free(walk.memo[i].known);
    if (ok && !(ok = spec->space.count > 0))
        snprintf(why, SPEC_WHY, "the conditions allow no configuration");
    if (ok) {
        space_sort(&spec->space);
        ok = check_configurations(spec, why);
    }
    if (!ok)
        text_join_lines(why); // of values
    return ok;
}

// ---- the launches of a configuration ----

struct composition {
    struct values scope;
    struct spec_run *run;
    int work; // repetitions and launches
    char *why;
};

static bool compose(struct composition *c, int from, int to);

static const struct spec_change *find_change(const struct spec_step *step, int argument)
{
    for (int i = 0; step && i < step->changes; i++) {
        if (step->change[i].argument == argument)
            return &step->change[i];
    }
    return NULL;
}

// Computes the value of an argument; `change` may be NULL.
static bool give(struct composition *c, int number, const struct spec_change *change, union spec_given *given)
{
    const struct spec_argument *argument = &c->scope.spec->argument[number];
    const char *text = change ? change->text : argument->memory == SPEC_SCALAR ? argument->in.source : argument->size;
    size_t region[3];
    if (argument->memory == SPEC_VECTOR)
        given->vector = c->run->vector[change ? change->other : number];
    else if (argument->memory == SPEC_LOCAL)
        return compute_bytes(&c->scope, argument, text, &given->bytes, region, c->why);
    else if (text && argument->in.fill != SPEC_FILE)
        return compute_number(&c->scope, argument->name, text, &given->number, c->why);
    else
        given->number = argument->in.value[0];
    return true;
}

// Prints the macros of a launch. NULL: it has none, or failure (`ok`).
static char *print_macros(struct composition *c, const struct spec_step *step, bool *ok)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = find_change(step, -1) ? xmemstream(&text, &bytes) : NULL;
    for (int i = 0; out && *ok && i < step->changes; i++) {
        const struct spec_change *change = &step->change[i];
        struct value value;
        char number[200];
        if (change->argument >= 0 || !(*ok = compute(&c->scope, change->name, change->text, &value, c->why)))
            continue;
        value_print(&value, number, sizeof(number));
        fprintf(out, "#define %s %s\n", change->name, number);
    }
    if (out)
        xmemclose(out);
    return text;
}

// Adds a launch. `step` NULL: with the sizes and the arguments of the kernel.
static bool launch(struct composition *c, const struct spec_kernel *kernel, const struct spec_step *step)
{
    struct spec_run *run = c->run;
    if ((run->launches & (run->launches - 1)) == 0) // room for twice as many
        run->launch = xrealloc(run->launch, sizeof(*run->launch) * (size_t)(run->launches ? 2 * run->launches : 1));
    struct spec_launch *added = &run->launch[run->launches++];
    *added = (struct spec_launch){.kernel = kernel};
    const struct spec_sizes *sizes = step && step->sizes.global[0] ? &step->sizes : &kernel->sizes;
    bool ok = true;
    for (int i = 0; ok && i < 3; i++) {
        int64_t global, local;
        ok = compute_whole(&c->scope, "GlobalSize", sizes->global[i], 1, INT_MAX, &global, c->why) &&
             compute_whole(&c->scope, "LocalSize", sizes->local[i], 1, INT_MAX, &local, c->why);
        if (!ok)
            break;
        added->local[i] = (size_t)local;
        added->global[i] = (size_t)(kernel->groups ? global * local : (global + local - 1) / local * local);
    }
    for (int i = 0; ok && i < kernel->arguments; i++)
        ok = give(c, kernel->argument[i], find_change(step, kernel->argument[i]), &added->given[i]);
    if (ok)
        added->macros = print_macros(c, step, &ok);
    int64_t queue = 0;
    if (ok && step && step->queue)
        ok = compute_whole(&c->scope, "Queue", step->queue, 0, 1, &queue, c->why);
    added->queue = (int)queue;
    run->queues = run->queues || queue > 0;
    return ok;
}

// Runs a step once.
static bool compose_once(struct composition *c, const struct spec_step *step)
{
    const struct spec *spec = c->scope.spec;
    const int number = (int)(step - spec->step);
    if (++c->work > SPEC_LAUNCHES) {
        snprintf(c->why, SPEC_WHY, "it has over %d launches and repetitions", SPEC_LAUNCHES);
        return false;
    }
    if (step->kernel >= 0 ? !launch(c, &spec->kernel[step->kernel], step)
                          : !compose(c, number + 1, number + 1 + step->steps))
        return false;
    for (int i = 0; i + 1 < step->swaps; i += 2) {
        int *a = &c->run->vector[step->swap[i]], *b = &c->run->vector[step->swap[i + 1]];
        const int before = *a;
        *a = *b;
        *b = before;
    }
    return true;
}

static bool compose_step(struct composition *c, const struct spec_step *step)
{
    struct value value = value_of_integer(1);
    if (step->condition && !compute(&c->scope, "Condition", step->condition, &value, c->why))
        return false;
    if (!value_true(&value))
        return true;
    if (!step->again)
        return compose_once(c, step);
    int64_t *index = &c->scope.loop[c->scope.loops++];
    bool ok = true;
    for (*index = 0; ok; ++*index) {
        ok = compute(&c->scope, step->counts ? "Repeat" : "While", step->again, &value, c->why);
        if (!ok || !(step->counts ? (double)*index < value_number(&value) : value_true(&value)))
            break;
        ok = compose_once(c, step);
    }
    c->scope.loops--;
    return ok;
}

static bool compose(struct composition *c, int from, int to)
{
    bool ok = true;
    for (int i = from; ok && i < to; i += 1 + c->scope.spec->step[i].steps)
        ok = compose_step(c, &c->scope.spec->step[i]);
    return ok;
}

bool spec_run_open(struct spec_run *run, const struct spec *spec, bool reference, const uint16_t *tuple,
                   char why[SPEC_WHY])
{
    struct composition c = {.scope = {.spec = spec, .tuple = tuple}, .run = run, .why = why};
    const bool own = reference && spec->references > 0;
    const struct spec_kernel *kernel = own ? spec->reference : spec->kernel;
    bool ok = true;
    *run = (struct spec_run){.launches = 0};
    for (int i = 0; i < SPEC_ARGUMENTS; i++)
        run->vector[i] = i;
    if (spec->steps > 0 && !own)
        ok = compose(&c, 0, spec->steps);
    else
        for (int i = 0; ok && i < (own ? spec->references : spec->kernels); i++)
            ok = launch(&c, &kernel[i], NULL);
    if (ok && run->launches == 0) {
        snprintf(why, SPEC_WHY, "it launches no kernel");
        ok = false;
    }
    return ok;
}

void spec_run_close(struct spec_run *run)
{
    for (int i = 0; i < run->launches; i++)
        free(run->launch[i].macros);
    free(run->launch);
    *run = (struct spec_run){.launches = 0};
}
