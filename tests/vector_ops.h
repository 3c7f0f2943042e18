// vector_ops.h: the operations of base/vector.h beside plain C, for each level
#pragma once

#include "base/vectors.h"

#include "check.h"

// Counts in `check`.
typedef void vector_ops_test(struct check *check);
VECTORS_TABLE(vector_ops_test, vector_ops)
