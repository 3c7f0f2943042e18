// test_convert.c: pixel formats, colour coefficients and row conversion against the reference
#include "check.h"
#include "image/convert.h"
#include "image/copier.h"
#include "pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// All widths from 1: several vectors, and more than three chunks of the encoder.
enum { READ_WIDTHS = 300, ENCODED_WIDTHS = 800 };

static const int sizes[][2] = {{1, 1},   {2, 1},   {1, 2},    {3, 3},   {2, 2},  {7, 5},
                               {16, 16}, {33, 17}, {130, 67}, {301, 3}, {641, 3}};

static void test_formats(struct check *check)
{
    for (int format = 0; format < PIXFMT_COUNT; format++) {
        const char *name = reference_format_name(format), *why = NULL;
        enum pixfmt found = PIXFMT_COUNT;
        check_that(check, pixfmt_from_name(name, &found) && (int)found == format, "format %s is not found", name);
        check_that(check, !strcmp(pixfmt_info(format)->name, name), "%s is called %s", name, pixfmt_info(format)->name);
        for (int width = 1; width < 20; width++)
            for (int height = 1; height < 20; height++) {
                bool ok = reference_size_ok(format, width, height);
                why = NULL;
                check_that(check, pixfmt_size_ok(format, width, height, &why) == ok && (ok || why),
                           "%s %dx%d: not as section 1 has it", name, width, height);
                struct reference_plane plane[PIXFMT_PLANES];
                int planes = reference_planes(format, width, height, plane);
                check_that(check, pixfmt_info(format)->planes == planes, "%s has %d planes", name, planes);
                for (int i = 0; ok && i < planes; i++)
                    check_that(check,
                               pixfmt_row_bytes(format, i, width) == (size_t)plane[i].row_bytes &&
                                   pixfmt_rows(format, i, height) == plane[i].rows,
                               "%s %dx%d plane %d is not %dx%d bytes", name, width, height, i, plane[i].row_bytes,
                               plane[i].rows);
            }
        check_that(check,
                   !pixfmt_size_ok(format, 0, 2, &why) && !pixfmt_size_ok(format, 2, -2, &why) &&
                       !pixfmt_size_ok(format, IMAGE_MAX_SIDE + 2, 2, &why) &&
                       pixfmt_size_ok(format, IMAGE_MAX_SIDE, 2, &why) &&
                       pixfmt_size_ok(format, 2, IMAGE_MAX_SIDE, &why),
                   "%s accepts a size out of range, or refuses the largest", name);
    }
}

