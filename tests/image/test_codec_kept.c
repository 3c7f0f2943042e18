// test_codec_kept.c: IPTC data, comments, resolution, PNG chunks, and EXIF data of other programs: kept where the
// format has a place, else named
#include "check.h"
#include "codec_files.h"
#include "image/codec/codec_kind.h"
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

static bool write_turned(struct codec *codec, enum codec_format format, const struct codec_metadata *metadata,
                         bool turned, struct codec_buffer *file, struct codec_error *error)
{
    const struct codec_settings settings = {.format = format, .opaque = true, .metadata = *metadata, .turned = turned};
    const enum pixfmt pixels = format == CODEC_JPEG ? PIXFMT_GREY : PIXFMT_RGBA;
    struct image image = {0};
    image_reserve(&image, &(struct image_shape){pixels, 4, 3, {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false});
    memset(image.memory, 200, image.memory_bytes);
    const bool ok = codec_encode(codec, &image, &settings, file, error);
    image_free(&image);
    return ok;
}

static bool write_file(struct codec *codec, enum codec_format format, const struct codec_metadata *metadata,
                       struct codec_buffer *file, struct codec_error *error)
{
    return write_turned(codec, format, metadata, false, file, error);
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

static const struct cache_entry {
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
        const struct cache_entry *expected = &formats[i];
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
                   is_near(head.metadata.aspect, 100, 50) && !head.metadata.left_out[0],
               "a shape without a unit: %g by %g, %s", head.metadata.aspect[0], head.metadata.aspect[1],
               head.metadata.left_out);
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
        exif_settle(exif, sizeof(exif), &(struct metadata_target){4, 3, 1, false, false, false});
        check_that(&check, exif[18 + (big ? bytes - 1 : 0)] == 1 && exif_orientation(exif, sizeof(exif)) == 1,
                   "type %d, big-endian %d: set to %d", type, big, exif_orientation(exif, sizeof(exif)));
    }
}

