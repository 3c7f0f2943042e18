// stats.h: measured values and their percentiles: the newest values (stats), or all (samples); not thread-safe
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATS_WINDOW = 4096 }; // over two minutes at 30 fps in 16 KiB

// The newest STATS_WINDOW values of a run of any length. Zeroed: empty.
struct stats {
    float value[STATS_WINDOW]; // ring; the newest is value[(count - 1) % STATS_WINDOW]
    uint64_t count;            // values ever added
};

void stats_add(struct stats *stats, double value);
// Returns the value below which `percent` of the window lies (nearest rank); 0 if the window is empty.
double stats_percentile(const struct stats *stats, double percent);
// The same for the latest `newest` values of the window.
double stats_late(const struct stats *stats, size_t newest, double percent);
// Returns the value added `age` additions ago, 0 = newest; 0 if there is none.
double stats_recent(const struct stats *stats, size_t age);

// All values of a measurement. Zeroed: empty.
struct samples {
    double *value;
    int count;
};

void samples_add(struct samples *samples, double value);
void samples_free(struct samples *samples);                               // leaves it empty
double samples_percentile(const struct samples *samples, double percent); // as stats_percentile

// Sorts at least one value, and returns their percentile, as stats_percentile.
double values_percentile(double *values, size_t count, double percent);

// Mann-Whitney U test, two-sided, by its normal approximation with corrections for ties and continuity (Mann and
// Whitney, 1947; Hollander and Wolfe, Nonparametric Statistical Methods, section 4.1). Returns the probability that two
// sets from the same source differ at least as much as these; 1 if one is empty. With fewer than 8 values in each set,
// the result is never below 0.001. It does not measure how large the difference is.
double samples_same(const struct samples *a, const struct samples *b);
