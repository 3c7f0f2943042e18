// codec.h: image files in memory to pixels and back: JPEG, PNG, WebP and TIFF; BMP, TGA, PSD and
// GIF (first frame) read only
//
// A struct codec is for one thread at a time and is meant to be kept: from file to file it keeps its memory.
#pragma once

#include "image/image.h"

// The list of codecs: constant and row, in the order in which codec_probe tries them.
#define CODEC_LIST(ROW)                                                                                                \
    ROW(CODEC_JPEG, codec_jpeg)                                                                                        \
    ROW(CODEC_PNG, codec_png)                                                                                          \
    ROW(CODEC_WEBP, codec_webp) /* builds without libwebp: refused by name */                                          \
    ROW(CODEC_TIFF, codec_tiff) /* builds without libtiff: refused by name */                                          \
    ROW(CODEC_GIF, codec_gif)                                                                                          \
    ROW(CODEC_BMP, codec_bmp)                                                                                          \
    ROW(CODEC_PSD, codec_psd)                                                                                          \
    ROW(CODEC_TGA, codec_tga) /* no signature: last */

#define CODEC_CONSTANT(format, row) format,
enum codec_format {
    CODEC_LIST(CODEC_CONSTANT)   // the codecs
    CODEC_FORMATS,               // their number
    CODEC_OTHER = CODEC_FORMATS, // known, but refused by name: HDR, HEIF, ...
};

struct codec_info {
    const char *name;              // "jpeg"
    const char *const *extensions; // without the dot, the usual one first; NULL-ended
    bool writes;
    bool quality, compression; // codec_settings.quality, compression have an effect
    bool subsampling;          // files are written from YUV: yu12, 422p, 444p or grey
    bool guess;                // files have no signature, so every other format is tried first
};

const struct codec_info *codec_info(enum codec_format format);     // also of CODEC_OTHER
bool codec_from_name(const char *name, enum codec_format *format); // a name or an extension, any case
// The library that is missing in this build for files of that name or extension: "libwebp". NULL: none is missing.
const char *codec_missing_library(const char *name);
// The format that the first bytes look like. TGA has no magic number: a guess, made last. False for no picture.
enum { CODEC_PROBE_BYTES = 32 }; // enough of a file's start
bool codec_probe(const void *data, size_t size, enum codec_format *format);

enum codec_fault {
    CODEC_FINE,
    CODEC_NOT_A_PICTURE,
    CODEC_DAMAGED, // or cut short
    CODEC_TOO_LARGE,
    CODEC_UNSUPPORTED,
    CODEC_NO_MEMORY,
};
const char *codec_fault_name(enum codec_fault fault); // "not-a-picture"

enum { CODEC_WHY = 256 };
struct codec_error {
    enum codec_fault fault;
    char why[CODEC_WHY]; // half a sentence: "the file is truncated"
};

struct codec_bytes {
    const uint8_t *data; // NULL where there are none
    size_t size;
};

// Metadata of an image, unchanged, without the container's framing: ICC profile, EXIF (TIFF data: "II*" or "MM"), XMP
// (XML).
struct codec_metadata {
    struct codec_bytes icc, exif, xmp;
    const char *left_out; // "its colour profile is damaged and is left out"; NULL: everything could be read
};

struct codec_head {
    enum codec_format format;
    // What codec_decode gives: yu12, 422p, 444p or grey (601, full range) for most JPEGs; else rgba, rgb24 or grey.
    struct image_shape shape;
    enum pixfmt jpeg; // what a JPEG of this picture is made from: its own kind where it is one; grey, yu12
    int orientation;  // 1..8 as EXIF counts; 1, upright, where it says nothing. Pixels are given as they lie.
    bool alpha;       // pixels may be other than opaque
    int quality;      // 1..100; of a JPEG the one of libjpeg that is nearest to its tables; otherwise 0
    struct codec_metadata metadata; // lies in the file's bytes or the codec, until its next codec_head
};

// Copies the metadata into the buffer, so that they outlive the next codec_head. False if there is no memory.
struct codec_buffer;
bool codec_metadata_keep(struct codec_metadata *metadata, struct codec_buffer *buffer);

struct codec;

struct codec *codec_open(void);        // NULL when there is no memory (logged)
void codec_close(struct codec *codec); // takes NULL

// What the head of a file says. False, and why, where it is no picture, is not supported, is damaged as far as the head
// tells, or has more than `most_pixels` (0: as many as IMAGE_MAX_SIDE and IMAGE_MAX_BYTES allow); nothing of its size
// has been allocated then.
bool codec_head(struct codec *codec, const void *data, size_t size, uint64_t most_pixels, struct codec_head *head,
                struct codec_error *error);
// The same for data that must have this format: no other codec reads them.
bool codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size, uint64_t most_pixels,
                   struct codec_head *head, struct codec_error *error);

// Decodes the file of that head into `image`, memory of the caller's with the head's shape and any strides; what lies
// between the rows may be overwritten (decoding is quickest where a row has room for whole JPEG blocks, as
// image_reserve gives it). False, and why, where the file is damaged or cut short; the image is then spoilt.
bool codec_decode(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                  struct image *image, struct codec_error *error);

// The same some rows at a time, as long as the data stay; of formats that go by rows. The image may have places for
// few rows (image_reserve_few).
enum { CODEC_ROWS_MORE = 31 }; // that come along with a row that is asked for
bool codec_goes_by_rows(enum codec_format format);
bool codec_decode_begin(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                        const struct image *image, struct codec_error *error);
// Decodes until row `last` is there, and as few more as can be. Returns how many rows there are; 0, and why, as above.
int codec_decode_rows(struct codec *codec, const struct codec_head *head, struct image *image, int last,
                      struct codec_error *error);

struct codec_settings {
    enum codec_format format;
    int quality;     // JPEG, WebP: 1..100, at which WebP loses nothing; 0 means 90
    int compression; // PNG, TIFF: 1, quick, to 9, small; 0 means quick
    bool grey;       // PNG and TIFF of an rgba image whose colours are all grey: one channel
    bool opaque;     // PNG, WebP and TIFF of an rgba image: alpha is left out
    int orientation; // what the EXIF data shall say, 1..8; 0: as they are
    struct codec_metadata metadata;
};

// The file's bytes; kept and grown from file to file. codec_buffer_free takes an empty one.
struct codec_buffer {
    uint8_t *data;
    size_t size, room;
};
void codec_buffer_free(struct codec_buffer *buffer);

// Makes a file of a picture: JPEG from yu12, 422p, 444p and grey (601, full range), PNG from rgba, rgb24 and grey, WebP
// and TIFF from rgba. True with something in `why` where metadata had to be left out, now or when they were read. EXIF
// data lose their thumbnail, which shows the picture before it was filtered. A colour profile stays out of a grey file,
// a grey one out of all others.
bool codec_encode(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                  struct codec_buffer *buffer, struct codec_error *error);
// The same some rows at a time, also while another file is being decoded: takes what it can of the first `count` rows,
// so that all but the last CODEC_ROWS_MORE of them may be overwritten; the file is done with the last one. The error is
// that of the beginning where nothing else failed.
bool codec_encode_begin(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                        struct codec_buffer *buffer, struct codec_error *error);
bool codec_encode_rows(struct codec *codec, const struct image *image, const struct codec_settings *settings, int count,
                       struct codec_error *error);

// How a picture with this `orientation` (1..8) is rotated upright: rows become columns, then it is mirrored left
// to right, then flipped upside down.
struct codec_turn {
    bool transpose, mirror, flip;
};
struct codec_turn codec_turn(int orientation);
