// list.c: many image files as one source: a directory, or a text file with a path on each line
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "image/codec/codec.h"
#include "image/imagefile.h"
#include "source/entries.h"
#include "source/kind.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLIDE_S = 5 }; // how long a slide show shows an image

struct list {
    pthread_mutex_t lock; // of `entries`, which only the thread of list_next changes
    struct entries entries;
    struct entries gone;       // entries of removed files: frames may use their paths
    char *directory;           // NULL: the images are named in a list
    struct source_setup setup; // only for the user's format and `loop`
    struct image waiting;      // an image that was read early: the first one, or one of a new size
    int at;                    // index of the next entry
    int latest;                // index of the latest image that was read
    uint64_t round;            // images since the last start
};

// Counts the entries before `end` that are not known as bad: each is an image of the show.
static int images_before(const struct list *list, int end)
{
    int count = 0;
    for (int i = 0; i < end; i++)
        count += !list->entries.entry[i].bad;
    return count;
}

// Returns the index of the show's image number `number`, from 0 on, or of the last one if there are fewer.
static int image_index(const struct list *list, int number)
{
    int index = 0;
    for (int i = 0; i < list->entries.count && number >= 0; i++) {
        if (list->entries.entry[i].bad)
            continue;
        index = i;
        number--;
    }
    return index;
}

// Reads the next good image. Skips a bad one, now and in later rounds, with one warning. Returns false at the end.
static bool read_next(struct list *list, const struct image_shape *shape, struct image *image)
{
    while (list->at < list->entries.count) {
        struct entry *entry = &list->entries.entry[list->at++];
        char why[IMAGEFILE_WHY];
        list->latest = list->at - 1;
        if (entry->bad)
            continue;
        if (!imagefile_try(image, entry->path, why)) {
            entry->bad = true;
            if (list->directory && access(entry->path, F_OK) != 0)
                entry->changed_ns = 0; // it was removed; if it comes back, it is read again
            else
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
        image->shape.opaque = false; // for all images: another one may have alpha
        if (why[0] && !entry->warned)
            log_warn("%s: %s", entry->path, why);
        entry->warned = why[0];
        return true;
    }
    return false;
}

// Reads the directory again. If that fails, or if there are no images, the entries stay.
static void read_again(struct list *list)
{
    struct entries newer = {0};
    if (list->directory && entries_from_directory(&newer, list->directory, source_is_image_name) && newer.count > 0) {
        pthread_mutex_lock(&list->lock);
        entries_renew(&list->entries, &newer, &list->gone);
        pthread_mutex_unlock(&list->lock);
    }
    entries_free(&newer);
}

bool source_is_image_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    enum codec_format format;
    return dot && (codec_from_name(dot + 1, &format) || codec_missing_library(dot + 1));
}

static bool read_entries(struct entries *entries, const char *text)
{
    if (strncmp(text, "@\n", 2) == 0) {
        entries_from_lines(entries, text + 2);
        return true;
    }
    return text[0] == '@' ? entries_from_file(entries, text + 1)
                          : entries_from_directory(entries, text, source_is_image_name);
}

static bool list_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct list *list = source->state;
    pthread_mutex_init(&list->lock, NULL);
    if (!pool_init(&source->pool, NULL, NULL))
        return false;
    if (strcmp(text, "@") == 0) {
        log_error("@ needs a file name: @LIST, a text file with one image path per line");
        return false;
    }
    const bool lines = strncmp(text, "@\n", 2) == 0;
    list->directory = text[0] == '@' ? NULL : xstrdup(text);
    if (!read_entries(&list->entries, text))
        return false;
    list->setup = *setup;
    if (lines)
        snprintf(source->info.name, sizeof(source->info.name), "%d image%s", list->entries.count,
                 list->entries.count == 1 ? "" : "s");
    else
        snprintf(source->info.name, sizeof(source->info.name), "%s", text);
    text = source->info.name;
    if (!read_next(list, NULL, &list->waiting)) {
        const char *kind = list->directory ? "directory" : "list";
        log_error("%s contains no image that monocle can read; name another %s, or a video", lines ? "the list" : text,
                  kind);
        return false;
    }
    source->info.alpha = !image_is_opaque(&list->waiting);
    if (!source_size_fits(setup, list->waiting.shape.width, list->waiting.shape.height, text) ||
        !source_convert(&list->waiting, setup, text))
        return false;
    source->info.shape = list->waiting.shape;
    source->info.pictures = true;
    if (setup->slides) {
        source->info.rate = setup->rate > 0 ? setup->rate : 1.0 / SLIDE_S;
        source->info.frame_s = 1 / source->info.rate;
        source->info.slides = true;
    }
    return true;
}

