// still.c: one image file as a source: one frame, or the same frame repeatedly with `loop`
#include "base/alloc.h"
#include "base/clock.h"
#include "image/codec/codec.h"
#include "image/imagefile.h"
#include "source/kind.h"

#include <stdio.h>
#include <stdlib.h>

struct still {
    struct image image;
    char *path;
    struct image placed; // a copy in the memory of source_set_owner's owner; empty without an owner
    atomic_int lent;     // how many frames use `placed`
    uint64_t next;
    bool loop;
};

static bool still_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct still *still = source->state;
    if (!imagefile_read(&still->image, text))
        return false;
    source->info.alpha = !still->image.shape.opaque;
    if (!source_size_fits(setup, still->image.shape.width, still->image.shape.height, text) ||
        !source_convert(&still->image, setup, text))
        return false;
    source->info.shape = still->image.shape;
    snprintf(source->info.name, sizeof(source->info.name), "%s", text);
    still->loop = setup->loop;
    still->path = xstrdup(text);
    return true;
}

static void still_close(struct source *source)
{
    struct still *still = source->state;
    image_free(&still->image);
    image_free(&still->placed);
    free(still->path);
}

// Returns the image in the owner's memory. Returns the original if the owner has none, or while frames use the copy of
// another owner.
static const struct image *place(struct still *still, struct pages_owner *owner)
{
    struct image *placed = &still->placed;
    if (placed->owner != owner && still->lent == 0) {
        image_free(placed);
        if (owner && image_duplicate(placed, &still->image, owner))
            placed->reach_bytes = placed->memory_bytes;
    }
    return owner && placed->owner == owner ? placed : &still->image;
}

static enum source_status still_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct still *still = source->state;
    if (still->next > 0 && !still->loop)
        return SOURCE_END;
    const int64_t now = clock_now_ns();
    const struct image *image = place(still, source->owner);
    *frame = (struct frame){.image = *image,
                            .number = still->next++,
                            .captured_ns = now,
                            .ready_ns = now,
                            .file = still->path,
                            .slot = image == &still->placed};
    frame->image.memory = NULL; // lent; nobody writes to it, so several frames may use it
    still->lent += frame->slot;
    return SOURCE_FRAME;
}

static void still_return(struct source *source, const struct frame *frame)
{
    struct still *still = source->state;
    still->lent -= frame->slot;
}

// If the user describes raw frames, a format without a signature does not count.
static bool still_claims(const struct source_target *target, const struct source_setup *setup)
{
    enum codec_format format;
    const bool raw = setup->has_format && setup->width > 0;
    return target->head && codec_probe(target->head, target->head_bytes, &format) &&
           !(codec_info(format)->guess && raw);
}

extern const struct source_kind source_still;
const struct source_kind source_still = {
    .name = "image",
    .help =
        {"FILE.png, .jpg, .heic, .avif, .jxl, .webp, .tiff, .bmp, .tga, .psd, .gif\tone image, the first frame of a "
         "GIF; HEIC, AVIF, JPEG XL, WebP, TIFF and GIF only in builds with their libraries"},
    .still = true,
    .claims = still_claims,
    .state_bytes = sizeof(struct still),
    .open = still_open,
    .close = still_close,
    .next = still_next,
    .give_back = still_return,
};
