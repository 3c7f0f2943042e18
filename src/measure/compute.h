// compute.h: the arithmetic speed of a type, for other tests
#pragma once

#include "measure/elements.h"

// Measures briefly for each vector width. Returns the best speed in Gop/s; its value is 0 if the device lacks the type,
// or on failure.
struct figure compute_peak(struct session *session, const struct element *element);
