// codec_kind.h: the interface that each codec implements, and functions that codecs share (callers use codec.h)
#pragma once

#include "image/codec/codec.h"

struct codec_kind {
    struct codec_info info;
    size_t state_bytes;         // size of its state, which is zeroed before open; 0: none
    int buffers;                // number of struct codec_buffer at the start of its state; freed after `close`
    void (*open)(void *state);  // may be NULL
    void (*close)(void *state); // may be NULL
    bool (*looks_so)(const uint8_t *data, size_t size); // the first bytes are of this format
    // As codec_head, which checks the limits. Allocates nothing in proportion to the image.
    bool (*head)(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error);
    unsigned keeps;   // set of CODEC_KEEPS_*: metadata that it can write, besides ICC profile, EXIF and XMP
    unsigned encodes; // set of bits 1 << enum pixfmt: the formats that it encodes; 0: it only decodes
    // As codec_decode and codec_encode; NULL for a codec that goes by rows. `encode` gets an empty buffer. Its EXIF
    // and XMP data have been adapted to the image.
    bool (*decode)(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error);
    bool (*encode)(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error);
    // As codec_decode_begin and so on; all or none.
    bool (*decode_begin)(void *state, const uint8_t *data, size_t size, const struct image *image,
                         struct codec_error *error);
    int (*decode_rows)(void *state, struct image *image, int last, struct codec_error *error);
    bool (*encode_begin)(void *state, const struct image *image, const struct codec_settings *settings,
                         struct codec_buffer *buffer, struct codec_error *error);
    bool (*encode_rows)(void *state, const struct image *image, int count, struct codec_error *error);
};

enum { CODEC_KEEPS_IPTC = 1, CODEC_KEEPS_COMMENT = 2, CODEC_KEEPS_CHUNKS = 4 };

#define CODEC_DECLARE(format, row) extern const struct codec_kind row;
CODEC_LIST(CODEC_DECLARE)

// Fills in the error; returns false.
bool codec_refuse(struct codec_error *error, enum codec_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Returns true if a file of `size` bytes can hold pixels that need at least `least` bytes. Otherwise the file is
// refused as truncated. Each head calls this, so that a tiny file cannot make monocle allocate gigabytes.
bool codec_can_hold(size_t size, uint64_t least, struct codec_error *error);
enum {
    // Maximum bytes per byte of LZW data: a code of c bits stands for at most 2^c bytes, and has at most 12 bits
    // (GIF89a, appendix F; TIFF 6.0, section 13). The other compressions of TIFF have a lower maximum.
    CODEC_LZW_MOST = 4096 * 8 / 12 + 1,
    CODEC_RUN_MOST = 64, // maximum pixels per byte of BMP, PSD and TGA data: two bytes encode at most 128 pixels
};

// Returns true if the image has the shape of the file to decode. Otherwise the file is refused: it is not the one that
// its head was read from. Each decoder calls this.
bool codec_fits(const struct image *image, const struct image_shape *shape, struct codec_error *error);

// Adds to error->why what the output will lack: "its colour profile is damaged and is left out". Not a fault.
void codec_leave_out(struct codec_error *error, const char *what);

// Returns true if the bytes begin with the `size` bytes at `with`.
bool codec_begins(struct codec_bytes bytes, const char *with, size_t size);

// Returns the TIFF data of an EXIF block of HEIF or JPEG XL, which begins with their offset (ISO 23008-12, A.2.1; ISO
// 18181-2, 9.5).
struct codec_bytes codec_exif_block(struct codec_bytes block);

// PNG chunks of codec_metadata.chunks: the bytes of the one at `chunk`, and whether it names colours (cICP, cHRM, gAMA,
// sRGB, mDCV, cLLI).
size_t codec_chunk_bytes(const uint8_t *chunk);
bool codec_names_colours(const uint8_t *chunk);

// Adds to metadata->left_out the name of a part of the file that is not read.
void codec_lacks(struct codec_metadata *metadata, const char *what);

// Copies row `y` of an image in rgba, rgb24 or grey. For rgb24 and grey, `channels` is that of the format. From rgba,
// it copies 1: grey, 2: grey and alpha, 3: RGB, 4: RGBA.
void codec_pack_row(const struct image *image, int y, int channels, uint8_t *to);

// Converts a row of pixels of 9 to 16 bits per channel, grey or RGBA as `format` says, to that format of 8 bits, and to
// sRGB if `profile` is not NULL.
void codec_put_deep(const struct profile *profile, const uint16_t *from, int bits, enum pixfmt format, uint8_t *to,
                    int count);

// Makes room for `room` bytes in all and keeps the contents. A buffer grows at least by half. Returns false if there is
// no memory.
bool codec_buffer_room(struct codec_buffer *buffer, size_t room);
bool codec_buffer_append(struct codec_buffer *buffer, const void *data, size_t size); // false: no memory
