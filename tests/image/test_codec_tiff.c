// test_codec_tiff.c: TIFF files: written and read back, files of other programs, metadata, refusals
#include "check.h"
#include "codec_files.h"
#include "pictures.h"

#include "image/codec/codec.h"

#include <libdeflate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec tiff"};

// A file made by hand (TIFF 6.0): its tags, at most TAGS of them, then the pixels.
enum { TAGS = 16, DIRECTORY_AT = 8, TAG_BYTES = 12, ROOM = 1 << 16 };
struct handmade {
    uint8_t data[ROOM];
    size_t size, pixels_at;
    bool big; // endian
    int tags;
};

static void put(struct handmade *file, size_t at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        file->data[at + (size_t)i] = (uint8_t)(value >> 8 * (file->big ? bytes - 1 - i : i));
}

// Adds a tag with one number. Tags must be added in order.
static void add_tag(struct handmade *file, int tag, uint32_t value)
{
    enum { SHORT = 3 };
    const size_t at = DIRECTORY_AT + 2 + (size_t)file->tags++ * TAG_BYTES;
    put(file, DIRECTORY_AT, (uint32_t)file->tags, 2);
    put(file, at, (uint32_t)tag, 2);
    put(file, at + 2, SHORT, 2);
    put(file, at + 4, 1, 4);
    put(file, at + 8, value, 2);
}

struct wish {
    struct {
        int bits, samples, photometric;
    } kind;
    int orientation, extra;           // zero: none
    int format, subfile, compression; // zero: the usual one
    bool big;
};

// Makes a file of one strip with this number of bytes.
static void make_packed(struct handmade *file, int width, int height, const struct wish *wish, const uint8_t *pixels,
                        size_t bytes)
{
    *file = (struct handmade){.big = wish->big};
    file->pixels_at = DIRECTORY_AT + 2 + TAGS * TAG_BYTES + 4;
    file->size = file->pixels_at + bytes;
    memcpy(file->data, wish->big ? "MM\0*" : "II*\0", 4);
    put(file, 4, DIRECTORY_AT, 4);
    if (wish->subfile)
        add_tag(file, 254, (uint32_t)wish->subfile);
    add_tag(file, 256, (uint32_t)width);
    add_tag(file, 257, (uint32_t)height);
    add_tag(file, 258, (uint32_t)wish->kind.bits); // of one sample: libtiff takes it for all
    add_tag(file, 259, wish->compression ? (uint32_t)wish->compression : 1);
    add_tag(file, 262, (uint32_t)wish->kind.photometric);
    add_tag(file, 273, (uint32_t)file->pixels_at);
    if (wish->orientation)
        add_tag(file, 274, (uint32_t)wish->orientation);
    add_tag(file, 277, (uint32_t)wish->kind.samples);
    add_tag(file, 278, (uint32_t)height);
    add_tag(file, 279, (uint32_t)bytes);
    if (wish->extra)
        add_tag(file, 338, (uint32_t)wish->extra);
    if (wish->format)
        add_tag(file, 339, (uint32_t)wish->format);
    memcpy(file->data + file->pixels_at, pixels, bytes);
}

static void make(struct handmade *file, int width, int height, const struct wish *wish, const uint8_t *pixels)
{
    const size_t bytes = ((size_t)(width * wish->kind.samples * wish->kind.bits) + 7) / 8 * (size_t)height;
    make_packed(file, width, height, wish, pixels, bytes);
}

static bool read_bytes(struct codec *codec, const uint8_t *data, size_t size, struct codec_head *head,
                       struct image *image, struct codec_error *error)
{
    return codec_head(codec, data, size, 1 << 16, head, error) && image_reserve(image, &head->shape) &&
           codec_decode(codec, data, size, head, image, error);
}

