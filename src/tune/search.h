// search.h: chooses the next configuration of a space to try; no clock, no device; logs nothing
#pragma once

#include "tune/space.h"

struct search;

enum { SEARCH_AUTO, SEARCH_RANDOM };
#define SEARCH_CHOICES "auto|random"

// Opens a search over a space, which must not change until search_close. The same seed and the same results give the
// same search. `random`: it chooses at random, without regard to the results. `first`: configurations to try first,
// such as the default; copied.
struct search *search_open(const struct space *space, bool random, uint64_t seed, const int *first, int firsts);
// Returns a configuration that it has not returned before, or -1 if none is left. The caller may request several before
// it tells their results, for example to test them in parallel.
int search_next(struct search *search);
// The time of a configuration that search_next returned; INFINITY: it failed. Tell each at most once.
void search_tell(struct search *search, int configuration, double ms);
// Returns the configuration with the shortest time, or -1 if no result has a time yet. *ms is its time; `ms` may be
// NULL.
int search_best(const struct search *search, double *ms);
void search_close(struct search *search); // accepts NULL
