// vector_ops.h: compares the operations of base/vector.h with plain C, at each level
#pragma once

#include "base/vectors.h"

#include "check.h"

// Adds its checks to `check`.
typedef void vector_ops_test(struct check *check);
VECTORS_TABLE(vector_ops_test, vector_ops)
