// test_codec.c: metadata between files of all formats, orientations, and the table of codecs
#include "check.h"
#include "codec_files.h"
#include "image/codec/codec_kind.h"
#include "image/codec/metadata.h"

#include <libdeflate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec"};

// TIFF data of two directories: orientation 6; a thumbnail, in the middle or at the end.
static size_t make_exif(uint8_t exif[128], bool big_endian, bool thumbnail_last)
{
    static const struct {
        int at, bytes;
        uint32_t value;
    } fields[] = {
        {2, 2, 42},  {4, 4, 8},      {8, 2, 1},  {10, 2, 0x112}, {12, 2, 3},  {14, 4, 1},
        {18, 2, 6},  {22, 4, 40},    {40, 2, 2}, {42, 2, 0x201}, {44, 2, 4},  {46, 4, 1},
        {50, 4, 80}, {54, 2, 0x202}, {56, 2, 4}, {58, 4, 1},     {62, 4, 20},
    };
    memset(exif, 0, 128);
    memset(exif, big_endian ? 'M' : 'I', 2);
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (int b = 0; b < fields[i].bytes; b++)
            exif[fields[i].at + (big_endian ? fields[i].bytes - 1 - b : b)] = (uint8_t)(fields[i].value >> (8 * b));
    memcpy(exif + 80, "thumbnail, a picture", 20);
    if (thumbnail_last)
        return 100;
    memcpy(exif + 100, "notes", 5);
    return 105;
}

static void test_exif(void)
{
    for (int i = 0; i < 4; i++) {
        uint8_t exif[128], cut[128];
        const bool last = i / 2 == 1;
        const size_t size = make_exif(exif, i % 2, last);
        check_that(&check, exif_orientation(exif, size) == 6, "orientation %d", exif_orientation(exif, size));
        memcpy(cut, exif, sizeof(cut));
        const size_t left = exif_settle(cut, size, &(struct metadata_target){4, 3, 1, false, false, false});
        check_that(&check, left == (last ? 80 : size) && exif_orientation(cut, left) == 1, "settled: %zu bytes, %d",
                   left, exif_orientation(cut, left));
        check_that(&check, !memmem(cut, left, "thumb", 5), "the thumbnail is still there");
        check_that(&check, last || memmem(cut, left, "notes", 5), "the bytes after it are missing");
        check_that(&check, memcmp(cut + 22, "\0\0\0\0", 4) == 0, "its directory is still linked");
        memcpy(cut, exif, sizeof(cut));
        memset(cut + 50, 0, 4);
        cut[i % 2 ? 53 : 50] = 12; // a thumbnail within the first directory: all is kept
        check_that(&check,
                   exif_settle(cut, size, &(struct metadata_target){4, 3, 3, false, false, false}) == size &&
                       exif_orientation(cut, size) == 3,
                   "a thumbnail in place of the directory");
        memcpy(cut, exif, sizeof(cut));
        check_that(
            &check,
            exif_orientation(cut, exif_settle(cut, size, &(struct metadata_target){4, 3, 0, false, false, false})) == 6,
            "0 leaves the orientation");
        cut[i % 2 ? 18 : 19] = 1; // 256 more
        check_that(&check, exif_orientation(cut, size) == 1, "an invalid orientation counts as 1");
        exif_settle(cut, size, &(struct metadata_target){4, 3, 8, false, false, false});
        check_that(&check, exif_orientation(cut, size) == 8, "both bytes of an orientation are set");
        for (size_t end = 0; end < size; end++) {
            uint8_t *part = fenced(exif, end);
            const int orientation = exif_orientation(part, end);
            check_that(&check,
                       orientation == (end < 22 ? 1 : 6) &&
                           exif_settle(part, end, &(struct metadata_target){4, 3, 3, false, false, false}) <= end,
                       "cut at %zu: orientation %d", end, orientation);
        }
    }
}

