// jpeg.h: the parts of the JPEG codec: libjpeg-turbo's raw data, which are the planes as they are coded
#pragma once

#include "image/codec/kind.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

// libjpeg reports a failure by leaving it with a jump, which ends in the function that set `back`.
struct jpeg_errors {
    struct jpeg_error_mgr manager; // first: libjpeg hands out its address
    jmp_buf back;
    struct codec_error *error;
};

struct jpeg_reader {
    struct jpeg_decompress_struct info;
    struct jpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    struct codec_buffer rows;    // blocks that the image has no room for
    struct codec_buffer profile; // an ICC profile that came in parts
};

struct jpeg_writer {
    struct jpeg_compress_struct info;
    struct jpeg_errors errors;
    struct jpeg_destination_mgr destination;
    bool open;
    struct codec_buffer *buffer; // that it writes to
    struct codec_buffer rows;    // copies of rows that end within a block
    struct codec_buffer segment; // metadata on their way into a marker
};

// Fills in the error manager, which lies in `errors` and must stay where it is.
struct jpeg_error_mgr *jpeg_errors_init(struct jpeg_errors *errors);

// Whether the format can be coded as it is; the luma plane's sampling factors then, those of chroma being 1.
bool jpeg_sampling(enum pixfmt format, int *across, int *down);

bool jpeg_read_head(struct jpeg_reader *reader, const uint8_t *data, size_t size, struct codec_head *head,
                    struct codec_error *error);
// As codec_decode_begin, codec_decode_rows, codec_encode_begin and codec_encode_rows.
bool jpeg_read_begin(struct jpeg_reader *reader, const uint8_t *data, size_t size, const struct image *image,
                     struct codec_error *error);
int jpeg_read_rows(struct jpeg_reader *reader, struct image *image, int last, struct codec_error *error);
bool jpeg_write_begin(struct jpeg_writer *writer, const struct image *image, const struct codec_settings *settings,
                      struct codec_buffer *buffer, struct codec_error *error);
bool jpeg_write_rows(struct jpeg_writer *writer, const struct image *image, int count, struct codec_error *error);

// The metadata in a file's markers. A profile in parts is put together in `profile`.
void jpeg_markers(const uint8_t *data, size_t size, struct codec_buffer *profile, struct codec_metadata *metadata);

enum { JPEG_PLANES_ROWS = 4 * DCTSIZE }; // the most rows of a plane that libjpeg reads or writes at a time
