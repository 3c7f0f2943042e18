// tiff.h: the parts of the TIFF codec
#pragma once

#include "image/codec/kind.h"

#include <tiffio.h>

#define TIFF_EXIF_LEFT_OUT "the damaged or too long parts of its EXIF data are left out"

struct tiff {
    struct codec_buffer raster;   // RGBA without gaps
    struct codec_buffer exif;     // of the last head
    struct codec_buffer metadata; // of the last head
};

// A file in memory, and what libtiff says of it.
struct tiff_stream {
    const uint8_t *data;
    size_t size, at;
    struct codec_buffer *buffer; // what is written to; else NULL
    struct codec_error *error;
    bool failed; // the error is filled in
};

// NULL, and why, where it cannot be opened. libtiff gets about `bytes` at a time at most. To be ended by TIFFClose.
TIFF *tiff_stream_open(struct tiff_stream *stream, const char *mode, uint64_t bytes);

// As in codec_kind, with a struct tiff as the state.
bool tiff_head(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error);
bool tiff_decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                 struct codec_error *error);
bool tiff_encode(void *state, const struct image *image, const struct codec_settings *settings,
                 struct codec_buffer *buffer, struct codec_error *error);

const char *tiff_without(const char *text, const char *start); // libtiff's words without how they begin
