// test_codec_png.c: PNG files: read as by stb_image (16 bits rounded to 8), and written so that stb_image reads them
#include "check.h"
#include "codec_files.h"
#include "image/codec/deflate.h"

#include <libdeflate.h>
#include <stb_image.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec png"};

// The program's pixels as RGBA, by the plainest rule for each format.
static void rgba_at(const struct image *image, int x, int y, uint8_t rgba[4])
{
    const int bytes = pixfmt_info(image->shape.format)->plane[0].bytes;
    const uint8_t *p = image->plane[0] + (size_t)y * image->stride[0] + (size_t)(x * bytes);
    for (int c = 0; c < 4; c++)
        rgba[c] = bytes == 1 ? (c == 3 ? 255 : p[0]) : c < bytes ? p[c] : 255;
}

// Returns true if stb_image reads the same pixels from the file. It converts all of them to 16 bits.
static bool same_as_stb(const struct codec_buffer *file, const struct image *image)
{
    int width, height, channels;
    uint8_t rgba[4];
    stbi_us *pixels = stbi_load_16_from_memory(file->data, (int)file->size, &width, &height, &channels, 4);
    bool same = pixels && width == image->shape.width && height == image->shape.height;
    for (int y = 0; same && y < height; y++)
        for (int x = 0; same && x < width; x++) {
            rgba_at(image, x, y, rgba);
            for (size_t c = 0; c < 4; c++)
                same &= rgba[c] == (pixels[4 * ((size_t)y * (size_t)width + (size_t)x) + c] + 128) / 257;
        }
    stbi_image_free(pixels);
    return same;
}

static bool read_file(struct codec *codec, const struct codec_buffer *file, struct image *image, char *why)
{
    struct codec_head head;
    struct codec_error error = {0};
    const uint8_t *data = fenced(file->data, file->size);
    const bool ok = codec_head(codec, data, file->size, 0, &head, &error) && image_reserve(image, &head.shape) &&
                    codec_decode(codec, data, file->size, &head, image, &error);
    strcpy(why, error.why);
    return ok;
}

static void test_kinds(struct codec *codec, struct random *random)
{
    static const struct png_wish kinds[] = {
        {0, 1, 0, 0, 1},  {0, 2, 0, 0, 1},  {0, 4, 0, 0, 2},  {0, 8, 0, 0, 1},  {0, 8, 1, 1, 3},  {0, 1, 1, 0, 1},
        {0, 4, 1, 1, 1},  {2, 8, 0, 0, 1},  {2, 8, 0, 1, 9},  {2, 8, 1, 0, 1},  {3, 1, 0, 0, 1},  {3, 2, 1, 1, 1},
        {3, 4, 0, 1, 2},  {3, 8, 0, 0, 1},  {3, 8, 0, 1, 1},  {3, 8, 1, 1, 1},  {4, 8, 0, 0, 1},  {4, 8, 1, 0, 4},
        {6, 8, 0, 0, 1},  {6, 8, 1, 0, 1},  {0, 16, 0, 0, 1}, {0, 16, 1, 1, 1}, {2, 16, 0, 0, 1}, {2, 16, 0, 1, 2},
        {4, 16, 0, 0, 1}, {6, 16, 0, 0, 1}, {6, 16, 1, 0, 3},
    };
    struct codec_buffer file = {0};
    struct image image = {0};
    for (int round = 0; round < 400; round++) {
        const struct png_wish *wish = &kinds[round % (sizeof(kinds) / sizeof(*kinds))];
        const int width = round < 100 ? random_range(random, 1, 9) : random_range(random, 1, 150);
        const int height = random_range(random, 1, round < 100 ? 9 : 40);
        char why[CODEC_WHY];
        png_make(&file, width, height, wish, random);
        const bool ok = read_file(codec, &file, &image, why);
        check_that(&check, ok, "colour %d, %d bits, interlaced %d, %dx%d: %s", wish->colour, wish->depth,
                   wish->interlaced, width, height, why);
        check_that(&check, !ok || same_as_stb(&file, &image),
                   "colour %d, %d bits, interlaced %d, transparent %d, %dx%d: differs from stb_image", wish->colour,
                   wish->depth, wish->interlaced, wish->transparent, width, height);
    }
    codec_buffer_free(&file);
    image_free(&image);
}

