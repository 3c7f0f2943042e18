// test_codec_kept.c: IPTC data, comments, resolution, PNG chunks, and EXIF data of other programs: kept where the
// format has a place, else named
#include "check.h"
#include "codec_files.h"
#include "image/codec/metadata.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct check check = {.name = "codec kept"};

#define BYTES(text) ((struct codec_bytes){(const uint8_t *)(text), sizeof(text) - 1})
static const char iptc[] = "\x1c\x02\x78\0\x09"
                           "A caption"; // IPTC-IIM 4.2, section 1.5: 2:120
// cICP: BT.2020, PQ. Its checksum is that of the PNG specification.
static const uint8_t cicp[] = {0, 0, 0, 4, 'c', 'I', 'C', 'P', 9, 16, 0, 1, 0, 0, 0, 0};

static bool same(struct codec_bytes a, struct codec_bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_near(const double density[2], double across, double down)
{
    return fabs(density[0] - across) < 0.02 && fabs(density[1] - down) < 0.02;
}

static bool write_file(struct codec *codec, enum codec_format format, const struct codec_metadata *metadata,
                       struct codec_buffer *file, struct codec_error *error)
{
    const struct codec_settings settings = {.format = format, .opaque = true, .metadata = *metadata};
    const enum pixfmt pixels = format == CODEC_JPEG ? PIXFMT_GREY : PIXFMT_RGBA;
    struct image image = {0};
    image_reserve(&image, &(struct image_shape){pixels, 4, 3, {COLOR_MATRIX_601, COLOR_RANGE_FULL}});
    memset(image.memory, 200, image.memory_bytes);
    const bool ok = codec_encode(codec, &image, &settings, file, error);
    image_free(&image);
    return ok;
}

// Makes chunks with right checksums.
static void make_chunks(struct codec_buffer *chunks)
{
    chunks->size = 0;
    png_add(chunks, "cICP", cicp + 8, 4);
    png_add(chunks, "gAMA", "\0\0\xb1\x8f", 4); // of sRGB
    png_add(chunks, "sRGB", "", 1);
    png_add(chunks, "tEXt", "Author\0Nobody", 13);
}

static const struct kept {
    enum codec_format format;
    bool iptc, comment, chunks;
} formats[] = {{CODEC_JPEG, true, true, false},
               {CODEC_PNG, true, true, true},
               {CODEC_TIFF, true, false, false},
               {CODEC_WEBP, false, false, false}};
enum { FORMATS = sizeof(formats) / sizeof(*formats) };

// Writes all metadata in each format, reads them, and writes what was read as PNG.
static void test_formats(struct codec *codec)
{
    struct codec_buffer chunks = {0}, file = {0}, kept = {0}, again = {0};
    make_chunks(&chunks);
    for (int i = 0; i < FORMATS; i++) {
        const struct kept *expected = &formats[i];
        const struct codec_metadata all = {.iptc = BYTES(iptc),
                                           .comment = BYTES("A comment"),
                                           .chunks = {chunks.data, chunks.size},
                                           .density = {300, 150}};
        struct codec_head head;
        struct codec_error error;
        const char *name = codec_info(expected->format)->name;
        if (!codec_info(expected->format)->writes)
            continue;
        bool ok = write_file(codec, expected->format, &all, &file, &error);
        check_that(&check, ok && !strstr(error.why, "IPTC data are left out") == expected->iptc, "%s: IPTC: %s", name,
                   error.why);
        check_that(&check, ok && !strstr(error.why, "comments are left out") == expected->comment, "%s: comment: %s",
                   name, error.why);
        check_that(&check, ok && !strstr(error.why, "PNG chunks cICP tEXt are left out") == expected->chunks,
                   "%s: chunks: %s", name, error.why);
        check_that(&check, ok && !strstr(error.why, "resolution"), "%s: %s", name, error.why);
        ok = codec_head(codec, file.data, file.size, 0, &head, &error) && codec_metadata_keep(&head.metadata, &kept);
        check_that(&check, ok && same(head.metadata.iptc, expected->iptc ? all.iptc : BYTES("")),
                   "%s: %zu bytes of IPTC", name, head.metadata.iptc.size);
        check_that(&check, same(head.metadata.comment, expected->comment ? all.comment : BYTES("")),
                   "%s: a comment of %zu bytes", name, head.metadata.comment.size);
        check_that(&check, same(head.metadata.chunks, expected->chunks ? all.chunks : BYTES("")),
                   "%s: %zu bytes of chunks", name, head.metadata.chunks.size);
        check_that(&check, is_near(head.metadata.density, 300, 150), "%s: %g by %g pixels per inch", name,
                   head.metadata.density[0], head.metadata.density[1]);
        memset(file.data, 0, file.size); // the kept metadata must not point to it
        ok = write_file(codec, CODEC_PNG, &head.metadata, &again, &error) && error.why[0] == '\0' &&
             codec_head(codec, again.data, again.size, 0, &head, &error);
        check_that(&check,
                   ok && (head.metadata.iptc.size > 0) == expected->iptc && is_near(head.metadata.density, 300, 150),
                   "%s, as PNG: %s", name, error.why);
    }
    codec_buffer_free(&chunks);
    codec_buffer_free(&file);
    codec_buffer_free(&kept);
    codec_buffer_free(&again);
}

// A TIFF in the byte order that EXIF data of "MM" give it keeps the IPTC bytes.
static void test_big_endian(struct codec *codec)
{
    static const char exif[] = "MM\0*\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0\1\0\0\0\0\0\0";
    const struct codec_metadata metadata = {.exif = BYTES(exif), .iptc = BYTES(iptc)};
    struct codec_buffer file = {0};
    struct codec_head head;
    struct codec_error error;
    if (codec_info(CODEC_TIFF)->writes)
        check_that(&check,
                   write_file(codec, CODEC_TIFF, &metadata, &file, &error) && file.data[0] == 'M' &&
                       codec_head(codec, file.data, file.size, 0, &head, &error) &&
                       memcmp(head.metadata.iptc.data, iptc, sizeof(iptc) - 1) == 0,
                   "IPTC data in a big-endian TIFF: %s", error.why);
    codec_buffer_free(&file);
}

// Inserts bytes into a file.
static void insert(struct codec_buffer *file, size_t at, const void *data, size_t size)
{
    file->data = realloc(file->data, file->size + size);
    memmove(file->data + at + size, file->data + at, file->size - at);
    memcpy(file->data + at, data, size);
    file->size += size;
}

// Two comments are two lines; IPTC data may be split over two markers; units of centimetres; the shape of pixels.
static void test_jpeg(struct codec *codec)
{
    enum { UNIT_AT = 13, ACROSS_AT = 15, DOWN_AT = 17, BEHIND_JFIF = 20 };
    struct codec_buffer file = {0};
    struct codec_head head = {0};
    struct codec_error error;
    jpeg_make(&file, 20, 10, &(struct jpeg_wish){0});
    insert(&file, BEHIND_JFIF, "\xff\xfe\0\7Two.\0\xff\xed\0\x14Photoshop 3.0\0ion", 9 + 22);
    file.data[BEHIND_JFIF + 9 + 3] = 2 + 14 + 3;
    file.size -= 1;
    memmove(file.data + BEHIND_JFIF + 9 + 21, file.data + BEHIND_JFIF + 9 + 22, file.size - BEHIND_JFIF - 9 - 21);
    static const char first[] = "\xff\xfe\0\6One."
                                "\xff\xed\0\x2bPhotoshop 3.0\0"
                                "8BIM\x04\x04\0\0\0\0\0\x0e\x1c\x02\x78\0\x09"
                                "A capt";
    insert(&file, BEHIND_JFIF, first, sizeof(first) - 1);
    file.data[BEHIND_JFIF + 8 + 3] = (uint8_t)(sizeof(first) - 1 - 8 - 2);
    file.data[UNIT_AT] = 2;
    file.data[ACROSS_AT] = 100;
    file.data[DOWN_AT] = 50;
    const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&check, ok && same(head.metadata.comment, BYTES("One.\nTwo.")), "comments: %s %.*s", error.why,
               (int)head.metadata.comment.size, (const char *)head.metadata.comment.data);
    check_that(&check, ok && same(head.metadata.iptc, BYTES(iptc)), "IPTC data in two markers: %zu bytes",
               head.metadata.iptc.size);
    check_that(&check, ok && is_near(head.metadata.density, 254, 127), "%g pixels per inch", head.metadata.density[0]);
    file.data[UNIT_AT] = 0;
    check_that(&check,
               codec_head(codec, file.data, file.size, 0, &head, &error) && head.metadata.density[0] == 0 &&
                   strstr(head.metadata.left_out, "the shape of its pixels"),
               "a shape without a unit: %s", head.metadata.left_out);
    codec_buffer_free(&file);
}

