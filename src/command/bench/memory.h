// memory.h: random pictures to measure with, made once for all cases
#pragma once

#include "command/bench/bench.h"
#include "measure/pictures.h"
#include "path/resident.h"

struct bench_memory;

enum { BENCH_OUTPUTS = 2, BENCH_PICTURES_MAX = 64 }; // outputs of a path or a resident, used in turn

// `pictures`: the number of pictures per shape. 0: one picture up to 4 megapixels, because a camera's frame is in the
// caches, too; otherwise enough to exceed the caches. NULL on failure (logged).
struct bench_memory *bench_memory_open(int pictures);
void bench_memory_close(struct bench_memory *memory); // accepts NULL; close the users of its pictures before

// Random pictures of this shape; owned by the memory. NULL on failure (logged).
const struct pictures *bench_memory_pictures(struct bench_memory *memory, const struct image_shape *shape);
// The same pictures in the device's memory; owned by `memory`. NULL on failure.
struct resident *bench_memory_resident(struct bench_memory *memory, struct device *device,
                                       const struct image_shape *shape, bool to_image);

// Random memory of the host for copies, at least `bytes` large. Valid until the next call. NULL on failure (logged).
uint8_t *bench_memory_copies(struct bench_memory *memory, size_t bytes);
