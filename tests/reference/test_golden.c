// test_golden.c: the reference against values computed by hand and against stored images
//
//   test_golden DIR           compares with the images in DIR (tests/reference/golden)
//   test_golden --write DIR   writes the images again, after a change of docs/pixels.md
#include "check.h"
#include "pictures.h"

#include <stb_image.h>
#include <stb_image_write.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A stored picture: a chain run on picture_golden(), or the picture's bytes taken as Y, U and V. Behind them come those
// of the pixel formats.
struct golden {
    const char *file;
    const char *chain;
    struct color yuv;
};

static const struct golden goldens[] = {
    {"gray-average.png", "gray=average", {0}},
    {"threshold-40.png", "threshold=40", {0}},
    {"gamma-0.4.png", "gamma=0.4", {0}},
    {"contrast-0.5-40.png", "contrast=0.5:40", {0}},
    {"blur-1.png", "blur=1", {0}},
    {"blur-15.png", "blur=15", {0}},
    {"convolve-edge.png", "convolve=edge", {0}},
    {"convolve-gaussian.png", "convolve=gaussian", {0}},
    {"convolve-laplacian-bias.png", "convolve=laplacian:bias=128", {0}},
    {"convolve-7x7.png",
     "convolve=1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0 3 0 0 0 0 0 0 0 -4 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0 7:0:-9",
     {0}},
    {"emboss-s.png", "emboss=s", {0}},
    {"emboss-e.png", "emboss=e", {0}},
    {"sharpen-8.png", "sharpen=8", {0}},
    {"levels-20-220.png", "levels=20:220:1.5:10:240", {0}},
    {"curves-blue.png", "curves=0/20 100/60 255/255:blue", {0}},
    {"gaussian-20.png", "gaussian=20", {0}},
    {"five.png", "blur=3,flip,emboss=sw,gray,sharpen=0.5", {0}},
    {"yuv-601-limited.png", NULL, {COLOR_MATRIX_601, COLOR_RANGE_LIMITED}},
    {"yuv-601-full.png", NULL, {COLOR_MATRIX_601, COLOR_RANGE_FULL}},
    {"yuv-709-limited.png", NULL, {COLOR_MATRIX_709, COLOR_RANGE_LIMITED}},
    {"yuv-709-full.png", NULL, {COLOR_MATRIX_709, COLOR_RANGE_FULL}},
    {"yuv-2020-limited.png", NULL, {COLOR_MATRIX_2020, COLOR_RANGE_LIMITED}},
    {"yuv-2020-full.png", NULL, {COLOR_MATRIX_2020, COLOR_RANGE_FULL}},
};

enum { GOLDENS = sizeof(goldens) / sizeof(*goldens) };

static struct picture golden_picture(struct check *check, const struct golden *golden)
{
    struct picture picture = picture_golden();
    if (golden->chain) {
        check_that(check, reference_chain(&picture, golden->chain), "%s is not a chain", golden->chain);
        return picture;
    }
    struct color_coefficients coefficients = reference_to_rgb(golden->yuv);
    for (int i = 0; i < picture.width * picture.height; i++) {
        uint8_t *p = picture.rgba + 4 * i;
        reference_yuv_pixel(&coefficients, p[0], p[1], p[2], p);
    }
    return picture;
}