static void put(uint8_t *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static void put_entry(uint8_t *at, uint32_t tag, uint32_t type, uint32_t count, uint32_t value)
{
    put(at, tag, 2);
    put(at + 2, type, 2);
    put(at + 4, count, 4);
    put(at + 8, value, 4);
}

// EXIF data with an inner directory: the size 4x3, the subject's area, and an interoperability directory.
static void test_inner(void)
{
    enum { MAIN = 8, INNER = 26, AREA = 80, OTHER = 88, SIZE = 106 };
    uint8_t exif[SIZE] = {'I', 'I', 42, 0, MAIN}, settled[SIZE];
    exif[MAIN] = 1;
    put_entry(exif + MAIN + 2, 0x8769, 4, 1, INNER);
    exif[INNER] = 4;
    put_entry(exif + INNER + 2, 0x9214, 3, 4, AREA);
    put_entry(exif + INNER + 14, 0xa002, 4, 1, 4);
    put_entry(exif + INNER + 26, 0xa003, 4, 1, 3);
    put_entry(exif + INNER + 38, 0xa005, 4, 1, OTHER);
    exif[OTHER] = 1;
    put_entry(exif + OTHER + 2, 1, 2, 4, 'R' | '9' << 8 | '8' << 16);
    // The subject's area stays only if the size does.
    static const int heights[] = {3, 2};
    for (int i = 0; i < 2; i++) {
        memcpy(settled, exif, SIZE);
        check_that(&check,
                   exif_settle(settled, SIZE, &(struct metadata_target){4, heights[i], 0, false, false, false}) == SIZE,
                   "inner: nothing is cut");
        check_that(&check, settled[INNER] == (i == 0 ? 4 : 3), "inner: %d entries at height %d", settled[INNER],
                   heights[i]);
    }
    bool usable = false, left_out = true;
    check_that(&check, !exif_fault(exif, SIZE, &usable) && usable, "inner: whole");
    const char *why = exif_fault(exif, AREA + 4, &usable);
    check_that(&check, usable && why && strstr(why, "cut off"), "inner: %s", why ? why : "whole");
    struct codec_buffer copy = {0};
    check_that(&check, exif_from_tiff(exif, SIZE, 1, &copy, &left_out) && !left_out, "inner: all is copied");
    codec_buffer_free(&copy);
    put_entry(exif + INNER + 2, 0x927c, 7, 40000, AREA); // more than all data
    why = exif_fault(exif, SIZE, &usable);
    check_that(&check, usable && why && strstr(why, "cut off"), "inner: a long value: %s", why ? why : "whole");
    // The directory of the place may have TIFF's own type.
    put_entry(exif + MAIN + 2, 0x8825, 13, 1, OTHER);
    exif_settle(exif, SIZE, &(struct metadata_target){4, 3, 0, false, false, true});
    check_that(&check, exif[MAIN] == 0 && exif[OTHER] == 0 && exif[OTHER + 10] == 0, "the place stays");
    // A list beside the entry is no number.
    memset(exif, 0, SIZE);
    memcpy(exif, "II*\0\x08", 5);
    exif[MAIN] = 1;
    put_entry(exif + MAIN + 2, 0x112, 3, 3, AREA);
    put(exif + AREA, 6, 2);
    check_that(&check, exif_orientation(exif, SIZE) == 1, "a list is the orientation %d", exif_orientation(exif, SIZE));
}

// A property of XMP whose name is longer, or is within another name, stays.
static void test_xmp_names(void)
{
    static const char xmp[] = "<rdf:Description xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" xmlns:x=\"y\" "
                              "tiff:ImageWidth=\"9\" tiff:ImageWidthOld=\"9\" "
                              "xtiff:ImageWidth=\"9\"><tiff:ImageWidthOld>9</tiff:ImageWidthOld>";
    static const char want[] = "<rdf:Description xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" xmlns:x=\"y\" "
                               "tiff:ImageWidth=\"4\" tiff:ImageWidthOld=\"9\" "
                               "xtiff:ImageWidth=\"9\"><tiff:ImageWidthOld>9</tiff:ImageWidthOld>";
    struct codec_buffer settled = {0};
    const struct codec_bytes bytes = {(const uint8_t *)xmp, sizeof(xmp) - 1};
    check_that(&check, xmp_settle(bytes, &(struct metadata_target){4, 3, 1, false, false, false}, &settled),
               "xmp: memory");
    check_that(&check, settled.size == sizeof(want) - 1 && memcmp(settled.data, want, settled.size) == 0, "xmp: %.*s",
               (int)settled.size, (const char *)settled.data);
    codec_buffer_free(&settled);
}

// XMP data that are not UTF-8, which the XMP specification asks for in these formats, are left out by name.
static void test_xmp_encoding(struct codec *codec)
{
    static const char *const left_out = "its XMP data are not in UTF-8 and are left out";
    const struct codec_bytes cases[] = {BYTES("<\0x\0/\0>\0"), BYTES("<x/>"), BYTES("<x/>\0\0")};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct codec_metadata metadata = {.xmp = cases[i]};
        struct codec_buffer file = {0};
        struct codec_head head;
        struct codec_error error;
        const bool ok = write_file(codec, CODEC_JPEG, &metadata, &file, &error) &&
                        codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check, ok && same(head.metadata.xmp, i == 0 ? BYTES("") : BYTES("<x/>")), "XMP %zu: %s, %zu bytes",
                   i, error.why, head.metadata.xmp.size);
        check_that(&check, ok && (i == 0) == (strstr(head.metadata.left_out, left_out) != NULL), "XMP %zu says: %s", i,
                   head.metadata.left_out);
        codec_buffer_free(&file);
    }
}

// A resolution in pixels per centimetre.
static void test_centimetres(struct codec *codec)
{
    enum { UNIT_AT = 42, NO_UNIT = 1, CENTIMETRE = 3 };
    uint8_t exif[EXIF_DENSITY_BYTES];
    double density[2] = {0};
    exif_from_density((const double[]){100, 50}, exif);
    exif[UNIT_AT] = CENTIMETRE;
    const bool ok = exif_density(exif, sizeof(exif), density);
    check_that(&check, ok && is_near(density, 254, 127), "EXIF data in centimetres: %g pixels per inch", density[0]);
    // A resolution without a unit is none.
    struct codec_buffer file = {0};
    struct codec_head head = {0};
    struct codec_error error;
    exif[UNIT_AT] = NO_UNIT;
    const struct codec_metadata metadata = {.exif = {exif, sizeof(exif)}};
    const bool made = write_file(codec, CODEC_PNG, &metadata, &file, &error) &&
                      codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&check, made && head.metadata.density[0] == 0, "EXIF data without a unit: %g pixels per inch",
               head.metadata.density[0]);
    codec_buffer_free(&file);
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

