// tuner.c: searches for the fastest configuration of a subject, and compares it with the default
#include "tune/tuner.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/driver_call.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/thread.h"
#include "compute/energy.h"
#include "tune/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 16 };

static const double search_ms = 4; // of one measurement in the search; each configuration has three
static const double hopeless = 4;  // times the least cost so far: a configuration above it is measured once

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

struct batch {
    const struct subject *subject;
    struct tuner_trial *trial;
};

static void validate(void *context, int part)
{
    const struct batch *batch = context;
    struct tuner_trial *trial = &batch->trial[part];
    const int64_t start_ns = clock_now_ns();
    trial->status = batch->subject->type->validate(batch->subject, trial->configuration, trial->why);
    trial->validate_ms = clock_ms_since(start_ns);
}

int tuner_validate(const struct subject *subject, struct search *search, struct workers *workers,
                   struct tuner_trial *trial, int most)
{
    int count = 0;
    for (int configuration; count < most && (configuration = search_next(search)) >= 0;)
        trial[count++] = (struct tuner_trial){.configuration = configuration};
    workers_run(workers, validate, &(struct batch){subject, trial}, count);
    return count;
}

static double median(const struct tuner_trial *trial)
{
    double sorted[TUNER_RUNS];
    memcpy(sorted, trial->run_ms, sizeof(sorted));
    return values_percentile(sorted, trial->runs, 50);
}

static double cost_of(const struct subject *subject, int configuration, double ms)
{
    return subject->type->cost ? subject->type->cost(subject, configuration, ms) : ms;
}

// Builds a valid candidate and measures its time.
static void measure(struct tuner *tuner, struct tuner_trial *candidate)
{
    const struct subject_type *type = tuner->setup->subject->type;
    const int64_t start_ns = clock_now_ns();
    void *build = type->build(tuner->setup->subject, candidate->configuration, candidate->why);
    candidate->build_ms = clock_ms_since(start_ns);
    candidate->status = PROBE_NOT_RUN;
    if (!build)
        return;
    const struct tuner_state *state = &tuner->result->state;
    bool ok = type->time(build, search_ms, &candidate->run_ms[0]);
    const double first = ok ? cost_of(tuner->setup->subject, candidate->configuration, candidate->run_ms[0]) : 0;
    const bool again = state->best < 0 || first <= hopeless * state->trial[state->best].cost;
    candidate->runs = again ? TUNER_RUNS : 1;
    for (int i = 1; ok && i < candidate->runs; i++)
        ok = type->time(build, search_ms, &candidate->run_ms[i]);
    type->release(build);
    if (!ok) {
        snprintf(candidate->why, sizeof(candidate->why), "it cannot be timed");
        return;
    }
    const double ms = median(candidate);
    candidate->cost = cost_of(tuner->setup->subject, candidate->configuration, ms);
    if (isinf(candidate->cost)) {
        snprintf(candidate->why, sizeof(candidate->why), "its objective is not a number over 0");
        return;
    }
    candidate->ms = ms;
    candidate->status = PROBE_PASSED;
    candidate->why[0] = '\0';
}

// Adds a candidate to the trials and tells the search.
static void keep(struct tuner *tuner, const struct tuner_trial *candidate)
{
    struct tuner_state *state = &tuner->result->state;
    state->trial = xgrow(state->trial, (size_t)state->trials, sizeof(*candidate));
    state->trial[state->trials++] = *candidate;
    state->failed += isinf(candidate->ms) ? 1 : 0;
    if (!isinf(candidate->ms) && (state->best < 0 || candidate->cost < state->trial[state->best].cost))
        state->best = state->trials - 1;
    search_tell(tuner->search, candidate->configuration, candidate->cost);
    if (isinf(candidate->ms)) {
        const struct subject *subject = tuner->setup->subject;
        char text[SUBJECT_TEXT];
        subject->type->print(subject, candidate->configuration, text);
        log_info("%s does not run with %s: %s", subject->name, text, candidate->why);
    }
}

