// test_codec_bmp.c: BMP files of every kind, with few pixels whose colours are known; damaged ones
#include "made_file.h"

enum { FILE_HEAD = 14, NONE = 0, RLE8 = 1, RLE4 = 2, MASKS = 3, ALPHA_MASKS = 6 };

// Begins a file with an info header of `info` bytes; the rest of the header is zeros. `offset`: place of the pixels.
static void begin(struct file *file, int info, int width, int height, int bits, int compression, int offset)
{
    *file = (struct file){0};
    add(file, "BM\0\0\0\0\0\0\0\0", 10);
    add_le(file, (uint32_t)offset, 4);
    add_le(file, (uint32_t)info, 4);
    add_le(file, (uint32_t)width, info == 12 ? 2 : 4);
    add_le(file, (uint32_t)height, info == 12 ? 2 : 4);
    add_le(file, 1, 2);
    add_le(file, (uint32_t)bits, 2);
    if (info > 16)
        add_le(file, (uint32_t)compression, 4);
    while (file->size < FILE_HEAD + (size_t)info)
        add_byte(file, 0);
}

// Fills the file up to the pixels.
static void fill(struct file *file, int offset)
{
    while (file->size < (size_t)offset)
        add_byte(file, 0xee);
}

static const uint8_t palette[][4] = {{10, 20, 30, 255}, {40, 50, 60, 255}, {70, 80, 90, 255}, {0, 0, 0, 255}};

static void add_palette(struct file *file, int count, int each)
{
    for (int i = 0; i < count; i++)
        add(file, (uint8_t[]){palette[i][2], palette[i][1], palette[i][0], 0}, (size_t)each);
}

// Headers of every size, with palettes of three or four bytes per colour, a gap behind them, and indices beyond them,
// which are black.
static void test_palettes(struct codec *codec)
{
    static const int infos[] = {12, 16, 24, 40, 48, 52, 56, 64, 108, 124};
    for (size_t i = 0; i < sizeof(infos) / sizeof(*infos); i++) {
        for (int gap = 0; gap < 2; gap++) {
            static struct file file;
            const int each = infos[i] == 12 ? 3 : 4, offset = FILE_HEAD + infos[i] + 3 * each + gap * 2000;
            char what[64];
            snprintf(what, sizeof(what), "header of %d bytes, gap %d", infos[i], gap);
            begin(&file, infos[i], 5, 2, 8, NONE, offset);
            if (infos[i] >= 36)
                file.data[FILE_HEAD + 32] = 3; // colours
            add_palette(&file, 3, each);
            fill(&file, offset);
            add(&file, gap && infos[i] < 36 ? "\0\1\2\0\1....\2\1\0\0\0..." : "\0\1\2\3\xff...\2\1\0\x80\0...", 16);
            if (gap && infos[i] < 36) // nothing tells where the palette ends
                continue;
            check_pixels(codec, &file, 5, "cbadaabcdd", palette, what);
        }
        static struct file file;
        const int each = infos[i] == 12 ? 3 : 4, offset = FILE_HEAD + infos[i] + 3 * each;
        begin(&file, infos[i], 5, 1, 4, NONE, offset);
        add_palette(&file, 3, each);
        add(&file, "\x01\x23\xf0\0", 4);
        check_pixels(codec, &file, 5, "abcdd", palette, "4 bits");
        if (infos[i] >= 36) { // the place of the palette instead of that of the pixels
            begin(&file, infos[i], 5, 1, 4, NONE, FILE_HEAD + infos[i]);
            file.data[FILE_HEAD + 32] = 3;
            add_palette(&file, 3, each);
            add(&file, "\x01\x23\xf0", 3);
            check_pixels(codec, &file, 5, "abcdd", palette, "pixels after the palette");
        }
        begin(&file, infos[i], 5, 1, 2, NONE, offset);
        add_palette(&file, 3, each);
        add(&file, "\x1b\x40\0\0", 4);
        check_pixels(codec, &file, 5, "abcdb", palette, "2 bits");
        begin(&file, infos[i], 9, 1, 1, NONE, offset);
        add_palette(&file, 3, each);
        add(&file, "\x2b\x80\0\0", 4);
        check_pixels(codec, &file, 9,
                     "aababab"
                     "bb",
                     palette, "1 bit");
    }
}

static void add_runs(struct file *file, int width, int height, int bits, const char *runs, size_t size)
{
    begin(file, 40, width, height, bits, bits == 8 ? RLE8 : RLE4, FILE_HEAD + 40 + 12);
    add_palette(file, 3, 4);
    add(file, runs, size);
}

