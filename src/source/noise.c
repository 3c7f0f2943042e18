// noise.c: a source of random samples, which codecs cannot compress; the same in every run
#include "base/clock.h"
#include "source/made.h"
#include "source/pool.h"

#include <stdio.h>
#include <string.h>

struct noise {
    struct pool pool;
    uint64_t next; // number of the next frame
};

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static bool noise_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct noise *noise = source->state;
    snprintf(source->info.name, sizeof(source->info.name), "noise");
    return made_open(source, setup, text) && pool_init(&noise->pool, source, &source->info.shape);
}

static void noise_close(struct source *source)
{
    struct noise *noise = source->state;
    pool_finish(&noise->pool);
}

static enum source_status noise_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct noise *noise = source->state;
    const int slot = pool_take(&noise->pool, deadline_ns);
    if (slot < 0)
        return SOURCE_TIMEOUT;
    const int64_t begin = clock_now_ns();
    const struct image *image = &noise->pool.image[slot];
    const size_t bytes = image_bytes(&image->shape);
    uint64_t counter = mix(noise->next + 1);
    // The planes are contiguous. The last word may reach the spare bytes.
    for (size_t i = 0; i < bytes; i += sizeof(counter)) {
        const uint64_t word = mix(counter += 0x9e3779b97f4a7c15);
        memcpy(image->plane[0] + i, &word, sizeof(word));
    }
    *frame = (struct frame){.image = *image, .number = noise->next++, .captured_ns = begin, .slot = slot};
    frame->ready_ns = clock_now_ns();
    frame->image.memory = NULL; // lent
    return SOURCE_FRAME;
}

static void noise_return(struct source *source, const struct frame *frame)
{
    struct noise *noise = source->state;
    pool_give(&noise->pool, frame->slot);
}

extern const struct source_kind source_noise;
const struct source_kind source_noise = {
    .name = "noise",
    .help = {"noise[:WxH@FPS,FORMAT]\trandom frames, which codecs cannot compress; the same in every run"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct noise),
    .open = noise_open,
    .close = noise_close,
    .next = noise_next,
    .give_back = noise_return,
};
