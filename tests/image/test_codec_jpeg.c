// test_codec_jpeg.c: JPEG files of every kind are read into planes; planes are written and read back
#include "check.h"
#include "codec_files.h"

#include "image/codec/codec_kind.h"

#include <stb_image.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec jpeg"};

// Largest difference between planes and the model, away from where its colours are out of the range of RGB.
// The change of the model's chroma from pixel to pixel. It is large in a small image, where two pixels share it.
static int steepness(const struct image_shape *shape)
{
    return 120 / shape->width + 120 / shape->height;
}

static int planes_error(const struct image *image)
{
    const struct image_shape *shape = &image->shape;
    const struct pixfmt_info *info = pixfmt_info(shape->format);
    int worst = 0;
    for (int p = 0; p < info->planes; p++)
        for (int y = shape->height / 3; y < shape->height / 2; y++)
            for (int x = shape->width / 3; x < shape->width / 2; x++) {
                const size_t column = (size_t)(x >> info->plane[p].shift_x);
                const size_t row = (size_t)(y >> info->plane[p].shift_y);
                const int got = image->plane[p][row * image->stride[p] + column];
                const int off =
                    abs(got - jpeg_model(p, x, y, shape->width, shape->height)) - (p > 0 ? 8 + steepness(shape) : 0);
                worst = off > worst ? off : worst;
            }
    return worst;
}

static int rgba_error(const struct image *image)
{
    const struct image_shape *shape = &image->shape;
    int worst = 0;
    for (int y = shape->height / 3; y < shape->height / 2; y++)
        for (int x = shape->width / 3; x < shape->width / 2; x++) {
            const uint8_t *p = image->plane[0] + (size_t)y * image->stride[0] + 4 * (size_t)x;
            const int luma = (299 * p[0] + 587 * p[1] + 114 * p[2] + 500) / 1000;
            const int off = abs(luma - jpeg_model(0, x, y, shape->width, shape->height)) + (p[3] != 255) * 255;
            worst = off > worst ? off : worst;
        }
    return worst;
}

static bool read_file(struct codec *codec, const struct codec_buffer *file, struct codec_head *head,
                      struct image *image, struct codec_error *error)
{
    const uint8_t *data = fenced(file->data, file->size);
    return codec_head(codec, data, file->size, 0, head, error) && image_reserve(image, &head->shape) &&
           codec_decode(codec, data, file->size, head, image, error);
}

enum { END_BYTES = 2 }; // the end marker, EOI

static const struct kind {
    const char *name;
    struct jpeg_wish wish;
    enum pixfmt format, jpeg;
} kinds[] = {
    {"4:2:0", {.across = 2, .down = 2}, PIXFMT_YU12, PIXFMT_YU12},
    {"4:2:2", {.across = 2, .down = 1}, PIXFMT_422P, PIXFMT_422P},
    {"4:4:4", {.across = 1, .down = 1}, PIXFMT_444P, PIXFMT_444P},
    {"grey", {.grey = true}, PIXFMT_GREY, PIXFMT_GREY},
    {"progressive", {.progressive = true}, PIXFMT_YU12, PIXFMT_YU12},
    {"restarts", {.restarts = true}, PIXFMT_YU12, PIXFMT_YU12},
    {"arithmetic", {.arithmetic = true, .across = 2, .down = 1}, PIXFMT_422P, PIXFMT_422P},
    {"4:4:0", {.across = 1, .down = 2}, PIXFMT_RGBA, PIXFMT_YU12},
    {"4:1:1", {.across = 4, .down = 1}, PIXFMT_RGBA, PIXFMT_YU12},
    {"RGB", {.rgb = true}, PIXFMT_RGBA, PIXFMT_444P},
    {"quality 50", {.old_quality = true}, PIXFMT_YU12, PIXFMT_YU12},
};
static const int sizes[][2] = {{64, 48}, {33, 17}, {47, 31}, {1, 1},  {2, 1},
                               {16, 16}, {17, 40}, {300, 7}, {8, 33}, {40, 150}};
enum { KINDS = sizeof(kinds) / sizeof(*kinds), SIZES = sizeof(sizes) / sizeof(*sizes) };

