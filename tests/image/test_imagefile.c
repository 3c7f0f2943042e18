// test_imagefile.c: image files are read and written; damaged, truncated and hostile ones are refused in one line
#include "check.h"
#include "codec_files.h"
#include "scratch.h"

#include "base/file.h"
#include "base/log.h"
#include "image/codec/codec.h"
#include "image/imagefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct check check = {.name = "imagefile"};
static struct scratch scratch;
static const char *data_dir;
static char why[IMAGEFILE_WHY];
static bool no_memory; // codec_buffer_room fails
static int logged;     // errors

bool __real_codec_buffer_room(struct codec_buffer *buffer, size_t room);
bool __wrap_codec_buffer_room(struct codec_buffer *buffer, size_t room);
bool __wrap_codec_buffer_room(struct codec_buffer *buffer, size_t room)
{
    return !no_memory && __real_codec_buffer_room(buffer, room);
}

static void count_error(void *context, const char *message)
{
    logged++;
}

static char *load(const char *name, size_t *size)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", data_dir, name);
    char *data = file_read(path, 1 << 20, size);
    if (!data) {
        perror(path);
        exit(1);
    }
    return data;
}

// Mean absolute difference per channel, over R, G, B.
static double difference(const struct image *a, const struct image *b)
{
    double sum = 0;
    if (a->shape.width != b->shape.width || a->shape.height != b->shape.height)
        return 255;
    const int pixels = a->shape.width * a->shape.height;
    for (int i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++)
            sum += abs(a->plane[0][4 * i + c] - b->plane[0][4 * i + c]);
    return sum / pixels / 3;
}

static const struct {
    const char *name;
    double tolerance; // lossless formats: 0
    int needless;     // bytes at the end that may be missing: no pixel lies there
} good[] = {
    {"small.png", 0, 0},  {"small-interlaced.png", 0, 0},   {"small-deep.png", 0, 0}, {"small.gif", 0, 2},
    {"small.bmp", 0, 1},  {"small-raw.tga", 0, 0},          {"small-rle.tga", 0, 0},  {"small.psd", 0, 1},
    {"small.jpg", 20, 2}, {"small-progressive.jpg", 20, 2},
};

static void test_formats(void)
{
    size_t size;
    enum codec_format format;
    const bool gif = codec_from_name("gif", &format); // this build has giflib
    struct image png = {0}, other;
    char *data = load("small.png", &size);
    check_that(&check, imagefile_decode(&png, data, size, why), "small.png is read");
    check_that(&check, png.shape.width == 17 && png.shape.height == 13 && png.plane[0][3] == 255,
               "it is 17x13, opaque");
    free(data);
    data = load("small.gif", &size);
    data[4] = '7'; // as in version 1
    check_that(&check, imagefile_decode(&other, data, size, why) == gif, "GIF87a is read");
    image_free(&other);
    free(data);
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (!gif && strstr(good[i].name, ".gif"))
            continue;
        data = load(good[i].name, &size);
        check_that(&check, codec_probe(data, size < CODEC_PROBE_BYTES ? size : CODEC_PROBE_BYTES, &format),
                   "%s is recognised", good[i].name);
        if (check_that(&check, imagefile_decode(&other, data, size, why), "%s is read", good[i].name)) {
            const double off = difference(&png, &other);
            check_that(&check, off <= good[i].tolerance, "%s is off by %g", good[i].name, off);
        }
        image_free(&other);
        free(data);
    }
    image_free(&png);
}

static void refuse(const char *path, const char *because)
{
    struct image image;
    capture_stderr(&scratch.said);
    const bool ok = imagefile_read(&image, path);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, !ok && lines == 1 && strstr(scratch.said.text, because) && strstr(scratch.said.text, path),
               "%s is refused because \"%s\"; said: %s", path, because, scratch.said.text);
    image_free(&image);
}