// Files of other programs with four pixels, and the bytes that must be read.
static void test_others(struct codec *codec)
{
    static const struct {
        const char *what;
        struct wish wish;
        const char *pixels;
        int channels; // expected: grey or RGBA
        uint8_t expected[16];
    } cases[] = {
        {"grey", {.kind = {8, 1, 1}}, "\1\2\3\377", 1, {1, 2, 3, 255}},
        {"white is 0", {.kind = {8, 1, 0}}, "\1\2\3\377", 1, {254, 253, 252, 0}},
        {"grey of 1 bit", {.kind = {1, 1, 1}}, "\x80\x40", 1, {255, 0, 0, 255}},
        {"grey of 4 bits", {.kind = {4, 1, 1}}, "\x0f\x37", 1, {0, 255, 51, 119}},
        {"grey of 16 bits", {.kind = {16, 1, 1}, .big = true}, "\0\200\0\201\200\0\377\377", 1, {0, 1, 128, 255}},
        {"white is 0, 16 bits", {.kind = {16, 1, 0}}, "\200\0\201\0\0\200\377\377", 1, {255, 254, 127, 0}},
        {"no orientation there is", {.kind = {8, 1, 1}, .orientation = 99}, "\1\2\3\377", 1, {1, 2, 3, 255}},
        {"RGB", {.kind = {8, 3, 2}}, "abcdefghijkl", 4, "abc\377def\377ghi\377jkl\377"},
        {"RGB, big", {.kind = {8, 3, 2}, .big = true}, "abcdefghijkl", 4, "abc\377def\377ghi\377jkl\377"},
        {"RGB of 16 bits",
         {.kind = {16, 3, 2}},
         "\377\0\200\0\201\0abcdefghijklmnopqr",
         4,
         "\1\0\1\377bdf\377hjl\377npr\377"},
        {"RGB, turned", {.kind = {8, 3, 2}, .orientation = 8}, "abcdefghijkl", 4, "abc\377def\377ghi\377jkl\377"},
        {"RGB, upside down", {.kind = {8, 3, 2}, .orientation = 4}, "abcdefghijkl", 4, "abc\377def\377ghi\377jkl\377"},
        {"straight alpha", {.kind = {8, 4, 2}, .extra = 2}, "abc\1def\0ghi\200jkl\377", 4, "abc\1def\0ghi\200jkl\377"},
        {"multiplied",
         {.kind = {8, 4, 2}, .extra = 1},
         "\1\0\1\1\2\3\4\0\100\200\0\200jkl\377",
         4,
         "\377\0\377\1\2\3\4\0\200\377\0\200jkl\377"},
        {"grey, alpha", {.kind = {8, 2, 1}, .extra = 2}, "a\1b\2c\3d\377", 4, "aaa\1bbb\2ccc\3ddd\377"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct handmade file;
        struct codec_head head;
        struct codec_error error = {0};
        struct image image = {0};
        make(&file, 2, 2, &cases[i].wish, (const uint8_t *)cases[i].pixels);
        const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
        check_that(&check, ok, "%s: %s", cases[i].what, error.why);
        const int channels = ok ? pixfmt_info(image.shape.format)->plane[0].bytes : 0;
        check_that(&check, channels == cases[i].channels, "%s: %d channels", cases[i].what, channels);
        for (int p = 0; channels == cases[i].channels && p < 4; p++) {
            const uint8_t *at = image.plane[0] + (size_t)(p / 2) * image.stride[0] + p % 2 * channels;
            check_that(&check, memcmp(at, cases[i].expected + p * channels, (size_t)channels) == 0,
                       "%s: pixel %d is %d %d %d %d", cases[i].what, p, at[0], at[1], at[2], at[3]);
        }
        check_that(&check, !ok || head.alpha == (cases[i].wish.extra > 0), "%s: alpha", cases[i].what);
        const int orientation = cases[i].wish.orientation;
        check_that(&check, !ok || head.orientation == (orientation > 0 && orientation <= 8 ? orientation : 1),
                   "%s: orientation %d", cases[i].what, head.orientation);
        image_free(&image);
    }
}

// A BigTIFF file of one pixel, with a colour of a 16-bit palette. With an extra sample, the file is refused:
// libtiff then reads tiles at the right edge from a wrong offset.
static void test_big_palette(struct codec *codec, uint32_t samples)
{
    enum { TAGS_OF = 9, TAG = 20, MAP = 3 * 256 * 2, MAP_AT = 16 + 8 + TAGS_OF * TAG + 8, PIXEL_AT = MAP_AT + MAP };
    const uint32_t tags[TAGS_OF][3] = {{256, 1, 1},       {257, 1, 1},       {258, 1, 8},
                                       {259, 1, 1},       {262, 1, 3},       {273, 1, PIXEL_AT},
                                       {277, 1, samples}, {279, 1, samples}, {320, 768, MAP_AT}};
    static struct handmade file;
    file = (struct handmade){.size = PIXEL_AT + samples};
    memcpy(file.data, "II+\0\10\0\0\0\20", 9);
    put(&file, 16, TAGS_OF, 4);
    for (size_t i = 0; i < TAGS_OF; i++) {
        put(&file, 24 + TAG * i, tags[i][0], 2);
        put(&file, 26 + TAG * i, 3, 2); // SHORT
        put(&file, 28 + TAG * i, tags[i][1], 4);
        put(&file, 36 + TAG * i, tags[i][2], 4);
    }
    file.data[PIXEL_AT] = 5;
    put(&file, MAP_AT + 2 * 5, 128, 2);
    put(&file, MAP_AT + 2 * (256 + 5), 129, 2);
    put(&file, MAP_AT + 2 * (512 + 5), 0xffff, 2);
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
    if (samples == 1)
        check_that(&check, ok && memcmp(image.plane[0], "\0\1\377\377", 4) == 0, "BigTIFF: %s", error.why);
    else
        check_that(&check, !ok && strstr(error.why, "beside a palette"), "a palette and a sample: %s", error.why);
    image_free(&image);
}

// An image of 2x2 pixels in the corner of one uncompressed tile of the smallest size.
static void test_tile(struct codec *codec)
{
    enum { SIDE = 16, BYTES = SIDE * SIDE };
    static struct handmade file;
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    file = (struct handmade){.pixels_at = DIRECTORY_AT + 2 + TAGS * TAG_BYTES + 4};
    file.size = file.pixels_at + BYTES;
    const int tags[][2] = {{256, 2},    {257, 2},    {258, 8},
                           {259, 1},    {262, 1},    {277, 1},
                           {322, SIDE}, {323, SIDE}, {324, (int)file.pixels_at},
                           {325, BYTES}};
    memcpy(file.data, "II*\0", 4);
    put(&file, 4, DIRECTORY_AT, 4);
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        add_tag(&file, tags[i][0], (uint32_t)tags[i][1]);
    for (int i = 0; i < BYTES; i++)
        file.data[file.pixels_at + (size_t)i] = (uint8_t)i;
    const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
    check_that(&check, ok, "tile: %s", error.why);
    check_that(&check,
               ok && memcmp(image.plane[0], "\0\1", 2) == 0 &&
                   memcmp(image.plane[0] + image.stride[0], "\20\21", 2) == 0,
               "tile: its pixels");
    check_that(&check, !read_bytes(codec, file.data, file.size - 1, &head, &image, &error), "tile cut short");
    image_free(&image);
}

// The most memory that libtiff may need at once: 16-bit samples in one strip, compressed to a few bytes.
static void test_deep(struct codec *codec)
{
    enum { SIDE = 2400, BYTES = 8 * SIDE * SIDE };
    static const struct wish wish = {.kind = {16, 4, 2}, .extra = 2, .compression = 8};
    static uint8_t packed[ROOM / 2 + ROOM / 4];
    static struct handmade file;
    struct libdeflate_compressor *deflater = libdeflate_alloc_compressor(9);
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    uint8_t *pixels = malloc(BYTES);
    if (!deflater || !pixels)
        abort();
    memset(pixels, 0xff, BYTES);
    const size_t size = libdeflate_zlib_compress(deflater, pixels, BYTES, packed, sizeof(packed));
    make_packed(&file, SIDE, SIDE, &wish, packed, size);
    const bool ok = size > 0 && codec_head(codec, file.data, file.size, 0, &head, &error) &&
                    image_reserve(&image, &head.shape) &&
                    codec_decode(codec, file.data, file.size, &head, &image, &error);
    check_that(&check, ok && memcmp(image.plane[0], pixels, (size_t)SIDE * 4) == 0, "deep, %zu bytes: %s", size,
               error.why);
    libdeflate_free_compressor(deflater);
    image_free(&image);
    free(pixels);
}

// Files with every kind of samples: extra samples, planar and interleaved, in strips and in tiles.
struct samples {
    int photometric, bits, extras, extra[2], planar; // planar: 1 together, 2 apart
    bool big, tiled;
};

enum { GRID_WIDTH = 19, GRID_HEIGHT = 17, TILE = 16, STRIP = 5, GRID_SAMPLES = 5 };
typedef uint16_t grid[GRID_HEIGHT][GRID_WIDTH][GRID_SAMPLES];

static void add_numbers(struct handmade *file, int tag, int count, const uint32_t *numbers)
{
    enum { LONG = 4 };
    const size_t at = DIRECTORY_AT + 2 + (size_t)file->tags * TAG_BYTES;
    add_tag(file, tag, 0);
    put(file, at + 2, LONG, 2);
    put(file, at + 4, (uint32_t)count, 4);
    put(file, at + 8, count == 1 ? numbers[0] : (uint32_t)file->size, 4);
    for (int i = 0; count > 1 && i < count; i++, file->size += 4)
        put(file, file->size, numbers[i], 4);
}

// A strip or a tile, whose first pixel is (left, top), of the samples `first` to `last`.
static void add_block(struct handmade *file, const struct samples *kind, grid pixels, int left, int top, int first,
                      int last)
{
    const int width = kind->tiled ? TILE : GRID_WIDTH, bytes = kind->bits / 8;
    const int height = kind->tiled ? TILE : top + STRIP < GRID_HEIGHT ? STRIP : GRID_HEIGHT - top;
    for (int y = top; y < top + height; y++)
        for (int x = left; x < left + width; x++)
            for (int s = first; s <= last; s++, file->size += (size_t)bytes)
                put(file, file->size, y < GRID_HEIGHT && x < GRID_WIDTH ? pixels[y][x][s] : 0x5a5a, bytes);
}

static void make_samples(struct handmade *file, const struct samples *kind, grid pixels)
{
    const int samples = (kind->photometric == 2 ? 3 : 1) + kind->extras, planes = kind->planar == 2 ? samples : 1;
    uint32_t offsets[64], sizes[64];
    int blocks = 0;
    *file = (struct handmade){.big = kind->big, .size = DIRECTORY_AT + 2 + TAGS * TAG_BYTES + 4};
    memcpy(file->data, kind->big ? "MM\0*" : "II*\0", 4);
    put(file, 4, DIRECTORY_AT, 4);
    for (int p = 0; p < planes; p++)
        for (int y = 0; y < GRID_HEIGHT; y += kind->tiled ? TILE : STRIP)
            for (int x = 0; x < GRID_WIDTH; x += kind->tiled ? TILE : GRID_WIDTH, blocks++) {
                offsets[blocks] = (uint32_t)file->size;
                add_block(file, kind, pixels, x, y, p, planes > 1 ? p : samples - 1);
                sizes[blocks] = (uint32_t)file->size - offsets[blocks];
            }
    add_tag(file, 256, GRID_WIDTH);
    add_tag(file, 257, GRID_HEIGHT);
    add_tag(file, 258, (uint32_t)kind->bits);
    add_tag(file, 259, 1);
    add_tag(file, 262, (uint32_t)kind->photometric);
    if (!kind->tiled)
        add_numbers(file, 273, blocks, offsets);
    add_tag(file, 277, (uint32_t)samples);
    if (!kind->tiled) {
        add_tag(file, 278, STRIP);
        add_numbers(file, 279, blocks, sizes);
    }
    add_tag(file, 284, (uint32_t)kind->planar);
    if (kind->tiled) {
        add_tag(file, 322, TILE);
        add_tag(file, 323, TILE);
        add_numbers(file, 324, blocks, offsets);
        add_numbers(file, 325, blocks, sizes);
    }
    if (kind->extras == 0)
        return;
    const size_t at = DIRECTORY_AT + 2 + (size_t)file->tags * TAG_BYTES;
    add_tag(file, 338, (uint32_t)kind->extra[0]);
    put(file, at + 4, (uint32_t)kind->extras, 4);
    if (kind->extras == 2)
        put(file, at + 10, (uint32_t)kind->extra[1], 2);
}

// TIFF 6.0, section 18: premultiplied colours are divided by alpha; all samples are rounded to 8 bits.
static void expect_pixel(const struct samples *kind, const uint16_t *sample, uint8_t rgba[4])
{
    const double most = kind->bits == 16 ? 65535 : 255;
    const int colours = kind->photometric == 2 ? 3 : 1;
    const bool unspecified = colours == 3 && kind->extras > 0 && kind->extra[0] == 0; // libtiff treats it as alpha
    const double alpha = kind->extras > 0 && (kind->extra[0] > 0 || unspecified) ? (double)sample[colours] / most : 1;
    for (int c = 0; c < 3; c++) {
        double value = sample[colours == 3 ? c : 0] / most;
        if (kind->extras > 0 && kind->extra[0] == 1 && sample[colours] > 0)
            value = sample[colours == 3 ? c : 0] / (double)sample[colours];
        value = value < 1 ? value : 1;
        rgba[c] = (uint8_t)(value * 255 + 0.5);
        rgba[c] = kind->photometric == 0 ? 255 - rgba[c] : rgba[c];
    }
    rgba[3] = (uint8_t)(alpha * 255 + 0.5);
}

static void check_samples(struct codec *codec, const struct samples *kind, grid pixels)
{
    static struct handmade file;
    char what[100];
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    snprintf(what, sizeof(what), "photometric %d, %d bits, %d extra (%d %d), planar %d, %s, %s", kind->photometric,
             kind->bits, kind->extras, kind->extra[0], kind->extra[1], kind->planar, kind->big ? "big" : "little",
             kind->tiled ? "tiles" : "strips");
    make_samples(&file, kind, pixels);
    const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
    if (kind->extras == 2 && kind->extra[0] == 0 && kind->extra[1] > 0) {
        check_that(&check, !ok && error.fault == CODEC_UNSUPPORTED, "%s: alpha behind another sample is read", what);
        image_free(&image);
        return;
    }
    if (!check_that(&check, ok, "%s: %s", what, error.why))
        return;
    const bool alpha = kind->extras > 0 && (kind->extra[0] > 0 || kind->photometric == 2);
    const int channels = pixfmt_info(image.shape.format)->plane[0].bytes;
    int wrong = 0;
    check_that(&check, head.alpha == alpha && channels == (kind->photometric < 2 && !alpha ? 1 : 4),
               "%s: %d channels, alpha %d", what, channels, head.alpha);
    for (int y = 0; y < GRID_HEIGHT; y++)
        for (int x = 0; x < GRID_WIDTH; x++) {
            uint8_t rgba[4];
            expect_pixel(kind, pixels[y][x], rgba);
            wrong += memcmp(rgba, image.plane[0] + (size_t)y * image.stride[0] + (size_t)(x * channels),
                            (size_t)channels) != 0;
        }
    check_that(&check, wrong == 0, "%s: %d pixels are wrong", what, wrong);
    image_free(&image);
}

static void test_samples(struct codec *codec, struct random *random)
{
    static const int extras[][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {1, 2, 0},
                                    {2, 0, 0}, {2, 1, 0}, {2, 2, 0}, {2, 0, 2}};
    static grid pixels;
    for (int y = 0; y < GRID_HEIGHT; y++)
        for (int x = 0; x < GRID_WIDTH; x++)
            for (int s = 0; s < GRID_SAMPLES; s++) {
                const uint32_t bits = random_bits(random);
                pixels[y][x][s] = (uint16_t)(bits % 8 == 0 ? 0 : bits % 8 == 1 ? 0xffff : bits >> 16);
            }
    for (size_t e = 0; e < sizeof(extras) / sizeof(*extras); e++)
        for (int i = 0; i < 3 * 2 * 2 * 2 * 2; i++) {
            const struct samples kind = {.photometric = i / 16,
                                         .bits = i & 8 ? 16 : 8,
                                         .extras = extras[e][0],
                                         .extra = {extras[e][1], extras[e][2]},
                                         .planar = i & 4 ? 2 : 1,
                                         .big = i & 2,
                                         .tiled = i & 1};
            grid cut;
            memcpy(cut, pixels, sizeof(cut));
            for (size_t k = 0; kind.bits == 8 && k < sizeof(cut) / sizeof(uint16_t); k++)
                (&cut[0][0][0])[k] &= 0xff;
            check_samples(codec, &kind, cut);
        }
}

// The largest possible image with few bytes: its head is refused before memory is allocated.
static void test_short(struct codec *codec)
{
    static const int compressions[] = {1, 5, 8, 32773, 32946};
    static const uint8_t pixels[64];
    static struct handmade file;
    struct codec_head head;
    struct codec_error error;
    for (size_t i = 0; i < sizeof(compressions) / sizeof(*compressions); i++) {
        const struct wish wish = {.kind = {8, 3, 2}, .compression = compressions[i]};
        make_packed(&file, 16384, 16384, &wish, pixels, sizeof(pixels));
        check_that(&check,
                   !codec_head(codec, file.data, file.size, 0, &head, &error) && error.fault == CODEC_DAMAGED &&
                       strstr(error.why, "truncated"),
                   "compression %d: not refused as truncated, but: %s", compressions[i], error.why);
    }
}

// EXIF data that reach beyond the end of the file are left out with a warning.
static void test_exif_past_end(struct codec *codec)
{
    enum { MAKER = 271, ASCII = 2, LENGTH = 100 };
    static const struct wish wish = {.kind = {8, 1, 1}};
    static struct handmade file;
    make(&file, 2, 2, &wish, (const uint8_t *)"\1\2\3\4");
    const size_t at = DIRECTORY_AT + 2 + 4 * TAG_BYTES; // of the photometric tag, which grey needs not; 262 < 271 < 273
    for (int past = 0; past < 2; past++) {
        struct codec_head head;
        struct codec_error error = {0};
        memset(file.data + file.size, 'm', LENGTH);
        put(&file, at, MAKER, 2);
        put(&file, at + 2, ASCII, 2);
        put(&file, at + 4, LENGTH, 4);
        put(&file, at + 8, (uint32_t)file.size, 4);
        const size_t size = file.size + LENGTH - (size_t)past;
        const bool ok = codec_head(codec, fenced(file.data, size), size, 0, &head, &error);
        const bool has =
            ok && head.metadata.exif.data && memmem(head.metadata.exif.data, head.metadata.exif.size, "mmm", 3);
        check_that(&check, ok && has == !past && (head.metadata.left_out[0] != 0) == past,
                   "a maker's name, %d bytes past the end: %s, left out: %s", past, error.why, head.metadata.left_out);
    }
}

static void test_refused(struct codec *codec)
{
    static const struct {
        struct wish wish;
        const char *because;
        enum codec_fault fault;
    } cases[] = {
        {{.kind = {8, 4, 5}}, "CMYK", CODEC_UNSUPPORTED},
        {{.kind = {16, 5, 5}, .extra = 2}, "CMYK", CODEC_UNSUPPORTED},
        {{.kind = {8, 3, 6}}, "to 8-bit RGB first", CODEC_UNSUPPORTED},
        {{.kind = {4, 2, 1}, .extra = 2}, "to 8-bit RGB first", CODEC_UNSUPPORTED},
        {{.kind = {8, 1, 1}, .extra = 2}, "fewer samples", CODEC_UNSUPPORTED},
        {{.kind = {32, 1, 1}, .format = 3}, "to 8-bit RGB first", CODEC_UNSUPPORTED},
        {{.kind = {16, 1, 1}, .format = 2}, "signed samples", CODEC_UNSUPPORTED},
        {{.kind = {8, 3, 2}, .compression = 7}, "Not a JPEG file", CODEC_DAMAGED},
        {{.kind = {8, 3, 2}, .subfile = 1}, "thumbnail", CODEC_UNSUPPORTED},
        {{.kind = {8, 3, 2}, .compression = 5}, "damaged", CODEC_DAMAGED},
    };
    static const uint8_t pixels[64];
    static struct handmade file, two;
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        make(&file, 2, 2, &cases[i].wish, pixels);
        const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
        check_that(&check,
                   !ok && error.fault == cases[i].fault && strstr(error.why, cases[i].because) &&
                       !strstr(error.why, "Sorry"), // written by libtiff
                   "%s: %s", cases[i].because, ok ? "read" : error.why);
    }
    const struct wish grey = {.kind = {8, 1, 1}};
    make(&file, 60, 60, &grey, (const uint8_t[3600]){0});
    check_that(&check, !codec_head(codec, file.data, file.size, 3599, &head, &error) && error.fault == CODEC_TOO_LARGE,
               "3600 pixels: %s", error.why);
    check_that(&check,
               !read_bytes(codec, file.data, file.size - 1, &head, &image, &error) && error.fault == CODEC_DAMAGED,
               "cut short: %s", error.why);
    make(&two, 2, 2, &grey, pixels); // a second directory like the first, after it
    const size_t directory = 2 + (size_t)two.tags * TAG_BYTES;
    memcpy(two.data + two.size, two.data + DIRECTORY_AT, directory);
    put(&two, DIRECTORY_AT + directory, (uint32_t)two.size, 4);
    two.size += directory + 4;
    check_that(&check, !codec_head(codec, two.data, two.size, 0, &head, &error) && strstr(error.why, "several pages"),
               "two pages: %s", error.why);
    image_free(&image);
}

