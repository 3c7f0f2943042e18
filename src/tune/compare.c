// compare.c: runs the fastest configurations of a search, the default and the one in use in turns, and chooses the
// winner
#include "tune/compare.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/stats.h"
#include "compute/energy.h"

#include <math.h>
#include <stdlib.h>

enum { FINALISTS = 6, FINALISTS_MAX = 12, ROUNDS = 15, ROUNDS_MIN = 5 };

static const double run_for_ms = 6; // of one measurement of time
static const double most_ms = 20e3; // after ROUNDS_MIN rounds

static const double energy_ms = 400; // least time of one measurement of energy
enum { ENERGY_ROUNDS = 5 };

// The pause between two runs is measured for passes that are so fast that it matters.
static const double gap_most_ms = 10, gap_batch_ms = 20;
enum { GAP_TRIES = 3, BATCH_MAX = 64 };

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

// Returns the pause between two runs in a queue: the host's time of a run minus the device's. 0: it is unknown.
static double measure_gap(const struct comparison *comparison, const struct finalist *finalist)
{
    const double ms = samples_percentile(&finalist->ms.value, 50);
    const int runs = (int)fmin(fmax(gap_batch_ms / ms, 2), BATCH_MAX);
    double least = INFINITY;
    for (int i = 0; i < GAP_TRIES && comparison->type->run && ms < gap_most_ms; i++) {
        const int64_t start_ns = clock_now_ns();
        if (!comparison->type->run(finalist->build, runs))
            return 0;
        least = fmin(least, clock_ms_since(start_ns) / runs - ms);
    }
    return isfinite(least) ? fmax(least, 0) : 0;
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
    double value[FINALISTS_MAX];
    const int count = comparison->count;
    for (int i = 0; i < count; i++) {
        const int at = (i + round) % count;
        struct finalist *finalist = &comparison->finalist[at];
        if (finalist->build && !(energy ? measure_mj : measure_ms)(comparison, finalist, &value[at]))
            finalist_close(comparison->type, finalist);
    }
    for (int i = 0; comparison->finalist[0].build && i < count; i++) {
        struct series *series = series_of(&comparison->finalist[i], energy);
        if (comparison->finalist[i].build) {
            samples_add(&series->value, value[i]);
            samples_add(&series->ratio, value[0] / value[i]);
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
    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

// Writes the configuration in use, the default and the fastest ones. False: no memory.
static bool choose_finalists(struct comparison *comparison, const struct tuner_result *result)
{
    const struct tuner_state *state = &result->state;
    const int most = comparison->setup->by_energy ? FINALISTS_MAX : FINALISTS;
    const struct tuner_trial **sorted = calloc((size_t)state->trials + 1, sizeof(*sorted));
    if (!sorted)
        return false;
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
    return true;
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
        const double ratio = samples_percentile(&series_of(&comparison->finalist[i], energy)->ratio, 50);
        if (ratio <= least)
            continue;
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
    result->gap_ms = measure_gap(comparison, best);
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
    bool ok = choose_finalists(&comparison, result);
    for (int i = 0; i < comparison.count; i++)
        comparison.finalist[i].build = subject->type->build(subject, comparison.finalist[i].configuration, why);
    ok = ok && comparison.finalist[0].build;
    if (!ok)
        log_error("cannot compare %s with %s: %s", subject->name, with, why[0] ? why : "out of memory");
    else if (!(ok = run(&comparison, result)))
        log_error("cannot compare %s with %s: %s", subject->name, with,
                  setup->by_energy ? "a run failed, or the energy counter does not change" : "see above");
    for (int i = 0; i < comparison.count; i++)
        finalist_close(subject->type, &comparison.finalist[i]);
    return ok;
}