// Planes with the same pixels in any memory layout.
static void test_memories(struct codec *codec, const struct codec_buffer *file, const struct codec_head *head,
                          const struct image *image, const char *name)
{
    struct image tight;
    struct codec_error error;
    struct codec_buffer wide = {0};
    const size_t bytes = image_bytes(&head->shape);
    if (!image_alloc(&tight, &head->shape))
        abort();
    check_that(&check, codec_decode(codec, file->data, file->size, head, &tight, &error), "%s: %s", name, error.why);
    uint8_t *expected = malloc(bytes);
    struct image copy;
    image_wrap(&copy, &head->shape, expected);
    image_copy(&copy, image);
    check_that(&check, memcmp(expected, tight.plane[0], bytes) == 0, "%s %dx%d: tight memory gets other pixels", name,
               head->shape.width, head->shape.height);
    free(expected);
    image_free(&tight);
    codec_buffer_free(&wide);
}

// A file that is decoded and encoded by rows, in memory for a few rows.
struct by_rows {
    struct image image;
    struct codec_buffer file;
    struct codec_error decoding, encoding;
};

static bool same_rows(const struct image *few, const struct image *whole, int first, int end)
{
    const struct pixfmt_info *info = pixfmt_info(whole->shape.format);
    bool same = true;
    for (int p = 0; p < info->planes; p++)
        for (int row = first >> info->plane[p].shift_y; row <= (end - 1) >> info->plane[p].shift_y; row++)
            same = same && memcmp(image_row(few, p, row), image_row(whole, p, row),
                                  pixfmt_row_bytes(whole->shape.format, p, whole->shape.width)) == 0;
    return same;
}

static void test_by_rows(struct codec *codec, const struct codec_buffer *file, const struct codec_head *head,
                         const struct image *whole, const char *name)
{
    const struct codec_settings settings = {.format = CODEC_JPEG, .quality = 80};
    const int height = head->shape.height;
    const bool planes = head->shape.format != PIXFMT_RGBA;
    struct by_rows by = {0};
    struct codec_buffer expected = {0};
    struct codec_error error;
    bool ok = image_reserve_few(&by.image, &head->shape, 64) &&
              (!planes || codec_encode(codec, whole, &settings, &expected, &error)) &&
              codec_decode_begin(codec, file->data, file->size, head, &by.image, &by.decoding) &&
              (!planes || codec_encode_begin(codec, &by.image, &settings, &by.file, &by.encoding));
    for (int rows = 0, asked = 0; ok && rows < height; asked += 7) {
        const int last = asked < height ? asked : height - 1;
        const int there = codec_decode_rows(codec, head, &by.image, last, &by.decoding);
        ok = there > last && there <= last + 1 + CODEC_ROWS_MORE && there <= height &&
             (there == rows || same_rows(&by.image, whole, rows, there)) &&
             (!planes || there == rows || codec_encode_rows(codec, &by.image, &settings, there, &by.encoding));
        rows = there;
    }
    check_that(&check, ok, "%s %dx%d by rows: %s%s", name, head->shape.width, height, by.decoding.why, by.encoding.why);
    check_that(&check,
               !planes || (by.file.size == expected.size && !memcmp(by.file.data, expected.data, expected.size)),
               "%s %dx%d by rows makes another file", name, head->shape.width, height);
    image_free(&by.image);
    codec_buffer_free(&by.file);
    codec_buffer_free(&expected);
}