// A frame of that format as each matrix and range shows it, one below the other. Odd sizes, and rows with padding.
static struct picture format_picture(enum pixfmt format)
{
    enum { WIDTH = 17, HEIGHT = 9, PADDING = 3, ROW_MOST = 4 * (WIDTH + 1) + PADDING };
    const int width = reference_size_ok(format, WIDTH, HEIGHT) ? WIDTH : WIDTH + 1;
    uint8_t bytes[PIXFMT_PLANES][HEIGHT * ROW_MOST];
    struct image frame = {.shape = {.format = format, .width = width, .height = HEIGHT}};
    struct reference_plane plane[PIXFMT_PLANES];
    const int planes = reference_planes(format, width, HEIGHT, plane);
    for (int i = 0; i < planes; i++) {
        frame.plane[i] = bytes[i];
        frame.stride[i] = (size_t)(plane[i].row_bytes + PADDING);
        for (int n = 0; n < HEIGHT * ROW_MOST; n++)
            bytes[i][n] = (uint8_t)(n * n * 7 / 5 + n * 13 + i * 91);
    }
    struct picture all = picture_new(width, 6 * HEIGHT);
    uint8_t *to = all.rgba;
    for (int n = 0; n < 6; n++, to += 4 * width * HEIGHT) {
        frame.shape.color = (struct color){(enum color_matrix)(COLOR_MATRIX_601 + n / 2),
                                           (enum color_range)(COLOR_RANGE_LIMITED + n % 2)};
        struct picture one = reference_frame(&frame);
        memcpy(to, one.rgba, 4 * (size_t)width * HEIGHT);
        picture_free(&one);
    }
    return all;
}

// Returns the number of stored pictures: the list above, each filter with its default values, each pixel format.
static int count_pictures(void)
{
    return GOLDENS + reference_filters() + PIXFMT_COUNT;
}

// Number `i` of all stored pictures, and its file.
static struct picture stored_picture(struct check *check, const char *directory, int i, char path[4096])
{
    const int filters = reference_filters();
    if (i < GOLDENS) {
        snprintf(path, 4096, "%s/%s", directory, goldens[i].file);
        return golden_picture(check, &goldens[i]);
    }
    if (i < GOLDENS + filters) {
        const struct golden one = {.chain = reference_filter_name(i - GOLDENS)};
        snprintf(path, 4096, "%s/%s.png", directory, one.chain);
        return golden_picture(check, &one);
    }
    const enum pixfmt format = (enum pixfmt)(i - GOLDENS - filters);
    snprintf(path, 4096, "%s/format-%s.png", directory, reference_format_name(format));
    return format_picture(format);
}

static void goldens_write(struct check *check, const char *directory)
{
    for (int i = 0; i < count_pictures(); i++) {
        char path[4096];
        struct picture picture = stored_picture(check, directory, i, path);
        bool ok = stbi_write_png(path, picture.width, picture.height, 4, picture.rgba, 4 * picture.width);
        check_that(check, ok, "cannot write %s", path);
        picture_free(&picture);
    }
}

static void goldens_compare(struct check *check, const char *directory)
{
    for (int i = 0; i < count_pictures(); i++) {
        char path[4096];
        struct picture picture = stored_picture(check, directory, i, path);
        int width = 0, height = 0, channels = 0;
        uint8_t *stored = stbi_load(path, &width, &height, &channels, 4);
        if (check_that(check, stored != NULL,
                       "cannot read %s: %s; to write the image of a new filter or format: test_golden --write %s", path,
                       stbi_failure_reason(), directory) &&
            check_that(check, width == picture.width && height == picture.height && channels == 4,
                       "%s is %dx%d with %d channels", path, width, height, channels)) {
            int byte = 0, bytes = 4 * width * height;
            while (byte < bytes && stored[byte] == picture.rgba[byte])
                byte++;
            if (byte < bytes)
                check_that(check, false, "%s: channel %d of (%d, %d): stored %d, now %d", path, byte % 4,
                           byte / 4 % width, byte / 4 / width, stored[byte], picture.rgba[byte]);
        }
        stbi_image_free(stored);
        picture_free(&picture);
    }
}

// A chain on a picture of one grey value per pixel, worked out on paper; alpha numbers the pixels, but is 255 for
// filters that it weighs.
struct by_hand {
    const char *chain;
    int width, height;
    uint8_t in[25], out[25];
};