// Damaged XMP data, before or after good ones in a text, do not change these.
static void test_damaged_xmp(struct codec *codec)
{
    static const char good[] = "Raw profile type xmp\0\nxmp\n2\n3c2f\n",
                      bad[] = "XML:com.adobe.xmp\0\1\0\0\0\x78\1\1\4\0\xfb\xff"
                              "abcd\1\2\3\4"; // a wrong checksum
    for (int i = 0; i < 2; i++) {
        struct random random = {1};
        struct codec_buffer file = {0}, chunk = {0};
        struct codec_head head = {0};
        struct codec_error error;
        for (int k = 0; k < 2; k++)
            png_add(&chunk, k == i ? "tEXt" : "iTXt", k == i ? good : bad, k == i ? sizeof(good) - 1 : sizeof(bad) - 1);
        png_make(&file, 4, 4, &(struct png_wish){2, 8, 0, 0, 1}, &random);
        insert(&file, 33, chunk.data, chunk.size);
        const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check, ok && same(head.metadata.xmp, BYTES("</")), "good XMP data are number %d: %.*s", i,
                   (int)head.metadata.xmp.size, (const char *)head.metadata.xmp.data);
        codec_buffer_free(&file);
        codec_buffer_free(&chunk);
    }
}

// Readers search for the next marker, so a byte between two datasets must not hide a city.
static void test_hidden_place(void)
{
    static const char data[] = "\x1c\2\x78\0\2me\0\x1c\2\x5a\0\5Paris";
    struct codec_buffer rest = {0};
    const bool ok = iptc_without_place(BYTES(data), &rest);
    check_that(&check, ok && rest.size == 7, "IPTC data have a place: %.*s", (int)rest.size, (const char *)rest.data);
    codec_buffer_free(&rest);
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

// EXIF data of 77x78 pixels, 300 by 150 per inch, with the subject's place. `type`: of the sizes.
enum { DESCRIBED_INNER = 74, DESCRIBED_ACROSS = 126, DESCRIBED = 150 };
static void make_described(uint8_t exif[DESCRIBED], bool big, int type)
{
    enum { AT = DESCRIBED_ACROSS };
    const int bytes = type == 3 ? 2 : type, mark = big ? 'M' : 'I';
    const struct {
        int at, bytes, value;
    } fields[] = {{0, 1, mark},     {1, 1, mark},    {2, 2, 42},       {4, 4, 8},       {8, 2, 5},
                  {10, 2, 0x100},   {12, 2, type},   {14, 4, 1},       {18, bytes, 77}, {22, 2, 0x101},
                  {24, 2, type},    {26, 4, 1},      {30, bytes, 78},  {34, 2, 0x11a},  {36, 2, 5},
                  {38, 4, 1},       {42, 4, AT},     {46, 2, 0x11b},   {48, 2, 5},      {50, 4, 1},
                  {54, 4, AT + 8},  {58, 2, 0x8769}, {60, 2, 4},       {62, 4, 1},      {66, 4, DESCRIBED_INNER},
                  {74, 2, 3},       {76, 2, 0x9214}, {78, 2, 3},       {80, 4, 2},      {84, 2, 9},
                  {88, 2, 0xa002},  {90, 2, type},   {92, 4, 1},       {96, bytes, 77}, {100, 2, 0xa003},
                  {102, 2, type},   {104, 4, 1},     {108, bytes, 78}, {AT, 4, 300},    {AT + 4, 4, 1},
                  {AT + 8, 4, 150}, {AT + 12, 4, 1}};
    memset(exif, 0, DESCRIBED);
    for (size_t f = 0; f < sizeof(fields) / sizeof(*fields); f++)
        for (int b = 0; b < fields[f].bytes; b++)
            exif[fields[f].at + (big ? fields[f].bytes - 1 - b : b)] = (uint8_t)(fields[f].value >> 8 * b);
}

// EXIF data describe the new picture: sizes of two, four and one byte, which is too small for the width.
static void test_settled(void)
{
    enum { WIDTH = 300, HEIGHT = 200 };
    for (int i = 0; i < 6; i++) {
        const bool big = i % 2;
        const int type = (int[]){3, 4, 1}[i / 2], at[] = {10, 22, DESCRIBED_INNER + 2, DESCRIBED_INNER + 14};
        uint8_t exif[DESCRIBED];
        double density[2];
        make_described(exif, big, type);
        if (type == 3)
            exif[104 + (big ? 3 : 0)] = 2; // a list of two
        const size_t left =
            exif_settle(exif, DESCRIBED, &(struct metadata_target){WIDTH, HEIGHT, 1, true, false, false});
        check_that(&check, left == DESCRIBED && exif_density(exif, DESCRIBED, density) && is_near(density, 150, 300),
                   "case %d: turned to %g by %g", i, density[0], density[1]);
        check_that(&check, exif[DESCRIBED_INNER + big] == 2, "case %d: %d of two entries remain", i,
                   exif[DESCRIBED_INNER + big]);
        for (int k = 0; k < 4; k++) {
            const uint8_t *entry = exif + at[k];
            const int now = entry[2 + big], size = now == 3 ? 2 : now;
            int value = 0;
            for (int b = 0; b < size; b++)
                value |= entry[8 + (big ? size - 1 - b : b)] << 8 * b;
            check_that(&check,
                       now == ((type == 1 && k % 2 == 0) || (type == 3 && k == 3) ? 4 : type) &&
                           value == (k % 2 ? HEIGHT : WIDTH),
                       "case %d: entry %d of type %d is %d", i, k, now, value);
        }
    }
}

#define TIFF_SPACE "http://ns.adobe.com/tiff/1.0/"
#define EXIF_SPACE "http://ns.adobe.com/exif/1.0/"

// XMP data of a picture that is turned and 75x100: attributes and elements, any prefix, before or after its namespace.
static void test_xmp(void)
{
    static const char *const cases[][2] = {
        {"<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation>6</tiff:Orientation></d>",
         "<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation>1</tiff:Orientation></d>"},
        {"<d tiff:Orientation=\"6\"\n tiff:ImageWidth = '4032' tiff:ImageLength='3024' xmlns:tiff=\"" TIFF_SPACE "\"/>",
         "<d tiff:Orientation=\"1\"\n tiff:ImageWidth = '75' tiff:ImageLength='100' xmlns:tiff=\"" TIFF_SPACE "\"/>"},
        {"<d xmlns:e='" EXIF_SPACE "'><e:PixelXDimension> 4032 </e:PixelXDimension><e:PixelYDimension><rdf:value>9"
         "</rdf:value></e:PixelYDimension></d>",
         "<d xmlns:e='" EXIF_SPACE "'><e:PixelXDimension> 75 </e:PixelXDimension><e:PixelYDimension><rdf:value>100"
         "</rdf:value></e:PixelYDimension></d>"},
        {"<d xmlns:tiff='" TIFF_SPACE "' tiff:XResolution='300/1'><tiff:YResolution>150/1</tiff:YResolution></d>",
         "<d xmlns:tiff='" TIFF_SPACE "' tiff:YResolution='300/1'><tiff:XResolution>150/1</tiff:XResolution></d>"},
        {"<d xmlns:tiff='other' tiff:Orientation='6' n:Orientation='6'/>", NULL},
        {"<d xmlns:tiff='" TIFF_SPACE "' tiff:Orientations='6' xtiff:Orientation='6'><tiff:Orientation/></d>", NULL},
        {"<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation><!-- n -->6<!-- --></tiff:Orientation></d>",
         "<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation><!-- n -->1<!-- --></tiff:Orientation></d>"},
        {"<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation>6<tiff:ImageWidth>9</d>", NULL}, // damaged
        {"<d xmlns:tiff='" TIFF_SPACE "'><tiff:Orientation <d>6</tiff:Orientation></d>", NULL},
        {"<d xmlns:x='http://ns.adobe.com/xap/1.0/' x:Rating='5'><x:Thumbnails><a>b</a></x:Thumbnails>.</d>",
         "<d xmlns:x='http://ns.adobe.com/xap/1.0/' x:Rating='5'>.</d>"},
        {"<d xmlns:n='http://ns.adobe.com/xmp/note/' n:HasExtendedXMP='0123'/>",
         "<d xmlns:n='http://ns.adobe.com/xmp/note/'/>"},
        {"<d xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' GCamera:MotionPhoto='1' GCamera:Other='1'/>",
         "<d xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' GCamera:Other='1'/>"},
        {"<d xmlns:t='" TIFF_SPACE "' xmlns:x\"y='http://ns.google.com/photos/1.0/camera/' t:Orientation=\"6 x\"y:"
         "MicroVideo='1'/>", // no prefix has a quote
         "<d xmlns:t='" TIFF_SPACE "' xmlns:x\"y='http://ns.google.com/photos/1.0/camera/' t:Orientation=\"1\"y:"
         "MicroVideo='1'/>"},
    };
    struct codec_buffer settled = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const char *expected = cases[i][1] ? cases[i][1] : cases[i][0];
        const size_t size = strlen(cases[i][0]);
        const bool ok = xmp_settle((struct codec_bytes){fenced(cases[i][0], size), size},
                                   &(struct metadata_target){75, 100, 1, true, false, false}, &settled);
        check_that(&check, ok && settled.size == strlen(expected) && memcmp(settled.data, expected, settled.size) == 0,
                   "case %zu of XMP: %.*s", i, (int)settled.size, (const char *)settled.data);
        for (size_t cut = 0; cut < size; cut++) // an end anywhere
            xmp_settle((struct codec_bytes){fenced(cases[i][0], cut), cut},
                       &(struct metadata_target){75, 100, 1, true, false, false}, &settled);
    }
    codec_buffer_free(&settled);
}