static bool report(struct tuner *tuner)
{
    struct tuner_state *state = &tuner->result->state;
    const struct tuner_setup *setup = tuner->setup;
    state->spent_s = clock_ms_since(tuner->start_ns) / 1e3;
    return !setup->progress || setup->progress(setup->context, state);
}

// Returns the trial of a configuration; NULL: it is untried.
static const struct tuner_trial *find_trial(const struct tuner *tuner, int configuration)
{
    const struct tuner_state *state = &tuner->result->state;
    for (int i = 0; i < state->trials; i++) {
        if (state->trial[i].configuration == configuration)
            return &state->trial[i];
    }
    return NULL;
}

static bool runs(const struct tuner *tuner, int configuration)
{
    const struct tuner_trial *trial = find_trial(tuner, configuration);
    return trial && !isinf(trial->ms);
}

// Returns the default: the first preset that runs. -1: none.
static int find_base(const struct tuner *tuner)
{
    const struct subject *subject = tuner->setup->subject;
    for (int p = 0; p < subject->presets; p++) {
        if (runs(tuner, subject->preset[p]))
            return subject->preset[p];
    }
    return -1;
}

// Returns true while no preset has run and one is untried. The search tries them first.
static bool needs_base(const struct tuner *tuner)
{
    const struct subject *subject = tuner->setup->subject;
    bool untried = false;
    for (int p = 0; p < subject->presets; p++)
        untried = untried || !find_trial(tuner, subject->preset[p]);
    return untried && find_base(tuner) < 0;
}

static bool search_over(const struct tuner *tuner)
{
    const struct tuner_setup *setup = tuner->setup;
    const struct tuner_state *state = &tuner->result->state;
    // The search tries the configuration in use early.
    const bool needs_used = setup->subject->has_used && !find_trial(tuner, setup->subject->used);
    if (needs_base(tuner) || (needs_used && !tuner->stopped))
        return false;
    if (tuner->stopped || (setup->budget > 0 && state->trials >= setup->budget))
        return true;
    return setup->seconds > 0 && clock_ms_since(tuner->start_ns) / 1e3 >= setup->seconds;
}

// Takes the next candidates from the search, at most `jobs`, and validates them.
static void ask(struct tuner *tuner)
{
    const struct tuner_setup *setup = tuner->setup;
    int left = setup->budget > 0 ? setup->budget - tuner->result->state.trials : tuner->jobs;
    if (left < 1)
        left = 1; // no default runs yet, or the configuration in use is untried
    tuner->batch = tuner_validate(setup->subject, tuner->search, tuner->workers, tuner->candidate,
                                  left < tuner->jobs ? left : tuner->jobs);
}

// Returns false if the device has failed (logged): a kernel may break it for all that follow.
static bool device_works(const struct tuner *tuner)
{
    const struct tuner_state *state = &tuner->result->state;
    char why[VERDICT_TEXT];
    if (state->best < 0)
        return true;
    struct subject *subject = tuner->setup->subject;
    void *build = subject->type->build(subject, state->trial[state->best].configuration, why);
    if (build)
        subject->type->release(build);
    else
        log_error("cannot tune %s further: the device has failed; see --log-level info", subject->name);
    return build != NULL;
}

// Measures a candidate that is valid, and keeps it. False: the search cannot go on (logged).
static bool try_candidate(struct tuner *tuner, int at)
{
    struct tuner_trial *candidate = &tuner->candidate[at];
    // Children that run at the same time share the memory, which may be the reason of these failures.
    const bool doubtful = candidate->status == PROBE_NOT_RUN || candidate->status == PROBE_NOT_OPENED ||
                          candidate->status == PROBE_UNKNOWN;
    if (tuner->batch > 1 && doubtful)
        validate(&(struct batch){tuner->setup->subject, tuner->candidate}, at);
    const bool valid = candidate->status == PROBE_PASSED;
    candidate->ms = candidate->cost = INFINITY;
    if (valid)
        measure(tuner, candidate);
    if (candidate->status != PROBE_PASSED && driver_call_interrupted()) {
        tuner->stopped = true; // the signal may be the reason of the failure, so it does not count
        return true;
    }
    keep(tuner, candidate);
    tuner->stopped = !report(tuner) || tuner->stopped;
    return !valid || !isinf(candidate->ms) || device_works(tuner);
}