// What follows the image is named: a gain map, another image, a video. A few bytes are not.
static void test_behind(struct codec *codec)
{
    static const char xmp[] = "<x hdrgm=\"http://ns.adobe.com/hdr-gain-map/1.0/\"/>";
    static const struct {
        const char *bytes, *expected;
        size_t size;
        bool xmp;
    } cases[] = {{"", NULL, 0, true},
                 {"\0\0\xff\xd9", NULL, 4, false},
                 {"\xff\xd8\xff\xe0....", "its gain map (Ultra HDR) is left out", 8, true},
                 {"\xff\xd8\xff\xe0....", "further images", 8, false},
                 {"\0\0\0\x18"
                  "ftypmp42....",
                  "the video of the file is left out", 16, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct codec_metadata metadata = {.xmp = cases[i].xmp ? BYTES(xmp) : (struct codec_bytes){0}};
        struct codec_buffer file = {0};
        struct codec_head head;
        struct codec_error error;
        bool ok = write_file(codec, CODEC_JPEG, &metadata, &file, &error);
        insert(&file, file.size, cases[i].bytes, cases[i].size);
        ok = ok && codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check,
                   ok && (cases[i].expected ? strstr(head.metadata.left_out, cases[i].expected) != NULL
                                            : !head.metadata.left_out[0]),
                   "case %zu says: %s", i, head.metadata.left_out);
        codec_buffer_free(&file);
    }
}

