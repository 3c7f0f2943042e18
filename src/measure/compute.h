// compute.h: the arithmetic speed of a type, for other tests
#pragma once

#include "measure/elements.h"

// Measures briefly for each vector width. Returns the best speed in Gop/s; 0: the device lacks the type, or failure.
double compute_peak(struct session *session, const struct element *element);
