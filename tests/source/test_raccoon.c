// test_raccoon.c: the moving photograph: its frames, their differences, every format and odd sizes
#include "check.h"

#include "base/resource.h"
#include "image/convert.h"
#include "image/imagefile.h"
#include "source/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "raccoon"};

// Opens the source and copies frame `number` as RGBA.
static bool take(const char *text, uint64_t number, struct image *rgba)
{
    struct source *source = source_open(&(struct source_setup){.text = text});
    struct frame frame;
    if (!check_that(&check, source != NULL, "%s opens", text))
        return false;
    const struct source_info *info = source_info(source);
    check_that(&check, strcmp(info->kind, "raccoon") == 0 && info->endless && !info->still, "%s: kind", text);
    bool ok = image_alloc(rgba, &(struct image_shape){.width = info->shape.width, .height = info->shape.height});
    for (uint64_t i = 0; ok && i <= number; i++) {
        ok = source_next(source, &frame, 1000) == SOURCE_FRAME && frame.number == i;
        if (ok && i == number)
            convert_to_rgba(rgba, &frame.image);
        if (ok)
            source_return(source, &frame);
    }
    source_close(source);
    return check_that(&check, ok, "%s has frame %llu", text, (unsigned long long)number);
}

// Returns the mean difference of the bytes of two images of one size.
static double difference(const struct image *a, const struct image *b)
{
    double sum = 0;
    for (int y = 0; y < a->shape.height; y++) {
        const uint8_t *left = image_row(a, 0, y), *right = image_row(b, 0, y);
        for (int i = 0; i < a->shape.width * 4; i++)
            sum += abs(left[i] - right[i]);
    }
    return sum / (a->shape.width * 4.0 * a->shape.height);
}

// The first frame is the whole photograph. Later frames move, slowly, and come closer.
static void test_motion(void)
{
    const struct resource *file = resource_find("assets/raccoon.jpg");
    char why[IMAGEFILE_WHY] = "it is not embedded", text[64];
    struct image photograph = {0}, frame[4];
    static const int number[4] = {0, 0, 1, 58};
    if (!check_that(&check, file && imagefile_decode(&photograph, file->data, file->size, why), "the photograph: %s",
                    why))
        return;
    snprintf(text, sizeof(text), "raccoon:%dx%d@5,rgba", photograph.shape.width, photograph.shape.height);
    for (int i = 0; i < 4; i++)
        if (!take(text, (uint64_t)number[i], &frame[i]))
            return;
    const double whole = difference(&photograph, &frame[0]), again = difference(&frame[0], &frame[1]),
                 next = difference(&frame[0], &frame[2]), late = difference(&frame[0], &frame[3]);
    check_that(&check, whole < 6, "frame 0 differs from the photograph by %.1f", whole);
    check_that(&check, again == 0, "frame 0 of two runs differs by %.3f", again);
    check_that(&check, next > 0 && next < 10, "frame 1 differs from frame 0 by %.2f", next);
    check_that(&check, late > 20, "a late frame differs from frame 0 by %.2f", late);
    for (int i = 0; i < 4; i++)
        image_free(&frame[i]);
    image_free(&photograph);
}

// Each format shows the same picture, and odd sizes stay within the photograph's memory (checked by a sanitizer).
static void test_formats(void)
{
    struct image plain, other;
    if (!take("raccoon:64x40@1,rgba", 12, &plain))
        return;
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        char text[64];
        snprintf(text, sizeof(text), "raccoon:64x40@1,%s", pixfmt_info((enum pixfmt)format)->name);
        if (!take(text, 12, &other))
            continue;
        const double off = difference(&plain, &other);
        check_that(&check, off < (format == PIXFMT_GREY ? 25 : 6), "%s differs by %.1f", text, off);
        image_free(&other);
    }
    image_free(&plain);
    static const char *const odd[] = {"1x1", "2x2", "3x5", "1x900", "4001x2", "1023x639", "1025x641"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        char text[64];
        snprintf(text, sizeof(text), "raccoon:%s@1,rgb24", odd[i]);
        if (take(text, 35, &other))
            image_free(&other);
    }
}

int main(void)
{
    test_motion();
    test_formats();
    return check_end(&check);
}
