// list.c: many image files as one source: a directory, or a text file with a path on each line
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "image/imagefile.h"
#include "source/entries.h"
#include "source/kind.h"

#include <stdio.h>
#include <string.h>

struct list {
    struct entries entries;
    struct source_setup setup; // only for the user's format and `loop`
    struct image waiting;      // the first image, which was read early to find the size
    int at;                    // index of the next entry
    uint64_t number;           // number of the next frame
    uint64_t round;            // images since the last start
};

// Reads the next good image. Skips a bad one, now and in later rounds, with one warning. Returns false at the end.
static bool read_next(struct list *list, const struct image_shape *shape, struct image *image)
{
    while (list->at < list->entries.count) {
        struct entry *entry = &list->entries.entry[list->at++];
        char why[IMAGEFILE_WHY];
        if (entry->bad)
            continue;
        if (!imagefile_try(image, entry->path, why)) {
            entry->bad = true;
            if (entry->meant)
                log_warn("skipped %s: %s", entry->path, why);
            continue;
        }
        if (shape && (image->shape.width != shape->width || image->shape.height != shape->height)) {
            log_warn("skipped %s: it has %dx%d pixels, but the first image has %dx%d", entry->path, image->shape.width,
                     image->shape.height, shape->width, shape->height);
            entry->bad = true;
            image_free(image);
            continue;
        }
        return true;
    }
    return false;
}

static bool list_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct list *list = source->state;
    if (!pool_init(&source->pool, NULL, NULL))
        return false;
    if (strcmp(text, "@") == 0) {
        log_error("@ needs a file name: @LIST, a text file with one image path per line");
        return false;
    }
    if (!(text[0] == '@' ? entries_from_file(&list->entries, text + 1) : entries_from_directory(&list->entries, text)))
        return false;
    list->setup = *setup;
    if (!read_next(list, NULL, &list->waiting)) {
        log_error("%s contains no image that monocle can read", text);
        return false;
    }
    if (!source_size_fits(setup, list->waiting.shape.width, list->waiting.shape.height, text) ||
        !source_convert(&list->waiting, setup, text))
        return false;
    source->info.shape = list->waiting.shape;
    snprintf(source->info.name, sizeof(source->info.name), "%s", text);
    return true;
}

static void list_close(struct source *source)
{
    struct list *list = source->state;
    image_free(&list->waiting);
    entries_free(&list->entries);
}

// A file without an image extension belongs to a directory's list only if it can be read as an image.
static bool list_holds(const struct source *source, const char *path)
{
    const struct list *list = source->state;
    for (int i = 0; i < list->entries.count; i++) {
        const struct entry *entry = &list->entries.entry[i];
        struct image image;
        char why[IMAGEFILE_WHY];
        if (!file_same(entry->path, path))
            continue;
        if (entry->meant)
            return true;
        if (imagefile_try(&image, entry->path, why)) {
            image_free(&image);
            return true;
        }
    }
    return false;
}

// Reads the next image in the source's format.
static enum source_status fill(struct source *source, struct image *image)
{
    struct list *list = source->state;
    if (list->waiting.memory) {
        *image = list->waiting;
        list->waiting = (struct image){0};
        return SOURCE_FRAME;
    }
    while (!read_next(list, &source->info.shape, image)) {
        if (list->setup.loop && list->round == 0) {
            log_error("cannot loop %s: none of its images can be read now", source->info.name);
            return SOURCE_FAILED;
        }
        if (!list->setup.loop)
            return SOURCE_END;
        list->at = 0;
        list->round = 0;
    }
    return source_convert(image, &list->setup, source->info.name) ? SOURCE_FRAME : SOURCE_FAILED;
}

static enum source_status list_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct list *list = source->state;
    const int slot = pool_take(&source->pool, deadline_ns);
    if (slot < 0)
        return SOURCE_TIMEOUT;
    const int64_t begin = clock_now_ns();
    struct image *image = &source->pool.image[slot];
    image_free(image);
    const enum source_status status = fill(source, image);
    if (status != SOURCE_FRAME) {
        pool_give(&source->pool, slot);
        return status;
    }
    list->round++;
    pool_lend(&source->pool, slot, list->number++, begin, frame);
    return SOURCE_FRAME;
}

static bool list_claims(const struct source_target *target, const struct source_setup *setup)
{
    return target->type == S_IFDIR || (target->type == 0 && target->text[0] == '@');
}

extern const struct source_kind source_list;
const struct source_kind source_list = {
    .name = "list",
    .help = {"DIRECTORY\tits images in natural order; images of another size than the first are skipped",
             "@LIST\tthe images named in a text file, one path per line; images of another size than the first are "
             "skipped"},
    .claims = list_claims,
    .state_bytes = sizeof(struct list),
    .open = list_open,
    .close = list_close,
    .next = list_next,
    .holds = list_holds,
};
