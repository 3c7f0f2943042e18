// test_codec_gif.c: GIF files: the first frame on its screen; files of the highest compression; damaged ones
#include "made_file.h"

enum { SIDE = 4096, CODE_BITS = 2, CLEAR = 4, END = 5, FIRST = 6 };

// The head, with four colours: black, (32, 64, 96), red, green.
static void begin_screen(struct file *file, int width, int height, int background)
{
    *file = (struct file){0};
    add(file, "GIF89a", 6);
    add_le(file, (uint32_t)width, 2);
    add_le(file, (uint32_t)height, 2);
    add_byte(file, 0x81);
    add_byte(file, background);
    add_byte(file, 0);
    add(file, "\0\0\0\x20\x40\x60\xff\0\0\0\xff\0", 12);
}

static void begin_frame(struct file *file, int left, int top, int width, int height, int flags)
{
    add_byte(file, ',');
    add_le(file, (uint32_t)left, 2);
    add_le(file, (uint32_t)top, 2);
    add_le(file, (uint32_t)width, 2);
    add_le(file, (uint32_t)height, 2);
    add_byte(file, flags);
}

// Codes of a GIF's pixels, in blocks: the place of the current one, and the bits that are not written yet.
struct codes {
    size_t block;
    uint32_t bits;
    int bit_count;
};

static void add_code(struct file *file, struct codes *codes, int code, int bits)
{
    codes->bits |= (uint32_t)code << codes->bit_count;
    for (codes->bit_count += bits; codes->bit_count >= 8; codes->bit_count -= 8, codes->bits >>= 8) {
        if (file->data[codes->block] == 255) {
            codes->block = file->size;
            add_byte(file, 0);
        }
        add_byte(file, (int)(codes->bits & 0xff));
        file->data[codes->block]++;
    }
}

// One colour: each code stands for one pixel more than the code before. When the table of codes is full, it is cleared,
// or (deferred) the last code is repeated, which gives the highest compression.
static void make_gif(struct file *file, bool deferred)
{
    enum { COLOUR = 1, LAST = 4095, LAST_BITS = 12 };
    begin_screen(file, SIDE, SIDE, 0);
    begin_frame(file, 0, 0, SIDE, SIDE, 0);
    add_byte(file, CODE_BITS);
    struct codes codes = {.block = file->size};
    add_byte(file, 0);
    int bits = CODE_BITS + 1, next = FIRST, length = 0;
    add_code(file, &codes, CLEAR, bits);
    for (long left = (long)SIDE * SIDE; left > 0; left -= length) {
        if (next > LAST && !deferred) {
            add_code(file, &codes, CLEAR, bits);
            bits = CODE_BITS + 1;
            next = FIRST;
            length = 0;
        }
        const bool grows = length > 0 && next <= LAST;
        length = left < length + 1 ? (int)left : length == 0 ? 1 : length + grows;
        add_code(file, &codes, length == 1 ? COLOUR : FIRST + length - 2, bits);
        next += grows;
        if (next == 1 << bits && bits < LAST_BITS)
            bits++;
    }
    add_code(file, &codes, CLEAR + 1, bits);
    add_code(file, &codes, 0, 7); // the last bits
    add_byte(file, 0);
    add_byte(file, ';');
}

// Adds pixels, a digit each. A clear code before each pixel but the first keeps all codes at three bits.
static void add_pixels(struct file *file, const char *digits, bool clear_first)
{
    add_byte(file, CODE_BITS);
    struct codes codes = {.block = file->size};
    add_byte(file, 0);
    for (int i = 0; digits[i]; i++) {
        if (i > 0 || clear_first)
            add_code(file, &codes, CLEAR, CODE_BITS + 1);
        add_code(file, &codes, digits[i] - '0', CODE_BITS + 1);
    }
    add_code(file, &codes, END, CODE_BITS + 1);
    add_code(file, &codes, 0, 7); // the last bits
    add_byte(file, 0);
    add_byte(file, ';');
}

static void add_transparent(struct file *file, int index)
{
    add(file, "!\xf9\4\1\0\0", 6);
    add_byte(file, index);
    add_byte(file, 0);
}

static void test_packed(struct codec *codec)
{
    for (int deferred = 0; deferred < 2; deferred++) {
        static struct file file;
        struct codec_head head;
        struct codec_error error;
        struct image image = {0};
        long wrong = 0;
        make_gif(&file, deferred);
        const bool ok = read_file(codec, &file, &head, &image, &error);
        check_that(&unit, ok && head.shape.width == SIDE && !head.alpha, "%zu bytes: %s", file.size, error.why);
        for (int y = 0; ok && y < SIDE; y++)
            for (int x = 0; x < SIDE; x++)
                wrong += memcmp(image_row(&image, 0, y) + 4 * x, "\x20\x40\x60\xff", 4) != 0;
        check_that(&unit, wrong == 0, "deferred %d: %ld pixels are wrong", deferred, wrong);
        image_free(&image);
    }
}