static const struct by_hand grey_by_hand[] = {
    // (9 * 0 + 255 + 4) / 9 = 28; at the corner the dot is seen four times: (1020 + 4) / 9 = 113; beside it twice.
    {"blur=1", 3, 3, {0, 0, 0, 0, 255, 0, 0, 0, 0}, {28, 28, 28, 28, 28, 28, 28, 28, 28}},
    {"blur=1", 3, 3, {255}, {113, 57, 0, 57, 28, 0, 0, 0, 0}},
    {"blur", 5, 1, {0, 0, 200, 0, 0}, {40, 40, 40, 40, 40}},
    {"blur=15", 2, 1, {0, 31}, {15, 16}}, // 15 and 16 of the 31 columns are bright
    // A step by 50 between the third and the fourth column, then a step by 100, which saturates.
    {"emboss", 5, 1, {0, 0, 0, 50, 50}, {128, 128, 228, 228, 128}},
    {"emboss=se", 5, 1, {0, 0, 0, 50, 50}, {128, 128, 28, 28, 128}},
    {"emboss=w", 5, 1, {0, 0, 0, 50, 50}, {128, 128, 255, 255, 128}},
    {"emboss=e", 5, 1, {0, 0, 0, 40, 40}, {128, 128, 8, 8, 128}},
    {"emboss=n", 5, 1, {0, 0, 0, 50, 50}, {128, 128, 128, 128, 128}},
    {"emboss=n", 1, 5, {0, 0, 0, 40, 40}, {128, 128, 248, 248, 128}},
    {"emboss=s", 1, 5, {0, 0, 0, 40, 40}, {128, 128, 8, 8, 128}},
    {"emboss=ne", 3, 3, {0, 0, 9, 0, 0, 0, 0, 0, 0}, {128, 110, 101, 128, 119, 110, 128, 128, 128}},
    // gx = 4 * 10; in the second, at the centre, gx = 6 and gy = 8.
    {"sobel", 4, 1, {0, 0, 10, 10}, {0, 40, 40, 0}},
    {"sobel", 3, 3, {0, 0, 0, 0, 0, 3, 0, 4, 0}, {0, 4, 9, 6, 10, 4, 13, 6, 10}},
    {"sharpen", 3, 1, {90, 100, 90}, {80, 120, 80}},
    {"sharpen=0.5", 3, 1, {90, 100, 90}, {85, 110, 85}},
    {"sharpen=0.1", 3, 1, {90, 100, 90}, {89, 102, 89}}, // q = 26: 520 + 128 >> 8 = 2, -260 + 128 >> 8 = -1
    {"sharpen=8", 3, 1, {90, 100, 90}, {10, 255, 10}},
    {"otsu", 4, 1, {7, 7, 7, 7}, {255, 255, 255, 255}}, // no class is left: t = 0
    {"otsu", 4, 1, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"otsu", 5, 1, {10, 10, 200, 200, 12}, {0, 0, 255, 255, 0}}, // t = 12 to 199 are equal
    {"otsu", 3, 1, {0, 10, 20}, {0, 255, 255}},                  // t = 0 and t = 10 are equal: 30 * 30 / 2
    {"prewitt", 4, 1, {0, 0, 10, 10}, {0, 30, 30, 0}},
    {"scharr", 4, 1, {0, 0, 10, 10}, {0, 40, 40, 0}}, // 160 / 4
    {"roberts", 2, 2, {0, 3, 4, 0}, {0, 4, 6, 1}},    // roots of 18, 32 and 1
    {"laplacian", 3, 1, {10, 20, 10}, {10, 20, 10}},  // -10, 20, -10
    // A comb: (3 * 40 + 80 + 2) >> 2 in the first row, (80 + 2 * 40 + 80 + 2) >> 2 in the third.
    {"deinterlace", 1, 4, {40, 80, 40, 80}, {50, 60, 60, 70}},
    {"deinterlace", 3, 1, {1, 99, 255}, {1, 99, 255}},
    {"deinterlace", 1, 3, {0, 1, 0}, {0, 1, 0}},           // 3 >> 2, 4 >> 2
    {"unsharp=1:1", 3, 1, {90, 100, 90}, {88, 105, 88}},   // the means are 92.5, 95 and 92.5
    {"unsharp=1:1:6", 3, 1, {90, 100, 90}, {90, 100, 90}}, // the changes are below 6
    {"gaussian=0.1", 3, 1, {1, 200, 3}, {1, 200, 3}},
    {"erode", 4, 1, {9, 1, 5, 7}, {1, 1, 1, 5}},
    {"dilate=2", 4, 1, {1, 1, 5, 9}, {5, 9, 9, 9}},
    {"ridge=1", 5, 1, {0, 9, 4, 4, 1}, {0, 5, 0, 0, 0}},
    {"ridge=2", 5, 1, {0, 0, 90, 91, 0}, {0, 0, 0, 90, 0}}, // columns x - 1 and x are the centre
    {"median", 3, 3, {9, 1, 8, 2, 7, 3, 6, 4, 5}, {7, 7, 7, 6, 5, 5, 6, 5, 5}},
    {"convolve=1 0 0 0 0 0 0 0 0", 3, 3, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 2, 1, 1, 2, 4, 4, 5}},
    {"convolve=0 0 0 0 0 1 0 0 0", 3, 1, {1, 2, 3}, {2, 3, 3}},
    {"convolve=gaussian", 5, 5, {[12] = 255}, {1,  4, 6, 4,  1,  4,  16, 24, 16, 4, 6, 24, 36,
                                               24, 6, 4, 16, 24, 16, 4,  1,  4,  6, 4, 1}},
    {"convolve=edge", 3, 1, {10, 20, 10}, {0, 60, 0}},
    {"convolve=laplacian:bias=100", 3, 1, {10, 20, 10}, {110, 80, 110}},
    {"convolve=1:2", 3, 1, {1, 4, 255}, {1, 2, 128}},
    {"convolve=-1:1:255", 3, 1, {0, 4, 255}, {255, 251, 0}},
    {"convolve=32767:32767", 3, 1, {0, 4, 255}, {0, 4, 255}},
    {"mirror", 3, 1, {1, 2, 3}, {3, 2, 1}},
    {"mirror", 2, 2, {1, 2, 3, 4}, {2, 1, 4, 3}},
    {"flip", 2, 2, {1, 2, 3, 4}, {3, 4, 1, 2}},
    {"mirror,flip", 2, 2, {1, 2, 3, 4}, {4, 3, 2, 1}},
    {"gamma", 3, 1, {0, 64, 255}, {0, 136, 255}}, // 255 * 0.53348 = 136.04
    {"gamma=1", 3, 1, {3, 64, 255}, {3, 64, 255}},
    {"gamma=0.5", 3, 1, {16, 64, 128}, {1, 16, 64}}, // squares over 255: 1.004, 16.06, 64.25
    {"contrast", 4, 1, {0, 100, 128, 255}, {0, 86, 128, 255}},
    {"contrast=1:0.5", 3, 1, {0, 100, 255}, {1, 101, 255}},
    {"contrast=0:-0.25", 3, 1, {0, 100, 255}, {127, 127, 127}},
    {"levels=100:200", 4, 1, {100, 150, 200, 255}, {0, 128, 255, 255}},
    {"levels=low=100:high=50", 3, 1, {0, 51, 255}, {100, 90, 50}},
    {"curves=negative", 3, 1, {0, 100, 255}, {255, 155, 0}},
    {"curves=0/0 2/1 3/200", 4, 1, {0, 1, 2, 9}, {0, 0, 1, 200}}, // the spline falls below 0 at 1
    {"curves=1/7 3/8", 4, 1, {0, 2, 3, 4}, {7, 8, 8, 8}},
    {"exposure", 3, 1, {0, 128, 255}, {0, 176, 255}}, // the light is 0.2159, then 0.4317
    {"posterize=2", 3, 1, {0, 127, 128}, {0, 0, 255}},
    {"lut", 3, 1, {0, 100, 255}, {0, 100, 255}},
    {"invert", 3, 1, {0, 100, 255}, {255, 155, 0}},
    {"threshold", 3, 1, {127, 128, 255}, {0, 255, 255}},
    {"threshold=0", 3, 1, {0, 128, 255}, {255, 255, 255}},
    {"convolve=0 0 0 1 0 0 0 0 0,mirror,convolve=0 0 0 1 0 0 0 0 0", 4, 1, {1, 2, 3, 4}, {3, 3, 2, 1}},
};

