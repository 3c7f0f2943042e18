// strategy.h: the interface that each strategy implements, and functions that strategies share (callers use search.h)
#pragma once

#include "tune/search.h"

// open: prepares search->own (own_bytes, zeroed); false: no memory. May be NULL.
// next: proposes a configuration. If search_next has returned it before, if it is -1, or if `next` is NULL, search_next
// returns a random one.
// tell: is called after search->ms gets the result. May be NULL.
// close: frees the memory that search->own points to. May be NULL.

struct search {
    const struct strategy *strategy;
    const struct space *space;
    void *own;
    int budget;     // > 0
    uint64_t state; // of random_below
    double *ms;     // of each configuration; NAN: not told yet
    int asked, told;
    int best;             // -1: none
    int *rest, *place;    // configurations not returned yet; index of each configuration in `rest`, -1: returned
    int rests;            // length of `rest`
    int *first, firsts;   // configurations to try first
    int *near, near_most; // room for the neighbours of a configuration
};

extern const struct strategy model_strategy;

static inline bool search_asked(const struct search *search, int configuration)
{
    return search->place[configuration] < 0;
}

int search_random_below(struct search *search, int limit); // 0..limit-1
int search_random_rest(struct search *search);             // a random one of `rest`; -1: it is empty
// Changes up to `count` parameters of a configuration at random. Returns an allowed configuration of `rest`; -1: it
// found none in 64 tries.
int search_random_leap(struct search *search, int configuration, int count);