// A BMP with a negative height starts with its top row.
static void test_bmp(void)
{
    enum { HEIGHT_AT = 22 };
    size_t size;
    struct image up, down;
    char *data = load("small.bmp", &size);
    const bool read = imagefile_decode(&up, data, size, why);
    for (int i = 0, carry = 1; i < 4; i++) { // the negative height
        const int byte = (uint8_t)~data[HEIGHT_AT + i] + carry;
        data[HEIGHT_AT + i] = (char)byte;
        carry = byte >> 8;
    }
    if (check_that(&check, read && imagefile_decode(&down, data, size, why), "a BMP from top to bottom is read"))
        for (int y = 0; y < up.shape.height; y++)
            check_that(&check,
                       memcmp(up.plane[0] + (size_t)y * up.stride[0],
                              down.plane[0] + (size_t)(up.shape.height - 1 - y) * down.stride[0],
                              4 * (size_t)up.shape.width) == 0,
                       "row %d", y);
    image_free(&up);
    image_free(&down);
    free(data);
}

// Two pixels, dark and light, in each type of TGA file: palette, colours, grey; compressed or not.
static void test_tga(void)
{
    enum { HEAD = 18 };
    static const struct {
        uint8_t type, depth;
        size_t size;
        const char *body;
    } cases[] = {
        {1, 8, 8, "\1\1\1\311\311\311\0\1"},
        {9, 8, 9, "\1\1\1\311\311\311\1\0\1"},
        {2, 24, 6, "\1\1\1\311\311\311"},
        {10, 24, 8, "\200\1\1\1\200\311\311\311"},
        {2, 32, 8, "\1\1\1\377\311\311\311\377"},
        {3, 8, 2, "\1\311"},
        {11, 8, 3, "\1\1\311"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const bool map = cases[i].type % 8 == 1;
        uint8_t file[64] = {0, map, cases[i].type, 0, 0, map ? 2 : 0, 0, map ? 24 : 0};
        struct image image;
        file[12] = 2; // wide
        file[14] = 1; // high
        file[16] = cases[i].depth;
        memcpy(file + HEAD, cases[i].body, cases[i].size);
        const bool ok = imagefile_decode(&image, file, HEAD + cases[i].size, why);
        check_that(&check, ok && memcmp(image.plane[0], "\1\1\1\377\311\311\311\377", 8) == 0,
                   "TGA of type %d, %d bits", cases[i].type, cases[i].depth);
        image_free(&image);
        struct codec *codec = codec_open();
        struct codec_head head = {.alpha = false};
        struct codec_error error;
        check_that(&check,
                   codec && codec_head(codec, file, HEAD + cases[i].size, 0, &head, &error) &&
                       head.alpha == (cases[i].depth == 32),
                   "TGA of type %d, %d bits: alpha %d", cases[i].type, cases[i].depth, head.alpha);
        codec_close(codec);
        file[1] = !map; // a wrong palette flag
        check_that(&check, !codec_probe(file, HEAD + cases[i].size, &head.format), "no TGA of type %d", cases[i].type);
    }
}

static bool is_reason(const char *text)
{
    return text[0] != '\0' && !strchr(text, '\n');
}

// Formats of libraries that are loaded at run time: lossless files; cut or changed ones give no crash.
static void test_loaded(void)
{
    static const char *const names[] = {"small.heic", "small.avif", "small.jxl"};
    struct random random = {3};
    struct image png = {0}, other;
    enum codec_format format;
    size_t size;
    char *data = load("small.png", &size);
    check_that(&check, imagefile_decode(&png, data, size, why), "small.png is read");
    free(data);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!codec_from_name(strchr(names[i], '.') + 1, &format)) {
            printf("%s: this build has no library for it\n", names[i]);
            continue;
        }
        data = load(names[i], &size);
        if (check_that(&check, imagefile_decode(&other, data, size, why), "%s: %s", names[i], why))
            check_that(&check, difference(&png, &other) <= 1, "%s is off by %g", names[i], difference(&png, &other));
        image_free(&other);
        for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
            check_that(&check, !imagefile_decode(&other, data, cut, why) && is_reason(why), "%s cut at %zu: %s",
                       names[i], cut, why);
            image_free(&other);
        }
        for (int n = 0; n < 60; n++) {
            char *changed = malloc(size);
            memcpy(changed, data, size);
            changed[random_bits(&random) % size] = (char)random_bits(&random);
            if (imagefile_decode(&other, changed, size, why))
                image_free(&other);
            free(changed);
        }
        free(data);
    }
    image_free(&png);
}