// The expected pixels of a written file: all grey, or without alpha.
static void simplify(struct image *image, bool grey, bool opaque)
{
    for (int y = 0; y < image->shape.height; y++)
        for (int x = 0; x < image->shape.width; x++) {
            uint8_t *p = image->plane[0] + (size_t)y * image->stride[0] + 4 * (size_t)x;
            if (grey)
                p[1] = p[2] = p[0];
            if (opaque)
                p[3] = 255;
        }
}

// The usual shapes, and images that consist of runs.
static void paint(struct test_frame *frame, int round, struct random *random)
{
    struct image *image = &frame->image;
    const size_t bytes = pixfmt_row_bytes(image->shape.format, 0, image->shape.width);
    for (int y = 0; round % 5 == 4 && y < image->shape.height; y++)
        memset(image->plane[0] + (size_t)y * image->stride[0],
               random_range(random, 0, 3) ? 7 : random_range(random, 0, 9), bytes);
}

static void test_written(struct codec *codec, struct random *random)
{
    static const enum pixfmt formats[] = {PIXFMT_RGBA, PIXFMT_RGB24, PIXFMT_GREY};
    static const int levels[] = {0, 1, 2, 6, 9};
    struct codec_buffer file = {0};
    struct image image = {0};
    for (int round = 0; round < 300; round++) {
        const struct image_shape shape = {.format = formats[round % 3],
                                          .width = random_range(random, 1, round % 50 == 0 ? 3000 : 300),
                                          .height = random_range(random, 1, 60)};
        struct codec_settings settings = {.format = CODEC_PNG, .compression = levels[round % 5]};
        settings.grey = shape.format == PIXFMT_RGBA && random_range(random, 0, 1);
        settings.opaque = random_range(random, 0, 1);
        struct test_frame frame;
        struct codec_error error;
        char why[CODEC_WHY];
        frame_fill(&frame, &shape, (enum layout)(round % LAYOUT_COUNT), (enum shape)(round % SHAPE_COUNT), random);
        paint(&frame, round, random);
        if (shape.format == PIXFMT_RGBA)
            simplify(&frame.image, settings.grey, settings.opaque);
        check_that(&check,
                   codec_encode(codec, &frame.image, &settings, &file, &error) && same_as_stb(&file, &frame.image),
                   "%s %dx%d at %d: stb_image reads other pixels", pixfmt_info(shape.format)->name, shape.width,
                   shape.height, settings.compression);
        check_that(&check, read_file(codec, &file, &image, why) && same_as_stb(&file, &image), "it is read back: %s",
                   why);
        const int channels = shape.format == PIXFMT_RGBA    ? (settings.grey ? 1 : 3) + !settings.opaque
                             : shape.format == PIXFMT_RGB24 ? 3
                                                            : 1;
        static const int colours[] = {0, 0, 4, 2, 6};
        check_that(&check, file.data[25] == colours[channels], "colour type %d for %d channels", file.data[25],
                   channels);
        frame_free(&frame);
    }
    codec_buffer_free(&file);
    image_free(&image);
}