// The frame lies on a screen, which is transparent around it, in its background colour.
static void test_screen(struct codec *codec)
{
    static const uint8_t colours[][4] = {
        {0, 0, 0, 255}, {32, 64, 96, 255}, {255, 0, 0, 255}, {0, 255, 0, 255}, // a to d: opaque
        {255, 0, 0, 0}, {32, 64, 96, 0},   {0, 0, 0, 0},                       // e to g: transparent
    };
    static const struct {
        const char *name;
        int screen[2], frame[4], flags, transparent, background;
        const char *pixels, *expected;
        bool alpha;
    } cases[] = {
        {"a frame as large as the screen", {2, 2}, {0, 0, 2, 2}, 0, -1, 2, "1230", "bcda", false},
        {"a smaller frame", {3, 2}, {1, 1, 1, 1}, 0, -1, 2, "1", "eeeebe", true},
        {"a background beyond the colours", {2, 1}, {1, 0, 1, 1}, 0, -1, 77, "1", "gb", true},
        {"a transparent colour", {2, 1}, {0, 0, 2, 1}, 0, 1, 0, "12", "fc", true},
        {"a frame that exceeds the screen", {2, 2}, {1, 0, 2, 3}, 0, -1, 2, "123012", "ebed", true},
        {"a frame outside the screen", {1, 1}, {1, 1, 1, 1}, 0, -1, 2, "1", "e", true},
        {"a frame larger than the screen", {1, 2}, {0, 0, 2, 3}, 0, -1, 2, "120312", "ba", false},
        {"a frame wider than a row in memory",
         {2, 2},
         {1, 0, 40, 1},
         0,
         -1,
         2,
         "1111111111111111111111111111111111111111",
         "ebee",
         true},
        {"a screen without a size", {0, 0}, {1, 0, 1, 2}, 0, -1, 2, "13", "ebed", true},
        {"interlaced rows", {1, 9}, {0, 0, 1, 9}, 0x40, -1, 0, "011223333", "adcdbdcdb", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct file file;
        struct codec_head head;
        struct codec_error error;
        begin_screen(&file, cases[i].screen[0], cases[i].screen[1], cases[i].background);
        if (cases[i].transparent >= 0)
            add_transparent(&file, cases[i].transparent);
        const int *frame = cases[i].frame;
        begin_frame(&file, frame[0], frame[1], frame[2], frame[3], cases[i].flags);
        add_pixels(&file, cases[i].pixels, true);
        const int width = cases[i].screen[0] ? cases[i].screen[0] : 2;
        check_pixels(codec, &file, width, cases[i].expected, colours, cases[i].name);
        check_that(&unit, codec_head(codec, file.data, file.size, 0, &head, &error) && head.alpha == cases[i].alpha,
                   "%s: alpha %d", cases[i].name, head.alpha);
        file.size -= 2; // without its last block and its end
        check_pixels(codec, &file, width, cases[i].expected, colours, cases[i].name);
    }
}

// An index beyond the frame's own colours is black. A stream need not begin with a clear code. Without a colour table,
// an index is a level of grey.
static void test_odd(struct codec *codec)
{
    static const uint8_t colours[][4] = {
        {0, 0, 0, 255}, {1, 2, 3, 255}, {32, 64, 96, 255}, {1, 1, 1, 255}, {3, 3, 3, 255}};
    static struct file file;
    begin_screen(&file, 3, 1, 0);
    begin_frame(&file, 0, 0, 3, 1, 0x80);
    add(&file, "\1\2\3\1\2\3", 6); // two colours
    add_pixels(&file, "032", true);
    check_pixels(codec, &file, 3, "baa", colours, "an index beyond the colours");
    begin_screen(&file, 2, 1, 0);
    begin_frame(&file, 0, 0, 2, 1, 0);
    add_pixels(&file, "10", false);
    check_pixels(codec, &file, 2, "ca", colours, "no clear code at the beginning");
    begin_screen(&file, 3, 1, 0);
    file.data[10] = 0; // no colour table
    file.size -= 12;
    begin_frame(&file, 0, 0, 3, 1, 0);
    add_pixels(&file, "130", true);
    check_pixels(codec, &file, 3, "dea", colours, "no colour table");
}

static void add_text(struct file *file, const char *text)
{
    add_byte(file, (int)strlen(text));
    add(file, text, strlen(text));
}

// Adds XMP data as the XMP specification says: not in blocks, with a trailer.
static void add_xmp(struct file *file, const char *text, int first)
{
    add(file, "!\xff\x0bXMP DataXMP", 14);
    add(file, text, strlen(text));
    add_byte(file, first);
    for (int i = 255; i >= 0; i--)
        add_byte(file, i);
    add_byte(file, 0);
}

// Makes a file with metadata before and after the frame.
static void make_described(struct file *file, const char *xmp, int first)
{
    begin_screen(file, 1, 1, 0);
    add(file, "!\xfe", 2);
    add_text(file, "one");
    add_text(file, " comment");
    add_byte(file, 0);
    add_xmp(file, xmp, first);
    add(file, "!\xff\x0bICCRGBG1012", 14);
    add_text(file, "pro");
    add_text(file, "file");
    add_byte(file, 0);
    begin_frame(file, 0, 0, 1, 1, 0x80);
    add(file, "\1\2\3\1\2\3", 6);
    add_pixels(file, "1", true);
    file->size--; // the end
    add(file, "!\xfe", 2);
    add_text(file, "end");
    add(file, "\0;", 2);
}

static bool is_text(struct codec_bytes bytes, const char *text)
{
    return bytes.size == strlen(text) && memcmp(bytes.data, text, bytes.size) == 0;
}

static void test_metadata(struct codec *codec)
{
    static const char xmp[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'/>";
    static struct file file;
    struct codec_head head;
    struct codec_error error = {0};
    const struct codec_metadata *metadata = &head.metadata;
    make_described(&file, xmp, 1);
    check_that(&unit, codec_head(codec, file.data, file.size, 0, &head, &error), "metadata: %s", error.why);
    check_that(&unit, is_text(metadata->comment, "one comment\nend"), "comments: %.*s", (int)metadata->comment.size,
               (const char *)metadata->comment.data);
    check_that(&unit, is_text(metadata->xmp, xmp), "XMP: %zu bytes", metadata->xmp.size);
    check_that(&unit, is_text(metadata->icc, "profile"), "ICC profile: %zu bytes", metadata->icc.size);
    check_that(&unit, metadata->left_out[0] == '\0', "left out: %s", metadata->left_out);
    make_described(&file, xmp, 2);
    check_that(&unit,
               codec_head(codec, file.data, file.size, 0, &head, &error) && !metadata->xmp.data &&
                   strstr(metadata->left_out, "XMP data are damaged"),
               "a wrong trailer of XMP: %s", metadata->left_out);
    make_described(&file, xmp, 1);
    for (file.size -= 2; file.data[file.size - 1] != ','; file.size--) {
        struct image image = {0};
        read_file(codec, &file, &head, &image, &error);
        image_free(&image);
    }
}

static void test_refused(struct codec *codec)
{
    enum { MOST = 16384 };
    static struct file file;
    begin_screen(&file, MOST, MOST, 0);
    begin_frame(&file, 0, 0, MOST, MOST, 0);
    add_pixels(&file, "1", true);
    refuse(codec, &file, CODEC_DAMAGED, "truncated");
    begin_screen(&file, MOST, MOST, 0); // a screen of a gigabyte with a frame of one pixel
    begin_frame(&file, 0, 0, 1, 1, 0);
    add_pixels(&file, "1", true);
    refuse(codec, &file, CODEC_DAMAGED, "truncated");
    begin_screen(&file, 2, 2, 0);
    add_byte(&file, ';');
    refuse(codec, &file, CODEC_DAMAGED, "no frame");
    begin_screen(&file, 2, 2, 0);
    begin_frame(&file, 0, 0, 2, 2, 0);
    add(&file, "\x0b\2\0\0\0;", 6);
    refuse(codec, &file, CODEC_UNSUPPORTED, "11 bits");
    begin_screen(&file, 2, 2, 0);
    begin_frame(&file, 0, 0, 0, 2, 0);
    add_pixels(&file, "1", true);
    refuse(codec, &file, CODEC_DAMAGED, "no pixels");
    begin_screen(&file, 2, 2, 0);
    begin_frame(&file, 0, 0, 2, 2, 0);
    add_pixels(&file, "123", true); // a pixel is missing
    refuse(codec, &file, CODEC_DAMAGED, "");
    add_pixels(&file, "1230", true);
    begin_screen(&file, 2, 2, 0);
    begin_frame(&file, 0, 0, 2, 2, 0);
    add_pixels(&file, "1230", true);
    for (file.size -= 4; file.size > 0; file.size--)
        refuse(codec, &file, file.size < 6 ? CODEC_NOT_A_PICTURE : CODEC_DAMAGED, "");
}

int main(void)
{
    struct codec *codec = codec_open();
    enum codec_format format;
    if (!codec_from_name("gif", &format)) {
        puts("this build has no giflib");
        return CHECK_SKIP;
    }
    test_packed(codec);
    test_screen(codec);
    test_odd(codec);
    test_metadata(codec);
    test_refused(codec);
    codec_close(codec);
    return check_end(&unit);
}