static void test_kinds(struct codec *codec)
{
    struct codec_buffer file = {0};
    struct image image = {0};
    for (int i = 0; i < KINDS * SIZES; i++) {
        const struct kind *kind = &kinds[i / SIZES];
        const int width = sizes[i % SIZES][0], height = sizes[i % SIZES][1];
        struct codec_head head;
        struct codec_error error;
        jpeg_make(&file, width, height, &kind->wish);
        if (!check_that(&check, read_file(codec, &file, &head, &image, &error), "%s %dx%d: %s", kind->name, width,
                        height, error.why))
            continue;
        check_that(&check, head.shape.format == kind->format && head.jpeg == kind->jpeg, "%s is %s, as JPEG %s",
                   kind->name, pixfmt_info(head.shape.format)->name, pixfmt_info(head.jpeg)->name);
        check_that(&check,
                   head.shape.width == width && head.shape.height == height && head.orientation == 1 && !head.alpha &&
                       head.quality == (kind->wish.old_quality ? 50 : 95),
                   "%s: %dx%d, quality %d", kind->name, head.shape.width, head.shape.height, head.quality);
        const int off = kind->format == PIXFMT_RGBA ? rgba_error(&image) : planes_error(&image);
        check_that(&check, off <= (kind->wish.old_quality ? 8 : 4), "%s %dx%d is off by %d", kind->name, width, height,
                   off);
        test_memories(codec, &file, &head, &image, kind->name);
        test_by_rows(codec, &file, &head, &image, kind->name);
    }
    codec_buffer_free(&file);
    image_free(&image);
}

// Planes of every format and size, from memory of every layout, are nearly the same when they are read back, and
// stb_image sees the picture too.
static void test_written(struct codec *codec, struct random *random)
{
    static const enum pixfmt formats[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P, PIXFMT_GREY};
    struct codec_buffer file = {0};
    struct image image = {0};
    for (int round = 0; round < 120; round++) {
        const struct image_shape shape = {formats[round % 4],
                                          round < 36 ? sizes[round % SIZES][0] : random_range(random, 1, 200),
                                          round < 36 ? sizes[round % SIZES][1] : random_range(random, 1, 50),
                                          {COLOR_MATRIX_601, COLOR_RANGE_FULL},
                                          false};
        const struct codec_settings settings = {.format = CODEC_JPEG, .quality = 60 + round % 41};
        struct test_frame frame;
        struct codec_head head;
        struct codec_error error;
        frame_fill(&frame, &shape, (enum layout)(round % LAYOUT_COUNT), SHAPE_FLAT, random);
        for (int p = 0; p < pixfmt_info(shape.format)->planes; p++)
            for (int y = 0; y < pixfmt_rows(shape.format, p, shape.height); y++)
                for (size_t x = 0; x < pixfmt_row_bytes(shape.format, p, shape.width); x++)
                    frame.image.plane[p][(size_t)y * frame.image.stride[p] + x] = (uint8_t)jpeg_model(
                        p, (int)x << pixfmt_info(shape.format)->plane[p].shift_x,
                        y << pixfmt_info(shape.format)->plane[p].shift_y, shape.width, shape.height);
        const bool ok = codec_encode(codec, &frame.image, &settings, &file, &error) &&
                        read_file(codec, &file, &head, &image, &error);
        if (check_that(&check, ok, "%s %dx%d is written and read: %s", pixfmt_info(shape.format)->name, shape.width,
                       shape.height, error.why))
            check_that(&check,
                       head.quality == settings.quality && image_shape_equal(&head.shape, &shape) &&
                           planes_error(&image) <= (settings.quality < 80 ? 12 : 4),
                       "%s %dx%d, quality %d: quality %d, off by %d", pixfmt_info(shape.format)->name, shape.width,
                       shape.height, settings.quality, head.quality, planes_error(&image));
        int width, height, channels;
        uint8_t *rgba = stbi_load_from_memory(file.data, (int)file.size, &width, &height, &channels, 4);
        struct image other;
        image_wrap(&other, &(struct image_shape){PIXFMT_RGBA, shape.width, shape.height, {0}, false}, rgba);
        check_that(&check,
                   rgba && width == shape.width && height == shape.height &&
                       rgba_error(&other) <= 9 + steepness(&shape) / 4,
                   "stb_image reads %s %dx%d, off by %d", pixfmt_info(shape.format)->name, shape.width, shape.height,
                   rgba ? rgba_error(&other) : -1);
        stbi_image_free(rgba);
        frame_free(&frame);
    }
    codec_buffer_free(&file);
    image_free(&image);
}