// A block that begins with zeros after a block that ends with another byte: black rows with a last pixel of any colour.
static void test_seams(struct codec *codec, struct random *random)
{
    const struct image_shape shape = {.format = PIXFMT_GREY, .width = 3000, .height = 3 * DEFLATE_BLOCK / 3000};
    const struct codec_settings settings = {.format = CODEC_PNG, .compression = 1};
    struct codec_buffer file = {0};
    struct image image = {0}, back = {0};
    struct codec_error error;
    char why[CODEC_WHY];
    if (!image_reserve(&image, &shape))
        abort();
    memset(image.memory, 0, image.memory_bytes);
    for (int round = 0; round < 20; round++) {
        for (int y = 0; y < shape.height; y++)
            image.plane[0][(size_t)y * image.stride[0] + (size_t)shape.width - 1] = (uint8_t)random_bits(random);
        const bool ok = codec_encode(codec, &image, &settings, &file, &error) && read_file(codec, &file, &back, why);
        check_that(&check, ok, "seams: %s", why);
        for (int y = 0; ok && y < shape.height; y++)
            check_that(&check,
                       memcmp(back.plane[0] + (size_t)y * back.stride[0], image.plane[0] + (size_t)y * image.stride[0],
                              (size_t)shape.width) == 0,
                       "seams: row %d", y);
    }
    codec_buffer_free(&file);
    image_free(&image);
    image_free(&back);
}

// Checks that the file is refused, at its head or later.
static void refuse(struct codec *codec, const struct codec_buffer *file, uint64_t most, enum codec_fault fault,
                   const char *because)
{
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    const bool ok = codec_head(codec, file->data, file->size, most, &head, &error) &&
                    image_reserve(&image, &head.shape) &&
                    codec_decode(codec, file->data, file->size, &head, &image, &error);
    check_that(&check, !ok && error.fault == fault && strstr(error.why, because),
               "refused for \"%s\" (%d), not \"%s\" (%d)", because, fault, ok ? "" : error.why,
               ok ? CODEC_FINE : error.fault);
    image_free(&image);
}

static void test_refused(struct codec *codec, struct random *random)
{
    struct codec_buffer file = {0};
    struct png_wish wish = {2, 8, 0, 0, 2};
    png_make(&file, 40, 30, &wish, random);
    refuse(codec, &file, 1199, CODEC_TOO_LARGE, "at most 1199 are allowed");
    file.data[file.size - 30]++; // a byte of the pixels
    refuse(codec, &file, 0, CODEC_DAMAGED, "checksum");
    png_make(&file, 40, 30, &wish, random);
    file.size -= 12;
    refuse(codec, &file, 0, CODEC_DAMAGED, "truncated");
    png_add(&file, "CgBI", "1234", 4);
    png_add(&file, "IEND", "", 0);
    refuse(codec, &file, 0, CODEC_UNSUPPORTED, "critical chunk (CgBI)");
    file.size = 8; // as Xcode writes it: before all others
    png_add(&file, "CgBI", "1234", 4);
    png_add(&file, "IHDR", "\0\0\0\4\0\0\0\3\10\6\0\0\0", 13);
    refuse(codec, &file, 0, CODEC_UNSUPPORTED, "CgBI PNG of Xcode");
    wish.colour = 3;
    png_make(&file, 4, 3, &wish, random);
    memcpy(file.data + 37, "abCd", 4); // renames PLTE: its checksum is wrong, and it is not read
    refuse(codec, &file, 0, CODEC_DAMAGED, "palette (PLTE) is missing");
    png_begin(&file, 4, 3, &wish);
    png_add(&file, "PLTE", (const uint8_t[257 * 3]){0}, 257 * 3); // one colour more than allowed
    refuse(codec, &file, 0, CODEC_DAMAGED, "palette");
    wish = (struct png_wish){2, 8, 0, 1, 1};
    png_make(&file, 4, 3, &wish, random);
    file.data[33 + 8]++; // of the colour that is transparent
    refuse(codec, &file, 0, CODEC_DAMAGED, "checksum of its tRNS chunk");
    // A few bytes whose head claims a gigabyte.
    uint8_t head[13] = {0, 0, 0x3f, 0xff, 0, 0, 0x3f, 0xff, 8, 6, 0, 0, 0};
    file.size = 8;
    png_add(&file, "IHDR", head, 13);
    png_add(&file, "IDAT", "\x78\x01\x03\0\0\0\0\1", 8);
    png_add(&file, "IEND", "", 0);
    refuse(codec, &file, 0, CODEC_DAMAGED, "truncated");
    file.size = 8; // one row more
    memcpy(head, (const uint8_t[]){0, 0, 0x40, 0, 0, 0, 0x40, 1}, 8);
    png_add(&file, "IHDR", head, 13);
    refuse(codec, &file, 0, CODEC_TOO_LARGE, "at most 1 GiB");
    file.size = IMAGE_MAX_BYTES + 1; // none of it is read
    refuse(codec, &file, 0, CODEC_TOO_LARGE, "the file is larger than 1 GiB");
    codec_buffer_free(&file);
}

