// test_codec_stb.c: PSD and TGA files: files of the highest compression are read, truncated and odd ones refused
#include "made_file.h"

enum { SIDE = 4096 };

// The heads, up to the pixels.
static void begin_tga(struct file *file, int type, int depth, int width, int height)
{
    *file = (struct file){0};
    add_le(file, (uint32_t)type << 16, 3);
    add_le(file, 0, 4);
    add_le(file, 0, 5);
    add_le(file, (uint32_t)width, 2);
    add_le(file, (uint32_t)height, 2);
    add_byte(file, depth);
    add_byte(file, 0x20); // the first row is the upper one
}

static void begin_psd(struct file *file, int channels, bool packed, int width, int height)
{
    *file = (struct file){0};
    add(file, "8BPS\0\1\0\0\0\0\0\0", 12);
    add_be(file, (uint32_t)channels, 2);
    add_be(file, (uint32_t)height, 4);
    add_be(file, (uint32_t)width, 4);
    add_be(file, 8, 2);
    add_be(file, 3, 2);
    for (int i = 0; i < 3; i++) { // its sections
        add_be(file, (uint32_t)i, 4);
        add(file, "..", (size_t)i);
    }
    add_be(file, packed, 2);
}

static void make_tga(struct file *file)
{
    begin_tga(file, 10, 24, SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE / 128; i++)
        add(file, "\xff\x60\x40\x20", 4);
}

static void make_psd(struct file *file)
{
    begin_psd(file, 3, true, SIDE, SIDE);
    for (int i = 0; i < SIDE * 3; i++)
        add_be(file, SIDE / 128 * 2, 2);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < SIDE * SIDE / 128; k++)
            add(file, (uint8_t[]){129, (uint8_t)(0x20 * (i + 1))}, 2);
}