// On a CPU device, child processes would disturb a measurement. So a batch is validated as a whole and then measured.
static bool search(struct tuner *tuner)
{
    while (!search_over(tuner) && !driver_call_interrupted()) {
        ask(tuner);
        if (tuner->batch == 0)
            break;
        for (int i = 0; i < tuner->batch && (i == 0 || !search_over(tuner)); i++) {
            if (!try_candidate(tuner, i))
                return false;
        }
    }
    return true;
}

static bool compare(struct tuner *tuner)
{
    tuner->result->state.comparing = true;
    report(tuner);
    tuner->result->base = find_base(tuner);
    const struct subject *subject = tuner->setup->subject;
    tuner->result->used = subject->has_used && runs(tuner, subject->used) ? subject->used : tuner->result->base;
    if (tuner->result->base >= 0)
        return compare_run(tuner->setup, tuner->result);
    if (driver_call_interrupted())
        return false;
    const struct tuner_state *state = &tuner->result->state;
    log_error("cannot tune %s: no default configuration runs on this device: %s", subject->name,
              state->trials > 0 ? state->trial[0].why : "none was tried");
    return false;
}

// ---- the tuner ----

static bool open_tuner(struct tuner *tuner)
{
    const int cpus = workers_available();
    tuner->jobs = cpus < JOBS_MAX ? cpus : JOBS_MAX;
    tuner->search = subject_search(tuner->setup->subject, tuner->setup->random, tuner->setup->seed);
    return (tuner->workers = workers_open(tuner->jobs)) != NULL;
}

bool tuner_run(const struct tuner_setup *setup, struct tuner_result *result)
{
    *result = (struct tuner_result){.state.best = -1, .base = -1, .used = -1, .best = -1, .speedup = 1};
    struct tuner tuner = {.setup = setup, .result = result, .start_ns = clock_now_ns()};
    const bool ok =
        setup->subject->type->prepare(setup->subject) && open_tuner(&tuner) && search(&tuner) && compare(&tuner);
    search_close(tuner.search);
    workers_close(tuner.workers);
    return ok;
}

void tuner_finish(struct tuner_result *result)
{
    free(result->state.trial);
    result->state = (struct tuner_state){0};
}

struct search *subject_search(const struct subject *subject, bool random, uint64_t seed)
{
    int first[SUBJECT_PRESETS + 1 + SUBJECT_SEEDS], count = 0;
    for (int i = 0; i < subject->presets; i++)
        first[count++] = subject->preset[i];
    if (subject->has_used)
        first[count++] = subject->used;
    for (int i = 0; i < subject->seeds; i++)
        first[count++] = subject->seed[i];
    return search_open(&subject->space, random, seed, first, count);
}

void subject_close(struct subject *subject)
{
    if (!subject)
        return;
    space_finish(&subject->space);
    subject->type->close(subject);
}

// ---- the comparison: the fastest configurations, the default and the one in use run in turns ----

enum { FINALISTS = 6, FINALISTS_MAX = 12, ROUNDS = 15, ROUNDS_MIN = 5 };

static const double run_for_ms = 6; // of one measurement of time
static const double most_ms = 20e3; // after ROUNDS_MIN rounds

static const double energy_ms = 400; // least time of one measurement of energy
enum { ENERGY_ROUNDS = 5 };

// The value of each round, and the ratio of the first finalist's value in the same round to it.
struct series {
    struct samples value, ratio;
};

// A configuration in the comparison. finalist[0] is the one in use.
struct finalist {
    int configuration;
    void *build; // NULL: it has failed
    struct series ms, mj;
};

