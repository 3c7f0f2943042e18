// test_tuner.c: the tuner's search and comparison on a made subject, whose times are known: no device, no clock
#include "tune/search.h"
#include "tune/tuner.h"

#include "unit.h"

#include <math.h>

enum { CONFIGURATIONS = 8, RUNS_MAX = 4096 };

// The made subject. A build is a pointer into `build_of`.
static struct {
    double (*ms)(int configuration, int run); // time of the run-th call of `time`; 0 or less: it fails
    enum probe_status status[CONFIGURATIONS];
    int validated[CONFIGURATIONS], built[CONFIGURATIONS], released, builds;
    int run[RUNS_MAX], runs; // the configurations in the order of the calls of `time`
    int unbuildable;         // -1: none
} made;

static int build_of[CONFIGURATIONS];
static const double plain_ms[CONFIGURATIONS] = {1, 2, .5, 4, .8, 1.5, 3, .9};

static double ms_plain(int configuration, int run)
{
    return plain_ms[configuration];
}

static bool prepare(struct subject *subject)
{
    return true;
}

static enum probe_status validate(const struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    __atomic_add_fetch(&made.validated[configuration], 1, __ATOMIC_RELAXED);
    snprintf(why, VERDICT_TEXT, "as the test wants");
    return made.status[configuration];
}

static void *build(struct subject *subject, int configuration, char why[VERDICT_TEXT])
{
    snprintf(why, VERDICT_TEXT, "as the test wants");
    if (configuration == made.unbuildable)
        return NULL;
    made.built[configuration]++;
    made.builds++;
    build_of[configuration] = configuration;
    return &build_of[configuration];
}

static bool time_build(void *build, double for_ms, double *ms)
{
    const int configuration = *(int *)build;
    *ms = made.ms(configuration, made.runs);
    if (made.runs < RUNS_MAX)
        made.run[made.runs++] = configuration;
    return *ms > 0;
}

static void release(void *build)
{
    made.released++;
}

static void print(const struct subject *subject, int configuration, char text[SUBJECT_TEXT])
{
    snprintf(text, SUBJECT_TEXT, "%d", configuration);
}

static const struct subject_type type = {
    .prepare = prepare, .validate = validate, .build = build, .time = time_build, .release = release, .print = print};
static struct subject subject = {.type = &type, .name = "made", .preset = {0}, .presets = 1};

static void begin(double (*ms)(int configuration, int run))
{
    memset(&made, 0, sizeof(made));
    made.ms = ms;
    made.unbuildable = -1;
    for (int i = 0; i < CONFIGURATIONS; i++)
        made.status[i] = PROBE_PASSED;
    subject.presets = 1;
    subject.preset[0] = 0;
    subject.seeds = 0;
    subject.has_used = false;
}

// ---- the comparison ----

// Compares the first configurations, whose default is 0. Their trials have the times of `plain_ms`.
static bool compare(int count, struct tuner_result *result)
{
    static struct tuner_trial trial[CONFIGURATIONS];
    const struct tuner_setup setup = {.subject = &subject};
    for (int i = 0; i < count; i++)
        trial[i] =
            (struct tuner_trial){.configuration = i, .ms = plain_ms[i], .cost = plain_ms[i], .status = PROBE_PASSED};
    *result = (struct tuner_result){.state = {.trial = trial, .trials = count}, .best = -1, .speedup = 1};
    const bool ok = compare_run(&setup, result);
    CHECK_NUMBER(made.released, made.builds);
    return ok;
}

static void test_finalists(void)
{
    struct tuner_result result;
    begin(ms_plain);
    CHECK(compare(CONFIGURATIONS, &result) && result.base == 0 && result.best == 2);
    CHECK_NUMBER(result.base_ms, 1);
    CHECK_NUMBER(result.best_ms, .5);
    CHECK_NUMBER(result.speedup, 2);
    CHECK_NUMBER(result.noise, 0);
    CHECK_NUMBER(result.base_mj, 0);
    // The default and the five fastest: not 6 (3 ms) and 3 (4 ms).
    for (int i = 0; i < CONFIGURATIONS; i++)
        CHECK_NUMBER(made.built[i], i == 3 || i == 6 ? 0 : 1);
}

