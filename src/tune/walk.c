// walk.c: simulated annealing and the Metropolis walk: steps to a neighbour, sometimes to a slower one
#include "tune/strategy.h"

#include <math.h>

enum { STEPS = 200 }; // maximum per proposal, over configurations with known results

struct walk {
    bool started;
    int at;    // present configuration; valid if started
    int stuck; // results since the best one was found
};

// Returns true if the walk goes to a configuration with this time: always if it is not slower, otherwise with the
// probability exp(-loss / heat). A loss of 0.1 means that it takes 10 % longer than the present one.
static bool accepts(struct search *search, double ms, double heat)
{
    const struct walk *walk = search->own;
    const double now = search->ms[walk->at];
    if (!isfinite(ms))
        return false;
    if (!isfinite(now) || ms <= now)
        return true;
    return search_random_unit(search) < exp(-(ms / now - 1) / heat);
}

static void arrive(struct search *search, int configuration, double heat)
{
    struct walk *walk = search->own;
    if (!walk->started || accepts(search, search->ms[configuration], heat))
        walk->at = configuration;
    walk->started = true;
    walk->stuck = configuration == search->best ? 0 : walk->stuck + 1;
}

// Walks over neighbours with known results until it reaches one without. Returns that one; -1: it reached none.
static int walk_on(struct search *search, enum space_step step, double heat)
{
    struct walk *walk = search->own;
    for (int i = 0; walk->started && i < STEPS; i++) {
        const int count = space_neighbours(search->space, walk->at, step, search->near, search->near_most);
        if (count == 0)
            return -1;
        const int to = search->near[search_random_below(search, count)];
        if (!search_asked(search, to))
            return to;
        if (!isnan(search->ms[to]) && accepts(search, search->ms[to], heat))
            walk->at = to;
    }
    return -1;
}

// ---- anneal ----

static double temperature(const struct search *search)
{
    const double hot = 0.5, cold = 0.01, spent = (double)search->told / search->budget;
    return hot * pow(cold / hot, spent < 1 ? spent : 1);
}

static int next_anneal(struct search *search)
{
    return walk_on(search, SPACE_NEXT_VALUE, temperature(search));
}

static void tell_anneal(struct search *search, int configuration)
{
    arrive(search, configuration, temperature(search));
}

const struct strategy anneal_strategy = {
    .name = "anneal",
    .own_bytes = sizeof(struct walk),
    .next = next_anneal,
    .tell = tell_anneal,
};

// ---- mcmc ----

enum { BOOT = 10, STUCK_MAX = 25 };
static const double mcmc_heat = 0.1;

static int next_mcmc(struct search *search)
{
    struct walk *walk = search->own;
    if (search->asked < BOOT)
        return -1;
    if (walk->stuck > STUCK_MAX) {
        walk->stuck = 0;
        walk->started = false; // the walk restarts at the next result
        return -1;
    }
    return walk_on(search, SPACE_ANY_VALUE, mcmc_heat);
}

static void tell_mcmc(struct search *search, int configuration)
{
    struct walk *walk = search->own;
    arrive(search, configuration, mcmc_heat);
    if (search->told <= BOOT && search->best >= 0)
        walk->at = search->best;
}

const struct strategy mcmc_strategy = {
    .name = "mcmc",
    .own_bytes = sizeof(struct walk),
    .next = next_mcmc,
    .tell = tell_mcmc,
};
