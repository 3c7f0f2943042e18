// search.h: strategies that choose the next configuration of a space to try; no clock, no device; logs nothing
#pragma once

#include "tune/space.h"

#include <stdbool.h>
#include <stdint.h>

struct search;

struct strategy {
    const char *name;
    // For the strategies' own files (strategy.h).
    size_t own_bytes;
    bool (*open)(struct search *search);
    int (*next)(struct search *search);
    void (*tell)(struct search *search, int configuration);
    void (*close)(struct search *search);
};

extern const struct strategy *const strategies[]; // ends with NULL
#define STRATEGY_CHOICES "auto|full|random|anneal|mcmc|ils|pool|model"

const struct strategy *strategy_find(const char *name); // NULL: there is none

// A search over a space, which must not change until search_close. It does the same for the same seed and the same
// results. `budget` is the number of configurations that the caller means to try; 0: unknown. `first`: configurations
// to try first, such as the default; copied. Returns NULL if there is no memory.
struct search *search_open(const struct strategy *strategy, const struct space *space, int budget, uint64_t seed,
                           const int *first, int firsts);
// Returns a configuration that it has not returned before, or -1 if none is left. The caller may ask for several before
// it tells the results of earlier ones, so that they build in parallel.
int search_next(struct search *search);
// The time of a configuration that search_next returned; INFINITY: it failed. Tell each at most once.
void search_tell(struct search *search, int configuration, double ms);
// The configuration with the shortest time, or -1 if none has run yet. `ms` may be NULL.
int search_best(const struct search *search, double *ms);
void search_close(struct search *search); // NULL: nothing