static void test_runs(struct codec *codec)
{
    static const struct {
        const char *name;
        int bits, width, height;
        const char *runs;
        size_t size;
        const char *expected; // lowest row first
    } cases[] = {
        {"runs", 8, 3, 2, "\3\1\0\0\2\2\1\0\0\1", 10, "bbbcca"},
        {"runs and plain pixels", 8, 3, 2, "\0\3\0\1\2\0\0\0\3\1\0\1", 12, "abcbbb"},
        {"a move", 8, 3, 2, "\1\1\0\2\1\1\1\2\0\1", 10, "baaaac"},
        {"an early end", 8, 3, 2, "\1\1\0\1", 4, "baaaaa"},
        {"no end", 8, 3, 2, "\3\1\0\0\3\2", 6, "bbbccc"},
        {"a run beyond its row", 8, 3, 2, "\5\1\0\0\3\2\0\1", 8, "bbbccc"},
        {"rows beyond the image", 8, 3, 2, "\3\1\0\0\3\2\0\0\3\1\0\1", 12, "bbbccc"},
        {"an index beyond the palette", 8, 3, 1, "\3\xc8\0\1", 4, "ddd"},
        {"4-bit runs", 4, 3, 2, "\3\x12\0\0\2\x20\1\x10\0\1", 10, "bcbcab"},
        {"4-bit plain pixels", 4, 5, 1, "\0\5\x01\x20\x10\0\0\1", 8, "abcab"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        static struct file file;
        char upper_first[32] = "";
        for (int y = 0; y < cases[i].height; y++)
            memcpy(upper_first + y * cases[i].width, cases[i].expected + (cases[i].height - 1 - y) * cases[i].width,
                   (size_t)cases[i].width);
        add_runs(&file, cases[i].width, cases[i].height, cases[i].bits, cases[i].runs, cases[i].size);
        check_pixels(codec, &file, cases[i].width, upper_first, palette, cases[i].name);
    }
    static struct file file;
    add_runs(&file, 3, 2, 8, "\3\1\0\0\2\2", 6); // a pixel is missing
    refuse(codec, &file, CODEC_DAMAGED, "truncated");
    add_runs(&file, 3, 2, 8, "\0\3\0\1", 4);
    refuse(codec, &file, CODEC_DAMAGED, "truncated");
}

static const uint8_t rgb[][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 0, 0, 51},
                                 {33, 0, 0, 255},  {1, 2, 3, 255},   {255, 0, 0, 0},   {0, 255, 0, 0}};