// Damaged XMP data of 8 MiB take no longer than valid ones: no text is searched twice.
static void test_long_xmp(void)
{
    enum { SIZE = 8 << 20 };
    static const char *const parts[] = {"<t:Orientation>1",  "<t:Orientation ", "<t:Orientation>", "<t:Orientation/",
                                        " t:Orientation=\"", " xmlns:t=\"",     "<t:XResolution "};
    static const char begin[] = "<d xmlns:t='" TIFF_SPACE "' ", end[] = "1/></t:Orientation>";
    struct codec_buffer text = {0}, settled = {0};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        text.size = 0;
        bool ok = codec_buffer_append(&text, begin, strlen(begin));
        while (ok && text.size < SIZE)
            ok = codec_buffer_append(&text, parts[i], strlen(parts[i]));
        ok = ok && codec_buffer_append(&text, end, strlen(end)) &&
             xmp_settle((struct codec_bytes){text.data, text.size},
                        &(struct metadata_target){75, 100, 1, true, false, false}, &settled);
        check_that(&check, ok, "long XMP data of '%s'", parts[i]);
    }
    codec_buffer_free(&text);
    codec_buffer_free(&settled);
}

// Returns the number of chunks of this type in a PNG file.
static int count_chunks(const struct codec_buffer *file, const char *type)
{
    int count = 0;
    for (size_t at = 8; at + 12 <= file->size;) {
        const uint8_t *from = file->data + at;
        count += memcmp(from + 4, type, 4) == 0;
        at += 12 + ((size_t)from[0] << 24 | (size_t)from[1] << 16 | (size_t)from[2] << 8 | from[3]);
    }
    return count;
}