static void check_packed(struct codec *codec, const struct file *file, const char *what)
{
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    const bool ok = codec_head(codec, file->data, file->size, 0, &head, &error) && image_reserve(&image, &head.shape) &&
                    codec_decode(codec, file->data, file->size, &head, &image, &error);
    long wrong = 0;
    check_that(&unit, ok && head.shape.width == SIDE && head.shape.height == SIDE, "%s of %zu bytes: %s", what,
               file->size, error.why);
    for (int y = 0; ok && y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            wrong += memcmp(image.plane[0] + (size_t)y * image.stride[0] + 4 * (size_t)x, "\x20\x40\x60\xff", 4) != 0;
    check_that(&unit, wrong == 0, "%s: %ld pixels are wrong", what, wrong);
    image_free(&image);
}

static void test_packed(struct codec *codec)
{
    static struct file file;
    make_tga(&file);
    check_packed(codec, &file, "TGA");
    make_psd(&file);
    check_packed(codec, &file, "PSD");
}

static void check_short(struct codec *codec, struct file *file, const char *what)
{
    struct codec_head head;
    struct codec_error error;
    add(file, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    check_that(&unit,
               !codec_head(codec, file->data, file->size, 0, &head, &error) && error.fault == CODEC_DAMAGED &&
                   strstr(error.why, "truncated"),
               "%s of %zu bytes is not refused as truncated, but: %s", what, file->size, error.why);
}

// The largest possible images with few bytes: their heads are refused before memory is allocated.
static void test_short(struct codec *codec)
{
    enum { MOST = 16384 };
    static const int depths[] = {8, 16, 24, 32};
    static struct file file;
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        for (int packed = 0; packed < 2; packed++) {
            begin_tga(&file, (depths[i] == 8 ? 3 : 2) + 8 * packed, depths[i], MOST, MOST);
            check_short(codec, &file, packed ? "packed TGA" : "TGA");
        }
    }
    for (int packed = 0; packed < 2; packed++) {
        begin_psd(&file, 3, packed, MOST, MOST);
        check_short(codec, &file, packed ? "packed PSD" : "PSD");
    }
    begin_psd(&file, 2, false, 1, 1);
    add(&file, "abc", 3);
    refuse(codec, &file, CODEC_DAMAGED, "header is invalid");
}

// A header that is truncated at every byte.
static void test_cut(struct codec *codec)
{
    static struct file files[2];
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    begin_tga(&files[0], 2, 24, 2, 2);
    begin_psd(&files[1], 3, false, 2, 2);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        for (; files[i].size > 0; files[i].size--) {
            const bool ok = read_file(codec, &files[i], &head, &image, &error);
            check_that(&unit, !ok && error.why[0], "file %zu, cut at %zu", i, files[i].size);
        }
    image_free(&image);
}

// A file that is just long enough is read.
static void test_just_enough(struct codec *codec)
{
    static struct file file;
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    begin_psd(&file, 3, false, 2, 1);
    add(&file, "\1\2\3\4\5\6", 6);
    const bool ok = read_file(codec, &file, &head, &image, &error);
    check_that(&unit, ok && !head.alpha && memcmp(image.plane[0], "\1\3\5\377\2\4\6\377", 8) == 0, "PSD: %s",
               error.why);
    file.size--;
    check_that(&unit, !read_file(codec, &file, &head, &image, &error), "PSD cut short");
    file.size++;
    memset(file.data + 26, 0x7f, 4); // a section that is longer than the file
    check_that(&unit, !read_file(codec, &file, &head, &image, &error), "PSD whose section is cut");
    image_free(&image);
}

// The rows of a packed PSD have the lengths of its table: what is too much in one is no part of the next.
static void test_rows(struct codec *codec)
{
    static struct file file;
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    begin_psd(&file, 3, true, 2, 1);
    add(&file, "\0\4\0\3\0\3", 6);
    add(&file, "\xfc\1\xfc\1", 4); // 5 times 1, twice
    add(&file, "\x80\xff\2", 3);
    add(&file, "\1\3\4", 3);
    const bool ok = read_file(codec, &file, &head, &image, &error);
    check_that(&unit, ok && memcmp(image.plane[0], "\1\2\3\377\1\2\4\377", 8) == 0, "rows of a PSD: %s", error.why);
    file.data[file.size - 3] = 0; // the last row has one pixel
    refuse(codec, &file, CODEC_DAMAGED, "too short");
    image_free(&image);
}

// A PSD that was saved without its merged image has white or black pixels instead.
static void test_unmerged(struct codec *codec)
{
    for (int merged = 0; merged < 2; merged++) {
        static struct file file;
        struct codec_head head;
        struct codec_error error;
        file.size = 0;
        add(&file, "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\2\0\x08\0\3", 26);
        add_be(&file, 0, 4);
        add_be(&file, 12 + 6, 4);
        add(&file, "8BIM\x04\x21\0\0\0\0\0\5\0\0\0\1", 16);
        add_byte(&file, merged);
        add_byte(&file, 0);
        add(&file,
            "\0\0\0\0\0\0"
            "abcdef",
            12);
        const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&unit, merged ? ok : !ok && error.fault == CODEC_UNSUPPORTED && strstr(error.why, "Maximize"),
                   "merged %d: %s", merged, error.why);
    }
}

// The resolution of a PSD (resource 1005): 300 across and 72.5 down, in pixels per inch.
static void test_density(struct codec *codec)
{
    static struct file file;
    struct codec_head head = {0};
    struct codec_error error;
    add(&file, "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\2\0\x08\0\3", 26);
    add_be(&file, 0, 4);
    add_be(&file, 12 + 16, 4);
    add(&file, "8BIM\x03\xed\0\0\0\0\0\x10", 12);
    add(&file, "\x01\x2c\0\0\0\1\0\1\0\x48\x80\0\0\1\0\1", 16);
    add(&file,
        "\0\0\0\0\0\0"
        "abcdef",
        12);
    const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&unit, ok && head.metadata.density[0] == 300 && head.metadata.density[1] == 72.5, "%s: %g by %g",
               error.why, head.metadata.density[0], head.metadata.density[1]);
}

