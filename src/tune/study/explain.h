// explain.h: prints how the parameters of a space change the time
#pragma once

#include "tune/space.h"

// Prints, for each parameter, the median and best time of the configurations with each value, and the share of the
// variation of times that the parameter explains; then the pairs of parameters that explain more together than each by
// itself. `ms` as in effects.h. Returns false if there is no memory (logged).
bool explain_print(const struct space *space, const double *ms);
