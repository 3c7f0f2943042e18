// paths_exact.c: every value of each formula for which paths have their own code
//
// Random pictures rarely contain the one sum for which a division by multiplication is wrong. Here each pixel of a
// point filter, and each neighbourhood of a stencil, has another value.
#include "paths_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 500 }; // neighbourhoods side by side in one picture, which GL can have as a texture

static struct path *open_rgba(struct path_test *test, const char *text, const struct image_shape *shape)
{
    struct chain chain;
    char error[CHAIN_ERROR] = "", *why = NULL;
    if (!check_that(&test->check, chain_parse(&chain, text, error), "\"%s\": %s", text, error))
        return NULL;
    struct path_setup setup = path_case_setup(test, shape, &chain);
    setup.encoded_only = test->encoded_only = false; // its pixels are compared one by one
    struct path *path = path_open(&setup, &why);
    check_that(&test->check, path != NULL, "%s \"%s\": %s", path_kind_name(test->kind), text, why ? why : "");
    free(why);
    test->cases++;
    return path;
}

static bool run_rgba(struct path_test *test, struct path *path, const struct image *frame, struct path_result *result)
{
    return check_that(&test->check, path_submit(path, frame, NULL) && path_collect(path, result),
                      "%s: a frame of exact values fails", path_kind_name(test->kind));
}

// Runs the picture as an RGBA frame and compares every pixel.
static void compare_picture(struct path_test *test, const char *text, const struct image *frame)
{
    struct path *path = open_rgba(test, text, &frame->shape);
    struct path_result result;
    struct picture expected = reference_frame(frame);
    if (path && run_rgba(test, path, frame, &result) && reference_chain(&expected, text)) {
        long wrong = 0, first = 0;
        for (long i = (long)expected.width * expected.height - 1; i >= 0; i--) {
            long y = i / expected.width, x = i % expected.width;
            if (memcmp(expected.rgba + 4 * i, result.image.plane[0] + (size_t)y * result.image.stride[0] + 4 * x, 4)) {
                first = i;
                wrong++;
            }
        }
        const uint8_t *e = expected.rgba + 4 * first;
        const uint8_t *g = result.image.plane[0] + (size_t)(first / expected.width) * result.image.stride[0] +
                           4 * (first % expected.width);
        check_that(&test->check, !wrong,
                   "%s \"%s\", exact value %ld: expected %d %d %d %d, got %d %d %d %d; %ld differ",
                   path_kind_name(test->kind), text, first, e[0], e[1], e[2], e[3], g[0], g[1], g[2], g[3], wrong);
    }
    path_close(path);
    picture_free(&expected);
}

static struct image rgba_new(int width, int height)
{
    struct image image = {.shape = {PIXFMT_RGBA, width, height, {0}, false}, .stride = {4 * (size_t)width}};
    image.plane[0] = calloc((size_t)width * (size_t)height, 4);
    if (!image.plane[0])
        abort();
    return image;
}

// Channel `channel` of pixel (x, y) of neighbourhood `block`.
static uint8_t *block_pixel(const struct image *image, int side, int block, int x, int y, int channel)
{
    return image->plane[0] + (size_t)y * image->stride[0] + 4 * (size_t)(block * side + x) + channel;
}

// Sums first, first + step, ... in the channels of the blocks, and blur's result for each.
static void blur_chunk(struct path_test *test, struct path *path, const struct image *image, int radius, int first,
                       int step)
{
    int side = 2 * radius + 1, n = side * side, most = 255 * n;
    for (int i = 0; i < 3 * BLOCKS; i++) {
        int sum = (first + i * step) % (most + 1);
        for (int p = 0; p < n; p++)
            *block_pixel(image, side, i / 3, p % side, p / side, i % 3) = (uint8_t)(sum / n + (p < sum % n));
    }
    struct path_result result;
    if (!run_rgba(test, path, image, &result))
        return;
    for (int i = 0; i < 3 * BLOCKS; i++) {
        int sum = (first + i * step) % (most + 1), expected = (sum + n / 2) / n;
        int got = *block_pixel(&result.image, side, i / 3, radius, radius, i % 3);
        check_that(&test->check, got == expected, "%s blur=%d: a sum of %d gives %d, not %d",
                   path_kind_name(test->kind), radius, sum, got, expected);
    }
}

static void exact_blur(struct path_test *test, int radius, int step)
{
    char text[32];
    int side = 2 * radius + 1;
    snprintf(text, sizeof(text), "blur=%d", radius);
    struct image image = rgba_new(BLOCKS * side, side);
    memset(image.plane[0], 255, 4 * (size_t)BLOCKS * (size_t)(side * side));
    image.shape.opaque = true;
    struct path *path = open_rgba(test, text, &image.shape);
    for (int first = 0; path && first <= 255 * side * side; first += 3 * BLOCKS * step)
        blur_chunk(test, path, &image, radius, first, step);
    path_close(path);
    free(image.plane[0]);
}

// Channel `number` of a picture of 3x3 neighbourhoods, BLOCKS in a row.
static uint8_t *small_pixel(const struct image *image, int number, int x, int y)
{
    int block = number / 3;
    return block_pixel(image, 3, block % BLOCKS, x, 3 * (block / BLOCKS) + y, number % 3);
}

