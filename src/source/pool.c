// pool.c: the images that a source lends in turn
#include "source/pool.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "source/kind.h"

bool pool_init(struct pool *pool, const struct source *source, const struct image_shape *shape)
{
    *pool = (struct pool){.source = source};
    pthread_mutex_init(&pool->lock, NULL);
    thread_condition_init(&pool->returned);
    pool->ready = true;
    for (int i = 0; shape && i < SOURCE_LENT; i++) {
        if (!image_alloc(&pool->image[i], shape)) {
            log_error("cannot allocate %d frames of %dx%d pixels: out of memory", SOURCE_LENT, shape->width,
                      shape->height);
            return false;
        }
        pool->image[i].reach_bytes = pool->image[i].memory_bytes;
    }
    return true;
}

void pool_finish(struct pool *pool)
{
    if (!pool->ready)
        return;
    for (int i = 0; i < SOURCE_LENT; i++)
        image_free(&pool->image[i]);
    pthread_cond_destroy(&pool->returned);
    pthread_mutex_destroy(&pool->lock);
    pool->ready = false;
}

static int find_free(const struct pool *pool)
{
    for (int i = 0; i < SOURCE_LENT; i++)
        if (!pool->lent[i])
            return i;
    return -1;
}

// Moves the pixels of a free slot to the owner that the source wants.
static void place(const struct pool *pool, struct image *image)
{
    struct image moved;
    struct pages_owner *owner = pool->source ? pool->source->owner : image->owner;
    if (image->memory && image->owner != owner && image_duplicate(&moved, image, owner)) {
        image_free(image);
        *image = moved;
    }
}

int pool_take(struct pool *pool, int64_t deadline_ns)
{
    pthread_mutex_lock(&pool->lock);
    int slot;
    while ((slot = find_free(pool)) < 0)
        if (!thread_wait(&pool->returned, &pool->lock, deadline_ns))
            break;
    if (slot >= 0)
        pool->lent[slot] = true;
    pthread_mutex_unlock(&pool->lock);
    if (slot >= 0)
        place(pool, &pool->image[slot]);
    return slot;
}

void pool_lend(const struct pool *pool, int slot, uint64_t number, int64_t captured_ns, struct frame *frame)
{
    *frame = (struct frame){.image = pool->image[slot],
                            .number = number,
                            .captured_ns = captured_ns,
                            .ready_ns = clock_now_ns(),
                            .slot = slot};
    frame->image.memory = NULL; // lent
}

void pool_give(struct pool *pool, int slot)
{
    pthread_mutex_lock(&pool->lock);
    pool->lent[slot] = false;
    pthread_cond_signal(&pool->returned);
    pthread_mutex_unlock(&pool->lock);
}