// Memory right of and below an image of odd size must not change the file.
static void test_surroundings(struct codec *codec, struct random *random)
{
    struct codec_buffer file[2] = {{0}, {0}};
    struct codec_error error;
    const struct codec_settings settings = {.format = CODEC_JPEG};
    const struct image_shape shape = {PIXFMT_YU12, 35, 21, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false};
    struct test_frame frame;
    frame_fill(&frame, &shape, LAYOUT_PADDED, SHAPE_GRADIENT, random);
    struct image wide = {0};
    if (!image_reserve(&wide, &shape))
        abort();
    memset(wide.memory, 255, wide.memory_bytes);
    image_copy(&wide, &frame.image);
    check_that(&check,
               codec_encode(codec, &frame.image, &settings, &file[0], &error) &&
                   codec_encode(codec, &wide, &settings, &file[1], &error) && file[0].size == file[1].size &&
                   memcmp(file[0].data, file[1].data, file[0].size) == 0,
               "the same picture makes the same file");
    for (int i = 0; i < 2; i++)
        codec_buffer_free(&file[i]);
    image_free(&wide);
    frame_free(&frame);
}

static void refuse(struct codec *codec, const struct codec_buffer *file, enum codec_fault fault, const char *because)
{
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    const bool ok = read_file(codec, file, &head, &image, &error);
    check_that(&check, !ok && error.fault == fault && strstr(error.why, because),
               "refused for \"%s\" (%d), not \"%s\" (%d)", because, fault, error.why, error.fault);
    image_free(&image);
}

// 500 scans are read, more are refused: a small file with thousands of scans takes a decoder minutes.
static void test_scans(struct codec *codec)
{
    enum { MOST = 500 };
    static const int counts[] = {1, MOST, MOST + 1, JPEG_SCANS_MOST};
    struct codec_buffer file = {0};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        const struct jpeg_wish wish = {.grey = true, .scans = counts[i]};
        struct codec_head head;
        struct codec_error error = {0};
        struct image image = {0};
        jpeg_make(&file, 16, 16, &wish);
        int scans = 0;
        for (size_t at = 0; at + 1 < file.size; at++)
            scans += file.data[at] == 0xff && file.data[at + 1] == 0xda;
        check_that(&check, scans == counts[i], "%d scans were made, not %d", scans, counts[i]);
        if (counts[i] > MOST)
            refuse(codec, &file, CODEC_UNSUPPORTED, "more than 500 scans");
        else
            check_that(&check, read_file(codec, &file, &head, &image, &error), "%d scans: %s", counts[i], error.why);
        image_free(&image);
    }
    codec_buffer_free(&file);
}

// A head with more pixels than its file can hold is refused before memory is allocated; the densest file is read.
static void test_short(struct codec *codec)
{
    enum { SIDE = 4096 };
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error = {0};
    struct image image = {0};
    jpeg_make(&file, SIDE, SIDE, &(struct jpeg_wish){.grey = true, .flat = true, .scans = 1});
    check_that(&check, read_file(codec, &file, &head, &image, &error) && file.size < SIDE * SIDE / 512 + 1000,
               "a flat JPEG of %zu bytes: %s", file.size, error.why);
    check_that(&check, error.why[0] || (image.plane[0][0] == 128 && image_row(&image, 0, SIDE - 1)[SIDE - 1] == 128),
               "a flat JPEG: its pixels");
    jpeg_make(&file, 20, 10, &(struct jpeg_wish){.arithmetic = true});
    check_that(&check, codec_head(codec, file.data, file.size, 0, &head, &error), "arithmetic: %s", error.why);
    for (int progressive = 0; progressive < 2; progressive++) {
        jpeg_make(&file, 20, 10, &(struct jpeg_wish){.progressive = progressive});
        uint8_t *frame = memmem(file.data, file.size, progressive ? "\xff\xc2" : "\xff\xc0", 2);
        memcpy(frame + 5, "\x40\0\x40\0", 4); // 16384 by 16384
        check_that(&check,
                   !codec_head(codec, file.data, file.size, 0, &head, &error) && error.fault == CODEC_DAMAGED &&
                       strstr(error.why, "truncated"),
                   "%zu bytes for 16384x16384 pixels: %s", file.size, error.why);
    }
    codec_buffer_free(&file);
    image_free(&image);
}

