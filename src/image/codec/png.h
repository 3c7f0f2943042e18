// png.h: the parts of the PNG codec (PNG specification, third edition)
#pragma once

#include "image/codec/kind.h"

#include <libdeflate.h>

enum png_colour { PNG_GREY = 0, PNG_RGB = 2, PNG_PALETTE = 3, PNG_GREY_ALPHA = 4, PNG_RGBA = 6 };
enum { PNG_SIGNATURE_BYTES = 8, PNG_PALETTE_MAX = 256 };
extern const uint8_t png_signature[PNG_SIGNATURE_BYTES];

// What stands before and behind the pixels.
struct png_header {
    int width, height, depth; // bits per sample
    enum png_colour colour;
    bool interlaced, has_palette;
    bool has_profile, has_exif, has_xmp; // such a chunk has been there, whole or not
    bool transparent;                    // a palette's alpha, or the one colour that is transparent
    uint8_t palette[PNG_PALETTE_MAX][4]; // RGBA
    uint16_t key[3];                     // that colour, as samples of `depth` bits
    int pieces;                          // of compressed pixels (IDAT)
    size_t pixels_at, pixels_bytes;      // the first piece, and all of them together
};

struct png {
    struct libdeflate_decompressor *inflater;
    struct libdeflate_compressor *deflater;
    int deflater_level;
    struct codec_buffer packed;  // compressed pixels of all pieces
    struct codec_buffer plain;   // filtered rows
    struct codec_buffer rows;    // of the picture, a few
    struct codec_buffer profile; // inflated
    struct codec_buffer text;
};

// Everything but the pixels, whose checksums are looked at only without `metadata` (NULL: not wanted). False, and why,
// where what is needed for the pixels is damaged or missing.
bool png_read_header(struct png *png, const uint8_t *data, size_t size, struct png_header *header,
                     struct codec_metadata *metadata, struct codec_error *error);

// The pixels, as the format of png_format.
bool png_read_pixels(struct png *png, const uint8_t *data, size_t size, const struct png_header *header,
                     struct image *image, struct codec_error *error);
enum pixfmt png_format(const struct png_header *header);
int png_channels(enum png_colour colour);

bool png_write(struct png *png, const struct image *image, const struct codec_settings *settings,
               struct codec_buffer *buffer, struct codec_error *error);
