// test_fed.c: images that are processed by rows give the same bytes as whole images
#include "check.h"
#include "path/path.h"
#include "pictures.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "fed"};

// Both ends of a path that works by rows: its input and its output.
struct ends {
    struct random *random;
    const struct image *frame;
    struct image result;
    int brought, taken;
    int fails_at;  // the row that cannot be delivered
    bool in_turns; // rows share memory in turn
    bool failed;
    int late_calls; // after the failure
};

static void copy_rows(struct image *to, const struct image *from, int first, int end)
{
    const struct pixfmt_info *info = pixfmt_info(from->shape.format);
    for (int p = 0; p < info->planes; p++) {
        const int shift = info->plane[p].shift_y;
        const size_t bytes = pixfmt_row_bytes(from->shape.format, p, from->shape.width);
        for (int row = first >> shift; row <= (end - 1) >> shift; row++)
            memcpy(image_row(to, p, row), image_row(from, p, row), bytes);
    }
}

// Writes the requested rows and a random number of further ones, in whole pairs of rows.
static bool need(void *context, struct image *picture, int last)
{
    struct ends *ends = context;
    const int height = picture->shape.height;
    ends->late_calls += ends->failed;
    ends->failed = last >= ends->fails_at;
    if (ends->failed || last < ends->brought)
        return !ends->failed;
    int end = (last + random_range(ends->random, 0, PATH_FEED_MORE)) / 2 * 2 + 2;
    end = end > last + 1 + PATH_FEED_MORE ? last + 1 + PATH_FEED_MORE : end;
    end = end > height ? height : end;
    ends->in_turns = picture->wraps[0] != 0;
    copy_rows(picture, ends->frame, ends->brought, end);
    ends->brought = end;
    return true;
}

// Reads rows as late as allowed.
static void made(void *context, const struct image *encoded, int count)
{
    struct ends *ends = context;
    const int height = encoded->shape.height;
    ends->late_calls += ends->failed;
    if (count < height && count - ends->taken <= PATH_FEED_MORE - 1)
        return;
    copy_rows(&ends->result, encoded, ends->taken, count);
    ends->taken = count;
}

static const struct feeding {
    const char *chain;
    bool few; // its rows can arrive one after the other
} feedings[] = {
    {"none", true},
    {"gray", true},
    {"blur=2", true},
    {"emboss", true},
    {"blur=2,gray,emboss", true},
    {"mirror,median,gamma=2", true},
    {"gray,sobel,blur=8", true},
    {"blur=8,blur=8,blur=8,blur=8,emboss", false}, // more than one run where the picture is low
    {"flip", false},
    {"emboss,flip,blur=3", false},
};
static const enum pixfmt inputs[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P, PIXFMT_GREY, PIXFMT_RGBA};
static const enum pixfmt outputs[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P, PIXFMT_GREY};
static const int heights[] = {1, 2, 15, 16, 63, 64, 65, 130, 201, 700};
enum { HEIGHTS = sizeof(heights) / sizeof(*heights), FEEDINGS = sizeof(feedings) / sizeof(*feedings) };

static struct path *open_path(const struct path_setup *setup)
{
    char *why = NULL;
    struct path *path = path_open(setup, &why);
    check_that(&check, path != NULL, "cannot open: %s", why ? why : "");
    free(why);
    return path;
}

// A picture is abandoned at the first row that cannot be delivered.
static void give_up(const struct feeding *feeding, struct path *path, const struct path_feed *feed, struct ends *ends)
{
    struct path_result result;
    ends->brought = ends->taken = ends->late_calls = 0;
    ends->fails_at = random_range(ends->random, 0, ends->frame->shape.height - 1);
    path_feed(path, feed, NULL);
    check_that(&check, path_collect(path, &result) && ends->failed && ends->late_calls == 0,
               "\"%s\", %d rows: %d calls after row %d could not be brought", feeding->chain, ends->frame->shape.height,
               ends->late_calls, ends->fails_at);
    ends->failed = false;
    ends->fails_at = INT_MAX;
}

static void compare(const struct feeding *feeding, struct path_setup *setup, const struct image *frame,
                    struct random *random)
{
    struct path_result whole, fed;
    struct ends ends = {.random = random, .frame = frame};
    const struct path_feed feed = {&ends, need, made};
    setup->fed = false;
    struct path *one = open_path(setup);
    setup->fed = true;
    struct path *other = open_path(setup);
    if (one && other && image_alloc(&ends.result, &setup->encode)) {
        const struct image_shape *shape = &frame->shape;
        give_up(feeding, other, &feed, &ends);
        for (int i = 0; i < 2; i++) {
            ends.brought = ends.taken = 0;
            path_feed(other, &feed, NULL);
            const bool ok = path_submit(one, frame, NULL) && path_collect(one, &whole) && path_collect(other, &fed);
            check_that(&check, ok && same_images(&whole.encoded, &ends.result),
                       "\"%s\", %s %dx%d to %s, %d threads, picture %d: other bytes", feeding->chain,
                       pixfmt_info(shape->format)->name, shape->width, shape->height,
                       pixfmt_info(setup->encode.format)->name, setup->threads, i);
        }
        const bool few = feeding->few && setup->threads == 1 && shape->format != PIXFMT_RGBA && shape->height > 128;
        check_that(&check, !few || ends.in_turns, "\"%s\" at %dx%d asks for a whole picture", feeding->chain,
                   shape->width, shape->height);
    }
    image_free(&ends.result);
    path_close(one);
    path_close(other);
}

int main(void)
{
    struct random random = {11};
    for (int i = 0; i < FEEDINGS * HEIGHTS * 5; i++) {
        const struct feeding *feeding = &feedings[i % FEEDINGS];
        const struct image_shape shape = {inputs[random_range(&random, 0, 4)],
                                          random_range(&random, 1, 90),
                                          heights[i / FEEDINGS % HEIGHTS],
                                          {COLOR_MATRIX_601, COLOR_RANGE_FULL},
                                          false};
        struct chain chain;
        struct test_frame frame;
        char why[CHAIN_ERROR];
        if (!check_that(&check, chain_parse(&chain, feeding->chain, why), "%s", why))
            continue;
        struct path_setup setup = {.kind = PATH_CPU,
                                   .input = shape,
                                   .encode = shape,
                                   .encoded_only = true,
                                   .chain = &chain,
                                   .threads = i % 6 == 5 ? 3 : 1};
        setup.encode.format = outputs[random_range(&random, 0, 3)];
        frame_fill(&frame, &shape, LAYOUT_PADDED, SHAPE_NOISE, &random);
        compare(feeding, &setup, &frame.image, &random);
        frame_free(&frame);
    }
    return check_end(&check);
}