static void test_resolve(struct check *check)
{
    static const int rule_sizes[][2] = {{1279, 576}, {1280, 1}, {1, 577}, {1920, 1080}, {640, 480}, {720, 576}};
    struct color unknown = {0}, user = {COLOR_MATRIX_2020, COLOR_RANGE_FULL};
    struct color source = {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, half = {COLOR_MATRIX_DEFAULT, COLOR_RANGE_FULL};
    for (size_t i = 0; i < sizeof(rule_sizes) / sizeof(*rule_sizes); i++)
        for (int grey = 0; grey < 2; grey++) {
            int width = rule_sizes[i][0], height = rule_sizes[i][1];
            struct color rule = reference_default_color(grey, width, height);
            struct color c = color_resolve(unknown, unknown, grey, width, height);
            check_that(check, c.matrix == rule.matrix && c.range == rule.range, "%dx%d grey %d: %s %s", width, height,
                       grey, color_matrix_name(c.matrix), color_range_name(c.range));
            c = color_resolve(source, unknown, grey, width, height);
            check_that(check, c.matrix == source.matrix && c.range == source.range, "the source's word is not taken");
            c = color_resolve(source, user, grey, width, height);
            check_that(check, c.matrix == user.matrix && c.range == user.range, "the user's word is not taken");
            c = color_resolve(unknown, half, grey, width, height);
            check_that(check, c.matrix == rule.matrix && c.range == COLOR_RANGE_FULL, "half a word is not completed");
            c = color_resolve(source, half, grey, width, height);
            check_that(check, c.matrix == source.matrix && c.range == COLOR_RANGE_FULL, "half a word is not added");
        }
}

static const double red_weights[] = {0, 0.299, 0.2126, 0.2627}, blue_weights[] = {0, 0.114, 0.0722, 0.0593};

// The differences between integer and real arithmetic.
struct accuracy {
    double worst;
    long equal, all;
};

static void accuracy_add(struct accuracy *accuracy, double exact, int got)
{
    exact = exact < 0 ? 0 : exact > 255 ? 255 : exact;
    double distance = fabs(exact - got);
    accuracy->worst = distance > accuracy->worst ? distance : accuracy->worst;
    accuracy->equal += got == (int)floor(exact + 0.5);
    accuracy->all++;
}

static struct accuracy accuracy_measure(struct color color)
{
    double kr = red_weights[color.matrix], kb = blue_weights[color.matrix], kg = 1 - kr - kb;
    bool limited = color.range == COLOR_RANGE_LIMITED;
    double cy = limited ? 255 / 219.0 : 1, cc = limited ? 255 / 224.0 : 1, yo = limited ? 16 : 0;
    struct color_coefficients k = color_to_rgb(color);
    struct accuracy accuracy = {0};
    for (int y = 0; y < 256; y++)
        for (int u = 0; u < 256; u += 3)
            for (int v = 0; v < 256; v += 3) {
                uint8_t rgba[4];
                reference_yuv_pixel(&k, y, u, v, rgba);
                double luma = (y - yo) * cy, cb = (u - 128) * cc, cr = (v - 128) * cc;
                double r = luma + 2 * (1 - kr) * cr, b = luma + 2 * (1 - kb) * cb;
                accuracy_add(&accuracy, r, rgba[0]);
                accuracy_add(&accuracy, (luma - kr * r - kb * b) / kg, rgba[1]);
                accuracy_add(&accuracy, b, rgba[2]);
            }
    return accuracy;
}

// docs/pixels.md section 5: the error of RGB to YUV over many colours, and the results for greys.
static void test_reverse_accuracy(struct check *check, struct color color)
{
    const bool full = color.range == COLOR_RANGE_FULL;
    const double s = full ? 1 : 219.0 / 255, t = full ? 1 : 224.0 / 255;
    const double kr = red_weights[color.matrix], kb = blue_weights[color.matrix];
    struct accuracy accuracy = {0};
    for (int i = 0; i < 1 << 24; i += 61) {
        const uint8_t rgba[4] = {(uint8_t)i, (uint8_t)(i >> 8), (uint8_t)(i >> 16), 255};
        uint8_t yuv[3];
        reference_pixel_yuv(rgba, color, yuv);
        const double luma = kr * rgba[0] + (1 - kr - kb) * rgba[1] + kb * rgba[2];
        accuracy_add(&accuracy, (full ? 0 : 16) + s * luma, yuv[0]);
        accuracy_add(&accuracy, 128 + t * (rgba[2] - luma) / (2 - 2 * kb), yuv[1]);
        accuracy_add(&accuracy, 128 + t * (rgba[0] - luma) / (2 - 2 * kr), yuv[2]);
    }
    check_that(check, accuracy.worst <= 0.52 && (double)accuracy.equal >= 0.99 * (double)accuracy.all,
               "%s %s to YUV: %.4f away at worst, %.2f %% rounded right", color_matrix_name(color.matrix),
               color_range_name(color.range), accuracy.worst, 100.0 * (double)accuracy.equal / (double)accuracy.all);
    for (int grey = 0; full && grey < 256; grey++) {
        const uint8_t rgba[4] = {(uint8_t)grey, (uint8_t)grey, (uint8_t)grey, 255};
        uint8_t yuv[3];
        reference_pixel_yuv(rgba, color, yuv);
        check_that(check, yuv[0] == grey && yuv[1] == 128 && yuv[2] == 128, "grey %d is %d %d %d", grey, yuv[0], yuv[1],
                   yuv[2]);
    }
}

static void test_coefficients(struct check *check)
{
    for (int matrix = COLOR_MATRIX_601; matrix <= COLOR_MATRIX_2020; matrix++)
        for (int range = COLOR_RANGE_LIMITED; range <= COLOR_RANGE_FULL; range++) {
            struct color color = {matrix, range};
            struct color_coefficients a = color_to_rgb(color), b = reference_to_rgb(color);
            check_that(check, !memcmp(&a, &b, sizeof(a)),
                       "%s %s: cy %d %d bias %d %d rv %d %d gu %d %d gv %d %d bu %d %d", color_matrix_name(matrix),
                       color_range_name(range), a.cy, b.cy, a.bias, b.bias, a.rv, b.rv, a.gu, b.gu, a.gv, b.gv, a.bu,
                       b.bu);
            struct color_reverse c = color_to_yuv(color), d = reference_to_yuv(color);
            check_that(check, !memcmp(&c, &d, sizeof(c)), "%s to YUV differs", color_matrix_name(matrix));
            test_reverse_accuracy(check, color);
            struct accuracy accuracy = accuracy_measure(color);
            check_that(check, accuracy.worst <= 0.6 && (double)accuracy.equal >= 0.95 * (double)accuracy.all,
                       "%s %s: %.4f away at worst, %.2f %% rounded right", color_matrix_name(matrix),
                       color_range_name(range), accuracy.worst, 100.0 * (double)accuracy.equal / (double)accuracy.all);
        }
}

static void compare_rows(struct check *check, const struct image *frame, const struct picture *expected,
                         const uint8_t *rgba, int y)
{
    for (int i = 0; i < 4 * expected->width; i++)
        if (rgba[i] != expected->rgba[4 * y * expected->width + i]) {
            check_that(check, false, "%s %dx%d at (%d, %d) channel %d: expected %d, got %d",
                       reference_format_name(frame->shape.format), expected->width, expected->height, i / 4, y, i % 4,
                       expected->rgba[4 * y * expected->width + i], rgba[i]);
            return;
        }
    check_that(check, true, " ");
}

static void test_picture(struct check *check, const struct image_shape *shape, struct random *random)
{
    for (int content = 0; content < SHAPE_COUNT; content++) {
        struct test_frame frame;
        frame_fill(&frame, shape, content % LAYOUT_COUNT, content, random);
        struct picture expected = reference_frame(&frame.image);
        struct color_coefficients coefficients = reference_to_rgb(shape->color);
        uint8_t *row = malloc((size_t)shape->width * 4); // exact size, so that a sanitizer reports accesses beyond it
        for (int y = 0; y < shape->height; y++) {
            const int left = y % 2 * (shape->width / 4 * 2); // the first row in one part, the next in two
            convert_row_to_rgba(&frame.image, &coefficients, 0, y, left, row, ROW_CACHED);
            convert_row_to_rgba(&frame.image, &coefficients, left, y, shape->width - left, row + 4 * left, ROW_KEPT);
            compare_rows(check, &frame.image, &expected, row, y);
        }
        free(row);
        struct test_frame whole;
        frame_fill(&whole, &(struct image_shape){PIXFMT_RGBA, shape->width, shape->height, {0}, false}, LAYOUT_PADDED,
                   SHAPE_NOISE, random);
        convert_to_rgba(&whole.image, &frame.image);
        for (int y = 0; y < shape->height; y++)
            compare_rows(check, &frame.image, &expected, whole.image.plane[0] + (size_t)y * whole.image.stride[0], y);
        frame_free(&whole);
        frame_free(&frame);
        picture_free(&expected);
    }
}

static void test_to_rgba(struct check *check)
{
    struct random random = {2};
    for (int format = 0; format < PIXFMT_COUNT; format++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            struct image_shape shape = {format, sizes[i][0], sizes[i][1], {0}, false};
            if (!reference_size_ok(format, shape.width, shape.height))
                continue;
            for (int color = 0; color < 6; color++) {
                shape.color = (struct color){COLOR_MATRIX_601 + color % 3, COLOR_RANGE_LIMITED + color / 3};
                test_picture(check, &shape, &random);
            }
        }
    for (int width = 1; width <= READ_WIDTHS; width++) // every remainder of a vector
        for (int format = 0; format < PIXFMT_COUNT; format++) {
            const struct image_shape shape = {format, width, 2, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, false};
            if (reference_size_ok(format, shape.width, shape.height))
                test_picture(check, &shape, &random);
        }
}

static void test_encoded(struct check *check, struct image_shape shape, int number, struct random *random)
{
    struct test_frame frame, to;
    frame_fill(&frame, &(struct image_shape){.width = shape.width, .height = shape.height}, number % LAYOUT_COUNT,
               random_range(random, 0, SHAPE_COUNT - 1), random);
    struct picture picture = reference_frame(&frame.image);
    if (!reference_size_ok(shape.format, shape.width, shape.height))
        shape.width--; // now even, perhaps 0
    if (shape.width > 0) {
        size_t bytes = reference_output(&picture, &shape, NULL);
        uint8_t *expected = malloc(bytes), *got = malloc(bytes);
        struct image tight;
        reference_output(&picture, &shape, expected);
        check_that(check, image_bytes(&shape) == bytes, "%s %dx%d: %zu bytes", reference_format_name(shape.format),
                   picture.width, picture.height, bytes);
        frame_fill(&to, &shape, number / 2 % LAYOUT_COUNT, SHAPE_NOISE, random); // exactly the bytes of the rows
        encode_image(&to.image, &frame.image);
        image_wrap(&tight, &shape, got);
        image_copy(&tight, &to.image);
        check_that(check, !memcmp(got, expected, bytes), "output of %dx%d as %s, %s, %s, differs", picture.width,
                   picture.height, reference_format_name(shape.format), color_matrix_name(shape.color.matrix),
                   color_range_name(shape.color.range));
        frame_free(&to);
        free(expected);
        free(got);
    }
    frame_free(&frame);
    picture_free(&picture);
}

static void test_output(struct check *check)
{
    enum { COLOURS = 6 };
    enum pixfmt formats[PIXFMT_COUNT];
    int count = 0;
    for (int i = 0; i < PIXFMT_COUNT; i++)
        if (pixfmt_info((enum pixfmt)i)->yuv)
            formats[count++] = (enum pixfmt)i;
    struct random random = {4};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        for (int f = 0; f < count * COLOURS; f++)
            test_encoded(check,
                         (struct image_shape){formats[f % count],
                                              sizes[i][0],
                                              sizes[i][1],
                                              {COLOR_MATRIX_601 + f / count % 3, COLOR_RANGE_LIMITED + f / count / 3},
                                              false},
                         f, &random);
    for (int width = 1; width <= ENCODED_WIDTHS; width++) // every remainder of a chunk and of a vector
        for (int f = 0; f < count; f++)
            test_encoded(check, (struct image_shape){formats[f], width, 3, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false},
                         f, &random);
}

// Copies a large image with these threads, from every layout.
static void test_copy(struct check *check, enum pixfmt format, int threads, struct random *random)
{
    const struct image_shape shape = {.format = format, .width = 1026, .height = 1034};
    struct copier copier = {.threads = threads};
    for (int layout = 0; layout < LAYOUT_COUNT; layout++) {
        struct test_frame frame;
        struct image one, several;
        frame_fill(&frame, &shape, layout, SHAPE_NOISE, random);
        const bool room = image_alloc(&one, &shape) && image_alloc(&several, &shape);
        if (check_that(check, room, "out of memory")) {
            image_copy(&one, &frame.image);
            memset(several.memory, 0, image_bytes(&shape));
            copier_run(&copier, &several, &frame.image);
            check_that(check, !memcmp(one.memory, several.memory, image_bytes(&shape)), "copy of %s with %d threads",
                       pixfmt_info(format)->name, threads);
        }
        image_free(&one);
        image_free(&several);
        frame_free(&frame);
    }
    const bool large = image_bytes(&shape) >= COPIER_BYTES;
    check_that(check, (copier.workers != NULL) == (large && threads > 1), "%d threads do not copy", threads);
    copier_finish(&copier);
}

static void test_copies(struct check *check)
{
    struct random random = {5};
    for (int f = 0; f < PIXFMT_COUNT; f++)
        for (int threads = 1; threads <= COPIER_THREADS + 1; threads += 2)
            test_copy(check, (enum pixfmt)f, threads, &random);
}

int main(void)
{
    struct check check = {.name = "test_convert"};
    test_copies(&check);
    test_formats(&check);
    test_resolve(&check);
    test_coefficients(&check);
    test_to_rgba(&check);
    test_output(&check);
    return check_end(&check);
}
