// compare.h: runs the fastest configurations of a search and the default in turns, and chooses the winner
#pragma once

#include "base/stats.h"
#include "tune/tuner.h"

// Compares the fastest trials of result->state with result->used and result->base, and fills in the other members.
// False on failure (logged).
bool compare_run(const struct tuner_setup *setup, struct tuner_result *result);

// Returns the speed-up above which a configuration beats the one in use. `used`: times of the one in use. Writes their
// noise: half of the interquartile range, divided by the median.
double compare_least(const struct samples *used, double *noise);
