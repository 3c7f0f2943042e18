// kind.c: what the kinds of source share: the user's colour, size and format, and the images that they lend
#include "source/kind.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "image/convert.h"

#include <math.h>

struct color source_color(const struct source_setup *setup, struct color said, const struct image_shape *shape)
{
    return color_resolve(said, setup->color, shape->format == PIXFMT_GREY, shape->width, shape->height);
}

bool source_given_up(const struct source_setup *setup)
{
    return process_interrupted() || (setup->given_up && *setup->given_up);
}

bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name)
{
    if ((setup->width == 0 || setup->width == width) && (setup->height == 0 || setup->height == height))
        return true;
    log_error("%s has %dx%d pixels, not %dx%d; leave out --size, which is for cameras, the pattern and raw files", name,
              width, height, setup->width, setup->height);
    return false;
}

bool source_square(int *width, int *height, int across, int down)
{
    static const double least = 0.01, most = 8; // a smaller difference is invisible, but costs sharpness
    const double ratio = across > 0 && down > 0 ? (double)across / down : 1;
    if (fabs(ratio - 1) < least || ratio > most || ratio < 1 / most)
        return false;
    const double wide = *width * fmax(ratio, 1), high = *height / fmin(ratio, 1);
    if (wide > IMAGE_MAX_SIDE || high > IMAGE_MAX_SIDE)
        return false;
    if (ratio > 1)
        *width = 2 * (int)lround(wide / 2);
    else
        *height = 2 * (int)lround(high / 2);
    return true;
}

bool source_convert(struct image *image, const struct source_setup *setup, const char *name)
{
    struct image_shape shape = image->shape;
    shape.format = setup->has_format ? setup->format : PIXFMT_RGBA;
    shape.color = source_color(setup, (struct color){0}, &shape);
    if (shape.format == PIXFMT_RGBA) {
        image->shape = shape;
        return true;
    }
    const char *why = "out of memory";
    struct image converted;
    if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why) || !image_alloc(&converted, &shape)) {
        log_error("cannot convert %s (%dx%d pixels) to %s: %s", name, shape.width, shape.height,
                  pixfmt_info(shape.format)->name, why);
        return false;
    }
    encode_image(&converted, image);
    image_free(image);
    *image = converted;
    return true;
}

bool pool_init(struct pool *pool, const struct source *source, const struct image_shape *shape)
{
    *pool = (struct pool){.source = source, .slots = SOURCE_LENT};
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
    for (int i = 0; i < POOL_SLOTS; i++)
        image_free(&pool->image[i]);
    pthread_cond_destroy(&pool->returned);
    pthread_mutex_destroy(&pool->lock);
    pool->ready = false;
}

static int find_free(const struct pool *pool)
{
    for (int i = 0; i < pool->slots; i++)
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