// Chunks that a PNG file must not have, or not there: they are named, and never written. Valid ones are written.
static void test_chunks(struct codec *codec)
{
    static const char chrm[] = "\0\0\x7a\x26\0\0\x80\x84\0\0\xfa\0\0\0\x80\xe8\0\0\x75\x30\0\0\xea\x60\0\0\x3a\x98"
                               "\0\0\x17\x70";
    static const struct {
        const char *type, *data;
        size_t bytes;
        int times;
        bool last;            // behind the pixels
        const char *expected; // NULL: it is kept
    } cases[] = {{"sRGB", "", 1, 1, false, NULL},
                 {"sRGB", "", 0, 1, false, "damaged"},
                 {"sRGB", "\4", 1, 1, false, "damaged"},
                 {"sRGB", "", 1, 1, true, "misplaced"},
                 {"gAMA", "\0\0\xb1\x8f", 4, 1, false, NULL},
                 {"gAMA", "\0\0\xb1\x8f", 4, 2, false, "second"},
                 {"gAMA", "\0\0\0\0", 4, 1, false, "damaged"},
                 {"gAMA", "\0\0\xb1\x8f", 3, 1, false, "damaged"},
                 {"cHRM", chrm, 32, 1, false, NULL},
                 {"cHRM", chrm, 31, 1, false, "damaged"},
                 {"cHRM", chrm, 32, 1, true, "misplaced"},
                 {"cICP", "\11\20\0\1", 4, 1, false, NULL},
                 {"cICP", "\11\20\1\1", 4, 1, false, "damaged"},
                 {"pHYs", "\0\0\0\2\0\0\0\1", 9, 1, false, NULL},
                 {"pHYs", "\0\0\0\2\0\0\0\1", 8, 1, false, "damaged"},
                 {"pHYs", "\0\0\0\2\0\0\0\1\2", 9, 1, false, "damaged"},
                 {"pHYs", "\0\0\0\2\0\0\0\1", 9, 2, false, "second"},
                 {"tEXt", "Author\0Nobody", 13, 2, true, NULL},
                 {"tEXt", "Author", 6, 1, false, "damaged"},
                 {"tEXt", " Author\0Nobody", 14, 1, false, "damaged"},
                 {"tEXt", "Author\0No\0body", 14, 1, false, "damaged"},
                 {"zTXt", "Author\0\1Nobody", 14, 1, false, "damaged"},
                 {"zTXt", "Author\0\0Nobody", 14, 1, false, "damaged"},
                 {"iTXt", "Author\0\2\0\0\0Nobody", 17, 1, false, "damaged"},
                 {"iTXt", "Author\0\0\0\0\0Nobody", 17, 1, false, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        enum { BEHIND_HEAD = 33, END = 12 };
        struct random random = {1};
        struct codec_buffer file = {0}, chunk = {0};
        struct codec_head head = {0};
        struct codec_error error;
        for (int k = 0; k < cases[i].times; k++)
            png_add(&chunk, cases[i].type, cases[i].data, cases[i].bytes);
        png_make(&file, 4, 4, &(struct png_wish){2, 8, 0, 0, 1}, &random);
        insert(&file, cases[i].last ? file.size - END : BEHIND_HEAD, chunk.data, chunk.size);
        const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error) &&
                        write_file(codec, CODEC_PNG, &head.metadata, &file, &error);
        const int again = cases[i].expected && strcmp(cases[i].expected, "second") ? 0
                          : cases[i].expected                                      ? 1
                                                                                   : cases[i].times;
        check_that(&check, ok && count_chunks(&file, cases[i].type) == again, "%s, case %zu: %d are written: %s",
                   cases[i].type, i, count_chunks(&file, cases[i].type), error.why);
        check_that(&check,
                   ok && (cases[i].expected ? strstr(error.why, cases[i].expected) && strstr(error.why, cases[i].type)
                                            : !error.why[0]),
                   "%s, case %zu says: %s", cases[i].type, i, error.why);
        codec_buffer_free(&file);
        codec_buffer_free(&chunk);
    }
}

