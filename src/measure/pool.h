// pool.h: random pictures to measure with, made once for all cases
#pragma once

#include "measure/chosen.h"
#include "measure/pictures.h"
#include "path/resident.h"

struct pool;

enum { POOL_OUTPUTS = 2, POOL_PICTURES_MAX = 64 }; // outputs of a path or a resident, used in turn

// `pictures`: the number of pictures per shape. 0: one picture up to 4 megapixels, because a camera's frame is in the
// caches, too; otherwise enough to exceed the caches. NULL on failure (logged).
struct pool *pool_open(int pictures);
void pool_close(struct pool *pool); // accepts NULL; close the users of its pictures before

// Random pictures of this shape; owned by the pool. NULL on failure (logged).
const struct pictures *pool_pictures(struct pool *pool, const struct image_shape *shape);
// The same pictures in the device's memory; owned by the pool. NULL on failure.
struct resident *pool_resident(struct pool *pool, struct device *device, const struct image_shape *shape,
                               bool to_image);

// Random memory of the host for copies, at least `bytes` large. Valid until the next call. NULL on failure (logged).
uint8_t *pool_copies(struct pool *pool, size_t bytes);
