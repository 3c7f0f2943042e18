// pattern.c: the test pattern as a source
#include "base/clock.h"
#include "base/log.h"
#include "image/encode.h"
#include "source/made.h"
#include "source/pattern_draw.h"
#include "source/pool.h"

#include <stdio.h>
#include <stdlib.h>

struct pattern {
    struct pool pool;
    struct pattern_layout layout;
    struct encoder encoder;
    uint64_t next; // number of the next frame
    struct {
        bool drawn;
        uint64_t number; // of the frame in it
    } slot[SOURCE_LENT];
    uint8_t *rows; // two rows of RGBA
};

static bool pattern_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct pattern *pattern = source->state;
    const struct image_shape *shape = &source->info.shape;
    if (!made_open(source, setup, text))
        return false;
    snprintf(source->info.name, sizeof(source->info.name), "test pattern");
    pattern->layout = pattern_layout(shape->width, shape->height);
    pattern->encoder = encoder_init(shape->color);
    pattern->rows = malloc((size_t)shape->width * 4 * 2);
    if (!pattern->rows) {
        log_error("cannot draw the pattern: out of memory");
        return false;
    }
    return pool_init(&pattern->pool, source, shape);
}

static void pattern_close(struct source *source)
{
    struct pattern *pattern = source->state;
    pool_finish(&pattern->pool);
    free(pattern->rows);
}

static void draw_rect(struct pattern *pattern, struct image *image, const struct pattern_rect *rect, uint64_t number)
{
    const int width = rect->x1 - rect->x0;
    uint8_t *upper = pattern->rows, *lower = upper + (size_t)width * 4;
    for (int y = rect->y0; y < rect->y1; y += 2) {
        const bool pair = y + 1 < rect->y1;
        pattern_row(&pattern->layout, number, y, rect->x0, rect->x1, upper);
        if (pair)
            pattern_row(&pattern->layout, number, y + 1, rect->x0, rect->x1, lower);
        encode_rows(&pattern->encoder, image, rect->x0, y, width, upper, pair ? lower : NULL);
    }
}

// A slot that already holds a frame only gets what differs.
static void draw_slot(struct pattern *pattern, int slot, uint64_t number)
{
    struct image *image = &pattern->pool.image[slot];
    struct pattern_rect rects[PATTERN_CHANGES] = {{0, 0, image->shape.width, image->shape.height}};
    int count = 1;
    if (pattern->slot[slot].drawn)
        count = pattern_changes(&pattern->layout, pattern->slot[slot].number, number, rects);
    for (int i = 0; i < count; i++)
        draw_rect(pattern, image, &rects[i], number);
    pattern->slot[slot].drawn = true;
    pattern->slot[slot].number = number;
}

static enum source_status pattern_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct pattern *pattern = source->state;
    const int slot = pool_take(&pattern->pool, deadline_ns);
    if (slot < 0)
        return SOURCE_TIMEOUT;
    const int64_t begin = clock_now_ns();
    draw_slot(pattern, slot, pattern->next);
    *frame = (struct frame){.image = pattern->pool.image[slot],
                            .number = pattern->next++,
                            .captured_ns = begin,
                            .ready_ns = clock_now_ns(),
                            .slot = slot};
    frame->image.memory = NULL; // lent
    return SOURCE_FRAME;
}

static void pattern_return(struct source *source, const struct frame *frame)
{
    struct pattern *pattern = source->state;
    pool_give(&pattern->pool, frame->slot);
}

extern const struct source_kind source_pattern;
const struct source_kind source_pattern = {
    .name = "pattern",
    .help = {"pattern[:WxH@FPS,FORMAT]\tmoving test pattern; pattern:1280x720@30,nv12 is the default"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct pattern),
    .open = pattern_open,
    .close = pattern_close,
    .next = pattern_next,
    .give_back = pattern_return,
};