// 16, 24 and 32 bits: with masks, a needless palette, alpha, from top to bottom.
static void test_colours(struct codec *codec)
{
    enum { V3 = 56, V5 = 124 };
    static const struct {
        const char *name;
        int info, bits, compression, colours;
        uint32_t mask[4];
        const char *pixels;
        size_t size;
        const char *expected;
    } cases[] = {
        {"16 bits", 40, 16, NONE, 0, {0}, "\0\x7c\xe0\3\x1f\0\0\x10", 8, "abce"},
        {"16 bits with a palette", 40, 16, NONE, 2, {0}, "\0\x7c\xe0\3", 4, "ab"},
        {"24 bits", 40, 24, NONE, 0, {0}, "\0\0\xff\3\2\1\0\0", 8, "af"},
        {"24 bits with a palette", 40, 24, NONE, 3, {0}, "\0\0\xff\3\2\1", 6, "af"},
        {"24 bits, OS/2", 12, 24, NONE, 0, {0}, "\0\0\xff\3\2\1", 6, "af"},
        {"32 bits, all alpha 0", 40, 32, NONE, 0, {0}, "\0\0\xff\0\0\xff\0\0", 8, "ab"},
        {"5-6-5 bits", 40, 16, MASKS, 0, {0xf800, 0x7e0, 0x1f}, "\0\xf8\xe0\7\x1f\0", 6, "abc"},
        {"5-6-5 bits with a palette", 40, 16, MASKS, 1, {0xf800, 0x7e0, 0x1f}, "\0\xf8\xe0\7", 4, "ab"},
        {"5-6-5 bits, version 3", V3, 16, MASKS, 0, {0xf800, 0x7e0, 0x1f}, "\0\xf8\xe0\7", 4, "ab"},
        {"4 bits each with alpha", V5, 16, MASKS, 0, {0xf00, 0xf0, 0xf, 0xf000}, "\0\xff\0\x3f", 4, "ad"},
        {"alpha masks behind the header",
         40,
         32,
         ALPHA_MASKS,
         0,
         {0xff, 0xff00, 0xff0000, 0xff000000},
         "\xff\0\0\x33\0\xff\0\xff",
         8,
         "db"},
        {"a mask of alpha, all 0", V5, 16, MASKS, 0, {0xf00, 0xf0, 0xf, 0xf000}, "\0\x0f\xf0\0", 4, "gh"},
        {"11-11-10 bits",
         40,
         32,
         MASKS,
         0,
         {0xffe00000, 0x1ffc00, 0x3ff},
         "\0\0\xe0\xff\0\xfc\x1f\0\xff\3\0\0",
         12,
         "abc"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (int down = 0; down < 2 && (down == 0 || cases[i].info > 12); down++) {
            static struct file file;
            const int width = (int)strlen(cases[i].expected);
            const int kind = cases[i].compression;
            const int masks = cases[i].info > 40 || kind == NONE ? 0 : kind == MASKS ? 3 : 4;
            const int offset = FILE_HEAD + cases[i].info + 4 * masks + 4 * cases[i].colours;
            begin(&file, cases[i].info, width, down ? -1 : 1, cases[i].bits, kind, offset);
            file.size = cases[i].info > 40 ? FILE_HEAD + 40 : file.size;
            for (int c = 0; c < (cases[i].info > 40 ? 4 : masks); c++)
                add_le(&file, cases[i].mask[c], 4);
            file.size = cases[i].info > 40 ? FILE_HEAD + (size_t)cases[i].info : file.size;
            add_palette(&file, cases[i].colours, 4);
            add(&file, cases[i].pixels, cases[i].size);
            check_pixels(codec, &file, width, cases[i].expected, rgb, cases[i].name);
        }
    }
}

// Rows in their order, and a file that is just long enough.
static void test_rows(struct codec *codec)
{
    static const uint8_t colours[][4] = {{1, 2, 3, 255}, {4, 5, 6, 255}};
    static struct file file;
    begin(&file, 40, 1, 2, 24, NONE, FILE_HEAD + 40);
    add(&file, "\6\5\4.\3\2\1", 7); // the last row is not padded
    check_pixels(codec, &file, 1, "ab", colours, "from bottom to top");
    file.size--;
    refuse(codec, &file, CODEC_DAMAGED, "truncated");
    begin(&file, 40, 1, -2, 24, NONE, FILE_HEAD + 40);
    add(&file, "\6\5\4.\3\2\1", 7);
    check_pixels(codec, &file, 1, "ba", colours, "from top to bottom");
}

static void test_refused(struct codec *codec)
{
    enum { MOST = 16384 };
    static const struct {
        int info, bits, compression;
        enum codec_fault fault;
        const char *because;
    } cases[] = {
        {64, 1, 3, CODEC_UNSUPPORTED, "OS/2 with Huffman or RLE24"},
        {40, 24, 4, CODEC_UNSUPPORTED, "contain a JPEG"},
        {40, 24, 5, CODEC_UNSUPPORTED, "contain a PNG"},
        {40, 64, NONE, CODEC_UNSUPPORTED, "64 bits per pixel"},
        {40, 8, 11, CODEC_UNSUPPORTED, "compression 11"},
        {40, 4, RLE8, CODEC_DAMAGED, "header is invalid"},
        {40, 24, MASKS, CODEC_DAMAGED, "header is invalid"},
    };
    static const int depths[] = {1, 4, 8, 16, 24, 32};
    static struct file file;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        begin(&file, cases[i].info, 1, 1, cases[i].bits, cases[i].compression, FILE_HEAD + cases[i].info);
        add(&file, "................", 16);
        refuse(codec, &file, cases[i].fault, cases[i].because);
    }
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        for (int packed = 0; packed < (depths[i] == 8 || depths[i] == 4 ? 2 : 1); packed++) {
            begin(&file, 40, MOST, MOST, depths[i], packed ? depths[i] == 8 ? RLE8 : RLE4 : NONE, FILE_HEAD + 40);
            add(&file, "................", 16);
            refuse(codec, &file, CODEC_DAMAGED, "truncated");
        }
    }
    begin(&file, 40, 1, 1, 24, NONE, FILE_HEAD + 39);
    add(&file, "....", 4);
    refuse(codec, &file, CODEC_DAMAGED, "begin in its header");
    begin(&file, 40, 40000, 1, 24, NONE, FILE_HEAD + 40);
    refuse(codec, &file, CODEC_TOO_LARGE, "wider or higher");
    begin(&file, 40, 1, INT32_MIN, 24, NONE, FILE_HEAD + 40);
    refuse(codec, &file, CODEC_TOO_LARGE, "wider or higher");
    begin(&file, 40, 0, 1, 24, NONE, FILE_HEAD + 40);
    refuse(codec, &file, CODEC_DAMAGED, "0x1");
    begin(&file, 124, 2, 2, 32, MASKS, FILE_HEAD + 124);
    add(&file, "................", 15);
    for (; file.size > 0; file.size--)
        refuse(codec, &file, file.size < 18 ? CODEC_NOT_A_PICTURE : CODEC_DAMAGED, "");
}

int main(void)
{
    struct codec *codec = codec_open();
    test_palettes(codec);
    test_runs(codec);
    test_colours(codec);
    test_rows(codec);
    test_refused(codec);
    codec_close(codec);
    return check_end(&unit);
}
