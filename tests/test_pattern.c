// test_pattern.c: the test pattern in every format and many sizes; RGBA into YUV against the contract
#include "check.h"
#include "pictures.h"
#include "reference.h"

#include "image/convert.h"
#include "image/encode.h"
#include "source/pattern_draw.h"
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

// Frames drawn by what changed are those drawn whole, however long a buffer was away.
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

// Averages the full-chroma reference over the pixels each sample covers.
static int mean(const uint8_t *plane, int width, int height, int column, int row, int shift_x, int shift_y)
{
    int sum = 0, count = 0;
    for (int y = row << shift_y; y < (row + 1) << shift_y && y < height; y++)
        for (int x = column << shift_x; x < (column + 1) << shift_x && x < width; x++, count++)
            sum += plane[y * width + x];
    return (2 * sum + count) / (2 * count);
}

// Where a format keeps its samples, written down apart from the code under test: plane, first byte, step.
static const struct {
    enum pixfmt format;
    int y[3], u[3], v[3];
} places[] = {
    {PIXFMT_NV12, {0, 0, 1}, {1, 0, 2}, {1, 1, 2}}, {PIXFMT_NV21, {0, 0, 1}, {1, 1, 2}, {1, 0, 2}},
    {PIXFMT_YU12, {0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, {PIXFMT_YV12, {0, 0, 1}, {2, 0, 1}, {1, 0, 1}},
    {PIXFMT_YUYV, {0, 0, 2}, {0, 1, 4}, {0, 3, 4}}, {PIXFMT_UYVY, {0, 1, 2}, {0, 0, 4}, {0, 2, 4}},
    {PIXFMT_422P, {0, 0, 1}, {1, 0, 1}, {2, 0, 1}}, {PIXFMT_444P, {0, 0, 1}, {1, 0, 1}, {2, 0, 1}},
};

static bool samples_equal(const struct image *image, const int place[3], const uint8_t *plane, int shift_x, int shift_y)
{
    const int width = image->shape.width, height = image->shape.height;
    for (int row = 0; row << shift_y < height; row++)
        for (int column = 0; column << shift_x < width; column++)
            if (image
                    ->plane[place[0]][(size_t)row * image->stride[place[0]] + (size_t)(place[1] + column * place[2])] !=
                mean(plane, width, height, column, row, shift_x, shift_y))
                return false;
    return true;
}

static void test_encoding(size_t index, int width, int height)
{
    struct random random = {11};
    struct test_frame frame;
    const enum pixfmt format = places[index].format;
    frame_fill(&frame, &(struct image_shape){.width = width, .height = height}, LAYOUT_PADDED, SHAPE_NOISE, &random);
    struct picture picture = reference_frame(&frame.image);
    struct image image;
    struct image_shape shape = {.format = format, .width = width, .height = height};
    shape.color = (struct color){COLOR_MATRIX_709, COLOR_RANGE_LIMITED};
    image_alloc(&image, &shape);
    encode_image(&image, &frame.image);
    const size_t pixels = (size_t)width * (size_t)height;
    uint8_t *planes = malloc(3 * pixels);
    reference_444p(&picture, COLOR_MATRIX_709, planes, planes + pixels, planes + 2 * pixels);
    const bool packed = format == PIXFMT_YUYV || format == PIXFMT_UYVY;
    const int shift_x = format == PIXFMT_444P ? 0 : 1;
    const int shift_y = format == PIXFMT_444P || format == PIXFMT_422P || packed ? 0 : 1;
    check_that(&check,
               samples_equal(&image, places[index].y, planes, 0, 0) &&
                   samples_equal(&image, places[index].u, planes + pixels, shift_x, shift_y) &&
                   samples_equal(&image, places[index].v, planes + 2 * pixels, shift_x, shift_y),
               "%s of %dx%d holds the contract's samples, averaged", pixfmt_info(format)->name, width, height);
    free(planes);
    image_free(&image);
    picture_free(&picture);
    frame_free(&frame);
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
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        const bool even = pixfmt_info(places[i].format)->even_width;
        test_encoding(i, even ? 2 : 1, 1);
        test_encoding(i, even ? 12 : 13, 7);
        test_encoding(i, even ? 530 : 529, 3);
    }
    test_motion();
    return check_end(&check);
}
