// test_codec_webp.c: WebP files: written and read back, metadata, damaged and refused files
#include "check.h"
#include "codec_files.h"
#include "pictures.h"

#include "image/codec/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec webp"};

static void fill(struct image *image, int width, int height, struct random *random)
{
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = width, .height = height};
    if (!image_reserve(image, &shape))
        abort();
    for (size_t i = 0; i < image->memory_bytes; i++)
        ((uint8_t *)image->memory)[i] = (uint8_t)random_bits(random);
}

static long difference(const struct image *a, const struct image *b, bool opaque)
{
    long sum = 0;
    for (int y = 0; y < a->shape.height; y++)
        for (int x = 0; x < 4 * a->shape.width; x++) {
            const int from = opaque && x % 4 == 3 ? 255 : a->plane[0][(size_t)y * a->stride[0] + (size_t)x];
            sum += labs((long)from - b->plane[0][(size_t)y * b->stride[0] + (size_t)x]);
        }
    return sum;
}

static bool read_back(struct codec *codec, const struct codec_buffer *file, struct codec_head *head,
                      struct image *image, struct codec_error *error)
{
    return codec_head(codec, file->data, file->size, 0, head, error) && image_reserve(image, &head->shape) &&
           codec_decode(codec, file->data, file->size, head, image, error);
}

static void test_pixels(struct codec *codec, struct random *random)
{
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 3}, {17, 9}, {64, 33}};
    struct image from = {0}, to = {0};
    struct codec_buffer file = {0};
    for (int i = 0; i < 20; i++) {
        const bool opaque = i % 2;
        const struct codec_settings settings = {
            .format = CODEC_WEBP, .quality = i < 10 ? 100 : 0, .opaque = opaque, .orientation = 1};
        struct codec_head head;
        struct codec_error error;
        fill(&from, sizes[i / 2 % 5][0], sizes[i / 2 % 5][1], random);
        if (i >= 10) // lossy files keep only uniform images
            memset(from.memory, 77, from.memory_bytes);
        const bool ok = codec_encode(codec, &from, &settings, &file, &error) &&
                        read_back(codec, &file, &head, &to, &error) && head.format == CODEC_WEBP &&
                        head.shape.width == from.shape.width && head.shape.height == from.shape.height;
        check_that(&check, ok, "%dx%d: %s", from.shape.width, from.shape.height, error.why);
        const long off = ok ? difference(&from, &to, opaque) : -1;
        check_that(&check, off >= 0 && off <= (i < 10 ? 0 : 8L * from.shape.width * from.shape.height),
                   "%dx%d, quality %d: off by %ld", from.shape.width, from.shape.height, settings.quality, off);
        check_that(&check, !ok || (head.quality == (i < 10 ? 100 : 90) && head.orientation == 1), "quality %d",
                   head.quality);
        check_that(&check, !ok || !opaque || !head.alpha, "opaque, but has alpha");
    }
    codec_buffer_free(&file);
    image_free(&from);
    image_free(&to);
}

enum { FLAGS_AT = 20, FLAG_ALPHA = 0x10, ICC_AT = 38, CHUNK_HEAD = 8 }; // RFC 9649, section 2.7

