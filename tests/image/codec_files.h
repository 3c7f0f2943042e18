// codec_files.h: image files of kinds that monocle reads but does not write
#pragma once

#include "image/codec/codec.h"
#include "pictures.h"

// Returns a copy of the bytes before a page without access, so that a read beyond them ends the test. Valid until the
// next call.
uint8_t *fenced(const void *data, size_t size);

// The kind of a JPEG file for jpeg_make; zero: an ordinary one.
struct jpeg_wish {
    int across, down;                                    // luma samples per chroma sample; 0: 2 and 2
    bool grey, rgb, cmyk;                                // not YCbCr
    bool progressive, arithmetic, restarts, old_quality; // old_quality: 50, not 95
    bool flat;                                           // all pixels grey 128
    bool apart;                                          // each component has a scan of its own
    int scans; // of a progressive grey file, 1 to JPEG_SCANS_MOST; 0: the usual number
};

enum { JPEG_SCANS_MOST = 1 + 63 * 11 };

// Makes a JPEG of a smooth image whose colours depend on the position (jpeg_model).
void jpeg_make(struct codec_buffer *file, int width, int height, const struct jpeg_wish *wish);
int jpeg_model(int plane, int x, int y, int width, int height);

// Makes a valid PNG of random pixels with random row filters and this number of IDAT chunks.
struct png_wish {
    int colour, depth;
    bool interlaced, transparent;
    int pieces;
};
void png_make(struct codec_buffer *file, int width, int height, const struct png_wish *wish, struct random *random);

// Write the beginning of such a PNG, including its header; append a chunk to a file.
void png_begin(struct codec_buffer *file, uint32_t width, uint32_t height, const struct png_wish *wish);
void png_add(struct codec_buffer *file, const char *type, const void *data, size_t size);