static void test_refused(struct codec *codec)
{
    struct codec_buffer file = {0};
    struct codec_error error;
    struct image rgba;
    struct jpeg_wish wish = {.cmyk = true};
    jpeg_make(&file, 20, 10, &wish);
    refuse(codec, &file, CODEC_UNSUPPORTED, "CMYK");
    wish.cmyk = false;
    jpeg_make(&file, 20, 10, &wish);
    uint8_t *frame = memmem(file.data, file.size, "\xff\xc0", 2);
    frame[4] = 12;
    refuse(codec, &file, CODEC_UNSUPPORTED, "precision 12");
    frame[4] = 8;
    frame[1] = 0xc3;
    refuse(codec, &file, CODEC_UNSUPPORTED, "SOF");
    frame[1] = 0xc0;
    frame[5] = 0x90; // a height of 36874
    refuse(codec, &file, CODEC_TOO_LARGE, "wider or higher than 32768");
    frame[5] = 0;
    const size_t whole = file.size;
    for (file.size = 3; file.size < whole - END_BYTES; file.size++)
        refuse(codec, &file, CODEC_DAMAGED, "");
    jpeg_make(&file, 20, 10, &wish);
    file.data[file.size - 20] = 0xff;
    file.data[file.size - 19] = 0xd9;
    refuse(codec, &file, CODEC_DAMAGED, "");
    file.data = realloc(file.data, file.size + 5); // some bytes behind the end, as cameras have them
    jpeg_make(&file, 20, 10, &wish);
    struct codec_head head;
    struct image image = {0};
    memset(file.data + file.size - 1, 0xd9, 1);
    check_that(&check, read_file(codec, &file, &head, &image, &error), "a good file is read again: %s", error.why);
    image_free(&image);
    if (!image_alloc(&rgba, &(struct image_shape){PIXFMT_RGBA, 4, 4, {0}, false}))
        abort();
    check_that(&check,
               !codec_encode(codec, &rgba, &(struct codec_settings){.format = CODEC_JPEG}, &file, &error) &&
                   error.fault == CODEC_UNSUPPORTED,
               "no JPEG of RGBA");
    image_free(&rgba);
    codec_buffer_free(&file);
}

static bool same_image(const struct image *a, const struct image *b)
{
    const struct pixfmt_info *info = pixfmt_info(a->shape.format);
    bool same = image_shape_equal(&a->shape, &b->shape);
    for (int p = 0; same && p < info->planes; p++)
        for (int y = 0; same && y < pixfmt_rows(a->shape.format, p, a->shape.height); y++)
            same = memcmp(image_row(a, p, y), image_row(b, p, y),
                          pixfmt_row_bytes(a->shape.format, p, a->shape.width)) == 0;
    return same;
}

// A file whose end marker is missing, or only half there, has the same pixels and a remark. Some cameras write such
// frames.
static void test_no_end(struct codec *codec)
{
    struct codec_buffer file = {0}, written = {0};
    for (int i = 0; i < KINDS; i++) {
        struct image whole = {0}, image = {0};
        struct codec_head head;
        struct codec_error error;
        jpeg_make(&file, 47, 31, &kinds[i].wish);
        check_that(&check, read_file(codec, &file, &head, &whole, &error) && head.remarks == 0, "%s: %s", kinds[i].name,
                   error.why);
        for (int bytes = 1; bytes <= END_BYTES; bytes++) {
            file.size--;
            check_that(&check, read_file(codec, &file, &head, &image, &error) && same_image(&image, &whole),
                       "%s without %d bytes: %s", kinds[i].name, bytes, error.why);
            check_that(&check, head.remarks == CODEC_NO_END, "%s: no remark", kinds[i].name);
            check_that(&check,
                       codec_head(codec, file.data, file.size, 0, &head, &error) &&
                           (head.shape.format == PIXFMT_RGBA ||
                            (codec_encode(codec, &image,
                                          &(struct codec_settings){.format = CODEC_JPEG, .remarks = head.remarks},
                                          &written, &error) &&
                             strstr(error.why, "EOI"))),
                       "%s: the remark does not reach the report: %s", kinds[i].name, error.why);
        }
        // The next image of the file begins at the place of the end marker.
        const size_t bytes = file.size;
        check_that(&check, codec_buffer_room(&file, 2 * bytes), "out of memory");
        memcpy(file.data + bytes, file.data, bytes);
        file.size = 2 * bytes;
        check_that(&check,
                   read_file(codec, &file, &head, &image, &error) && same_image(&image, &whole) &&
                       head.remarks == CODEC_NO_END && strstr(head.metadata.left_out, "further images"),
                   "%s and another image: %s", kinds[i].name, error.why);
        image_free(&whole);
        image_free(&image);
    }
    codec_buffer_free(&file);
    codec_buffer_free(&written);
}

