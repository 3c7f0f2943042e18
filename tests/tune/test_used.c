// test_used.c: the tuner compares with the configuration in use, on a made subject whose times are known
#include "tune/tuner.h"

#include "unit.h"

#include <math.h>

enum { CONFIGURATIONS = 6, DEFAULT = 0, USED = 3 };

static double time_ms[CONFIGURATIONS];
static int number[CONFIGURATIONS] = {0, 1, 2, 3, 4, 5};
static bool used_fails;

static bool prepare(struct subject *subject)
{
    return true;
}

static enum probe_status validate(const struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    snprintf(why, VERDICT_TEXT, "as the test wants");
    return configuration == USED && used_fails ? PROBE_WRONG : PROBE_PASSED;
}

static void *build(struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    return &number[configuration];
}

static bool time_build(void *build, double for_ms, double *ms)
{
    *ms = time_ms[*(int *)build];
    return true;
}

static void release(void *build) {}

static void print(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    snprintf(text, SUBJECT_TEXT, "%d", configuration);
}

static const struct subject_type type = {
    .prepare = prepare, .validate = validate, .build = build, .time = time_build, .release = release, .print = print};
static struct subject subject = {.type = &type, .name = "made", .preset = {DEFAULT}, .presets = 1};

// Tunes with these times of the configurations.
static struct tuner_result tune(int budget, const double ms[CONFIGURATIONS])
{
    const struct tuner_setup setup = {.subject = &subject, .strategy = strategy_find("full"), .budget = budget};
    struct tuner_result result;
    memcpy(time_ms, ms, sizeof(time_ms));
    CHECK(tuner_run(&setup, &result));
    return result;
}

static void make_space(void)
{
    space_init(&subject.space);
    CHECK(space_add_param(&subject.space, "N", true) == 0);
    for (uint16_t i = 0; i < CONFIGURATIONS; i++) {
        char text[8];
        snprintf(text, sizeof(text), "%d", i);
        CHECK(space_add_value(&subject.space, 0, text) == i && space_add(&subject.space, &i));
    }
    space_sort(&subject.space);
}

static void test_used(void)
{
    static const struct {
        double ms[CONFIGURATIONS], speedup;
        int budget, best, trials;
    } cases[] = {
        {{1, .52, 2, .5, 3, 4}, 1, 0, USED, 6},     // faster than the default only
        {{1, .495, 2, .5, 3, 4}, 1, 0, USED, 6},    // by 1 %
        {{1, .4, 2, .5, 3, 4}, 1.25, 0, 1, 6},      // clearly faster
        {{1, 2, 2, 1.5, 3, 4}, 1.5, 0, DEFAULT, 6}, // the default is faster than the one in use
        {{1, .1, .2, .5, .3, .4}, 1, 1, USED, 2},   // the one in use is tried beyond the budget
        {{1, .6, .7, .8, .5, .4}, 2, 0, 5, 6},      // also if it is not among the fastest
    };
    subject.has_used = true;
    subject.used = USED;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tuner_result result = tune(cases[i].budget, cases[i].ms);
        check_that(&unit, result.best == cases[i].best, "case %zu: the winner is %d", i, result.best);
        CHECK(result.base == DEFAULT && result.used == USED && result.state.trials == cases[i].trials);
        CHECK(fabs(result.speedup - cases[i].speedup) < 1e-9);
        CHECK_NUMBER(result.base_ms, cases[i].ms[DEFAULT]);
        CHECK_NUMBER(result.used_ms, cases[i].ms[USED]);
        CHECK_NUMBER(result.best_ms, cases[i].ms[cases[i].best]);
        tuner_finish(&result);
    }
}

// Without a result, or if that one does not run, the default is in use.
static void test_unused(void)
{
    static const double ms[CONFIGURATIONS] = {1, .52, 2, .5, 3, 4};
    used_fails = true;
    struct tuner_result result = tune(0, ms);
    CHECK(result.used == DEFAULT && result.best == 1 && result.used_ms == 1);
    tuner_finish(&result);
    used_fails = false;
    subject.has_used = false;
    result = tune(0, ms);
    CHECK(result.used == DEFAULT && result.best == USED && result.speedup == 2);
    tuner_finish(&result);
}

int main(void)
{
    make_space();
    test_used();
    test_unused();
    space_finish(&subject.space);
    return check_end(&unit);
}