static void greys_by_hand(struct check *check)
{
    for (size_t i = 0; i < sizeof(grey_by_hand) / sizeof(*grey_by_hand); i++) {
        const struct by_hand *hand = &grey_by_hand[i];
        struct picture picture = picture_new(hand->width, hand->height);
        int pixels = hand->width * hand->height;
        const bool weighs = strstr(hand->chain, "blur") || strstr(hand->chain, "gaussian");
        for (int p = 0; p < pixels; p++) {
            memset(picture.rgba + 4 * p, hand->in[p], 3);
            picture.rgba[4 * p + 3] = weighs ? 255 : (uint8_t)(p + 1);
        }
        bool moves = strstr(hand->chain, "mirror") || strstr(hand->chain, "flip");
        check_that(check, reference_chain(&picture, hand->chain), "%s is not a chain", hand->chain);
        for (int p = 0; p < pixels; p++) {
            const uint8_t *now = picture.rgba + 4 * p;
            check_that(check, now[0] == hand->out[p] && now[1] == now[0] && now[2] == now[0],
                       "%s number %zu: pixel %d is %d, by hand %d", hand->chain, i, p, now[0], hand->out[p]);
            check_that(check, moves || now[3] == (weighs ? 255 : p + 1), "%s: alpha of pixel %d is %d", hand->chain, p,
                       now[3]);
        }
        picture_free(&picture);
    }
}

