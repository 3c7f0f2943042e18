// tuner.c: searches for the fastest configuration of a subject, and compares it with the default
#include "tune/tuner.h"

#include "base/clock.h"
#include "base/driver_call.h"
#include "base/log.h"
#include "base/stats.h"
#include "base/thread.h"
#include "tune/compare.h"
#include "tune/journal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 16 };

static const double search_ms = 4; // of one measurement in the search; each configuration has three

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

static void validate(void *context, int part)
{
    struct tuner *tuner = context;
    struct tuner_trial *candidate = &tuner->candidate[part];
    const int64_t start_ns = clock_now_ns();
    const struct subject *subject = tuner->setup->subject;
    candidate->status = subject->type->validate(subject, candidate->configuration, candidate->why);
    candidate->validate_ms = clock_ms_since(start_ns);
}

double tuner_median(const double run_ms[TUNER_RUNS])
{
    double sorted[TUNER_RUNS];
    memcpy(sorted, run_ms, sizeof(sorted));
    return values_percentile(sorted, TUNER_RUNS, 50);
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
    bool ok = true;
    for (int i = 0; ok && i < TUNER_RUNS; i++)
        ok = type->time(build, search_ms, &candidate->run_ms[i]);
    type->release(build);
    if (!ok) {
        snprintf(candidate->why, sizeof(candidate->why), "it cannot be timed");
        return;
    }
    candidate->ms = tuner_median(candidate->run_ms);
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
        const struct subject *subject = tuner->setup->subject;
        char text[SUBJECT_TEXT];
        subject->type->print(subject, candidate->configuration, text);
        log_info("%s does not run with %s: %s", subject->name, text, candidate->why);
    }
    return true;
}

static bool report(struct tuner *tuner)
{
    struct tuner_state *state = &tuner->result->state;
    const struct tuner_setup *setup = tuner->setup;
    state->spent_s = clock_ms_since(tuner->start_ns) / 1e3;
    return !setup->progress || setup->progress(setup->context, state);
}

// Returns the default: the first preset that runs. -1: none.
static int find_base(const struct tuner *tuner)
{
    const struct tuner_state *state = &tuner->result->state;
    const struct subject *subject = tuner->setup->subject;
    for (int p = 0; p < subject->presets; p++) {
        for (int i = 0; i < state->trials; i++) {
            if (state->trial[i].configuration == subject->preset[p] && !isinf(state->trial[i].ms))
                return subject->preset[p];
        }
    }
    return -1;
}

// Returns the configuration in use, if it runs, or else the default.
static int find_used(const struct tuner *tuner)
{
    const struct tuner_state *state = &tuner->result->state;
    const struct subject *subject = tuner->setup->subject;
    for (int i = 0; subject->has_used && i < state->trials; i++) {
        if (state->trial[i].configuration == subject->used && !isinf(state->trial[i].ms))
            return subject->used;
    }
    return tuner->result->base;
}

static bool is_tried(const struct tuner_state *state, int configuration)
{
    for (int i = 0; i < state->trials; i++) {
        if (state->trial[i].configuration == configuration)
            return true;
    }
    return false;
}

// Returns true while no preset has run and one is untried. The search tries them first.
static bool needs_base(const struct tuner *tuner)
{
    const struct subject *subject = tuner->setup->subject;
    bool untried = false;
    for (int p = 0; p < subject->presets; p++)
        untried = untried || !is_tried(&tuner->result->state, subject->preset[p]);
    return untried && find_base(tuner) < 0;
}

static bool search_over(const struct tuner *tuner)
{
    const struct tuner_setup *setup = tuner->setup;
    const struct tuner_state *state = &tuner->result->state;
    // The search tries the configuration in use early.
    const bool needs_used = setup->subject->has_used && !is_tried(state, setup->subject->used);
    if (needs_base(tuner) || (needs_used && !tuner->stopped))
        return false;
    if (tuner->stopped || (setup->budget > 0 && state->trials >= setup->budget))
        return true;
    if (setup->seconds > 0 && clock_ms_since(tuner->start_ns) / 1e3 >= setup->seconds)
        return true;
    return setup->target_ms > 0 && state->best >= 0 && state->trial[state->best].ms <= setup->target_ms;
}

// Takes the next candidates from the search, at most `jobs`.
static void ask(struct tuner *tuner)
{
    int left = tuner->setup->budget > 0 ? tuner->setup->budget - tuner->result->state.trials : tuner->jobs;
    if (left < 1)
        left = 1; // no default runs yet, or the configuration in use is untried
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
        validate(tuner, at);
    const bool valid = candidate->status == PROBE_PASSED;
    candidate->ms = INFINITY;
    if (valid)
        measure(tuner, candidate);
    if (candidate->status != PROBE_PASSED && driver_call_interrupted()) {
        tuner->stopped = true; // the signal may be the reason of the failure, so it is not logged
        return true;
    }
    journal_add(tuner->setup->journal, candidate, clock_ms_since(tuner->start_ns) / 1e3);
    if (!keep(tuner, candidate))
        return false;
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
        workers_run(tuner->workers, validate, tuner, tuner->batch);
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
    tuner->result->used = find_used(tuner);
    if (tuner->result->base >= 0)
        return compare_run(tuner->setup, tuner->result);
    if (driver_call_interrupted())
        return false;
    log_error("cannot tune %s: no default configuration runs on this device; see --log-level info",
              tuner->setup->subject->name);
    return false;
}

// ---- the tuner ----

// Returns the configurations to try first: the results of the log, the presets, the one in use and the seeds. The
// caller frees them.
static int *first_configurations(const struct subject *subject, const struct tuner_trial *logged, int logs)
{
    int *first = malloc(sizeof(*first) * (size_t)(logs + subject->presets + subject->seeds + 2));
    for (int i = 0; first && i < logs; i++)
        first[i] = logged[i].configuration;
    for (int i = 0; first && i < subject->presets; i++)
        first[logs + i] = subject->preset[i];
    if (first && subject->has_used)
        first[logs + subject->presets] = subject->used;
    for (int i = 0; first && i < subject->seeds; i++)
        first[logs + subject->presets + subject->has_used + i] = subject->seed[i];
    return first;
}

static bool open_search(struct tuner *tuner, const struct tuner_trial *logged, int logs)
{
    const struct tuner_setup *setup = tuner->setup;
    const struct subject *subject = setup->subject;
    const bool all = setup->budget == 0 && setup->seconds <= 0 && setup->target_ms <= 0;
    int *first = first_configurations(subject, logged, logs);
    if (first)
        tuner->search = search_open(setup->strategy, &subject->space, all ? subject->space.count : setup->budget,
                                    setup->seed, first, logs + subject->presets + subject->has_used + subject->seeds);
    free(first);
    if (!tuner->search)
        log_error("cannot tune: out of memory");
    return tuner->search;
}

// Opens the search and tells it the results of the log.
static bool open_tuner(struct tuner *tuner)
{
    const int cpus = workers_available();
    const struct tuner_trial *logged;
    double spent_s;
    const int logs = journal_trials(tuner->setup->journal, &logged, &spent_s);
    tuner->jobs = cpus < JOBS_MAX ? cpus : JOBS_MAX;
    tuner->start_ns -= (int64_t)(spent_s * 1e9);
    if (!open_search(tuner, logged, logs))
        return false;
    for (int i = 0; i < logs; i++) {
        search_next(tuner->search);
        if (!keep(tuner, &logged[i]))
            return false;
    }
    tuner->result->state.resumed = logs;
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

void subject_close(struct subject *subject)
{
    if (!subject)
        return;
    space_finish(&subject->space);
    subject->type->close(subject);
}