// Every pair of gradients (their sum is always even) up to a root a little above 255.
static void exact_sobel(struct path_test *test)
{
    enum { MOST = 260 };
    struct image image = rgba_new(3 * BLOCKS, 3 * (MOST * MOST / 2 / 3 / BLOCKS + 1));
    int number = 0;
    for (int gx = 0; gx < MOST; gx++)
        for (int gy = gx % 2; gy < MOST; gy += 2, number++) {
            *small_pixel(&image, number, 2, 2) = (uint8_t)(gx % 2); // counts once in both gradients
            *small_pixel(&image, number, 2, 1) = (uint8_t)(gx / 2);
            *small_pixel(&image, number, 1, 2) = (uint8_t)(gy / 2);
        }
    compare_picture(test, "sobel", &image);
    free(image.plane[0]);
}

// Every centre with every sum of its four neighbours.
static void exact_sharpen(struct path_test *test, const char *text, int step)
{
    struct image image = rgba_new(3 * BLOCKS, 3 * (256 * 1021 / 3 / BLOCKS / step + 1));
    int number = 0;
    for (int i = 0; i < 256 * 1021; i += step, number++) {
        int sum = i / 256;
        *small_pixel(&image, number, 1, 1) = (uint8_t)(i % 256);
        *small_pixel(&image, number, 1, 0) = (uint8_t)(sum / 4 + (sum % 4 > 0));
        *small_pixel(&image, number, 0, 1) = (uint8_t)(sum / 4 + (sum % 4 > 1));
        *small_pixel(&image, number, 2, 1) = (uint8_t)(sum / 4 + (sum % 4 > 2));
        *small_pixel(&image, number, 1, 2) = (uint8_t)(sum / 4);
    }
    compare_picture(test, text, &image);
    free(image.plane[0]);
}

// Colours are every triple of the values 0, step, 2 step ... and 255.
static int cube_levels(int step)
{
    return (254 + step) / step + 1;
}

static int cube_level(int level, int step)
{
    return level * step > 255 ? 255 : level * step;
}

static void exact_points(struct path_test *test, int step)
{
    static const char *const texts[] = {"gray",  "gray=average", "maxrgb",
                                        "sepia", "threshold=77", "lut=" LUT_DATA "/solid.cube"};
    int levels = cube_levels(step);
    struct image image = rgba_new(levels * 16, (levels * levels + 15) / 16);
    for (int i = 0; i < levels * levels * levels; i++) {
        uint8_t *p = image.plane[0] + 4 * (size_t)i;
        p[0] = (uint8_t)cube_level(i % levels, step);
        p[1] = (uint8_t)cube_level(i / levels % levels, step);
        p[2] = (uint8_t)cube_level(i / levels / levels, step);
        p[3] = (uint8_t)i;
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        compare_picture(test, texts[i], &image);
    free(image.plane[0]);
}

// The largest reach of separable stencils.
static void exact_reach(struct path_test *test)
{
    static const char *const texts[] = {"gaussian=20", "erode=60", "dilate=60"};
    struct image image = rgba_new(130, 9);
    struct random random = {7};
    for (size_t i = 0; i < 4 * 130 * 9; i++)
        image.plane[0][i] = (uint8_t)random_bits(&random);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        compare_picture(test, texts[i], &image);
    free(image.plane[0]);
}

static void exact_yuv(struct path_test *test, int step)
{
    int levels = cube_levels(step);
    size_t pixels = (size_t)levels * 16 * (((size_t)levels * (size_t)levels + 15) / 16);
    struct image image = {.shape = {PIXFMT_444P, levels * 16, (int)(pixels / (size_t)levels / 16), {0}, false}};
    uint8_t *memory = calloc(3, pixels);
    if (!memory)
        abort();
    for (int i = 0; i < 3; i++) {
        image.plane[i] = memory + (size_t)i * pixels;
        image.stride[i] = (size_t)levels * 16;
    }
    for (int i = 0; i < levels * levels * levels; i++) {
        image.plane[0][i] = (uint8_t)cube_level(i % levels, step);
        image.plane[1][i] = (uint8_t)cube_level(i / levels % levels, step);
        image.plane[2][i] = (uint8_t)cube_level(i / levels / levels, step);
    }
    for (int color = 0; color < 6; color++) {
        image.shape.color = (struct color){COLOR_MATRIX_601 + color % 3, COLOR_RANGE_LIMITED + color / 3};
        compare_picture(test, "none", &image);
    }
    free(memory);
}

// Each colour with each alpha, in blocks of 2x2 pixels that a warp mixes to one pixel.
static void exact_alpha(struct path_test *test)
{
    enum { SIDE = 512 };
    struct image image = rgba_new(SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        memset(image.plane[0] + 4 * (size_t)i, i % SIDE / 2, 3);
        image.plane[0][4 * (size_t)i + 3] = (uint8_t)(i / SIDE / 2);
    }
    compare_picture(test, "scale=256:256", &image);
    free(image.plane[0]);
}

void paths_exact(struct path_test *test, bool all)
{
    test->result = RESULT_PIXELS;
    exact_points(test, all ? 1 : 5);
    exact_yuv(test, all ? 1 : 5);
    for (int radius = 1; radius <= 15; radius++)
        if (all || radius < 4 || radius == 15)
            exact_blur(test, radius, all || radius < 4 ? 1 : 37);
    exact_sobel(test);
    exact_reach(test);
    exact_sharpen(test, "sharpen=0.3", all ? 1 : 17);
    exact_sharpen(test, "sharpen=8", all ? 1 : 17);
    exact_alpha(test);
    test->result = RESULT_TURN;
}
