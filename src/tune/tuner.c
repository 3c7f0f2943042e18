// tuner.c: searches for the fastest configuration of a pass, and compares it with the default
#include "tune/tuner.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 16, FINALISTS = 6, ROUNDS = 15, ROUNDS_MIN = 5 };

static const double search_ms = 4;          // of one measurement in the search; each configuration has three
static const double compare_ms = 6;         // of one measurement in the comparison
static const double compare_most_ms = 20e3; // after ROUNDS_MIN rounds
static const double threshold_min = .02;    // smallest gain that replaces the default

struct tuner {
    const struct tuner_setup *setup;
    struct tuner_result *result;
    struct search *search;
    struct workers *workers;
    int64_t start_ns;
    bool stopped;
    int jobs, batch;
    struct tuner_trial candidate[JOBS_MAX]; // of the current batch
};

// ---- the search ----

static double ms_since(int64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / 1e6;
}

static void validate(void *context, int part)
{
    struct tuner *tuner = context;
    struct tuner_trial *candidate = &tuner->candidate[part];
    const int64_t start_ns = clock_now_ns();
    candidate->status = tune_pass_validate(tuner->setup->pass, candidate->configuration, candidate->why);
    candidate->validate_ms = ms_since(start_ns);
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Builds a valid candidate and measures its time.
static void measure(struct tuner *tuner, struct tuner_trial *candidate)
{
    const int64_t start_ns = clock_now_ns();
    struct tune_build *build = tune_build_open(tuner->setup->pass, candidate->configuration, candidate->why);
    candidate->build_ms = ms_since(start_ns);
    candidate->status = PROBE_NOT_RUN;
    if (!build)
        return;
    bool ok = true;
    for (int i = 0; ok && i < TUNER_RUNS; i++)
        ok = tune_build_time(build, search_ms, &candidate->run_ms[i]);
    tune_build_close(build);
    if (!ok) {
        snprintf(candidate->why, sizeof(candidate->why), "it cannot be timed");
        return;
    }
    double sorted[TUNER_RUNS];
    memcpy(sorted, candidate->run_ms, sizeof(sorted));
    qsort(sorted, TUNER_RUNS, sizeof(*sorted), compare_doubles);
    candidate->ms = sorted[TUNER_RUNS / 2];
    candidate->status = PROBE_PASSED;
    candidate->why[0] = '\0';
}

// Adds a candidate to the trials and tells the search. False: no memory (logged).
static bool keep(struct tuner *tuner, const struct tuner_trial *candidate)
{
    struct tuner_state *state = &tuner->result->state;
    struct tuner_trial *grown = realloc(state->trial, (size_t)(state->trials + 1) * sizeof(*grown));
    if (!grown) {
        log_error("cannot tune: out of memory");
        return false;
    }
    state->trial = grown;
    grown[state->trials++] = *candidate;
    state->failed += isinf(candidate->ms) ? 1 : 0;
    if (!isinf(candidate->ms) && (state->best < 0 || candidate->ms < grown[state->best].ms))
        state->best = state->trials - 1;
    search_tell(tuner->search, candidate->configuration, candidate->ms);
    if (isinf(candidate->ms)) {
        const struct variant_choice choice = tune_pass_choice(tuner->setup->pass, candidate->configuration);
        char text[VARIANT_TEXT];
        variant_print(&choice, text);
        log_info("pass %s does not run with %s: %s", tune_pass_name(tuner->setup->pass), text, candidate->why);
    }
    return true;
}

static bool report(struct tuner *tuner)
{
    struct tuner_state *state = &tuner->result->state;
    const struct tuner_setup *setup = tuner->setup;
    state->spent_s = ms_since(tuner->start_ns) / 1e3;
    return !setup->progress || setup->progress(setup->context, state);
}

// Returns the default: the first preset that runs. -1: none.
static int find_base(const struct tuner *tuner)
{
    const struct tuner_state *state = &tuner->result->state;
    int presets[TUNE_PRESETS];
    const int count = tune_pass_presets(tuner->setup->pass, presets);
    for (int p = 0; p < count; p++) {
        for (int i = 0; i < state->trials; i++) {
            if (state->trial[i].configuration == presets[p] && !isinf(state->trial[i].ms))
                return presets[p];
        }
    }
    return -1;
}

// Returns true while no preset has run and one is untried. The search tries them first.
static bool needs_base(const struct tuner *tuner)
{
    int presets[TUNE_PRESETS];
    return tuner->result->state.trials < tune_pass_presets(tuner->setup->pass, presets) && find_base(tuner) < 0;
}

static bool search_over(const struct tuner *tuner)
{
    const struct tuner_setup *setup = tuner->setup;
    const struct tuner_state *state = &tuner->result->state;
    if (needs_base(tuner))
        return false;
    if (tuner->stopped || (setup->budget > 0 && state->trials >= setup->budget))
        return true;
    if (setup->seconds > 0 && ms_since(tuner->start_ns) / 1e3 >= setup->seconds)
        return true;
    return setup->target_ms > 0 && state->best >= 0 && state->trial[state->best].ms <= setup->target_ms;
}

// Takes the next candidates from the search, at most `jobs`.
static void ask(struct tuner *tuner)
{
    int left = tuner->setup->budget > 0 ? tuner->setup->budget - tuner->result->state.trials : tuner->jobs;
    if (left < 1)
        left = 1; // no default runs yet
    tuner->batch = 0;
    while (tuner->batch < tuner->jobs && tuner->batch < left) {
        const int configuration = search_next(tuner->search);
        if (configuration < 0)
            break;
        tuner->candidate[tuner->batch++] = (struct tuner_trial){.configuration = configuration};
    }
}

// Returns false if the device has failed (logged): a kernel may break it for all that follow.
static bool device_works(const struct tuner *tuner)
{
    const struct tuner_state *state = &tuner->result->state;
    char why[VERDICT_TEXT];
    if (state->best < 0)
        return true;
    struct tune_build *build = tune_build_open(tuner->setup->pass, state->trial[state->best].configuration, why);
    if (!build)
        log_error("cannot tune pass %s further: the device has failed; see --log-level info",
                  tune_pass_name(tuner->setup->pass));
    tune_build_close(build);
    return build != NULL;
}

// Returns true if children that run at the same time may be the reason of the failure: they share the memory.
static bool is_doubtful(enum probe_status status)
{
    return status == PROBE_NOT_RUN || status == PROBE_NOT_OPENED || status == PROBE_UNKNOWN;
}

// Measures a candidate that is valid, and keeps it. False: the search cannot go on (logged).
static bool try_candidate(struct tuner *tuner, int at)
{
    struct tuner_trial *candidate = &tuner->candidate[at];
    if (tuner->batch > 1 && is_doubtful(candidate->status))
        validate(tuner, at);
    const bool valid = candidate->status == PROBE_PASSED;
    candidate->ms = INFINITY;
    if (valid)
        measure(tuner, candidate);
    if (!keep(tuner, candidate))
        return false;
    tuner->stopped = !report(tuner) || tuner->stopped;
    return !valid || !isinf(candidate->ms) || device_works(tuner);
}

// On a CPU device, child processes would disturb a measurement. So a batch is validated as a whole and then measured.
static bool search(struct tuner *tuner)
{
    while (!search_over(tuner)) {
        ask(tuner);
        if (tuner->batch == 0)
            break;
        workers_run(tuner->workers, validate, tuner, tuner->batch);
        for (int i = 0; i < tuner->batch && (i == 0 || !search_over(tuner)); i++) {
            if (!try_candidate(tuner, i))
                return false;
        }
    }
    return true;
}

// ---- the comparison ----

// A configuration in the comparison. finalist[0] is the default.
struct finalist {
    int configuration;
    struct tune_build *build;
    struct samples ms, ratio; // one per round; ratio: the default's time / this configuration's time
};

static int compare_trials(const void *a, const void *b)
{
    const struct tuner_trial *x = *(const struct tuner_trial *const *)a, *y = *(const struct tuner_trial *const *)b;
    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

// Writes the default and the fastest configurations. Returns their number; 0: no memory.
static int choose_finalists(const struct tuner_result *result, struct finalist finalist[FINALISTS])
{
    const struct tuner_state *state = &result->state;
    const struct tuner_trial **sorted = calloc((size_t)state->trials + 1, sizeof(*sorted));
    int count = 0;
    if (!sorted)
        return 0;
    for (int i = 0; i < state->trials; i++)
        sorted[i] = &state->trial[i];
    qsort(sorted, (size_t)state->trials, sizeof(*sorted), compare_trials);
    finalist[count++].configuration = result->base;
    for (int i = 0; i < state->trials && count < FINALISTS && !isinf(sorted[i]->ms); i++) {
        if (sorted[i]->configuration != result->base)
            finalist[count++].configuration = sorted[i]->configuration;
    }
    free(sorted);
    return count;
}

static void finalist_close(struct finalist *finalist)
{
    tune_build_close(finalist->build);
    samples_free(&finalist->ms);
    samples_free(&finalist->ratio);
    finalist->build = NULL;
}

// Measures each finalist once. One that fails leaves the comparison. False: the default fails, or there is no memory.
static bool run_round(struct finalist *finalist, int count, int round)
{
    double ms[FINALISTS];
    for (int i = 0; i < count; i++) {
        struct finalist *of = &finalist[(i + round) % count];
        if (of->build && !tune_build_time(of->build, compare_ms, &ms[of - finalist]))
            finalist_close(of);
    }
    for (int i = 0; finalist[0].build && i < count; i++) {
        if (finalist[i].build &&
            (!samples_add(&finalist[i].ms, ms[i]) || !samples_add(&finalist[i].ratio, ms[0] / ms[i])))
            return false;
    }
    return finalist[0].build != NULL;
}

static void choose_winner(struct tuner_result *result, const struct finalist *finalist, int count)
{
    const struct samples *base = &finalist[0].ms;
    result->base_ms = samples_percentile(base, 50);
    result->noise = (samples_percentile(base, 75) - samples_percentile(base, 25)) / 2 / result->base_ms;
    result->best = result->base;
    result->best_ms = result->base_ms;
    result->speedup = 1;
    double least = 1 + fmax(threshold_min, result->noise);
    for (int i = 1; i < count; i++) {
        const double ratio = samples_percentile(&finalist[i].ratio, 50);
        if (ratio <= least)
            continue;
        least = ratio;
        result->speedup = ratio;
        result->best = finalist[i].configuration;
        result->best_ms = samples_percentile(&finalist[i].ms, 50);
    }
}

static bool compare(struct tuner *tuner)
{
    struct finalist finalist[FINALISTS] = {0};
    char why[VERDICT_TEXT] = "";
    tuner->result->state.comparing = true;
    report(tuner);
    if ((tuner->result->base = find_base(tuner)) < 0) {
        log_error("cannot tune pass %s: no default configuration runs on this device; see --log-level info",
                  tune_pass_name(tuner->setup->pass));
        return false;
    }
    const int count = choose_finalists(tuner->result, finalist);
    for (int i = 0; i < count; i++)
        finalist[i].build = tune_build_open(tuner->setup->pass, finalist[i].configuration, why);
    bool ok = count > 0 && finalist[0].build;
    const int64_t start_ns = clock_now_ns();
    for (int round = 0; ok && round < ROUNDS; round++) {
        if (round >= ROUNDS_MIN && ms_since(start_ns) > compare_most_ms)
            break;
        ok = run_round(finalist, count, round);
    }
    if (ok)
        choose_winner(tuner->result, finalist, count);
    else
        log_error("cannot compare pass %s with its default: %s", tune_pass_name(tuner->setup->pass),
                  count > 0 && !finalist[0].build ? why : "see above");
    for (int i = 0; i < count; i++)
        finalist_close(&finalist[i]);
    return ok;
}

// ---- the tuner ----

static bool open_tuner(struct tuner *tuner)
{
    const struct tuner_setup *setup = tuner->setup;
    int presets[TUNE_PRESETS];
    const int count = tune_pass_presets(setup->pass, presets);
    const int cpus = workers_available();
    tuner->jobs = cpus < JOBS_MAX ? cpus : JOBS_MAX;
    const struct space *space = tune_pass_space(setup->pass);
    const bool all = setup->budget == 0 && setup->seconds <= 0 && setup->target_ms <= 0;
    tuner->search =
        search_open(setup->strategy, space, all ? space->count : setup->budget, setup->seed, presets, count);
    if (!tuner->search) {
        log_error("cannot tune: out of memory");
        return false;
    }
    return (tuner->workers = workers_open(tuner->jobs)) != NULL;
}

bool tuner_run(const struct tuner_setup *setup, struct tuner_result *result)
{
    *result = (struct tuner_result){.state.best = -1, .base = -1, .best = -1, .speedup = 1};
    struct tuner tuner = {.setup = setup, .result = result, .start_ns = clock_now_ns()};
    const bool ok = tune_pass_prepare(setup->pass) && open_tuner(&tuner) && search(&tuner) && compare(&tuner);
    search_close(tuner.search);
    workers_close(tuner.workers);
    return ok;
}

void tuner_finish(struct tuner_result *result)
{
    free(result->state.trial);
    result->state = (struct tuner_state){0};
}