// ImageMagick's copies of EXIF sizes and orientation would describe another picture after a change: no output has them.
static void test_exif_texts(struct codec *codec)
{
    struct random random = {1};
    struct codec_buffer file = {0}, chunk = {0};
    struct codec_head head = {0};
    struct codec_error error;
    png_add(&chunk, "tEXt", "exif:Orientation\0006", 18);
    png_add(&chunk, "zTXt", "exif:PixelXDimension\0\0\x78\x9c\3\0\0\0\0\1", 30);
    png_add(&chunk, "iTXt",
            "exif:Orientation of mine\0\0\0\0\0"
            "6",
            30);
    png_make(&file, 4, 4, &(struct png_wish){2, 8, 0, 0, 1}, &random);
    insert(&file, 33, chunk.data, chunk.size);
    const bool ok = codec_head(codec, file.data, file.size, 0, &head, &error) &&
                    write_file(codec, CODEC_PNG, &head.metadata, &file, &error) && !error.why[0];
    check_that(&check, ok && count_chunks(&file, "tEXt") == 0 && count_chunks(&file, "zTXt") == 0, "%s", error.why);
    check_that(&check, ok && count_chunks(&file, "iTXt") == 1, "another text is kept");
    codec_buffer_free(&file);
    codec_buffer_free(&chunk);
}

