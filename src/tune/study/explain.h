// explain.h: prints how the parameters of a space change the time
#pragma once

#include "tune/space.h"

// Prints, for each parameter, the median and best time of the configurations with each value, and the share of the
// variation of times that the parameter explains; then the pairs of parameters that explain more together than each by
// itself. `ms` as in effect_of_value. Returns false if there is no memory (logged).
bool explain_print(const struct space *space, const double *ms);

// ---- effects ----

// The configurations with one value of a parameter that have a time.
struct effect_group {
    int count;
    double median_ms, best_ms; // 0 if there are none
};

// `ms` has the time of each configuration; INFINITY or 0: it has none. Logs nothing.
bool effect_of_value(const struct space *space, const double *ms, int param, int value, struct effect_group *group);

// Returns the share, 0..1, of the variance of log(time) that is between groups of configurations with the same value of
// parameter `a` and, unless it is -1, the same value of `b` (the correlation ratio, eta squared). NAN: no memory, or
// all times are equal.
double effect_share(const struct space *space, const double *ms, int a, int b);