static bool same(struct codec_bytes a, struct codec_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

// From JPEG to PNG to JPEG to PNG, each with the metadata of the one before.
static void test_carried(struct codec *codec, size_t icc_bytes, struct random *random)
{
    static const char xmp[] = "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"/>";
    const struct image_shape shape = {PIXFMT_GREY, 9, 5, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false};
    uint8_t exif[128], *icc = malloc(icc_bytes);
    for (size_t i = 0; i < icc_bytes; i++)
        icc[i] = (uint8_t)random_bits(random);
    const struct codec_metadata all = {.icc = {icc, icc_bytes},
                                       .exif = {exif, make_exif(exif, false, true)},
                                       .xmp = {(const uint8_t *)xmp, sizeof(xmp) - 1}};
    struct codec_settings settings = {.metadata = all};
    struct codec_buffer file = {0}, kept[2] = {{0}, {0}};
    struct image image = {0};
    struct codec_head head;
    struct codec_error error;
    image_reserve(&image, &shape);
    memset(image.memory, 99, image.memory_bytes);
    for (int i = 0; i < 4; i++) {
        settings.format = i % 2 ? CODEC_PNG : CODEC_JPEG;
        settings.orientation = i == 3 ? 8 : 0;
        const bool ok = codec_encode(codec, &image, &settings, &file, &error) && error.why[0] == '\0' &&
                        codec_head(codec, file.data, file.size, 0, &head, &error) &&
                        codec_decode(codec, file.data, file.size, &head, &image, &error) &&
                        codec_metadata_keep(&head.metadata, &kept[i % 2]);
        check_that(&check, ok, "step %d: %s", i, error.why);
        memset(file.data, 0, file.size); // the kept metadata must not point to it
        check_that(&check, same(head.metadata.icc, all.icc), "step %d: a profile of %zu bytes, not %zu", i,
                   head.metadata.icc.size, icc_bytes);
        check_that(&check, same(head.metadata.xmp, all.xmp), "step %d: XMP of %zu bytes", i, head.metadata.xmp.size);
        check_that(&check, head.metadata.exif.size == 80 && head.orientation == (i == 3 ? 8 : 6),
                   "step %d: EXIF of %zu bytes, orientation %d", i, head.metadata.exif.size, head.orientation);
        settings.metadata = head.metadata;
    }
    codec_buffer_free(&file);
    codec_buffer_free(&kept[0]);
    codec_buffer_free(&kept[1]);
    image_free(&image);
    free(icc);
}

// A colour profile is left out of grey files, and a grey profile out of colour files.
static void test_misfits(struct codec *codec)
{
    static const struct {
        enum codec_format format;
        enum pixfmt from;
        bool grey, expected; // declared grey; grey after encoding
    } cases[] = {
        {CODEC_JPEG, PIXFMT_GREY, true, true},   {CODEC_JPEG, PIXFMT_YU12, false, false},
        {CODEC_PNG, PIXFMT_GREY, true, true},    {CODEC_PNG, PIXFMT_RGBA, true, true},
        {CODEC_PNG, PIXFMT_RGBA, false, false},  {CODEC_TIFF, PIXFMT_RGBA, true, true},
        {CODEC_TIFF, PIXFMT_RGBA, false, false}, {CODEC_WEBP, PIXFMT_RGBA, true, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct image image = {0};
        struct codec_buffer file = {0};
        image_reserve(&image, &(struct image_shape){cases[i].from, 4, 4, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false});
        memset(image.memory, 200, image.memory_bytes);
        for (int k = 0; k < 2 && codec_info(cases[i].format)->writes; k++) {
            const uint8_t *const profile = (const uint8_t *)(k ? "0123456789abcdefGRAY..." : "0123456789abcdefRGB ...");
            const struct codec_settings settings = {
                .format = cases[i].format, .grey = cases[i].grey, .opaque = true, .metadata.icc = {profile, 23}};
            struct codec_head head;
            struct codec_error error;
            const bool ok = codec_encode(codec, &image, &settings, &file, &error) &&
                            codec_head(codec, file.data, file.size, 0, &head, &error);
            check_that(&check, ok && (head.metadata.icc.size == 23) == (cases[i].expected == k),
                       "case %zu: a profile for %s", i, k ? "grey" : "colours");
        }
        codec_buffer_free(&file);
        image_free(&image);
    }
}

// A file that is wider or taller than the head's is refused: its pixels would be written beyond the image.
static void test_exchanged(struct codec *codec)
{
    static const enum codec_format formats[] = {CODEC_JPEG, CODEC_PNG, CODEC_WEBP, CODEC_TIFF};
    static const int sizes[][2] = {{8, 8}, {40, 8}, {8, 40}};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        const struct codec_settings settings = {.format = formats[i], .opaque = true};
        struct codec_buffer files[3] = {{0}, {0}, {0}};
        struct codec_head head;
        struct codec_error error;
        struct image image = {0};
        bool ok = codec_info(formats[i])->writes;
        for (int k = 0; ok && k < 3; k++) {
            const enum pixfmt format = formats[i] == CODEC_JPEG ? PIXFMT_GREY : PIXFMT_RGBA;
            image_reserve(&image, &(struct image_shape){
                                      format, sizes[k][0], sizes[k][1], {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false});
            memset(image.memory, 77, image.memory_bytes);
            ok = codec_encode(codec, &image, &settings, &files[k], &error);
            check_that(&check, ok, "%s: %s", codec_info(formats[i])->name, error.why);
        }
        image_free(&image);
        for (int k = 1; ok && k < 3; k++) {
            ok = codec_head(codec, files[0].data, files[0].size, 0, &head, &error) && image_alloc(&image, &head.shape);
            check_that(&check, ok, "%s: %s", codec_info(formats[i])->name, error.why);
            check_that(&check,
                       ok && !codec_decode(codec, files[k].data, files[k].size, &head, &image, &error) &&
                           error.fault == CODEC_DAMAGED && strstr(error.why, "do not match its header"),
                       "%s of %dx%d pixels in place of 8x8: %s", codec_info(formats[i])->name, sizes[k][0], sizes[k][1],
                       error.why);
            image_free(&image);
        }
        for (int k = 0; k < 3; k++)
            codec_buffer_free(&files[k]);
    }
}

// Metadata too long for a JPEG are left out with a warning; the rest is kept.
static void test_too_long(struct codec *codec)
{
    static const uint8_t long_text[70000] = "<x:xmpmeta/>";
    struct codec_buffer file = {0};
    struct codec_error error;
    struct codec_head head;
    struct image image = {0};
    image_reserve(&image, &(struct image_shape){PIXFMT_GREY, 3, 3, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false});
    memset(image.memory, 9, image.memory_bytes);
    const struct codec_settings settings = {.format = CODEC_JPEG,
                                            .metadata = {.icc = {long_text, 9}, .xmp = {long_text, sizeof(long_text)}}};
    check_that(&check,
               codec_encode(codec, &image, &settings, &file, &error) && error.fault == CODEC_FINE &&
                   strstr(error.why, "XMP"),
               "too much XMP: %s", error.why);
    check_that(&check,
               codec_head(codec, file.data, file.size, 0, &head, &error) && !head.metadata.xmp.data &&
                   head.metadata.icc.size == 9,
               "the rest is there");
    codec_buffer_free(&file);
    image_free(&image);
}

// Adds one or two chunks behind the head of a PNG file.
enum { HEAD_BYTES = 33, CHUNK_BYTES = 12 };
static void make_png(struct codec_buffer *file, const char *type, const void *data, size_t size, int times,
                     struct random *random)
{
    struct codec_buffer plain = {0};
    file->size = 0;
    png_make(&plain, 4, 4, &(struct png_wish){2, 8, 0, 0, 1}, random);
    codec_buffer_room(file, HEAD_BYTES);
    memcpy(file->data, plain.data, HEAD_BYTES);
    file->size = HEAD_BYTES;
    for (int i = 0; i < times; i++)
        png_add(file, type, data, size);
    codec_buffer_room(file, file->size + plain.size - HEAD_BYTES);
    memcpy(file->data + file->size, plain.data + HEAD_BYTES, plain.size - HEAD_BYTES);
    file->size += plain.size - HEAD_BYTES;
    codec_buffer_free(&plain);
}

// Unreadable metadata of a file are reported when the file is encoded again.
static void test_left_out(struct codec *codec, struct random *random)
{
    enum { MOST = 16 << 20 };
    static uint8_t plain[MOST + 1], packed[1 << 16] = "a profile"; // its name, a NUL, method 0
    static const struct {
        const char *type, *head, *expected;
        size_t head_bytes, bytes, cut, damage;
    } cases[] = {
        {"iCCP", "a profile\0", NULL, 11, MOST, 0, 0},
        {"iCCP", "a profile\0", "its colour profile is damaged or larger than 16 MiB", 11, MOST + 1, 0, 0},
        {"iCCP", "a profile\0", "its colour profile is damaged", 11, 1000, 1, 0},
        {"iCCP", "a profile\0", "its colour profile is damaged", 11, 100, 0, 1},
        {"iCCP", "a profile\0\1", "its colour profile is damaged", 12, 100, 0, 0},
        {"iTXt", "XML:com.adobe.xmp\0\1\0\0", NULL, 22, MOST, 0, 0},
        {"iTXt", "XML:com.adobe.xmp\0\1\0\0", "its XMP data are damaged or larger than 16 MiB", 22, MOST + 1, 0, 0},
        {"iTXt", "XML:com.adobe.xmp\0\1\0\0", "its XMP data are damaged", 22, 100, 3, 0},
        {"iTXt", "XML:com.adobe.xmp\0\0\0\0", "its XMP data are damaged", 22, 100, 0, 1},
        {"iTXt", "another text\0\0\0\0", "its damaged iTXt chunk is left out", 17, 100, 0, 1},
        {"eXIf", "MM\0*", "its EXIF data are damaged", 4, 100, 0, 1},
    };
    struct libdeflate_compressor *deflater = libdeflate_alloc_compressor(1);
    struct codec_buffer file = {0}, made = {0};
    memset(plain, 'x', sizeof(plain));
    struct image image = {0};
    image_reserve(&image, &(struct image_shape){.width = 3, .height = 3});
    memset(image.memory, 0, image.memory_bytes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct codec_head head;
        struct codec_error error;
        const size_t begin = cases[i].head_bytes;
        memcpy(packed, cases[i].head, begin);
        const size_t size = libdeflate_zlib_compress(deflater, plain, cases[i].bytes, packed + begin, 60000);
        make_png(&file, cases[i].type, packed, begin + size - cases[i].cut, 1, random);
        file.data[HEAD_BYTES + 8 + begin + 5] ^= cases[i].damage;
        bool ok = size > 0 && codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check, ok, "case %zu: %s", i, error.why);
        const bool carried = head.metadata.icc.size + head.metadata.xmp.size + head.metadata.exif.size > 0;
        check_that(&check, ok && carried == (!cases[i].expected && !cases[i].damage), "case %zu: carried %d", i,
                   carried);
        const struct codec_settings settings = {.format = CODEC_PNG, .metadata = head.metadata};
        ok = ok && codec_encode(codec, &image, &settings, &made, &error) && error.fault == CODEC_FINE;
        check_that(&check, ok && (cases[i].expected ? strstr(error.why, cases[i].expected) != NULL : !error.why[0]),
                   "case %zu says: %s", i, error.why);
    }
    libdeflate_free_compressor(deflater);
    codec_buffer_free(&file);
    codec_buffer_free(&made);
    image_free(&image);
}

// Only the first of repeated PNG chunks counts, because a file may have hundreds to decompress.
static void test_twice(struct codec *codec, struct random *random)
{
    static const struct {
        const char *type, *data;
        size_t bytes, carried;
    } cases[] = {
        {"iCCP", "a profile\0\0\x78\x01\1\3\0\xfc\xffICC\1\xa7\0\xd0", 25, 3},
        {"iTXt", "XML:com.adobe.xmp\0\0\0\0\0<x/>", 26, 4},
        {"eXIf", "MM\0*\0\0\0\10\0\1\1\x12\0\3\0\0\0\1\0\1\0\0", 22, 22},
    };
    struct codec_buffer file = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct codec_head head;
        struct codec_error error = {0};
        make_png(&file, cases[i].type, cases[i].data, cases[i].bytes, 2, random);
        file.data[HEAD_BYTES + 2 * (CHUNK_BYTES + cases[i].bytes) - 5] ^= 1; // the second's, which damages it
        const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
        const struct codec_metadata *has = &head.metadata;
        check_that(&check, ok && has->icc.size + has->xmp.size + has->exif.size == cases[i].carried,
                   "%s twice: %zu bytes carried, %s", cases[i].type, has->icc.size + has->xmp.size + has->exif.size,
                   error.why);
        check_that(&check, ok && strstr(has->left_out, "second"), "%s twice says: %s", cases[i].type, has->left_out);
    }
    codec_buffer_free(&file);
}

