// codec.h: decodes and encodes image files in memory: JPEG, PNG, WebP and TIFF; reads HEIC, AVIF, JPEG XL,
// BMP, TGA, PSD and GIF (first frame)
//
// A struct codec keeps its memory from file to file. One thread at a time may use it. Functions that return false fill
// in the error.
#pragma once

#include "image/image.h"

// The list of codecs: constant and row, in the order in which codec_probe tries them.
#define CODEC_LIST(ROW)                                                                                                \
    ROW(CODEC_JPEG, codec_jpeg)                                                                                        \
    ROW(CODEC_PNG, codec_png)                                                                                          \
    ROW(CODEC_WEBP, codec_webp) /* refused as unsupported without libwebp */                                           \
    ROW(CODEC_TIFF, codec_tiff) /* refused as unsupported without libtiff */                                           \
    ROW(CODEC_GIF, codec_gif)   /* refused as unsupported without giflib */                                            \
    ROW(CODEC_HEIF, codec_heif) /* HEIC and AVIF; refused as unsupported without libheif */                            \
    ROW(CODEC_JXL, codec_jxl)   /* refused as unsupported without libjxl */                                            \
    ROW(CODEC_BMP, codec_bmp)                                                                                          \
    ROW(CODEC_PSD, codec_psd)                                                                                          \
    ROW(CODEC_TGA, codec_tga) /* no signature: last */

#define CODEC_CONSTANT(format, row) format,
enum codec_format {
    CODEC_LIST(CODEC_CONSTANT)   // the codecs
    CODEC_FORMATS,               // their number
    CODEC_OTHER = CODEC_FORMATS, // recognised, but not supported: HDR, JPEG 2000, ...
};

struct codec_info {
    const char *name;              // "jpeg"
    const char *const *extensions; // without dot, the usual one first; NULL-terminated
    bool writes;
    bool quality, compression; // codec_settings.quality and .compression have an effect
    bool subsampling;          // encodes YUV: yu12, 422p, 444p or grey
    bool guess;                // files have no signature: all other formats are tried first
};

const struct codec_info *codec_info(enum codec_format format);     // "other" for a format that is not supported
bool codec_from_name(const char *name, enum codec_format *format); // name or extension, any case
// Returns the library that this build lacks for files of this extension, such as "libwebp"; NULL if it lacks none.
const char *codec_missing_library(const char *name);

// Returns why monocle cannot read images of this extension, such as "nef", and the remedy; NULL for other extensions.
const char *codec_foreign_name(const char *name);

// Returns what a file that is no image is for, by its extension; NULL: not known. `video`: videos count as such files.
const char *codec_misuse(const char *path, bool video);

// Recognises the format by the first bytes. Returns false if they belong to no known image format.
enum { CODEC_PROBE_BYTES = 32 }; // number of bytes that suffice
bool codec_probe(const void *data, size_t size, enum codec_format *format);

enum codec_fault {
    CODEC_FINE,
    CODEC_NOT_A_PICTURE,
    CODEC_DAMAGED, // or truncated
    CODEC_TOO_LARGE,
    CODEC_UNSUPPORTED,
    CODEC_NO_MEMORY,
};

enum { CODEC_WHY = 512 };
struct codec_error {
    enum codec_fault fault;
    char why[CODEC_WHY]; // half a sentence: "the file is truncated"
};

struct codec_bytes {
    const uint8_t *data; // NULL: none
    size_t size;
};

// A buffer that grows and is reused from file to file. All zeros is an empty one.
struct codec_buffer {
    uint8_t *data;
    size_t size, room;
};
void codec_buffer_free(struct codec_buffer *buffer);

// What is known of the colours of an image. The encoders say that they are sRGB.
enum codec_colours {
    CODEC_COLOURS_OWN,       // those of the metadata, if these say so
    CODEC_COLOURS_SRGB,      // sRGB, unless the metadata say otherwise
    CODEC_COLOURS_CONVERTED, // sRGB, whatever the metadata say
};

// Metadata without the container's framing: ICC profile, EXIF (TIFF data: "II*" or "MM"), XMP (XML), IPTC (records of
// IPTC-IIM), a comment (text in any encoding).
struct codec_metadata {
    struct codec_bytes icc, exif, xmp, iptc, comment;
    struct codec_bytes chunks; // a sequence of whole PNG chunks, for PNG outputs only
    double density[2];         // pixels per inch across and down; 0: unknown
    double aspect[2];          // pixels per length across and down, if only their ratio is known; otherwise 0
    uint8_t codes[2];          // code points of primaries and transfer (ITU-T H.273); 0: none
    char left_out[CODEC_WHY];  // "its colour profile is damaged and is left out"; "": nothing
    enum codec_colours colours;
};

// Differences between a file and the decoded image, besides metadata. Each is a bit of a set.
enum codec_remark {
    CODEC_NO_END = 1,      // a JPEG has all pixels, but no end marker
    CODEC_DEEP = 2,        // it has more than 8 bits per channel
    CODEC_FRAMES = 4,      // it is an animation
    CODEC_CLEAR = 8,       // it has transparent pixels, which the output shows
    CODEC_UNPROFILED = 16, // codec_to_srgb: its colour profile is damaged, unknown or not for its pixels
    CODEC_BRIGHT = 32,     // codec_to_srgb: it is HDR
};

