// codec_files.h: image files of kinds that monocle reads but does not write
#pragma once

#include "image/codec/codec.h"
#include "pictures.h"

// What a JPEG of jpeg_make is like; zero is a plain one of the format.
struct jpeg_wish {
    int across, down;                                    // luma samples to one of chroma; 0: 2 and 2
    bool grey, rgb, cmyk;                                // not YCbCr
    bool progressive, arithmetic, restarts, old_quality; // old_quality: 50, not 95
    bool flat;                                           // a grey one of one colour, 128
    int scans;                                           // of a progressive grey one, 1 to JPEG_SCANS_MOST; 0: usual
};

enum { JPEG_SCANS_MOST = 1 + 63 * 11 };

// A JPEG of a smooth picture whose colours say where they are: jpeg_model.
void jpeg_make(struct codec_buffer *file, int width, int height, const struct jpeg_wish *wish);
int jpeg_model(int plane, int x, int y, int width, int height);

// A valid PNG of random pixels, its rows filtered at random, its pixels in so many pieces.
struct png_wish {
    int colour, depth;
    bool interlaced, transparent;
    int pieces;
};
void png_make(struct codec_buffer *file, int width, int height, const struct png_wish *wish, struct random *random);

// The beginning of such a PNG, up to its header's end; a chunk at the end of a file.
void png_begin(struct codec_buffer *file, uint32_t width, uint32_t height, const struct png_wish *wish);
void png_add(struct codec_buffer *file, const char *type, const void *data, size_t size);