// Bytes between the start marker and the first segment are skipped.
static void test_bytes_first(struct codec *codec)
{
    static const uint8_t bytes[] = {0,    1,    0x7f,
                                    0x80, 0xfe, 0xff}; // a marker may have more than one byte 0xff before it
    struct codec_buffer file = {0};
    for (int i = 0; i < KINDS; i++) {
        struct image whole = {0}, image = {0};
        struct codec_head head;
        struct codec_error error;
        jpeg_make(&file, 47, 31, &kinds[i].wish);
        bool ok = read_file(codec, &file, &head, &whole, &error) && codec_buffer_room(&file, file.size + sizeof(bytes));
        memmove(file.data + 2 + sizeof(bytes), file.data + 2, file.size - 2);
        memcpy(file.data + 2, bytes, sizeof(bytes));
        file.size += sizeof(bytes);
        ok = ok && read_file(codec, &file, &head, &image, &error);
        check_that(&check, ok && same_image(&image, &whole) && head.remarks == 0, "%s with bytes first: %s",
                   kinds[i].name, error.why);
        image_free(&whole);
        image_free(&image);
    }
    codec_buffer_free(&file);
}

// Returns the place of the marker behind the scan whose first marker is at `at`; 0 if it is the last scan.
static size_t scan_end(const struct codec_buffer *file, size_t at)
{
    for (at += 2; at + 1 < file->size; at++)
        if (file->data[at] == 0xff && file->data[at + 1] != 0 && (file->data[at + 1] & 0xf8) != 0xd0)
            return file->data[at + 1] == 0xd9 ? 0 : at;
    return 0;
}

// A file that ends with a complete scan, but lacks later ones, is truncated.
static void test_scans_missing(struct codec *codec)
{
    static const struct {
        const char *name;
        struct jpeg_wish wish;
        int scans;
    } cases[] = {{"components apart", {.apart = true}, 3},
                 {"arithmetic, components apart", {.apart = true, .arithmetic = true}, 3},
                 {"progressive", {.progressive = true}, 10},
                 {"progressive, 4:1:1", {.progressive = true, .across = 4, .down = 1}, 10},
                 {"progressive grey", {.progressive = true, .grey = true}, 6}};
    struct codec_buffer file = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        jpeg_make(&file, 47, 31, &cases[i].wish);
        const size_t whole = file.size;
        const uint8_t *scan = memmem(file.data, whole, "\xff\xda", 2);
        int cut = 0;
        for (size_t end; scan && (end = scan_end(&file, (size_t)(scan - file.data))) > 0; cut++) {
            scan = memmem(file.data + end, whole - end, "\xff\xda", 2);
            file.size = end;
            refuse(codec, &file, CODEC_DAMAGED, "the file is truncated");
            file.size = whole;
        }
        check_that(&check, cut + 1 == cases[i].scans, "%s: %d scans", cases[i].name, cut + 1);
    }
    codec_buffer_free(&file);
}

