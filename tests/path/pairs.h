// pairs.h: a few combinations of values in which each pair of values occurs
//
// Most faults need one value or two. A product of all values runs each pair many times; a covering array runs it once.
#pragma once

#include "pictures.h"

enum { PAIRS_FACTORS = 12, PAIRS_VALUES = 256 };

// Factor f has the values 0 to values[f] - 1.
struct pairs {
    int factors, values[PAIRS_FACTORS];
    int count;                  // of rows
    int (*rows)[PAIRS_FACTORS]; // row[f] is the value of factor f
};

// Makes rows until each pair of values of two factors is in one. The same values and random state give the same rows.
// The caller calls pairs_free.
void pairs_make(struct pairs *pairs, struct random *random);
// Returns the number of pairs that are in none of the first `count` rows.
long pairs_missing(const struct pairs *pairs, int count);
void pairs_free(struct pairs *pairs);
