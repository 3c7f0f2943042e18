// strategy.h: what a strategy's file implements and may use; see search.h for users
#pragma once

#include "tune/search.h"

// open: prepares search->own (own_bytes, zeroed); false: no memory. NULL if there is nothing to do.
// next: proposes a configuration, which may have been asked for already; search_next then takes any other one. -1: any.
// tell: search->ms has the result. NULL if it does not matter.
// close: frees the parts of search->own. NULL if there are none.

struct search {
    const struct strategy *strategy;
    const struct space *space;
    void *own;
    int budget;     // > 0
    uint64_t state; // of random_below
    double *ms;     // of each configuration; NAN: not told
    int asked, told;
    int best;             // -1: none
    int *rest, *place;    // the configurations never asked for, and the place of each in `rest`; -1: asked
    int rests;            // how many
    int *first, firsts;   // configurations to try first
    int *near, near_most; // room for the neighbours of a configuration
};

extern const struct strategy anneal_strategy, mcmc_strategy, ils_strategy, pool_strategy, model_strategy;

static inline bool search_asked(const struct search *search, int configuration)
{
    return search->place[configuration] < 0;
}

int search_random_below(struct search *search, int limit); // 0..limit-1
double search_random_unit(struct search *search);          // 0 <= x < 1
int search_random_rest(struct search *search);             // a configuration never asked for; -1: none
// Changes `count` parameters of a configuration at random. Returns an allowed configuration, never asked for, or -1 if
// it finds none.
int search_random_leap(struct search *search, int configuration, int count);
void search_shuffle(struct search *search, int *list, int count);