// An orientation may be any integer, in both byte orders; it is read, and set to 1 when the image is rotated.
static void test_orientations(void)
{
    for (int i = 0; i < 12; i++) {
        const bool big = i % 2;
        const int type = (int[]){1, 3, 4, 6, 8, 9}[i / 2], bytes = 1 << i / 2 % 3;
        uint8_t exif[26] = {big ? 'M' : 'I', big ? 'M' : 'I', big ? 0 : 42, big ? 42 : 0};
        exif[big ? 7 : 4] = 8;
        exif[big ? 9 : 8] = 1;
        exif[big ? 10 : 11] = 0x01;
        exif[big ? 11 : 10] = 0x12;
        exif[big ? 13 : 12] = (uint8_t)type;
        exif[big ? 17 : 14] = 1;
        exif[18 + (big ? bytes - 1 : 0)] = 6;
        check_that(&check, exif_orientation(exif, sizeof(exif)) == 6, "type %d, big-endian %d: orientation %d", type,
                   big, exif_orientation(exif, sizeof(exif)));
        exif_settle(exif, sizeof(exif), 1);
        check_that(&check, exif[18 + (big ? bytes - 1 : 0)] == 1 && exif_orientation(exif, sizeof(exif)) == 1,
                   "type %d, big-endian %d: set to %d", type, big, exif_orientation(exif, sizeof(exif)));
    }
}

// A resolution in pixels per centimetre.
static void test_centimetres(void)
{
    enum { UNIT_AT = 42, CENTIMETRE = 3 };
    uint8_t exif[EXIF_DENSITY_BYTES];
    double density[2] = {0};
    exif_from_density((const double[]){100, 50}, exif);
    exif[UNIT_AT] = CENTIMETRE;
    const bool ok = exif_density(exif, sizeof(exif), density);
    check_that(&check, ok && is_near(density, 254, 127), "EXIF data in centimetres: %g pixels per inch", density[0]);
}