// Each byte value is several times as frequent as the next, so that Huffman codes become as long as possible; mixed
// with runs of every length.
static void fill_skewed(uint8_t *data, size_t size, int kinds, struct random *random)
{
    for (size_t i = 0; i < size;) {
        int kind = 0;
        while (kind < kinds - 1 && random_range(random, 0, 9) < 4)
            kind++;
        size_t length = random_range(random, 0, 20) ? 1 : (size_t)random_range(random, 1, 1100);
        for (; length > 0 && i < size; length--)
            data[i++] = (uint8_t)(kind * 37);
    }
}

// Each byte twice as frequent as the next, in random order: without a limit, the rarest codes would have too many bits.
static void fill_deep(uint8_t *data, size_t size, struct random *random)
{
    for (size_t i = 0, kind = 0, left = size; i < size; i++) {
        if (i >= size - left / 2 && left > 1) {
            left /= 2;
            kind++;
        }
        data[i] = (uint8_t)kind;
    }
    for (size_t i = size - 1; i > 0; i--) {
        const size_t other = random_bits(random) % (i + 1);
        const uint8_t kept = data[i];
        data[i] = data[other];
        data[other] = kept;
    }
}

// A strict inflater restores the output of deflate_block, of one block or several.
static void test_runs(struct random *random)
{
    enum { SIZE = 300000, BEFORE = 8 };
    uint8_t *data = calloc(1, BEFORE + SIZE + DEFLATE_SLACK), *packed = malloc(2 * deflate_room(SIZE));
    uint8_t *plain = malloc(SIZE);
    struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
    for (int round = 0; round < 40; round++) {
        const size_t size = (size_t)(round < 20 ? 1 + round : random_range(random, 1, SIZE));
        const size_t block = (size_t)random_range(random, 1, 2) * (size / 2 + 1);
        if (round % 4 == 3)
            fill_deep(data + BEFORE, size, random);
        else
            fill_skewed(data + BEFORE, size, random_range(random, 1, 60), random);
        data[BEFORE - 1] = (uint8_t)~data[BEFORE];
        struct deflate deflate = {.at = packed};
        for (size_t at = 0; at < size; at += block)
            deflate_block(&deflate, data + BEFORE + at, size - at < block ? size - at : block, at + block >= size);
        size_t back = 0;
        const enum libdeflate_result result =
            libdeflate_deflate_decompress(inflater, packed, (size_t)(deflate.at - packed), plain, SIZE, &back);
        check_that(&check, result == LIBDEFLATE_SUCCESS && back == size && memcmp(plain, data + BEFORE, size) == 0,
                   "%zu bytes in blocks of %zu are not restored", size, block);
    }
    libdeflate_free_decompressor(inflater);
    free(plain);
    free(data);
    free(packed);
}

int main(void)
{
    struct random random = {11};
    struct codec *codec = codec_open();
    test_runs(&random);
    test_kinds(codec, &random);
    test_written(codec, &random);
    test_seams(codec, &random);
    test_refused(codec, &random);
    codec_close(codec);
    return check_end(&check);
}