// Where the pixel at (x, y) of the file belongs (EXIF 2.32, tag 0x0112), in an upright picture of that size.
static void upright_place(int orientation, int x, int y, int width, int height, int *to_x, int *to_y)
{
    const int places[9][2] = {{0, 0},
                              {x, y},
                              {width - 1 - x, y},
                              {width - 1 - x, height - 1 - y},
                              {x, height - 1 - y},
                              {y, x},
                              {width - 1 - y, x},
                              {width - 1 - y, height - 1 - x},
                              {y, height - 1 - x}};
    *to_x = places[orientation][0];
    *to_y = places[orientation][1];
}

static void test_turns(struct random *random)
{
    static const enum pixfmt formats[] = {PIXFMT_RGBA, PIXFMT_RGB24, PIXFMT_GREY,
                                          PIXFMT_YU12, PIXFMT_422P,  PIXFMT_444P};
    for (int round = 0; round < 6 * 8 * 4; round++) {
        const int orientation = 1 + round / 6 % 8;
        const struct image_shape shape = {formats[round % 6],
                                          random_range(random, 1, 40),
                                          random_range(random, 1, 40),
                                          {COLOR_MATRIX_601, COLOR_RANGE_FULL},
                                          false};
        const struct codec_turn turn = codec_turn(orientation);
        struct test_frame frame;
        struct image turned = {0};
        frame_fill(&frame, &shape, LAYOUT_PADDED, SHAPE_NOISE, random);
        const struct image_shape upright = turn.transpose ? image_transposed(&shape) : shape;
        if (turn.transpose && image_reserve(&turned, &upright))
            image_transpose(&turned, &frame.image);
        struct picture from = reference_frame(&frame.image);
        struct picture to = reference_frame(turn.transpose ? &turned : &frame.image);
        long wrong = 0;
        for (int y = 0; y < from.height; y++)
            for (int x = 0; x < from.width; x++) {
                int to_x, to_y;
                upright_place(orientation, x, y, to.width, to.height, &to_x, &to_y);
                to_x = turn.mirror ? to.width - 1 - to_x : to_x; // as the chain's mirror and flip do it
                to_y = turn.flip ? to.height - 1 - to_y : to_y;
                wrong += memcmp(picture_pixel(&from, x, y), picture_pixel(&to, to_x, to_y), 4) != 0;
            }
        check_that(&check, wrong == 0, "%s %dx%d, orientation %d: %ld pixels are elsewhere",
                   reference_format_name(shape.format), shape.width, shape.height, orientation, wrong);
        picture_free(&from);
        picture_free(&to);
        image_free(&turned);
        frame_free(&frame);
    }
}

