// test_pattern.c: the test pattern in every format and many sizes; flat colours to YUV and back
#include "check.h"
#include "pictures.h"
#include "reference.h"

#include "image/convert.h"
#include "source/generated.h"
#include "source/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "pattern"};

static const struct {
    int width, height;
} sizes[] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {3, 5}, {16, 9}, {64, 48}, {67, 41}, {320, 241}, {601, 2}};

static struct image picture_of(const struct pattern_layout *layout, uint64_t number)
{
    struct image rgba;
    image_alloc(&rgba, &(struct image_shape){.width = layout->width, .height = layout->height});
    for (int y = 0; y < layout->height; y++)
        pattern_row(layout, number, y, 0, layout->width, rgba.plane[0] + (size_t)y * rgba.stride[0]);
    return rgba;
}

// Frames drawn by their differences equal frames drawn whole, however long a buffer was lent.
static void test_frames(enum pixfmt format, int width, int height)
{
    const char *why;
    char text[64];
    snprintf(text, sizeof(text), "pattern:%dx%d@50,%s", width, height, pixfmt_info(format)->name);
    if (!pixfmt_size_ok(format, width, height, &why))
        return;
    struct source *source = source_open(&(struct source_setup){.text = text});
    if (!check_that(&check, source != NULL, "%s opens", text))
        return;
    const struct source_info *info = source_info(source);
    const struct pattern_layout layout = pattern_layout(width, height);
    struct frame frame, held;
    check_that(&check, info->rate == 50 && !info->live && strcmp(info->kind, "pattern") == 0, "%s: rate and kind",
               text);
    source_next(source, &held, 1000); // keeps a buffer away for a while
    for (uint64_t number = 1; number < 25; number++) {
        if (!check_that(&check, source_next(source, &frame, 1000) == SOURCE_FRAME, "%s has a frame", text))
            break;
        struct image rgba = picture_of(&layout, number), expected;
        image_alloc(&expected, &info->shape);
        encode_image(&expected, &rgba);
        check_that(&check, frame.number == number && same_images(&frame.image, &expected), "%s: frame %d", text,
                   (int)number);
        image_free(&expected);
        image_free(&rgba);
        source_return(source, &frame);
        if (number == 20)
            source_return(source, &held);
    }
    source_close(source);
}

static void test_motion(void)
{
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const struct pattern_layout layout = pattern_layout(sizes[i].width, sizes[i].height);
        const uint64_t numbers[] = {0, 1, 9, 10, 999999, UINT64_MAX - 1, UINT64_MAX};
        for (size_t n = 0; n + 1 < sizeof(numbers) / sizeof(*numbers); n++) {
            struct image a = picture_of(&layout, numbers[n]), b = picture_of(&layout, numbers[n] + 1);
            const bool same = same_images(&a, &b);
            check_that(&check, !same || sizes[i].width * sizes[i].height < 100, "%dx%d: frames %zu and next differ",
                       sizes[i].width, sizes[i].height, n);
            image_free(&a);
            image_free(&b);
        }
    }
}

// Flat colours survive the way into every format and back, in every matrix and range.
static void test_round_trip(enum pixfmt format, struct color color, const uint8_t rgb[3])
{
    struct image rgba, image, back;
    image_alloc(&rgba, &(struct image_shape){.width = 6, .height = 3});
    for (int i = 0; i < 18; i++) {
        memcpy(rgba.plane[0] + 4 * i, rgb, 3);
        rgba.plane[0][4 * i + 3] = 255;
    }
    image_alloc(&image, &(struct image_shape){.format = format, .width = 6, .height = 3, .color = color});
    image_alloc(&back, &rgba.shape);
    encode_image(&image, &rgba);
    convert_to_rgba(&back, &image);
    int worst = 0;
    for (int i = 0; i < 18 * 4; i++) {
        const int off = abs(back.plane[0][i] - rgba.plane[0][i]);
        worst = off > worst ? off : worst;
    }
    check_that(&check, worst <= (pixfmt_info(format)->yuv ? 3 : 0), "%s matrix %s range %s: %d,%d,%d is off by %d",
               pixfmt_info(format)->name, color_matrix_name(color.matrix), color_range_name(color.range), rgb[0],
               rgb[1], rgb[2], worst);
    image_free(&rgba);
    image_free(&image);
    image_free(&back);
}

int main(void)
{
    static const uint8_t colors[][3] = {{0, 0, 0},     {255, 255, 255}, {255, 0, 0},   {0, 255, 0},     {0, 0, 255},
                                        {255, 255, 0}, {0, 255, 255},   {255, 0, 255}, {128, 128, 128}, {30, 200, 90}};
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
            test_frames((enum pixfmt)format, sizes[i].width, sizes[i].height);
        for (size_t i = 0; i < sizeof(colors) / sizeof(*colors) && format != PIXFMT_GREY; i++)
            for (int matrix = COLOR_MATRIX_601; matrix <= COLOR_MATRIX_2020; matrix++)
                for (int range = COLOR_RANGE_LIMITED; range <= COLOR_RANGE_FULL; range++)
                    test_round_trip((enum pixfmt)format,
                                    (struct color){(enum color_matrix)matrix, (enum color_range)range}, colors[i]);
    }
    test_motion();
    return check_end(&check);
}
