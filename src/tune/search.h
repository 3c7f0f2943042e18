// search.h: strategies that choose the next configuration of a space to try; no clock, no device; logs nothing
#pragma once

#include "tune/space.h"

#include <stdbool.h>
#include <stdint.h>

struct search;

struct strategy {
    const char *name;
    // Only for search.c and the files of the strategies.
    size_t own_bytes;
    void (*open)(struct search *search);
    int (*next)(struct search *search);
    void (*tell)(struct search *search, int configuration);
    void (*close)(struct search *search);
};

extern const struct strategy auto_strategy, *const strategies[]; // the array ends with NULL
#define STRATEGY_CHOICES "auto|random"

// Opens a search over a space, which must not change until search_close. The same seed and the same results give the
// same search. `first`: configurations to try first, such as the default; copied.
struct search *search_open(const struct strategy *strategy, const struct space *space, uint64_t seed, const int *first,
                           int firsts);
// Returns a configuration that it has not returned before, or -1 if none is left. The caller may request several before
// it tells their results, for example to test them in parallel.
int search_next(struct search *search);
// The time of a configuration that search_next returned; INFINITY: it failed. Tell each at most once.
void search_tell(struct search *search, int configuration, double ms);
// Returns the configuration with the shortest time, or -1 if no result has a time yet. *ms is its time; `ms` may be
// NULL.
int search_best(const struct search *search, double *ms);
void search_close(struct search *search); // accepts NULL

// ---- the interface that each strategy implements, and functions that strategies share (callers  ----

// open: prepares search->own (own_bytes, zeroed). May be NULL.
// next: proposes a configuration. If search_next has returned it before, if it is -1, or if `next` is NULL, search_next
// returns a random one.
// tell: is called after search->ms gets the result. May be NULL.
// close: frees the memory that search->own points to. May be NULL.

struct search {
    const struct strategy *strategy;
    const struct space *space;
    void *own;
    uint64_t state; // of random_below
    double *ms;     // of each configuration; NAN: not told yet
    int asked, told;
    int best;             // -1: none
    int *rest, *place;    // configurations not returned yet; index of each configuration in `rest`, -1: returned
    int rests;            // length of `rest`
    int *first, firsts;   // configurations to try first
    int *near, near_most; // room for the neighbours of a configuration
};

static inline bool search_asked(const struct search *search, int configuration)
{
    return search->place[configuration] < 0;
}

int search_random_below(struct search *search, int limit); // 0..limit-1
int search_random_rest(struct search *search);             // a random one of `rest`; -1: it is empty
// Changes up to `count` parameters of a configuration at random. Returns an allowed configuration of `rest`; -1: it
// found none in 64 tries.
int search_random_leap(struct search *search, int configuration, int count);