// Each finalist is the first one of a round, and every other place, equally often.
static void test_rotation(void)
{
    struct tuner_result result;
    int place[3][3] = {{0}};
    begin(ms_plain);
    CHECK(compare(3, &result));
    CHECK_NUMBER(made.runs, 45);
    for (int i = 0; i < made.runs; i++)
        place[made.run[i]][i % 3]++;
    for (int i = 0; i < 9; i++)
        CHECK_NUMBER(place[i / 3][i % 3], 5);
}

// All are equal, but the first run of a round is slow, as after a pause.
static double ms_cold(int configuration, int run)
{
    return run % 3 == 0 ? 1.5 : 1;
}

static void test_cold(void)
{
    struct tuner_result result;
    begin(ms_cold);
    CHECK(compare(3, &result) && result.best == 0);
    CHECK_NUMBER(result.speedup, 1);
}

static double gain, spread; // of ms_noisy

// 1 is faster than the default by `gain`. The times of both rise and fall together by `spread` from round to round.
static double ms_noisy(int configuration, int run)
{
    const double level = run / 2 % 2 ? 1 + spread : 1;
    return configuration == 1 ? level / (1 + gain) : level;
}

// A gain counts if it is larger than 2 % and than half the interquartile range of the default.
static void test_noise(void)
{
    static const struct {
        double gain, spread;
        int best;
    } cases[] = {{.05, 0, 1}, {.021, 0, 1}, {.019, 0, 0}, {-.3, 0, 0}, {.05, .3, 0}, {.1, .3, 0}, {.2, .3, 1}};
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(*cases)); i++) {
        struct tuner_result result;
        gain = cases[i].gain;
        spread = cases[i].spread;
        begin(ms_noisy);
        CHECK(compare(2, &result));
        check_that(&unit, result.best == cases[i].best, "gain %.3f, spread %.1f: the winner is %d", gain, spread,
                   result.best);
        CHECK(fabs(result.speedup - (cases[i].best ? 1 + gain : 1)) < 1e-9);
        CHECK(fabs(result.noise - spread / 2) < 1e-9); // of 15 rounds, 8 have the lower time
    }
}

// 1 is faster by 20 % in 9 of 15 rounds, and slower in the others.
static double ms_unsteady(int configuration, int run)
{
    return configuration == 0 ? 1 : run / 2 % 5 < 3 ? 1 / 1.2 : 1.2;
}

// The winner must be faster in three of four rounds.
static void test_unsteady(void)
{
    struct tuner_result result;
    begin(ms_unsteady);
    CHECK(compare(2, &result) && result.best == 0);
    CHECK_NUMBER(result.speedup, 1);
}

static int failing, after; // ms_failing: this configuration fails from this run on

static double ms_failing(int configuration, int run)
{
    return configuration == failing && run >= after ? 0 : plain_ms[configuration];
}

// A finalist that fails leaves the comparison, and the next best one wins. A default that fails ends it.
static void test_failing(void)
{
    struct tuner_result result;
    struct captured said;
    failing = 2;
    after = 20;
    begin(ms_failing);
    CHECK(compare(CONFIGURATIONS, &result) && result.best == 4);
    CHECK_NUMBER(result.speedup, 1.25);
    begin(ms_plain);
    made.unbuildable = 2;
    CHECK(compare(CONFIGURATIONS, &result) && result.best == 4);
    failing = 0;
    begin(ms_failing);
    capture_stderr(&said);
    CHECK(!compare(3, &result));
    CHECK_HAS(captured_stderr(&said), "cannot compare made with its default");
    begin(ms_plain);
    made.unbuildable = 0;
    capture_stderr(&said);
    CHECK(!compare(3, &result) && made.runs == 0);
    CHECK_HAS(captured_stderr(&said), "cannot compare made with its default: as the test wants");
}

// ---- the search ----

static void make_space(void)
{
    subject.space = (struct space){0};
    CHECK(space_add_param(&subject.space, "N") == 0);
    for (uint16_t i = 0; i < CONFIGURATIONS; i++) {
        CHECK(space_add_value(&subject.space, 0, value_of_integer(i)) == i);
        space_add(&subject.space, &i);
    }
    space_sort(&subject.space);
}

static int stop_after; // trials