static void fill(struct image *image, int width, int height, const struct codec_settings *settings,
                 struct random *random)
{
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = width, .height = height};
    if (!image_reserve(image, &shape))
        abort();
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint8_t *p = image->plane[0] + (size_t)y * image->stride[0] + 4 * (size_t)x;
            for (int c = 0; c < 4; c++)
                p[c] = settings->grey && c > 0 && c < 3 ? p[0] : (uint8_t)random_bits(random);
            p[3] = settings->opaque ? 255 : p[3];
        }
}

static bool same_pixels(const struct image *rgba, const struct image *read)
{
    const int bytes = pixfmt_info(read->shape.format)->plane[0].bytes;
    bool same = true;
    for (int y = 0; y < rgba->shape.height; y++)
        for (int x = 0; x < rgba->shape.width; x++)
            same &= memcmp(rgba->plane[0] + (size_t)y * rgba->stride[0] + 4 * (size_t)x,
                           read->plane[0] + (size_t)y * read->stride[0] + (size_t)(x * bytes), (size_t)bytes) == 0;
    return same;
}

// Written files are read back, with every choice of metadata; the orientation of the EXIF data is kept.
static void test_written(struct codec *codec, struct random *random)
{
    static const uint8_t exif[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0";
    static const uint8_t icc[] = "a profile", xmp[] = "<x:xmpmeta/>";
    struct image image = {0}, again = {0};
    struct codec_buffer file = {0};
    for (int i = 0; i < 128; i++) {
        struct codec_settings settings = {
            .format = CODEC_TIFF, .opaque = i & 1, .grey = i & 2, .compression = i % 10, .orientation = i & 32 ? 1 : 0};
        settings.metadata.icc = i & 4 ? (struct codec_bytes){icc, sizeof(icc) - 1} : settings.metadata.icc;
        settings.metadata.exif = i & 8 ? (struct codec_bytes){exif, sizeof(exif)} : settings.metadata.exif;
        settings.metadata.xmp = i & 16 ? (struct codec_bytes){xmp, sizeof(xmp) - 1} : settings.metadata.xmp;
        struct codec_head head;
        struct codec_error error;
        fill(&image, random_range(random, 1, 200), random_range(random, 1, 200), &settings, random);
        const bool ok = codec_encode(codec, &image, &settings, &file, &error) &&
                        read_bytes(codec, file.data, file.size, &head, &again, &error);
        if (!check_that(&check, ok, "%d: %s", i, error.why))
            continue;
        check_that(&check,
                   again.shape.format == (settings.grey && settings.opaque ? PIXFMT_GREY : PIXFMT_RGBA) &&
                       head.alpha == !settings.opaque,
                   "%d: channels", i);
        check_that(&check, same_pixels(&image, &again), "%d: other pixels", i);
        check_that(&check, head.metadata.icc.size == settings.metadata.icc.size, "%d: profile", i);
        check_that(&check, head.metadata.xmp.size == settings.metadata.xmp.size, "%d: XMP", i);
        check_that(&check, head.orientation == (i & 8 && !(i & 32) ? 6 : 1), "%d: orientation %d", i, head.orientation);
    }
    codec_buffer_free(&file);
    image_free(&image);
    image_free(&again);
}

// Truncated at every byte and changed at random, a file is refused or read, without reads beyond its bytes.
static void test_damage(struct codec *codec, struct random *random)
{
    const struct codec_settings settings = {.format = CODEC_TIFF, .metadata.xmp = {(const uint8_t *)"<x/>", 4}};
    struct image image = {0}, again = {0};
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error;
    fill(&image, 24, 12, &settings, random);
    codec_encode(codec, &image, &settings, &file, &error);
    for (size_t round = 0; round < file.size + 4000; round++) {
        const size_t size = round < file.size ? round : file.size;
        uint8_t *copy = fenced(file.data, size);
        for (int k = 0; round >= file.size && k < 3; k++) // in the directory (at the end) in half of the cases
            copy[(size_t)random_range(random, k % 2 ? (int)size - 220 : 0, (int)size - 1)] =
                (uint8_t)random_bits(random);
        const bool read = read_bytes(codec, copy, size, &head, &again, &error);
        check_that(&check, read || error.why[0], "refused without a reason");
        check_that(&check, !read || round >= file.size || round + 8 > file.size, "cut at %zu of %zu and read", round,
                   file.size);
    }
    codec_buffer_free(&file);
    image_free(&image);
    image_free(&again);
}

// SampleFormat 4, undefined data, is read as unsigned, as other readers do; signed and floating-point samples are
// refused.
static void test_sample_formats(struct codec *codec)
{
    static const uint8_t pixels[] = {0, 100, 200, 255};
    for (int format = 1; format <= 4; format++) {
        struct handmade file;
        struct codec_head head;
        struct codec_error error;
        struct image image = {0};
        make(&file, 4, 1, &(struct wish){.kind = {8, 1, 1}, .format = format}, pixels);
        const bool ok = read_bytes(codec, file.data, file.size, &head, &image, &error);
        if (format == 1 || format == 4)
            check_that(&check, ok && memcmp(image_row(&image, 0, 0), pixels, sizeof(pixels)) == 0, "format %d: %s",
                       format, error.why);
        else
            check_that(&check, !ok && error.fault == CODEC_UNSUPPORTED, "format %d: %s", format, error.why);
        image_free(&image);
    }
}

int main(void)
{
    struct random random = {7};
    struct codec *codec = codec_open();
    enum codec_format format;
    if (codec && codec_from_name("tiff", &format)) {
        test_others(codec);
        test_big_palette(codec, 1);
        test_big_palette(codec, 2);
        test_tile(codec);
        test_deep(codec);
        test_samples(codec, &random);
        test_short(codec);
        test_exif_past_end(codec);
        test_refused(codec);
        test_sample_formats(codec);
        test_written(codec, &random);
        test_damage(codec, &random);
    } else if (codec) { // a build without libtiff names the format
        struct codec_head refused;
        struct codec_error error;
        check_that(&check,
                   !codec_head(codec, "II*\0\x08\0\0\0", 8, 0, &refused, &error) && error.fault == CODEC_UNSUPPORTED &&
                       strstr(error.why, "TIFF"),
                   "TIFF: %s", error.why);
    }
    codec_close(codec);
    return check_end(&check);
}
