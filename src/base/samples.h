// samples.h: repeated measurements of one thing: their percentiles, and whether two sets of them differ
#pragma once

#include <stdbool.h>

// Zeroed is empty.
struct samples {
    double *value;
    int count, room;
};

bool samples_add(struct samples *samples, double value); // false: out of memory
void samples_free(struct samples *samples);              // leaves it empty

// The value below which `percent` of them lie (nearest rank); 0 when there is none.
double samples_percentile(const struct samples *samples, double percent);

// Mann-Whitney U test, two-sided, by its normal approximation with corrections for ties and continuity (Mann and
// Whitney, 1947; Hollander and Wolfe, Nonparametric Statistical Methods, section 4.1): the probability that two sets
// from one and the same source lie as far apart as these. 1 where one is empty. It tells nothing of how large the
// difference is, and with fewer than 8 values in each set it never falls below 0.001.
double samples_same(const struct samples *a, const struct samples *b);
