// still.c: one picture file as a source: one frame, or the same again and again where it loops
#include "base/clock.h"
#include "image/imagefile.h"
#include "source/kind.h"

#include <stdio.h>

struct still {
    struct image image;
    uint64_t next;
    bool loop;
};

static bool still_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct still *still = source->state;
    if (!imagefile_read(&still->image, text) ||
        !source_size_fits(setup, still->image.shape.width, still->image.shape.height, text) ||
        !source_convert(&still->image, setup, text))
        return false;
    source->info.shape = still->image.shape;
    snprintf(source->info.name, sizeof(source->info.name), "%s", text);
    still->loop = setup->loop;
    return true;
}

static void still_close(struct source *source)
{
    struct still *still = source->state;
    image_free(&still->image);
}

static enum source_status still_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct still *still = source->state;
    if (still->next > 0 && !still->loop)
        return SOURCE_END;
    const int64_t now = clock_now_ns();
    *frame = (struct frame){.image = still->image, .number = still->next++, .captured_ns = now, .ready_ns = now};
    frame->image.memory = NULL; // lent; nobody writes to it, so it may be out several times
    return SOURCE_FRAME;
}

static void still_return(struct source *source, const struct frame *frame) {}

const struct source_kind source_still = {
    .name = "image",
    .state_bytes = sizeof(struct still),
    .open = still_open,
    .close = still_close,
    .next = still_next,
    .give_back = still_return,
};