// A BMP file with a colour profile behind its pixel; the last byte may be missing, or the resolution absurd.
static void test_bmp(struct codec *codec)
{
    enum { ACROSS_AT = 38, SPACE_AT = 70, PROFILE_AT = 126, PIXEL_AT = 138, SIZE = PIXEL_AT + 8 };
    uint8_t bmp[SIZE] = {'B', 'M', [10] = PIXEL_AT, [14] = 124, [18] = 1, [22] = 1, [26] = 1, [28] = 24};
    memcpy(bmp + ACROSS_AT, "\x23\x2e\0\0\x23\x2e\0", 8); // 11811 per metre
    memcpy(bmp + SPACE_AT, "DEBM", 4);
    memcpy(bmp + PROFILE_AT, "\x80\0\0\0\4", 5); // behind the first 14 bytes
    memcpy(bmp + PIXEL_AT, "...\0icc.", 8);
    for (size_t missing = 0; missing < 2; missing++) {
        struct codec_head head;
        struct codec_error error;
        const bool ok = codec_head(codec, fenced(bmp, SIZE - missing), SIZE - missing, 0, &head, &error);
        check_that(&check, ok && same(head.metadata.icc, missing ? BYTES("") : BYTES("icc.")),
                   "BMP: %s, a profile of %zu bytes", error.why, head.metadata.icc.size);
        check_that(&check, ok && !head.metadata.left_out[0] == !missing, "BMP says: %s", head.metadata.left_out);
        const double inch = missing ? 0 : 300;
        check_that(&check, ok && is_near(head.metadata.density, inch, inch), "BMP: %g", head.metadata.density[0]);
        bmp[ACROSS_AT + 3] = 0xff;
    }
}