struct pixel_by_hand {
    const char *chain;
    uint8_t in[4], out[4];
};

static const struct pixel_by_hand pixels_by_hand[] = {
    {"gray", {255, 0, 0, 7}, {77, 77, 77, 7}}, // 19763 >> 8, and 38378 >> 8, 7523 >> 8
    {"gray", {0, 255, 0, 7}, {149, 149, 149, 7}},
    {"gray", {0, 0, 255, 7}, {29, 29, 29, 7}},
    {"gray", {255, 255, 255, 0}, {255, 255, 255, 0}},
    {"gray=average", {255, 0, 0, 7}, {85, 85, 85, 7}},
    {"gray=average", {1, 1, 0, 7}, {1, 1, 1, 7}},
    {"gray=paint", {200, 170, 61, 7}, {239, 239, 239, 7}}, // 170 + 69.5
    {"gray=paint", {9, 8, 100, 7}, {0, 0, 0, 7}},
    {"gray=paint", {255, 200, 0, 7}, {255, 255, 255, 7}},
    {"gray=paint", {90, 90, 90, 7}, {90, 90, 90, 7}},
    {"maxrgb", {10, 20, 20, 99}, {0, 20, 20, 99}},
    {"maxrgb", {30, 20, 29, 99}, {30, 0, 0, 99}},
    {"maxrgb", {5, 5, 5, 99}, {5, 5, 5, 99}},
    {"sepia", {100, 100, 100, 0}, {134, 121, 94, 0}}, // 17264, 15564, 12064, each >> 7
    {"sepia", {255, 255, 255, 0}, {255, 255, 239, 0}},
    {"vibrance=1", {200, 100, 100, 7}, {243, 82, 82, 7}}, // k = 412, L = 130
    {"temperature=6500", {10, 20, 30, 4}, {10, 20, 30, 4}},
    {"blur=15", {1, 2, 3, 255}, {1, 2, 3, 255}},
    {"sobel", {1, 2, 3, 4}, {0, 0, 0, 4}},
    {"emboss", {1, 2, 3, 4}, {128, 128, 128, 4}},
};

// A filter that may change the size, on a picture whose four channels are equal.
struct warp_by_hand {
    const char *chain;
    int from_width, from_height, width, height;
    uint8_t in[9], out[9];
};