static void list_close(struct source *source)
{
    struct list *list = source->state;
    image_free(&list->waiting);
    entries_free(&list->entries);
    entries_free(&list->gone);
    free(list->directory);
    pthread_mutex_destroy(&list->lock);
}

static bool list_holds(const struct source *source, const char *path)
{
    struct list *list = source->state;
    bool holds = false;
    pthread_mutex_lock(&list->lock);
    for (int i = 0; i < list->entries.count && !holds; i++)
        holds = file_same(list->entries.entry[i].path, path);
    pthread_mutex_unlock(&list->lock);
    return holds;
}

static bool list_seek(struct source *source, double seconds)
{
    struct list *list = source->state;
    const double number = fmin(seconds / source->info.frame_s, list->entries.count);
    image_free(&list->waiting);
    list->at = image_index(list, (int)lround(number));
    return true;
}

static bool list_slide(const struct source *source, double seconds, struct source_slide *slide)
{
    struct list *list = source->state;
    if (!list->setup.slides)
        return false;
    pthread_mutex_lock(&list->lock);
    const int index = image_index(list, (int)lround(seconds / source->info.frame_s));
    *slide = (struct source_slide){.path = list->entries.entry[index].path,
                                   .number = images_before(list, index) + 1,
                                   .count = images_before(list, list->entries.count)};
    pthread_mutex_unlock(&list->lock);
    return true;
}

static bool list_reshape(struct source *source)
{
    const struct list *list = source->state;
    source->info.shape = list->waiting.shape;
    return true;
}

// Reads the next image in the source's format.
static enum source_status fill(struct source *source, struct image *image)
{
    struct list *list = source->state;
    if (list->waiting.memory) { // a frame of the first image, or after list_reshape
        *image = list->waiting;
        list->waiting = (struct image){0};
        return SOURCE_FRAME;
    }
    while (!read_next(list, list->setup.slides ? NULL : &source->info.shape, image)) {
        if (list->setup.loop && list->round == 0) {
            log_error("cannot loop %s: none of its images can be read now", source->info.name);
            return SOURCE_FAILED;
        }
        read_again(list);
        list->at = list->setup.loop ? 0 : list->entries.count;
        list->round = 0;
        if (!list->setup.loop)
            return SOURCE_END;
    }
    if (!source_convert(image, &list->setup, source->info.name))
        return SOURCE_FAILED;
    if (image_shape_equal(&image->shape, &source->info.shape))
        return SOURCE_FRAME;
    list->waiting = *image;
    *image = (struct image){0};
    return SOURCE_RESHAPED;
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
    const int number = images_before(list, list->latest);
    pool_lend(&source->pool, slot, (uint64_t)number, begin, frame);
    frame->file = list->entries.entry[list->latest].path;
    frame->video_ns = (int64_t)(number * source->info.frame_s * 1e9);
    return SOURCE_FRAME;
}

static bool list_claims(const struct source_target *target, const struct source_setup *setup)
{
    return target->type == S_IFDIR || (target->type == 0 && target->text[0] == '@');
}

extern const struct source_kind source_list;
const struct source_kind source_list = {
    .name = "list",
    .help =
        {"DIRECTORY\ta slide show of its image files (.jpg, .png, ...) in natural order, 5 s each; --rate 0.5 "
         "shows each for 2 s; new files follow in the next round; with --fast and in headless recordings, images of "
         "another size than the first are skipped",
         "@LIST\tthe same with the images named in a text file, one path per line"},
    .claims = list_claims,
    .state_bytes = sizeof(struct list),
    .open = list_open,
    .close = list_close,
    .next = list_next,
    .seek = list_seek,
    .slide = list_slide,
    .reshape = list_reshape,
    .holds = list_holds,
};