static bool progress(void *context, const struct tuner_state *state)
{
    return state->trials < stop_after;
}

struct search *__real_search_open(const struct space *, bool random, uint64_t seed, const int *first, int firsts);
struct search *__wrap_search_open(const struct space *, bool random, uint64_t seed, const int *first, int firsts);

// The search tries all configurations in order, after the first ones.
struct search *__wrap_search_open(const struct space *space, bool random, uint64_t seed, const int *first, int firsts)
{
    int all[SUBJECT_PRESETS + 1 + SUBJECT_SEEDS + CONFIGURATIONS];
    memcpy(all, first, sizeof(*first) * (size_t)firsts);
    for (int c = 0; c < CONFIGURATIONS; c++)
        all[firsts + c] = c;
    return __real_search_open(space, random, seed, all, firsts + CONFIGURATIONS);
}

// Runs the tuner. The caller calls tuner_finish.
static bool tune(struct tuner_setup setup, struct tuner_result *result)
{
    setup.subject = &subject;
    setup.progress = stop_after > 0 ? progress : NULL;
    return tuner_run(&setup, result);
}

// The search measures a configuration three times, or once if it is over four times slower than the fastest one so far.
static void test_hopeless(void)
{
    struct tuner_result result;
    double best = INFINITY;
    int at = 0, once = 0;
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.budget = 0}, &result));
    for (int i = 0; i < result.state.trials; i++) {
        const int configuration = result.state.trial[i].configuration,
                  runs = plain_ms[configuration] > 4 * best ? 1 : 3;
        for (int k = 0; k < runs; k++)
            CHECK(made.run[at++] == configuration);
        CHECK_NUMBER(result.state.trial[i].ms, plain_ms[configuration]);
        CHECK_NUMBER(result.state.trial[i].runs, runs);
        best = fmin(best, plain_ms[configuration]);
        once += runs == 1;
    }
    CHECK(once > 0 && at + 2 * once == TUNER_RUNS * CONFIGURATIONS);
    tuner_finish(&result);
}

static void test_ends(void)
{
    struct tuner_result result;
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.budget = 0}, &result));
    CHECK(result.state.trials == CONFIGURATIONS && result.state.failed == 0 && result.best == 2);
    CHECK(result.state.trial[result.state.best].configuration == 2 && result.state.comparing);
    tuner_finish(&result);
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.budget = 3}, &result) && result.state.trials == 3);
    tuner_finish(&result);
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.seconds = 1e-9}, &result) && result.state.trials == 1 && result.best == 0);
    tuner_finish(&result);
    stop_after = 2;
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.budget = 0}, &result) && result.state.trials == 2 && result.best == 0);
    stop_after = 0;
    tuner_finish(&result);
}

// The presets and the seeds come first. The default is the first preset that runs, also beyond the limits.
static void test_defaults(void)
{
    struct tuner_result result;
    begin(ms_plain);
    subject.preset[0] = 5;
    subject.preset[1] = 6;
    subject.presets = 2;
    subject.seed[0] = 3;
    subject.seeds = 1;
    CHECK(tune((struct tuner_setup){.budget = 4}, &result) && result.base == 5);
    CHECK(result.state.trial[0].configuration == 5 && result.state.trial[1].configuration == 6);
    CHECK(result.state.trial[2].configuration == 3 && result.state.trial[3].configuration == 0);
    tuner_finish(&result);
    made.status[5] = PROBE_WRONG;
    CHECK(tune((struct tuner_setup){.budget = 1}, &result) && result.base == 6 && result.best == 6);
    CHECK(result.state.trials == 2 && result.state.failed == 1 && isinf(result.state.trial[0].ms));
    CHECK_TEXT(result.state.trial[0].why, "as the test wants");
    tuner_finish(&result);
    made.status[6] = PROBE_WRONG;
    struct captured said;
    capture_stderr(&said);
    CHECK(!tune((struct tuner_setup){.budget = 4}, &result));
    CHECK_HAS(captured_stderr(&said), "cannot tune made: no default configuration runs on this device");
    tuner_finish(&result);
}