static const struct warp_by_hand warps_of_grey[] = {
    {"crop=2:1:1:1", 3, 2, 2, 1, {1, 2, 3, 4, 5, 6}, {5, 6}},
    {"crop=1:1", 3, 3, 1, 1, {1, 2, 3, 4, 5, 6, 7, 8, 9}, {5}},
    {"crop=2:0:9", 3, 1, 2, 1, {1, 2, 3}, {2, 3}},
    {"rotate", 3, 2, 2, 3, {1, 2, 3, 4, 5, 6}, {4, 1, 5, 2, 6, 3}},
    {"rotate=-90", 3, 2, 2, 3, {1, 2, 3, 4, 5, 6}, {3, 6, 2, 5, 1, 4}},
    {"rotate=180", 2, 2, 2, 2, {1, 2, 3, 4}, {4, 3, 2, 1}},
    {"scale=4:1", 2, 1, 4, 1, {0, 100}, {0, 25, 75, 100}}, // the sources are at -0.25, 0.25, 0.75, 1.25
    {"scale=0:1", 2, 2, 1, 1, {0, 100, 200, 60}, {90}},    // 360 / 4, in the middle
    {"scale=2:1", 3, 1, 2, 1, {0, 90, 180}, {22, 158}},
    {"scale=2:1:method=area", 3, 1, 2, 1, {0, 90, 180}, {30, 150}}, // two thirds of one pixel and a third of the next
    {"scale=2:1:method=nearest", 3, 1, 2, 1, {0, 90, 180}, {0, 180}},
    {"scale=2:1:method=bilinear", 3, 1, 2, 1, {0, 90, 180}, {23, 158}}, // at 0.25 and 1.75: 22.5 and 157.5
    {"scale=4:1:method=area", 2, 1, 4, 1, {0, 100}, {0, 25, 75, 100}},
    {"scale=1:2:method=lanczos", 1, 1, 1, 2, {77}, {77, 77}},
    {"scale=most=1", 2, 2, 1, 1, {0, 100, 200, 60}, {90}},
    {"scale=most=2", 2, 1, 2, 1, {0, 100}, {0, 100}},             // it is not larger
    {"warp=1 0 1 0 1 0 0 0 1", 3, 1, 3, 1, {1, 2, 3}, {1, 1, 2}}, // to the right by a pixel
    {"warp=1 0 0.5 0 1 0 0 0 1", 3, 1, 3, 1, {0, 100, 200}, {0, 50, 150}},
    {"warp=2 0 0 0 0 1 2 1", 3, 2, 3, 2, {1, 2, 3, 4, 5, 6}, {3, 2, 1, 6, 5, 4}}, // the corners of a mirror
    {"warp=none", 3, 1, 3, 1, {1, 2, 3}, {1, 2, 3}},
    // The next node, 16, has the source 16 * (1 - 0.5), then likewise, 16 * (1 + 3 * 0.25), 16 / 2 and 16 * atan(1).
    {"undistort=16 16 0 0 -0.5 0 0 0", 3, 1, 3, 1, {0, 100, 200}, {0, 50, 100}},
    {"undistort=16 16 0 0 0 0 0 0 -0.5", 3, 1, 3, 1, {0, 100, 200}, {0, 50, 100}},
    {"undistort=16 16 0 0 0 0 0 0.25", 3, 1, 3, 1, {0, 100, 200}, {0, 175, 200}},
    {"undistort=16 16 0 0 0 0 0 0:zoom=2", 3, 1, 3, 1, {0, 100, 200}, {0, 50, 100}},
    {"undistort=16 16 0 0 0 0 0 0:fisheye", 3, 1, 3, 1, {0, 100, 200}, {0, 79, 157}},
    {"undistort=none:fisheye:2", 3, 1, 3, 1, {1, 2, 3}, {1, 2, 3}},
};

static void warps_by_hand(struct check *check)
{
    for (size_t i = 0; i < sizeof(warps_of_grey) / sizeof(*warps_of_grey); i++) {
        const struct warp_by_hand *hand = &warps_of_grey[i];
        struct picture picture = picture_new(hand->from_width, hand->from_height);
        for (int k = 0; k < hand->from_width * hand->from_height; k++) {
            memset(picture.rgba + 4 * k, hand->in[k], 3);
            picture.rgba[4 * k + 3] = 255;
        }
        check_that(check, reference_chain(&picture, hand->chain), "%s is not a chain", hand->chain);
        const bool sized = picture.width == hand->width && picture.height == hand->height;
        check_that(check, sized, "%s gives %dx%d", hand->chain, picture.width, picture.height);
        for (int k = 0; sized && k < 4 * hand->width * hand->height; k++)
            check_that(check, picture.rgba[k] == (k % 4 == 3 ? 255 : hand->out[k / 4]), "%s: byte %d is %d",
                       hand->chain, k, picture.rgba[k]);
        picture_free(&picture);
    }
}

