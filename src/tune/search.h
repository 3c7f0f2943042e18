// search.h: strategies that choose the next configuration of a space to try; no clock, no device; logs nothing
#pragma once

#include "tune/space.h"

#include <stdbool.h>
#include <stdint.h>

struct search;

struct strategy {
    const char *name;
    // Only for search.c and the files of the strategies (strategy.h).
    size_t own_bytes;
    bool (*open)(struct search *search);
    int (*next)(struct search *search);
    void (*tell)(struct search *search, int configuration);
    void (*close)(struct search *search);
};

extern const struct strategy *const strategies[]; // ends with NULL
#define STRATEGY_CHOICES "auto|full|random|model"

const struct strategy *strategy_find(const char *name); // NULL: there is no strategy of this name

// Opens a search over a space, which must not change until search_close. The same seed and the same results give the
// same search. `budget`: number of configurations that the caller will try; 0: unknown. `first`: configurations to try
// first, such as the default; copied. NULL: no memory.
struct search *search_open(const struct strategy *strategy, const struct space *space, int budget, uint64_t seed,
                           const int *first, int firsts);
// Returns a configuration that it has not returned before, or -1 if none is left. The caller may request several before
// it tells their results, for example to test them in parallel.
int search_next(struct search *search);
// The time of a configuration that search_next returned; INFINITY: it failed. Tell each at most once.
void search_tell(struct search *search, int configuration, double ms);
// Returns the configuration with the shortest time, or -1 if no result has a time yet. *ms is its time; `ms` may be
// NULL.
int search_best(const struct search *search, double *ms);
void search_close(struct search *search); // accepts NULL
