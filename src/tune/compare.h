// compare.h: runs the fastest configurations of a search and the default in turns, and chooses the winner
#pragma once

#include "base/stats.h"
#include "tune/tuner.h"

// Compares the fastest trials of result->state with result->used and result->base, and fills in the other members.
// False on failure (logged).
bool compare_run(const struct tuner_setup *setup, struct tuner_result *result);

// Returns the ratio of the time in use to its own time above which another configuration wins, and writes the noise:
// half the interquartile range of the times in use / their median.
double compare_least(const struct samples *used, double *noise);