// Text chunks in which ImageMagick and ExifTool store EXIF, XMP and IPTC data.
static void test_profiles(struct codec *codec)
{
    static const char exif[] = "II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0";
#define EXIF_DIGITS "49492a0008000000010012010300010000000600\n0000 00000000"
    static const struct {
        const char *type, *text;
        size_t size;
        const char *expected; // exif, xmp, iptc, or left out
    } cases[] = {
        {"tEXt", "Raw profile type exif\0\nexif\n      32\n457869660000" EXIF_DIGITS "\n", 0, "exif"},
        {"tEXt", "Raw profile type APP1\0\ngeneric profile\n      32\n457869660000" EXIF_DIGITS "\n", 0, "exif"},
        {"tEXt", "Raw profile type exif\0\nexif\n      26\n" EXIF_DIGITS "\n", 0, "exif"},
        {"iTXt", "Raw profile type exif\0\0\0\0\0\nexif\n      26\n" EXIF_DIGITS "\n", 0, "exif"},
        {"tEXt", "Raw profile type APP1\0\nAPP1\n31\n687474703a2f2f6e732e61646f62652e636f6d2f7861702f312e302f003c2f\n",
         0, "xmp"},
        {"tEXt", "Raw profile type iptc\0\niptc\n      14\n1c0278000941206361\n7074696f6e\n", 0, "iptc"},
        {"tEXt", "Raw profile type 8bim\0\n8bim\n26\n3842494d0404000000000000000e1c0278000941206361\n7074696f6e", 0,
         "left out"},
        {"tEXt",
         "Raw profile type 8bim\0\n8bim\n26\n3842494d0404000000"
         "00000e1c0278000941206361\n7074696f6e\n",
         0, "iptc"},
        {"tEXt", "Raw profile type exif\0\nexif\n      26\n" EXIF_DIGITS "zz\n", 0, "exif"},
        {"tEXt", "Raw profile type exif\0\nexif\n      27\n" EXIF_DIGITS "\n", 0, "left out"},
        {"tEXt", "Raw profile type exif\0\nexif\n      26\nxx" EXIF_DIGITS "\n", 0, "left out"},
        {"tEXt", "Raw profile type exif\0\nexif\n99999999999999999999\n00", 0, "left out"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct random random = {1};
        struct codec_buffer file = {0}, chunk = {0};
        struct codec_head head = {0};
        struct codec_error error;
        const size_t name = strlen(cases[i].text) + 1, zeros = cases[i].type[0] == 'i' ? 4 : 0;
        png_add(&chunk, cases[i].type, cases[i].text, name + zeros + strlen(cases[i].text + name + zeros));
        png_make(&file, 4, 4, &(struct png_wish){2, 8, 0, 0, 1}, &random);
        insert(&file, 33, chunk.data, chunk.size);
        const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
        const struct codec_metadata *has = &head.metadata;
        const char *what = cases[i].expected;
        check_that(&check, ok && same(has->exif, strcmp(what, "exif") ? BYTES("") : BYTES(exif)),
                   "case %zu: EXIF of %zu bytes: %s %s", i, has->exif.size, error.why, has->left_out);
        check_that(&check, ok && head.orientation == (strcmp(what, "exif") ? 1 : 6), "case %zu: orientation %d", i,
                   head.orientation);
        check_that(&check, same(has->xmp, strcmp(what, "xmp") ? BYTES("") : BYTES("</")), "case %zu: XMP of %zu bytes",
                   i, has->xmp.size);
        check_that(&check, same(has->iptc, strcmp(what, "iptc") ? BYTES("") : BYTES(iptc)),
                   "case %zu: IPTC of %zu bytes", i, has->iptc.size);
        check_that(&check, !strcmp(what, "left out") == (has->left_out[0] != 0), "case %zu says: %s", i, has->left_out);
        codec_buffer_free(&file);
        codec_buffer_free(&chunk);
    }
}

// The image resources of a PSD file, the first of them with a name.
static void test_psd(struct codec *codec)
{
    static const char psd[] = "8BPS\0\1\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\1\0\x08\0\3"
                              "\0\0\0\0"
                              "\0\0\0\x4c"
                              "8BIM\x03\xed\3abc\0\0\0\x10\0\x48\0\0\0\1\0\1\0\x90\0\0\0\1\0\1"
                              "8BIM\x04\x24\0\0\0\0\0\3<x>\0"
                              "8BIM\x04\x0f\0\0\0\0\0\3icc\0"
                              "8BIM\x04\x04\0\0\0\0\0\1\x1c\0"
                              "\0\0\0\0"
                              "\0\0"
                              "abc";
    struct codec_head head = {0};
    struct codec_error error;
    for (size_t size = 0; size < sizeof(psd); size++) { // a file that ends within a section or a block
        const uint8_t *end = fenced(psd, size) + size;
        const bool read = codec_head(codec, end - size, size, 0, &head, &error);
        const struct codec_bytes parts[] = {head.metadata.xmp, head.metadata.icc, head.metadata.iptc};
        for (int i = 0; read && i < 3; i++)
            check_that(&check, !parts[i].data || parts[i].data + parts[i].size <= end, "PSD cut at %zu: part %d", size,
                       i);
    }
    const bool ok = codec_head(codec, psd, sizeof(psd) - 1, 0, &head, &error);
    check_that(&check,
               ok && same(head.metadata.xmp, BYTES("<x>")) && same(head.metadata.icc, BYTES("icc")) &&
                   head.metadata.iptc.size == 1 && is_near(head.metadata.density, 72, 144),
               "PSD: %s, XMP %zu, ICC %zu, IPTC %zu, %g by %g", error.why, head.metadata.xmp.size,
               head.metadata.icc.size, head.metadata.iptc.size, head.metadata.density[0], head.metadata.density[1]);
}

int main(void)
{
    struct codec *codec = codec_open();
    test_formats(codec);
    test_big_endian(codec);
    test_jpeg(codec);
    test_behind(codec);
    test_orientations();
    test_centimetres();
    test_bmp(codec);
    test_profiles(codec);
    test_psd(codec);
    codec_close(codec);
    return check_end(&check);
}