const char *codec_remark_text(unsigned set); // of a remark of a set: half a sentence, for a message

struct codec_head {
    enum codec_format format;
    // Of the decoded image: yu12, 422p, 444p or grey (601, full range) for most JPEGs; otherwise rgba, rgb24 or grey.
    struct image_shape shape;
    enum pixfmt jpeg; // the best format to encode this image as JPEG from: the file's own planes, grey or yu12
    int orientation;  // EXIF orientation, 1 to 8; default: 1. The decoded image is not rotated.
    bool upright;     // the decoder has applied the orientation; that of the EXIF data does not count
    bool alpha;       // the image may have transparent pixels
    int quality;      // 1 to 100; JPEG: the quality whose table in libjpeg is nearest; 0: does not apply
    bool inks;        // the file's pixels are CMYK
    unsigned remarks; // set of codec_remark
    const struct profile *profile;  // decoding converts its colours to sRGB with it; NULL: they stay
    struct codec_metadata metadata; // in the file's bytes or in the codec; valid until its next codec_head
};

// Copies the metadata into the buffer, so that they survive the next codec_head. Returns false if there is no memory.
bool codec_metadata_keep(struct codec_metadata *metadata, struct codec_buffer *buffer);
size_t codec_metadata_bytes(const struct codec_metadata *metadata); // total size

struct codec;

struct codec *codec_open(void);        // never NULL
void codec_close(struct codec *codec); // accepts NULL

// Converts later images to sRGB if they have another colour profile. Does nothing without lcms2.
// codec_head of the same codec must then precede each decoding.
void codec_to_srgb(struct codec *codec);

// Refuses a TIFF file with an extension of camera raw files, because its first image may be a thumbnail. Also refuses
// files that are not images if codec_misuse names their use.
bool codec_name_ok(const char *path, const void *data, size_t size, struct codec_error *error);

// Reads the head of a file. Fails if the file is no image, is not supported, has a damaged head, or exceeds the limits
// of image.h or `most_pixels` (0: no such limit). Allocates nothing in proportion to the image.
bool codec_head(struct codec *codec, const void *data, size_t size, uint64_t most_pixels, struct codec_head *head,
                struct codec_error *error);
// The same for a file of a known format.
bool codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size, uint64_t most_pixels,
                   struct codec_head *head, struct codec_error *error);

// Decodes the file into the caller's `image`, which has the head's shape and any strides. Padding between rows may be
// overwritten; images of image_reserve decode fastest. Fails if the file is damaged; the image is then undefined.
bool codec_decode(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                  struct image *image, struct codec_error *error);

// Decodes some rows at a time, for formats of codec_goes_by_rows. The file must stay in memory. The image may hold only
// a few rows (image_reserve_few).
enum { CODEC_ROWS_MORE = 31 };                     // rows that a call may decode beyond `last`
bool codec_goes_by_rows(enum codec_format format); // true: the format can be decoded and encoded by rows
bool codec_decode_begin(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                        const struct image *image, struct codec_error *error);
// Decodes until row `last` is complete. Returns the number of decoded rows; 0 on failure.
int codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                      struct codec_error *error);

struct codec_settings {
    enum codec_format format;
    int quality;      // JPEG, WebP: 1 to 100; 100 makes WebP lossless; 0: 90
    int compression;  // PNG, TIFF: 1 (fast) to 9 (small); 0: 1
    bool grey;        // PNG, TIFF from rgba: all pixels are grey, write one channel
    bool opaque;      // PNG, WebP, TIFF from rgba: leave alpha out
    int orientation;  // to write into the EXIF and XMP data, 1 to 8; 0: unchanged
    bool no_place;    // leave out where the image was taken
    bool turned;      // rows and columns have been exchanged since the metadata were read
    unsigned remarks; // of the head; codec_encode adds them to error->why
    struct codec_metadata metadata;
};

// Encodes an image into `buffer`: JPEG from yu12, 422p, 444p or grey (601, full range), PNG from rgba, rgb24 or grey,
// WebP and TIFF from rgba. If metadata had to be left out, it returns true and error->why says which. Sizes,
// resolution and orientation in the metadata become those of the image. It always removes
// the thumbnail, which shows the unfiltered image. It also removes a colour profile from a grey file and a grey
// profile from a colour file, without a message.
bool codec_encode(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                  struct codec_buffer *buffer, struct codec_error *error);
// Encodes some rows at a time, also while the same codec decodes another file by rows. codec_encode_rows takes the
// first `count` rows; the caller may then overwrite all but the last CODEC_ROWS_MORE of them. The last row completes
// the file.
bool codec_encode_begin(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                        struct codec_buffer *buffer, struct codec_error *error);
bool codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings, int count,
                       struct codec_error *error);

// The steps that rotate an image of this EXIF orientation (1 to 8) upright: exchange rows and columns, then mirror left
// to right, then flip upside down.
struct codec_turn {
    bool transpose, mirror, flip;
};
struct codec_turn codec_turn(int orientation);
