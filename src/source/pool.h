// pool.h: the images that a source lends in turn
#pragma once

#include "source/source.h"

#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    struct image image[SOURCE_LENT]; // image of each slot: the caller of pool_take fills it; freed with the pool
    const struct source *source;     // source of the images
    bool lent[SOURCE_LENT];
    bool ready; // the lock is initialised
};

// Allocates an image of this shape for every slot; `shape` NULL: the slots stay empty. pool_take moves a free image to
// the owner of source_place; `source` NULL: images do not move. Returns false if out of memory (logged).
bool pool_init(struct pool *pool, const struct source *source, const struct image_shape *shape);
void pool_finish(struct pool *pool); // accepts a zeroed pool, or one whose pool_init failed

// Takes a free slot; waits for one until the deadline. Returns -1 if none becomes free.
int pool_take(struct pool *pool, int64_t deadline_ns);
// Lends the image of a taken slot as a frame that is complete now.
void pool_lend(const struct pool *pool, int slot, uint64_t number, int64_t captured_ns, struct frame *frame);
void pool_give(struct pool *pool, int slot); // on any thread