static void test_names(void)
{
    static const char *const foreign[] = {"nrw", "crw", "3fr", "iiq", "x3f", "dcr",
                                          "kdc", "mrw", "erf", "rwl", "j2k", "jxr"};
    static const char *const optional[] = {"HIF", "heic", "avif", "avifs", "jxl", "webp", "tif", "gif"};
    static const struct {
        const char *name;
        enum codec_format format;
    } own[] = {{"mpo", CODEC_JPEG}, {"JPS", CODEC_JPEG}, {"insp", CODEC_JPEG}, {"apng", CODEC_PNG}, {"dib", CODEC_BMP}};
    enum codec_format format;
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
        check_that(&check, codec_foreign_name(foreign[i]) && !codec_from_name(foreign[i], &format), "%s", foreign[i]);
    for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++)
        check_that(&check,
                   !codec_foreign_name(optional[i]) &&
                       codec_from_name(optional[i], &format) == !codec_missing_library(optional[i]),
                   "%s", optional[i]);
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
        check_that(&check, codec_from_name(own[i].name, &format) && format == own[i].format, "%s", own[i].name);
}

static void test_table(struct codec *codec)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *why;
    } others[] = {{"\xff\x0a", 2, "JPEG XL"},
                  {"\0\0\0\x18"
                   "ftypheic\0\0\0\0",
                   16, "HEIF"},
                  {"\0\0\0\x18"
                   "ftypheix\0\0\0\0",
                   16, "HEIF"},
                  {"\0\0\0\x18"
                   "ftyphevc\0\0\0\0",
                   16, "HEIF"},
                  {"\0\0\0\x18"
                   "ftypmsf1\0\0\0\0mif1heic",
                   24, "HEIF"},
                  {"\0\0\0\x18"
                   "ftypmif1\0\0\0\0mif1avif",
                   24, "AVIF"},
                  {"\0\0\0\x18"
                   "ftypavis\0\0\0\0avis",
                   20, "AVIF"},
                  {"\0\0\0\x18"
                   "ftypcrx \0\0\0\1",
                   16, "CR3"},
                  {"II\x1a\0\0\0HEAPCCDR", 14, "CRW"},
                  {"II\xbc\1", 4, "JPEG XR"},
                  {"\xff\x4f\xff\x51", 4, "JPEG 2000"},
                  {"#?RADIANCE\n", 11, "HDR"}};
    enum codec_format format;
    struct codec_head head;
    struct codec_error error;
    check_that(&check, codec_from_name("JPG", &format) && format == CODEC_JPEG, "JPG is a name of JPEG");
    check_that(&check, codec_from_name("png", &format) && format == CODEC_PNG, "png is PNG");
    check_that(&check,
               !codec_probe("\0\0\0\x18"
                            "ftypisom\0\0\0\0avif",
                            20, &format),
               "a film is no picture");
    check_that(&check, !codec_probe("some text, which is no picture at all", 37, &format), "text is no picture");
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        check_that(&check,
                   codec_probe(others[i].bytes, others[i].size, &format) &&
                       !codec_head(codec, others[i].bytes, others[i].size, 0, &head, &error) &&
                       (format == CODEC_OTHER
                            ? error.fault == CODEC_UNSUPPORTED && strstr(error.why, others[i].why)
                            : format == (strcmp(others[i].why, "JPEG XL") == 0 ? CODEC_JXL : CODEC_HEIF)),
                   "%s is refused by its name: %s", others[i].why, error.why);
    check_that(&check,
               !codec_head(codec, "text", 4, 0, &head, &error) && error.fault == CODEC_NOT_A_PICTURE &&
                   !codec_head(codec, "", 0, 0, &head, &error) && error.fault == CODEC_NOT_A_PICTURE,
               "text and an empty file are not images");
}