struct comparison {
    const struct tuner_setup *setup;
    const struct subject_type *type;
    struct finalist finalist[FINALISTS_MAX];
    int count;
    int base; // index of the default
};

// ---- one measurement ----

static bool measure_ms(const struct comparison *comparison, const struct finalist *finalist, double *ms)
{
    return comparison->type->time(finalist->build, run_for_ms, ms);
}

// Measures the energy of a run.
static bool measure_mj(const struct comparison *comparison, const struct finalist *finalist, double *mj)
{
    struct energy_use use;
    const double run_ms = samples_percentile(&finalist->ms.value, 50);
    if (!energy_measure(comparison->setup->energy, run_ms, energy_ms, comparison->type->run, finalist->build, &use))
        return false;
    *mj = use.mj;
    return true;
}

// ---- rounds ----

static void finalist_close(const struct subject_type *type, struct finalist *finalist)
{
    if (finalist->build)
        type->release(finalist->build);
    samples_free(&finalist->ms.value);
    samples_free(&finalist->ms.ratio);
    samples_free(&finalist->mj.value);
    samples_free(&finalist->mj.ratio);
    finalist->build = NULL;
}

static struct series *series_of(struct finalist *finalist, bool energy)
{
    return energy ? &finalist->mj : &finalist->ms;
}

// Measures each finalist once. One that fails leaves the comparison. False: the one in use fails.
static bool run_round(struct comparison *comparison, int round, bool energy)
{
    double value[FINALISTS_MAX], cost[FINALISTS_MAX];
    const int count = comparison->count;
    for (int i = 0; i < count; i++) {
        const int at = (i + round) % count;
        struct finalist *finalist = &comparison->finalist[at];
        if (finalist->build && !(energy ? measure_mj : measure_ms)(comparison, finalist, &value[at]))
            finalist_close(comparison->type, finalist);
        else if (finalist->build)
            cost[at] = energy ? value[at] : cost_of(comparison->setup->subject, finalist->configuration, value[at]);
    }
    for (int i = 0; comparison->finalist[0].build && i < count; i++) {
        struct series *series = series_of(&comparison->finalist[i], energy);
        if (comparison->finalist[i].build) {
            samples_add(&series->value, value[i]);
            samples_add(&series->ratio, cost[0] / cost[i]);
        }
    }
    return comparison->finalist[0].build != NULL;
}

static bool run_rounds(struct comparison *comparison, int rounds, bool energy)
{
    const int64_t start_ns = clock_now_ns();
    bool ok = true;
    for (int round = 0; ok && round < rounds; round++) {
        if (round >= ROUNDS_MIN && clock_ms_since(start_ns) > most_ms)
            break;
        ok = run_round(comparison, round, energy);
    }
    return ok;
}

// ---- the choice ----

static int compare_trials(const void *a, const void *b)
{
    const struct tuner_trial *x = *(const struct tuner_trial *const *)a, *y = *(const struct tuner_trial *const *)b;
    return x->cost < y->cost ? -1 : x->cost > y->cost;
}

// Writes the configuration in use, the default and the fastest ones.
static void choose_finalists(struct comparison *comparison, const struct tuner_result *result)
{
    const struct tuner_state *state = &result->state;
    const int most = comparison->setup->by_energy ? FINALISTS_MAX : FINALISTS;
    const struct tuner_trial **sorted = xcalloc((size_t)state->trials, sizeof(*sorted));
    for (int i = 0; i < state->trials; i++)
        sorted[i] = &state->trial[i];
    qsort(sorted, (size_t)state->trials, sizeof(*sorted), compare_trials);
    comparison->finalist[comparison->count++].configuration = result->used;
    if (result->base != result->used)
        comparison->finalist[comparison->base = comparison->count++].configuration = result->base;
    for (int i = 0; i < state->trials && comparison->count < most && !isinf(sorted[i]->ms); i++) {
        if (sorted[i]->configuration != result->base && sorted[i]->configuration != result->used)
            comparison->finalist[comparison->count++].configuration = sorted[i]->configuration;
    }
    free(sorted);
}