// Every combination of profile, EXIF and XMP data, even and odd sizes, lossy and lossless, with and without alpha.
static void test_metadata(struct codec *codec, struct random *random)
{
    static const uint8_t prefixed[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0";
    const uint8_t *const exif = prefixed + 6;
    const size_t exif_bytes = sizeof(prefixed) - 6;
    static const uint8_t icc[] = "a profile", xmp[] = "<x:xmpmeta/>";
    struct image image = {0}, again = {0};
    struct codec_buffer file = {0};
    fill(&image, 19, 8, random);
    for (int i = 0; i < 64; i++) {
        struct codec_settings settings = {.format = CODEC_WEBP, .quality = i & 8 ? 100 : 50, .opaque = i & 16};
        struct codec_head head;
        struct codec_error error;
        settings.orientation = i & 32 ? 1 : 0;
        settings.metadata.icc = i & 1 ? (struct codec_bytes){icc, sizeof(icc) - 1} : settings.metadata.icc;
        settings.metadata.exif = i & 2 ? (struct codec_bytes){exif, exif_bytes} : settings.metadata.exif;
        settings.metadata.xmp = i & 4 ? (struct codec_bytes){xmp, sizeof(xmp) - 1} : settings.metadata.xmp;
        const bool ok =
            codec_encode(codec, &image, &settings, &file, &error) && read_back(codec, &file, &head, &again, &error);
        check_that(&check, ok, "metadata %d: %s", i, error.why);
        if (!ok)
            continue;
        check_that(&check, head.metadata.icc.size == (i & 1 ? sizeof(icc) - 1 : 0), "%d: profile", i);
        check_that(&check, head.metadata.exif.size == (i & 2 ? exif_bytes : 0), "%d: EXIF", i);
        check_that(&check, head.metadata.xmp.size == (i & 4 ? sizeof(xmp) - 1 : 0), "%d: XMP", i);
        check_that(&check, head.orientation == (i & 2 && !(i & 32) ? 6 : 1), "%d: orientation %d", i, head.orientation);
        check_that(&check, head.alpha == !(i & 16), "%d: alpha", i);
        check_that(&check, !(i & 7) || !(file.data[FLAGS_AT] & FLAG_ALPHA) == !head.alpha, "%d: alpha is announced", i);
        check_that(&check, !(i & 1) || file.data[ICC_AT + sizeof(icc) - 1] == 0, "%d: the padding byte is 0", i);
        check_that(&check, !(i & 8) || difference(&image, &again, i & 16) == 0, "%d: other pixels", i);
    }
    // EXIF data as some programs write them: with the prefix of JPEG files.
    struct codec_settings settings = {
        .format = CODEC_WEBP, .quality = 100, .metadata.xmp = {prefixed, sizeof(prefixed)}};
    struct codec_head head;
    struct codec_error error;
    const bool made = codec_encode(codec, &image, &settings, &file, &error);
    memcpy(file.data + file.size - sizeof(prefixed) - sizeof(prefixed) % 2 - CHUNK_HEAD, "EXIF", 4);
    check_that(&check,
               made && read_back(codec, &file, &head, &again, &error) && head.metadata.exif.size == exif_bytes &&
                   head.orientation == 6,
               "EXIF data behind its prefix: %zu bytes, orientation %d", head.metadata.exif.size, head.orientation);
    codec_buffer_free(&file);
    image_free(&image);
    image_free(&again);
}

static bool is_inside(struct codec_bytes bytes, const uint8_t *data, size_t size)
{
    return bytes.data >= data && bytes.size <= size && bytes.data <= data + size - bytes.size;
}

// Truncated at every byte and changed at random, a file is refused or read, without reads beyond its bytes.
static void test_damage(struct codec *codec, struct random *random)
{
    static const uint8_t xmp[] = "<x:xmpmeta/>";
    struct image image = {0}, again = {0};
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error;
    fill(&image, 24, 12, random);
    for (int kind = 0; kind < 2; kind++) {
        const struct codec_settings settings = {
            .format = CODEC_WEBP, .quality = kind ? 100 : 70, .metadata.xmp = {xmp, sizeof(xmp)}};
        codec_encode(codec, &image, &settings, &file, &error);
        for (size_t round = 0; round < file.size + 2000; round++) {
            const size_t size = round < file.size ? round : file.size;
            uint8_t *copy = fenced(file.data, size);
            for (int k = 0; round >= file.size && k < 3; k++)
                copy[(size_t)random_range(random, 0, (int)size - 1)] = (uint8_t)random_bits(random);
            const struct codec_buffer part = {copy, size, size};
            const bool read =
                codec_head(codec, copy, size, 1 << 16, &head, &error) && read_back(codec, &part, &head, &again, &error);
            check_that(&check, read || error.why[0], "refused without a reason");
            check_that(&check, !read || head.metadata.xmp.size == 0 || is_inside(head.metadata.xmp, copy, size),
                       "XMP data beyond the end at %zu of %zu", size, file.size);
            check_that(&check, !read || round + 64 > file.size, "cut at %zu of %zu and read", round, file.size);
        }
    }
    codec_buffer_free(&file);
    image_free(&image);
    image_free(&again);
}

static void test_refused(struct codec *codec, struct random *random)
{
    uint8_t animated[] = "RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0";
    struct image image = {0};
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error;
    check_that(&check,
               !codec_head(codec, animated, sizeof(animated) - 1, 0, &head, &error) &&
                   error.fault == CODEC_UNSUPPORTED && strstr(error.why, "animated"),
               "animated: %s", error.why);
    fill(&image, 16384, 1, random);
    check_that(&check,
               !codec_encode(codec, &image, &(struct codec_settings){.format = CODEC_WEBP}, &file, &error) &&
                   error.fault == CODEC_TOO_LARGE,
               "16384 pixels wide: %s", error.why);
    fill(&image, 300, 10, random);
    codec_encode(codec, &image, &(struct codec_settings){.format = CODEC_WEBP}, &file, &error);
    check_that(&check, !codec_head(codec, file.data, file.size, 2999, &head, &error) && error.fault == CODEC_TOO_LARGE,
               "3000 pixels: %s", error.why);
    codec_buffer_free(&file);
    image_free(&image);
}

int main(void)
{
    static const char head[] = "RIFF\0\0\0\0WEBPVP8 ";
    struct random random = {7};
    struct codec *codec = codec_open();
    enum codec_format format;
    if (codec && codec_from_name("webp", &format)) {
        test_pixels(codec, &random);
        test_metadata(codec, &random);
        test_damage(codec, &random);
        test_refused(codec, &random);
    } else if (codec) { // a build without libwebp names the format
        struct codec_head refused;
        struct codec_error error;
        check_that(&check,
                   !codec_head(codec, head, sizeof(head) - 1, 0, &refused, &error) &&
                       error.fault == CODEC_UNSUPPORTED && strstr(error.why, "WebP"),
                   "WebP: %s", error.why);
    }
    codec_close(codec);
    return check_end(&check);
}