// Alpha of a PSD may be transparency or a selection.
static void test_alpha(struct codec *codec)
{
    static struct file file;
    struct codec_head head;
    struct codec_error error;
    for (int channels = 4; channels <= 5; channels++) {
        begin_psd(&file, channels, false, 2, 1);
        add(&file, "\0\0\0\0\0\0\1\1\1\1", 2 * (size_t)channels);
        check_that(&unit,
                   !codec_head(codec, file.data, file.size, 0, &head, &error) && error.fault == CODEC_UNSUPPORTED &&
                       strstr(error.why, "alpha") && strstr(error.why, "PNG"),
                   "PSD of %d channels: %s", channels, error.why);
    }
}

// A file whose size differs from the header's is refused: its pixels would be written beyond the image.
static void test_exchanged(struct codec *codec)
{
    static struct file small, large;
    struct codec_head head;
    struct codec_error error;
    struct image image = {0};
    begin_tga(&small, 2, 24, 2, 2);
    add(&small, "abcdefghijkl", 12);
    begin_tga(&large, 2, 24, 40, 40);
    for (int i = 0; i < 40 * 40; i++)
        add(&large, "abc", 3);
    const bool ok = codec_head(codec, small.data, small.size, 0, &head, &error) && image_reserve(&image, &head.shape);
    check_that(&unit, ok, "TGA: %s", error.why);
    check_that(&unit,
               ok && !codec_decode(codec, large.data, large.size, &head, &image, &error) &&
                   error.fault == CODEC_DAMAGED && strstr(error.why, "do not match its header"),
               "a larger file than that of the head: %s", error.why);
    image_free(&image);
}

// stb_image ignores the order of the pixels in a row.
static void test_right_to_left(struct codec *codec)
{
    static const uint8_t orders[] = {0x30, 0x10}; // the first row is the upper one, or the lower one
    for (size_t i = 0; i < sizeof(orders); i++) {
        static struct file file;
        struct codec_head head;
        struct codec_error error;
        struct image image = {0};
        begin_tga(&file, 3, 8, 3, 2);
        file.data[17] = orders[i];
        add(&file, "abcdef", 6);
        const bool ok = read_file(codec, &file, &head, &image, &error);
        const char *expected = i == 0 ? "cbafed" : "fedcba";
        for (int k = 0; ok && k < 6; k++)
            check_that(&unit, image_row(&image, 0, k / 3)[4 * (k % 3)] == expected[k], "TGA, order %#x, pixel %d",
                       orders[i], k);
        check_that(&unit, ok, "TGA from right to left: %s", error.why);
        image_free(&image);
    }
}

// What stb_image would read wrongly is refused by name.
static void test_refused(struct codec *codec)
{
    enum { MAP = 1, MAP_FIRST = 3, MAP_COUNT = 5, MAP_DEPTH = 7, PSD_MODE = 25 };
    static struct file file;
    begin_tga(&file, 1, 8, 2, 1);
    file.data[MAP] = 1;
    file.data[MAP_FIRST] = 4;
    file.data[MAP_COUNT] = 2;
    file.data[MAP_DEPTH] = 24;
    add(&file, "abcdef\4\5", 8);
    refuse(codec, &file, CODEC_UNSUPPORTED, "colour map does not begin at 0");
    refuse(codec, &file, CODEC_UNSUPPORTED, "to PNG first");
    begin_tga(&file, 2, 24, 1, 1);
    file.data[MAP] = 1;
    file.data[MAP_COUNT] = 2;
    file.data[MAP_DEPTH] = 24;
    add(&file, "abcdefghi", 9);
    refuse(codec, &file, CODEC_UNSUPPORTED, "do not use");
    refuse(codec, &file, CODEC_UNSUPPORTED, "to PNG first");
    file.data[MAP_DEPTH] = 7;
    struct codec_head head;
    struct codec_error error;
    check_that(&unit, !codec_head(codec, file.data, file.size, 0, &head, &error) && error.fault == CODEC_NOT_A_PICTURE,
               "no TGA has colours of 7 bits: %s", error.why);
}

int main(void)
{
    struct codec *codec = codec_open();
    test_packed(codec);
    test_short(codec);
    test_cut(codec);
    test_just_enough(codec);
    test_alpha(codec);
    test_rows(codec);
    test_unmerged(codec);
    test_density(codec);
    test_exchanged(codec);
    test_right_to_left(codec);
    test_refused(codec);
    codec_close(codec);
    return check_end(&unit);
}
