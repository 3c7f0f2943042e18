// fuzz_jpeg.c: JPEG pictures of cameras: right ones, cut ones and hostile ones; also a libFuzzer target
#include "base/log.h"
#include "check.h"
#include "image/jpeg.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PIXELS_MAX = 1 << 20 }; // a large head on a small picture costs time and finds nothing
    char why[JPEG_WHY];
    struct image_shape shape = {0};
    struct image image;
    struct jpeg *jpeg = jpeg_open();
    if (jpeg && jpeg_head(jpeg, data, size, &shape, why) && (int64_t)shape.width * shape.height <= PIXELS_MAX) {
        const enum pixfmt formats[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P, PIXFMT_GREY};
        shape.format = formats[size % 4]; // the picture's own, or another that it is brought to
        if (jpeg_alloc(&image, &shape)) {
            jpeg_decode(jpeg, data, size, &image, why);
            image_free(&image);
        }
    }
    jpeg_close(jpeg);
    return 0;
}

#ifndef FUZZER
#include <turbojpeg.h>

enum { ROOM = 1 << 15 };

static struct check check = {.name = "jpeg"};

struct seed {
    int sampling, width, height;
    enum pixfmt format;
    uint8_t data[ROOM];
    size_t size;
};

static struct seed seeds[] = {
    // their data are made
    {.sampling = TJSAMP_420, .width = 64, .height = 48, .format = PIXFMT_YU12},
    {.sampling = TJSAMP_420, .width = 33, .height = 17, .format = PIXFMT_YU12},
    {.sampling = TJSAMP_422, .width = 47, .height = 31, .format = PIXFMT_422P},
    {.sampling = TJSAMP_444, .width = 35, .height = 20, .format = PIXFMT_444P},
    {.sampling = TJSAMP_GRAY, .width = 51, .height = 9, .format = PIXFMT_GREY},
    {.sampling = TJSAMP_440, .width = 32, .height = 32, .format = PIXFMT_COUNT},
    {.sampling = TJSAMP_411, .width = 32, .height = 32, .format = PIXFMT_COUNT},
};
enum { SEEDS = sizeof(seeds) / sizeof(*seeds) };

// The picture before it was compressed: smooth, with colours that say where they are.
static int sample(int plane, int x, int y, int width, int height)
{
    return plane == 0 ? 30 + 190 * x / width : plane == 1 ? 60 + 120 * y / height : 200 - 120 * x / width;
}

static void make(struct seed *seed)
{
    uint8_t rgb[64 * 64 * 3], *jpeg = NULL;
    unsigned long size = 0;
    for (int y = 0; y < seed->height; y++)
        for (int x = 0; x < seed->width; x++) {
            const double l = sample(0, x, y, seed->width, seed->height);
            const double u = sample(1, x, y, seed->width, seed->height) - 128;
            const double v = sample(2, x, y, seed->width, seed->height) - 128;
            const double values[] = {l + 1.402 * v, l - 0.344136 * u - 0.714136 * v, l + 1.772 * u};
            for (int c = 0; c < 3; c++)
                rgb[(y * seed->width + x) * 3 + c] = (uint8_t)(values[c] < 0     ? 0
                                                               : values[c] > 255 ? 255
                                                                                 : values[c] + 0.5);
        }
    tjhandle handle = tjInitCompress();
    if (tjCompress2(handle, rgb, seed->width, 0, seed->height, TJPF_RGB, &jpeg, &size, seed->sampling, 95, 0) != 0 ||
        size > ROOM)
        abort();
    memcpy(seed->data, jpeg, size);
    seed->size = size;
    tjFree(jpeg);
    tjDestroy(handle);
}

// Largest difference of luma between a decoded picture and the model, where no colour is out of the range of RGB.
static int luma_error(const struct image *image)
{
    int worst = 0;
    const int width = image->shape.width, height = image->shape.height;
    for (int y = height / 3; y < height / 2; y++)
        for (int x = width / 3; x < width / 2; x++) {
            const int off =
                abs(image->plane[0][(size_t)y * image->stride[0] + (size_t)x] - sample(0, x, y, width, height));
            worst = off > worst ? off : worst;
        }
    return worst;
}