// A sequential scan ignores its range of coefficients, which some programs write wrongly.
static void test_scan_range(struct codec *codec)
{
    static const uint8_t range[] = {0, 63, 0};
    struct codec_buffer file = {0};
    struct image whole = {0}, image = {0};
    struct codec_head head;
    struct codec_error error;
    jpeg_make(&file, 47, 31, &kinds[0].wish);
    check_that(&check, read_file(codec, &file, &head, &whole, &error), "a file: %s", error.why);
    uint8_t *at = memmem(file.data, file.size, range, sizeof(range));
    while (at && at[3] == 0) // not the range, but a part of a table
        at = memmem(at + 1, (size_t)(file.data + file.size - at - 1), range, sizeof(range));
    if (!check_that(&check, at != NULL, "the range of the scan"))
        abort();
    at[1] = 0;
    check_that(&check, read_file(codec, &file, &head, &image, &error) && same_image(&image, &whole),
               "a wrong range of coefficients: %s", error.why);
    image_free(&whole);
    image_free(&image);
    codec_buffer_free(&file);
}

// Removes all segments of a kind before the file's first scan.
static void drop_segments(struct codec_buffer *file, uint8_t kind)
{
    for (size_t at = 2; at + 4 <= file->size && file->data[at + 1] != 0xda;) {
        const size_t bytes = 2 + ((size_t)file->data[at + 2] << 8 | file->data[at + 3]);
        if (file->data[at + 1] != kind) {
            at += bytes;
            continue;
        }
        memmove(file->data + at, file->data + at + bytes, file->size - at - bytes);
        file->size -= bytes;
    }
}

// A file without tables does not use the tables of the previous file.
static void test_tables(struct codec *codec)
{
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    jpeg_make(&file, 20, 10, &(struct jpeg_wish){0});
    check_that(&check, read_file(codec, &file, &head, &image, &error), "a whole file is read: %s", error.why);
    drop_segments(&file, 0xdb);
    refuse(codec, &file, CODEC_DAMAGED, "uantization table");
    jpeg_make(&file, 20, 10, &(struct jpeg_wish){.progressive = true}); // its codes are not the usual ones
    check_that(&check, read_file(codec, &file, &head, &image, &error), "a whole file is read: %s", error.why);
    drop_segments(&file, 0xc4);
    refuse(codec, &file, CODEC_DAMAGED, "");
    image_free(&image);
    codec_buffer_free(&file);
}

// A damaged colour profile is left out with a warning, and the image is read.
static void test_profile(struct codec *codec)
{
    enum { NUMBER_AT = 16, COUNT_AT, BYTES = 20 };
    static const struct {
        uint8_t number, count;
        bool ok;
    } cases[] = {{1, 1, true}, {0, 0, false}, {0, 1, false}, {2, 1, false}, {1, 2, false}};
    struct codec_buffer file = {0};
    struct codec_head head = {0};
    struct codec_error error;
    struct image image = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        jpeg_make(&file, 20, 10, &(struct jpeg_wish){0});
        file.data = realloc(file.data, file.size + BYTES);
        memmove(file.data + 2 + BYTES, file.data + 2, file.size - 2);
        memcpy(file.data + 2, "\xff\xe2\0\x12ICC_PROFILE\0\1\1ab", BYTES);
        file.data[2 + NUMBER_AT] = cases[i].number;
        file.data[2 + COUNT_AT] = cases[i].count;
        file.size += BYTES;
        const bool ok = read_file(codec, &file, &head, &image, &error);
        check_that(&check, ok && head.metadata.icc.size == (cases[i].ok ? 2 : 0), "part %d of %d: %zu bytes, %s",
                   cases[i].number, cases[i].count, head.metadata.icc.size, error.why);
        check_that(&check, ok && !head.metadata.left_out[0] == cases[i].ok, "part %d of %d: left out", cases[i].number,
                   cases[i].count);
    }
    image_free(&image);
    codec_buffer_free(&file);
}

int main(void)
{
    struct random random = {5};
    struct codec *codec = codec_open();
    test_kinds(codec);
    test_written(codec, &random);
    test_surroundings(codec, &random);
    test_scans(codec);
    test_short(codec);
    test_refused(codec);
    test_no_end(codec);
    test_bytes_first(codec);
    test_scans_missing(codec);
    test_scan_range(codec);
    test_tables(codec);
    test_profile(codec);
    codec_close(codec);
    return check_end(&check);
}
