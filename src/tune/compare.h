// compare.h: runs the fastest configurations of a search and the default in turns, and chooses the winner
#pragma once

#include "tune/tuner.h"

// Compares the fastest trials of result->state with result->used and result->base, and fills in the other members.
// False on failure (logged).
bool compare_run(const struct tuner_setup *setup, struct tuner_result *result);