// A warp that mixes pixels and a blur weigh their colours by alpha; other filters do not.
static void alpha_by_hand(struct check *check)
{
    static const struct {
        const char *chain;
        uint8_t in[8], out[4]; // two pixels; the first one of the result
    } rows[] = {
        {"scale=1:1", {255, 0, 0, 255, 0, 255, 0, 0}, {255, 0, 0, 128}},
        {"scale=1:1", {200, 0, 0, 255, 0, 100, 0, 51}, {167, 17, 0, 153}}, // 0, 20 weighed; 255 * 10 / 153
        {"warp=1 0 0.5 0 1 0 0 0 1", {9, 9, 9, 0, 7, 7, 7, 0}, {0, 0, 0, 0}},
        {"scale=1:1:method=nearest", {1, 2, 3, 4, 5, 6, 7, 8}, {5, 6, 7, 8}},
        {"rotate=180", {1, 2, 3, 4, 5, 6, 7, 0}, {5, 6, 7, 0}},
        {"crop=1:1:1:0", {1, 2, 3, 4, 5, 6, 7, 0}, {5, 6, 7, 0}},
        {"blur=1", {255, 0, 0, 255, 0, 255, 0, 0}, {255, 0, 0, 170}},   // 2 of 3 columns
        {"blur=1", {200, 0, 0, 255, 0, 100, 0, 51}, {181, 10, 0, 187}}, // (2 * 200, 20, 2 * 255 + 51) / 3
        {"gaussian=0.5", {90, 8, 7, 0, 0, 100, 0, 51}, {0, 102, 0, 5}}, // 20 and 51 times 1748 / 2^14 are 2 and 5
        {"blur=1,blur=1", {9, 9, 9, 0, 7, 7, 7, 0}, {0, 0, 0, 0}},
        {"convolve=0 0 0 0 1 1 0 0 0", {10, 0, 0, 0, 30, 2, 0, 255}, {20, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct picture picture = picture_new(2, 1);
        memcpy(picture.rgba, rows[i].in, 8);
        check_that(check, reference_chain(&picture, rows[i].chain), "%s is not a chain", rows[i].chain);
        const uint8_t *p = picture.rgba;
        check_that(check, memcmp(p, rows[i].out, 4) == 0, "%s number %zu: %d %d %d %d", rows[i].chain, i, p[0], p[1],
                   p[2], p[3]);
        picture_free(&picture);
    }
}

struct yuv_by_hand {
    struct color color;
    uint8_t yuv[3], rgb[3];
};

// White, black and the primaries of the standards, computed with real numbers and rounded.
static const struct yuv_by_hand yuvs_by_hand[] = {
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {235, 128, 128}, {255, 255, 255}},
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {16, 128, 128}, {0, 0, 0}},
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {126, 128, 128}, {128, 128, 128}},
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {81, 90, 240}, {254, 0, 0}},  // 254.4 -0.5 -1.0
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {145, 54, 34}, {0, 255, 1}},  // 0.2 255.6 0.9
    {{COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, {41, 240, 110}, {0, 0, 255}}, // 0.4 -0.1 255.0
    {{COLOR_MATRIX_601, COLOR_RANGE_FULL}, {255, 128, 128}, {255, 255, 255}},
    {{COLOR_MATRIX_601, COLOR_RANGE_FULL}, {77, 128, 128}, {77, 77, 77}},
    {{COLOR_MATRIX_601, COLOR_RANGE_FULL}, {0, 128, 128}, {0, 0, 0}},
    {{COLOR_MATRIX_709, COLOR_RANGE_LIMITED}, {63, 102, 240}, {255, 1, 0}},  // 255.5 0.6 -0.2
    {{COLOR_MATRIX_709, COLOR_RANGE_FULL}, {100, 128, 228}, {255, 53, 100}}, // 257.5 53.2 100
    {{COLOR_MATRIX_2020, COLOR_RANGE_FULL}, {100, 28, 128}, {100, 116, 0}},  // 100 116.5 -88
};