static int chroma_error(const struct image *image)
{
    const struct pixfmt_info *info = pixfmt_info(image->shape.format);
    int worst = 0;
    for (int p = 1; p < info->planes; p++) {
        const int x = image->shape.width / 2 >> info->plane[p].shift_x;
        const int y = image->shape.height / 2 >> info->plane[p].shift_y;
        const int want =
            sample(p, image->shape.width / 2, image->shape.height / 2, image->shape.width, image->shape.height);
        const int off = abs(image->plane[p][(size_t)y * image->stride[p] + (size_t)x] - want);
        worst = off > worst ? off : worst;
    }
    return worst;
}

static void test_seed(struct jpeg *jpeg, const struct seed *seed)
{
    char why[JPEG_WHY] = "";
    struct image image;
    struct image_shape shape = {0};
    const bool known = jpeg_head(jpeg, seed->data, seed->size, &shape, why);
    if (seed->format == PIXFMT_COUNT) {
        check_that(&check, !known && strstr(why, "chroma"), "chroma that cannot be used is refused: %s", why);
        return;
    }
    check_that(&check,
               known && shape.format == seed->format && shape.width == seed->width && shape.height == seed->height,
               "the head of %dx%d: %s", seed->width, seed->height, why);
    static const enum pixfmt formats[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P, PIXFMT_GREY};
    for (int i = 0; i < 4; i++) {
        shape.format = formats[i];
        if (!jpeg_alloc(&image, &shape))
            abort();
        const char *name = pixfmt_info(shape.format)->name;
        check_that(&check, jpeg_decode(jpeg, seed->data, seed->size, &image, why), "%s: %s", name, why);
        check_that(&check, luma_error(&image) <= 4, "%dx%d as %s: luma is off by %d", seed->width, seed->height, name,
                   luma_error(&image));
        if (seed->format != PIXFMT_GREY)
            check_that(&check, chroma_error(&image) <= 12, "%dx%d as %s: chroma is off by %d", seed->width,
                       seed->height, name, chroma_error(&image));
        check_that(&check,
                   !jpeg_decode(jpeg, seed->data, seed->size / 2, &image, why) &&
                       !jpeg_decode(jpeg, seed->data, seed->size - 40, &image, why) &&
                       !jpeg_decode(jpeg, seed->data, 0, &image, why),
                   "%s: a picture cut short is refused", name);
        image_free(&image);
    }
    shape.width += 2;
    if (!jpeg_alloc(&image, &shape))
        abort();
    check_that(&check, !jpeg_decode(jpeg, seed->data, seed->size, &image, why) && strstr(why, "instead of"),
               "another size is refused: %s", why);
    image_free(&image);
}

// Knuth's MMIX generator; its high bits are good enough here.
static unsigned next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

// Changed bytes, also those of the head; a part left out; an early end.
static size_t mutate(uint8_t *data, size_t size, uint64_t *state)
{
    for (unsigned n = 1 + next_random(state) % 6; n > 0 && size > 8; n--) {
        const size_t at = next_random(state) % size, length = 1 + next_random(state) % 16;
        if (next_random(state) % 4 != 0) {
            data[at] = (uint8_t)next_random(state);
        } else if (next_random(state) % 4 != 0) {
            if (at + length < size) {
                memmove(data + at, data + at + length, size - at - length);
                size -= length;
            }
        } else {
            size = at;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 20000;
    if (!jpeg_available()) {
        fprintf(stderr, "built without libjpeg-turbo\n");
        return CHECK_SKIP;
    }
    struct jpeg *jpeg = jpeg_open();
    for (int i = 0; i < SEEDS; i++) {
        make(&seeds[i]);
        test_seed(jpeg, &seeds[i]);
    }
    jpeg_close(jpeg);
    uint64_t state = 1;
    static uint8_t data[ROOM];
    for (long i = 0; i < rounds; i++) {
        const struct seed *seed = &seeds[next_random(&state) % SEEDS];
        memcpy(data, seed->data, seed->size);
        LLVMFuzzerTestOneInput(data, mutate(data, seed->size, &state));
    }
    for (int i = 2; i < argc; i++) { // inputs that once failed
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof(data), file));
        fclose(file);
    }
    printf("%ld pictures tried\n", rounds);
    return check_end(&check);
}
#endif