// The shape of pixels without a resolution goes from format to format, and turns. EXIF data have their own resolution.
static void test_aspect(struct codec *codec)
{
    uint8_t exif[EXIF_DENSITY_BYTES];
    exif_from_density((const double[]){72, 72}, exif);
    for (int i = 0; i < FORMATS; i++) {
        struct codec_metadata metadata = {.aspect = {2, 1}};
        struct codec_buffer file = {0};
        struct codec_head head = {0};
        struct codec_error error;
        if (!codec_info(formats[i].format)->writes)
            continue;
        bool ok = write_file(codec, formats[i].format, &metadata, &file, &error);
        const bool named = strstr(error.why, "shape of its pixels");
        ok = ok && codec_head(codec, file.data, file.size, 0, &head, &error);
        const bool webp = formats[i].format == CODEC_WEBP;
        check_that(&check, ok && named == webp && is_near(head.metadata.aspect, webp ? 0 : 2, webp ? 0 : 1),
                   "%s: a shape of %g by %g", codec_info(formats[i].format)->name, head.metadata.aspect[0],
                   head.metadata.aspect[1]);
        ok = write_turned(codec, formats[i].format, &metadata, true, &file, &error) &&
             codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check, ok && is_near(head.metadata.aspect, webp ? 0 : 1, webp ? 0 : 2), "turned: %g by %g",
                   head.metadata.aspect[0], head.metadata.aspect[1]);
        metadata = (struct codec_metadata){.density = {300, 150}};
        ok = write_turned(codec, formats[i].format, &metadata, true, &file, &error) &&
             codec_head(codec, file.data, file.size, 0, &head, &error);
        check_that(&check, ok && is_near(head.metadata.density, 150, 300), "%s: turned: %g by %g pixels per inch",
                   codec_info(formats[i].format)->name, head.metadata.density[0], head.metadata.density[1]);
        metadata = (struct codec_metadata){.aspect = {1, 1}, .exif = {exif, sizeof(exif)}};
        ok = write_file(codec, CODEC_PNG, &metadata, &file, &error) && count_chunks(&file, "pHYs") == 1 &&
             codec_head(codec, file.data, file.size, 0, &head, &error) && head.metadata.density[0] == 72 &&
             write_file(codec, CODEC_PNG, &head.metadata, &file, &error);
        check_that(&check, ok && count_chunks(&file, "pHYs") == 1, "%d pHYs chunks", count_chunks(&file, "pHYs"));
        codec_buffer_free(&file);
    }
}

// EXIF data of more than a marker: whole, with a remark. A second block is named.
static void test_long_exif(struct codec *codec)
{
    enum { LONG = 150000, BEHIND_JFIF = 20 };
    static uint8_t exif[LONG] = "II*\0\x08\0\0\0\1\0\x98\x82\2\0\x08\0\0\0\0\0\2\0"; // the copyright comes last
    const struct codec_metadata metadata = {.exif = {exif, LONG}};
    struct codec_buffer file = {0};
    struct codec_head head = {0};
    struct codec_error error;
    memcpy(exif + 18, "\xe8\x49\2", 4); // 149992
    memcpy(exif + LONG - 8, "nobody's", 8);
    bool ok = write_file(codec, CODEC_JPEG, &metadata, &file, &error) && strstr(error.why, "several segments");
    check_that(&check, ok, "long EXIF data say: %s", error.why);
    ok = ok && codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&check, ok && same(head.metadata.exif, metadata.exif) && !head.metadata.left_out[0],
               "EXIF data of several markers: %zu bytes, %s", head.metadata.exif.size, head.metadata.left_out);
    insert(&file, BEHIND_JFIF,
           "\xff\xe1\0\x22"
           "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\3\0\0\0\0\0\0\0",
           36);
    ok = codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&check, ok && head.orientation == 3 && strstr(head.metadata.left_out, "second block"),
               "two blocks of EXIF data: %s", head.metadata.left_out);
    memcpy(file.data + BEHIND_JFIF + 10, "XX", 2);
    ok = codec_head(codec, file.data, file.size, 0, &head, &error);
    check_that(&check, ok && !head.metadata.exif.data && strstr(head.metadata.left_out, "damaged"),
               "damaged EXIF data: %s", head.metadata.left_out);
    codec_buffer_free(&file);
}

int main(void)
{
    struct codec *codec = codec_open();
    test_formats(codec);
    test_big_endian(codec);
    test_jpeg(codec);
    test_behind(codec);
    test_orientations();
    test_inner();
    test_xmp_names();
    test_xmp_encoding(codec);
    test_centimetres(codec);
    test_bmp(codec);
    test_profiles(codec);
    test_damaged_xmp(codec);
    test_hidden_place();
    test_psd(codec);
    test_settled();
    test_xmp();
    test_long_xmp();
    test_chunks(codec);
    test_exif_texts(codec);
    test_aspect(codec);
    test_long_exif(codec);
    codec_close(codec);
    return check_end(&check);
}