static void colors_by_hand(struct check *check)
{
    for (size_t i = 0; i < sizeof(pixels_by_hand) / sizeof(*pixels_by_hand); i++) {
        const struct pixel_by_hand *hand = &pixels_by_hand[i];
        struct picture picture = picture_new(1, 1);
        memcpy(picture.rgba, hand->in, 4);
        check_that(check, reference_chain(&picture, hand->chain), "%s is not a chain", hand->chain);
        const uint8_t *p = picture.rgba;
        check_that(check, !memcmp(p, hand->out, 4), "%s of %d %d %d is %d %d %d %d", hand->chain, hand->in[0],
                   hand->in[1], hand->in[2], p[0], p[1], p[2], p[3]);
        picture_free(&picture);
    }
    for (size_t i = 0; i < sizeof(yuvs_by_hand) / sizeof(*yuvs_by_hand); i++) {
        const struct yuv_by_hand *hand = &yuvs_by_hand[i];
        struct color_coefficients coefficients = reference_to_rgb(hand->color);
        uint8_t p[4];
        reference_yuv_pixel(&coefficients, hand->yuv[0], hand->yuv[1], hand->yuv[2], p);
        check_that(check, !memcmp(p, hand->rgb, 3) && p[3] == 255, "YUV %d %d %d number %zu is %d %d %d", hand->yuv[0],
                   hand->yuv[1], hand->yuv[2], i, p[0], p[1], p[2]);
    }
}

struct recorded {
    uint8_t rgb[3], yuv[3];
};

static void yuv_by_hand(struct check *check)
{
    static const struct recorded table[] = {
        {{255, 255, 255}, {235, 128, 128}}, {{0, 0, 0}, {16, 128, 128}},   {{255, 0, 0}, {81, 90, 240}},
        {{0, 255, 0}, {145, 54, 34}},       {{0, 0, 255}, {41, 240, 110}},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        struct picture picture = picture_new(1, 1);
        memcpy(picture.rgba, table[i].rgb, 3);
        uint8_t yuv[3];
        reference_444p(&picture, COLOR_MATRIX_601, &yuv[0], &yuv[1], &yuv[2]);
        check_that(check, !memcmp(yuv, table[i].yuv, 3), "RGB number %zu is YUV %d %d %d", i, yuv[0], yuv[1], yuv[2]);
        picture_free(&picture);
    }
    const char *refused[] = {"convolve=32768:1",
                             "blur=0",
                             "blur=16",
                             "gamma=0.05",
                             "convolve=1 2 3",
                             "levels=200:100",
                             "curves=0/0",
                             "curves=0/0 0.5/9",
                             "erode=61",
                             "lut=/none",
                             "blur=1:1",
                             "",
                             "warp=1 2 3",
                             "warp=1 2 3 2 4 6 1 1 1",
                             "warp=0 0 1 1 2 2 3 3",
                             "undistort=0.5 1 0 0 0 0 0 0",
                             "undistort=1 1 0 0 0 0 0 2e6",
                             "undistort=1 1 0 0 0 0 0 0 0:fisheye",
                             "scale=2:2:2",
                             "scale=2:0:1:2",
                             "scale=0:0:2:2"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        check_that(check, !reference_chain(NULL, refused[i]), "\"%s\" was taken for a chain", refused[i]);
}

int main(int argc, char **argv)
{
    struct check check = {.name = "test_golden"};
    greys_by_hand(&check);
    colors_by_hand(&check);
    warps_by_hand(&check);
    alpha_by_hand(&check);
    yuv_by_hand(&check);
    if (argc == 3 && !strcmp(argv[1], "--write")) {
        goldens_write(&check, argv[2]);
    } else if (argc == 2) {
        goldens_compare(&check, argv[1]);
    } else {
        fprintf(stderr, "usage: test_golden [--write] DIR\n");
        return 2;
    }
    return check_end(&check);
}
