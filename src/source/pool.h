// pool.h: the pictures a source lends in turn
#pragma once

#include "source/kind.h"

#include <pthread.h>

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t returned;
    struct image image[SOURCE_LENT]; // of slot i: the taker's to fill; freed with the pool
    const struct source *source;     // whose pictures they are
    bool lent[SOURCE_LENT];
    bool ready; // the lock exists
};

// Gives every slot own pixels of that shape, or none when `shape` is NULL. The pixels move, with what is in them, to
// where `source` is to put its pictures; `source` NULL: they stay. False when memory runs out (logged).
bool pool_init(struct pool *pool, const struct source *source, const struct image_shape *shape);
void pool_finish(struct pool *pool); // takes a half-made one

// A slot nobody has; waits until the time for one to come back. -1 when none does.
int pool_take(struct pool *pool, int64_t deadline_ns);
void pool_give(struct pool *pool, int slot); // on any thread