// Every truncated file is refused with a reason of one line.
static void test_cut(void)
{
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        size_t size;
        char *data = load(good[i].name, &size);
        for (size_t cut = 0; cut + (size_t)good[i].needless < size; cut++) {
            char *part = malloc(cut ? cut : 1); // an exact block, so that the sanitizer reports reads beyond it
            memcpy(part, data, cut);
            struct image image;
            why[0] = '\0';
            check_that(&check, !imagefile_decode(&image, part, cut, why) && is_reason(why),
                       "%s cut at %zu of %zu bytes is refused with a reason: %s", good[i].name, cut, size, why);
            image_free(&image);
            free(part);
        }
        free(data);
    }
}

// Random damage must neither crash nor read out of bounds. The image may be refused or read.
static void test_damaged(void)
{
    struct random random = {7};
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        size_t size;
        char *data = load(good[i].name, &size);
        for (int round = 0; round < 200; round++) {
            char *bad = malloc(size);
            memcpy(bad, data, size);
            for (int n = random_range(&random, 1, 8); n > 0; n--)
                bad[random_range(&random, 0, (int)size - 1)] = (char)random_bits(&random);
            struct image image;
            why[0] = '\0';
            const bool ok = imagefile_decode(&image, bad, size, why);
            check_that(&check, ok || is_reason(why), "damaged %s is refused with a reason: %s", good[i].name, why);
            image_free(&image);
            free(bad);
        }
        free(data);
    }
}

static void refuse_png_head(uint32_t width, uint32_t height, const char *because)
{
    struct codec_buffer file = {0};
    png_begin(&file, width, height, &(struct png_wish){.colour = 6, .depth = 8});
    refuse(scratch_write(&scratch, "head.png", file.data, file.size), because);
    codec_buffer_free(&file);
}

static void test_refused(void)
{
    char path[512];
    refuse("/dev/zero", "not a regular file");
    refuse(scratch.dir, "directory");
    refuse(scratch_path(&scratch, "missing"), "No such file");
    mkfifo(scratch_path(&scratch, "fifo"), 0600);
    refuse(scratch.path, "not a regular file");
    refuse(scratch_write(&scratch, "empty", "", 0), "empty");
    refuse(scratch_write(&scratch, "text", "just some text, longer than any head", 36), "it is not a JPEG, PNG, ");
    refuse(scratch_write(&scratch, "film.cube", "LUT_3D_SIZE 2", 13), "-f lut=FILE");
    refuse(scratch_write(&scratch, "film.MOV", "no movie", 8), "it is a video; use monocle live");
    snprintf(path, sizeof(path), "%s/light.hdr", data_dir);
    refuse(path, "HDR");
    snprintf(path, sizeof(path), "%s/deep.psd", data_dir);
    refuse(path, "16 bits");
    refuse_png_head(100000, 100000, "wider or higher than 32768");
    refuse_png_head(0xffffffff, 1, "wider or higher than 32768");
    refuse_png_head(20000, 20000, "1 GiB");
    refuse_png_head(32768, 32768, "1 GiB");
    refuse_png_head(0, 5, "damaged");
    refuse_png_head(5, 5, "truncated");
}

// A Huffman table that claims more than 256 values.
static void test_huffman(void)
{
    size_t size;
    uint8_t *data = (uint8_t *)load("small.jpg", &size);
    uint8_t *table = memmem(data, size, "\xff\xc4", 2);
    memset(table + 5 + 8, 0xff, 2);
    refuse(scratch_write(&scratch, "huffman.jpg", data, size), "Huffman");
    free(data);
}

static bool same_rows(const struct image *a, const struct image *b)
{
    bool same = a->shape.width == b->shape.width && a->shape.height == b->shape.height;
    for (int y = 0; same && y < a->shape.height; y++)
        same = memcmp(a->plane[0] + (size_t)y * a->stride[0], b->plane[0] + (size_t)y * b->stride[0],
                      4 * (size_t)a->shape.width) == 0;
    return same;
}