// One that fails is neither built nor chosen. Of several children at the same time, one that could not run is tried
// again; one that computes wrong bytes is not.
static void test_faults(void)
{
    struct tuner_result result;
    begin(ms_plain);
    made.status[2] = PROBE_WRONG;
    made.status[4] = PROBE_NOT_OPENED;
    CHECK(tune((struct tuner_setup){.budget = 0}, &result) && result.best == 7 && result.state.failed == 2);
    CHECK(made.built[2] == 0 && made.built[4] == 0);
    CHECK(made.validated[2] == 1 && made.validated[4] == (made.validated[4] > 1 ? 2 : 1));
    tuner_finish(&result);
    failing = 2;
    after = 0;
    begin(ms_failing); // it is valid, but cannot be timed
    CHECK(tune((struct tuner_setup){.budget = 0}, &result) && result.best == 4 && result.state.failed == 1);
    CHECK_TEXT(result.state.trial[2].why, "it cannot be timed");
    CHECK_NUMBER(made.released, made.builds);
    tuner_finish(&result);
}

static const double *given_ms;

static double ms_given(int configuration, int run)
{
    return given_ms[configuration];
}

// The configuration in use is tried and compared, also beyond the budget. Only a faster one replaces it.
static void test_used(void)
{
    static const struct {
        double ms[CONFIGURATIONS], speedup;
        int budget, best, trials;
    } cases[] = {
        {{1, .52, 2, .5, 3, 4, 5, 6}, 1, 0, 3, 8},      // faster than the default only
        {{1, .495, 2, .5, 3, 4, 5, 6}, 1, 0, 3, 8},     // by 1 %
        {{1, .4, 2, .5, 3, 4, 5, 6}, 1.25, 0, 1, 8},    // clearly faster
        {{1, 2, 2, 1.5, 3, 4, 5, 6}, 1.5, 0, 0, 8},     // the default is faster than the one in use
        {{1, .1, .2, .5, .3, .4, 5, 6}, 1, 1, 3, 2},    // the one in use is tried beyond the budget
        {{1, .6, .7, .9, .5, .45, .6, .7}, 2, 0, 5, 8}, // and if it is not among the fastest
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct tuner_result result;
        begin(ms_given);
        given_ms = cases[i].ms;
        subject.has_used = true;
        subject.used = 3;
        CHECK(tune((struct tuner_setup){.budget = cases[i].budget}, &result));
        check_that(&unit, result.best == cases[i].best, "case %zu: the winner is %d", i, result.best);
        CHECK(result.base == 0 && result.used == 3 && result.state.trials == cases[i].trials);
        CHECK(fabs(result.speedup - cases[i].speedup) < 1e-9);
        CHECK_NUMBER(result.base_ms, cases[i].ms[0]);
        CHECK_NUMBER(result.used_ms, cases[i].ms[3]);
        CHECK_NUMBER(result.best_ms, cases[i].ms[cases[i].best]);
        tuner_finish(&result);
    }
}

// Without a result, or if that one does not run, the default is in use.
static void test_unused(void)
{
    struct tuner_result result;
    begin(ms_plain);
    subject.has_used = true;
    subject.used = 2;
    made.status[2] = PROBE_WRONG;
    CHECK(tune((struct tuner_setup){.budget = 0}, &result) && result.used == 0 && result.best == 4);
    CHECK_NUMBER(result.used_ms, 1);
    tuner_finish(&result);
    begin(ms_plain);
    CHECK(tune((struct tuner_setup){.budget = 0}, &result) && result.used == 0 && result.best == 2);
    CHECK_NUMBER(result.speedup, 2);
    tuner_finish(&result);
}

static double ms_varying(int configuration, int run)
{
    static const double runs[TUNER_RUNS] = {9, 1, 2};
    return runs[run % TUNER_RUNS];
}

static void test_median(void)
{
    struct tuner_result result;
    begin(ms_varying);
    CHECK(tune((struct tuner_setup){.budget = 1}, &result));
    CHECK_NUMBER(result.state.trial[0].ms, 2);
    tuner_finish(&result);
}

int main(void)
{
    make_space();
    test_finalists();
    test_rotation();
    test_cold();
    test_noise();
    test_unsteady();
    test_hopeless();
    test_failing();
    test_ends();
    test_defaults();
    test_faults();
    test_used();
    test_unused();
    test_median();
    space_finish(&subject.space);
    return check_end(&unit);
}
