// cpu_chain.h: a chain on the cpu path as a search space: its configurations, their validation and their time
#pragma once

#include "filter/chain.h"
#include "image/image.h"
#include "tune/tuner.h"

// Opens a chain for frames of this shape, with this number of threads (0: one per CPU). Its space has all values of the
// parameters that change how the path runs the chain (path/cpu_tuning.h). `frame`: the timed frame, borrowed, of this
// shape; NULL: random pixels.
//
// - `validate` compares the bytes with those of the generic rows. It needs no child process, because no code is built.
// - `time` uses the host's clock. A frame's time includes one read of its result, because every user reads it.
struct subject *tune_cpu_open(const struct chain *chain, const struct image_shape *input, const struct image *frame,
                              int threads);