static void test_write(void)
{
    struct random random = {3};
    for (int round = 0; round < 12; round++) {
        const struct image_shape shape = {.format = PIXFMT_RGBA,
                                          .width = round == 0 ? 1 : random_range(&random, 1, 70),
                                          .height = round == 0 ? 1 : random_range(&random, 1, 40)};
        struct test_frame frame;
        struct image back;
        frame_fill(&frame, &shape, round % 2 ? LAYOUT_PADDED : LAYOUT_TIGHT, SHAPE_NOISE, &random);
        const char *path = scratch_path(&scratch, "written.png");
        check_that(&check, imagefile_write_png(path, &frame.image, NULL), "a PNG is written");
        if (check_that(&check, imagefile_read(&back, path), "and read")) {
            check_that(&check, same_rows(&back, &frame.image), "PNG of %dx%d is read back unchanged", shape.width,
                       shape.height);
        }
        image_free(&back);
        capture_stderr(&scratch.said);
        const bool ok = imagefile_write_png("/nonexistent/dir/x.png", &frame.image, NULL);
        check_that(&check, captured_lines(&scratch.said) == 1 && !ok, "an unwritable place is logged in one line");
        frame_free(&frame);
    }
}

// A file has alpha if at least one pixel is not opaque, wherever it is.
static void test_alpha(void)
{
    enum { COLOUR_AT = 25, RGB = 2 };
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 5, .height = 3};
    struct image image, back;
    if (!image_alloc(&image, &shape))
        abort();
    for (int y = 0; y < shape.height; y += shape.height - 1) { // at the beginning and at the end
        uint8_t *pixel = image.plane[0] + (size_t)y * image.stride[0] + (y ? 4 * (size_t)(shape.width - 1) : 0);
        memset(image.memory, 255, image.memory_bytes);
        pixel[3] = 254;
        const char *path = scratch_path(&scratch, "alpha.png");
        if (check_that(&check, imagefile_write_png(path, &image, NULL) && imagefile_read(&back, path),
                       "alpha is written"))
            check_that(&check, same_rows(&back, &image), "alpha in row %d", y);
        image_free(&back);
    }
    memset(image.memory, 255, image.memory_bytes);
    size_t size = 0;
    const char *path = scratch_path(&scratch, "opaque.png");
    char *file = imagefile_write_png(path, &image, NULL) ? file_read(path, 1 << 20, &size) : NULL;
    check_that(&check, file && size > COLOUR_AT && file[COLOUR_AT] == RGB, "an opaque image is written without alpha");
    free(file);
    image_free(&image);
}

// imagefile_try returns the reason; imagefile_read and imagefile_write_png log it once.
static void test_no_memory(void)
{
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 2, .height = 1};
    struct image image, other;
    char path[512];
    snprintf(path, sizeof(path), "%s/small.png", data_dir);
    if (!image_alloc(&image, &shape))
        abort();
    log_set_error_hook(count_error, NULL);
    no_memory = true;
    const bool tried = imagefile_try(&other, path, why);
    check_that(&check, !tried && strcmp(why, "out of memory") == 0, "imagefile_try returns the reason: %s", why);
    check_that(&check, logged == 0, "imagefile_try logs %d errors", logged);
    imagefile_read(&other, path);
    check_that(&check, logged == 1, "imagefile_read logs %d errors", logged);
    imagefile_write_png(scratch_path(&scratch, "none.png"), &image, NULL);
    check_that(&check, logged == 2, "imagefile_write_png logs %d errors", logged - 1);
    no_memory = false;
    log_set_error_hook(NULL, NULL);
    image_free(&image);
}

int main(int argc, char **argv)
{
    data_dir = argc > 1 ? argv[1] : "tests/data";
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    test_formats();
    test_loaded();
    test_bmp();
    test_tga();
    test_cut();
    test_damaged();
    test_refused();
    test_huffman();
    test_write();
    test_alpha();
    test_no_memory();
    scratch_close(&scratch);
    return check_end(&check);
}