// The EXIF block of HEIF and JPEG XL: some programs name it, some also keep the marker of a JPEG file before the name.
static void test_exif_block(void)
{
    static const struct {
        const char *bytes;
        size_t size, at;
    } blocks[] = {{"\0\0\0\0II*", 8, 4},
                  {"\0\0\0\0Exif\0\0II*", 14, 10},
                  {"\0\0\0\6Exif\0\0II*", 14, 10},
                  {"\0\0\0\12\377\341\0\12Exif\0\0II*", 18, 14}};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
        const struct codec_bytes tiff =
            codec_exif_block((struct codec_bytes){(const uint8_t *)blocks[i].bytes, blocks[i].size});
        check_that(&check, tiff.size == 4 && memcmp(tiff.data, "II*", 4) == 0, "EXIF block %zu", i);
    }
    const struct codec_bytes beyond = {(const uint8_t *)"\377\377\377\377I", 5}, none = {0};
    check_that(&check, codec_exif_block(beyond).size == 1 && codec_exif_block(none).size == 0, "short EXIF blocks");
}

int main(void)
{
    struct random random = {7};
    struct codec *codec = codec_open();
    test_exif();
    test_carried(codec, 500, &random);
    test_carried(codec, 150000, &random);  // three markers of a JPEG
    test_carried(codec, 5000000, &random); // more than four times as much would be too much
    test_left_out(codec, &random);
    test_twice(codec, &random);
    test_misfits(codec);
    test_too_long(codec);
    test_exchanged(codec);
    test_turns(&random);
    test_names();
    test_table(codec);
    test_exif_block();
    codec_close(codec);
    return check_end(&check);
}