double compare_least(const struct samples *used, double *noise)
{
    *noise = (samples_percentile(used, 75) - samples_percentile(used, 25)) / 2 / samples_percentile(used, 50);
    return 1 + fmax(TUNER_GAIN_MIN, *noise);
}

// Returns the index of the winner in time or energy: the one in use if no other one is better by more than the noise.
static int choose_winner(struct comparison *comparison, bool energy, double *noise)
{
    double least = compare_least(&series_of(&comparison->finalist[0], energy)->value, noise);
    int winner = 0;
    for (int i = 1; i < comparison->count; i++) {
        const struct samples *ratios = &series_of(&comparison->finalist[i], energy)->ratio;
        const double ratio = samples_percentile(ratios, 50);
        if (ratio <= least || samples_percentile(ratios, 25) <= 1 + TUNER_GAIN_MIN)
            continue; // it must also be faster in three of four rounds
        least = ratio;
        winner = i;
    }
    return winner;
}

static void write_result(const struct comparison *comparison, int winner, struct tuner_result *result)
{
    const struct finalist *base = &comparison->finalist[comparison->base], *best = &comparison->finalist[winner];
    result->best = best->configuration;
    result->used_ms = samples_percentile(&comparison->finalist[0].ms.value, 50);
    result->base_ms = samples_percentile(&base->ms.value, 50);
    result->best_ms = samples_percentile(&best->ms.value, 50);
    result->speedup = winner == 0 ? 1 : samples_percentile(&best->ms.ratio, 50);
    result->base_mj = samples_percentile(&base->mj.value, 50);
    result->best_mj = samples_percentile(&best->mj.value, 50);
}

// Measures the energy of the default and of the winner, unless the comparison has already measured it.
static void add_energy(struct comparison *comparison, int winner)
{
    struct finalist *both[2] = {&comparison->finalist[comparison->base], &comparison->finalist[winner]};
    double mj;
    for (int i = 0; comparison->setup->energy && comparison->type->run && i < (both[0] == both[1] ? 1 : 2); i++) {
        if (both[i]->build && measure_mj(comparison, both[i], &mj))
            samples_add(&both[i]->mj.value, mj);
        else
            log_info("%s: the energy counter cannot be read, or does not change", comparison->setup->subject->name);
    }
}

static bool run(struct comparison *comparison, struct tuner_result *result)
{
    const bool by_energy = comparison->setup->by_energy;
    double noise;
    if (!run_rounds(comparison, ROUNDS, false))
        return false;
    int winner = choose_winner(comparison, false, &result->noise);
    if (!by_energy)
        add_energy(comparison, winner);
    else if (run_rounds(comparison, ENERGY_ROUNDS, true))
        winner = choose_winner(comparison, true, &noise);
    else
        return false;
    write_result(comparison, winner, result);
    return true;
}

bool compare_run(const struct tuner_setup *setup, struct tuner_result *result)
{
    struct subject *subject = setup->subject;
    struct comparison comparison = {.setup = setup, .type = subject->type};
    const char *with = result->used == result->base ? "its default" : "the configuration in use";
    char why[VERDICT_TEXT] = "";
    if (setup->by_energy && !subject->type->run) {
        log_error("the energy of %s cannot be measured; use --objective time", subject->name);
        return false;
    }
    choose_finalists(&comparison, result);
    for (int i = 0; i < comparison.count && (i == 0 || comparison.finalist[0].build); i++)
        comparison.finalist[i].build = subject->type->build(subject, comparison.finalist[i].configuration, why);
    bool ok = comparison.finalist[0].build;
    if (!ok)
        log_error("cannot compare %s with %s: %s", subject->name, with, why);
    else if (!(ok = run(&comparison, result)))
        log_error("cannot compare %s with %s: %s", subject->name, with,
                  setup->by_energy ? "a run failed, or the energy counter does not change" : "see above");
    for (int i = 0; i < comparison.count; i++)
        finalist_close(subject->type, &comparison.finalist[i]);
    return ok;
}
