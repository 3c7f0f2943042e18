// image.h: images in memory, and the frames of a source
#pragma once

#include "base/alloc.h"
#include "image/color.h"
#include "image/pixfmt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_MAX_SIDE = 32768 };          // keeps every coordinate and stride in 32 bits
#define IMAGE_MAX_BYTES ((size_t)1 << 30) // larger images are refused
enum { IMAGE_ALIGNMENT = 64 };
enum { IMAGE_SPARE_BYTES = 16 }; // behind the last pixel: devices that read an image in place load whole blocks

// The meaning of pixels, without their memory.
struct image_shape {
    enum pixfmt format;
    int width, height;  // pixels
    struct color color; // resolved; unused for RGB formats
    bool opaque;        // PIXFMT_RGBA: alpha is 255 everywhere; false: it may be less
};

// Returns true if alpha is 255 everywhere in images of this shape, as RGBA.
static inline bool image_shape_opaque(const struct image_shape *shape)
{
    return shape->opaque || shape->format != PIXFMT_RGBA;
}

struct image {
    struct image_shape shape;
    uint8_t *plane[PIXFMT_PLANES]; // first pixel of each plane; unused ones NULL
    size_t stride[PIXFMT_PLANES];  // bytes from row to row, at least pixfmt_row_bytes
    int wraps[PIXFMT_PLANES];      // bits of a row number to ignore: rows share memory; 0: all rows are in memory
    void *memory;                  // image_free frees it; NULL: the pixels are borrowed
    size_t memory_bytes;
    struct pages_owner *owner; // of the memory; NULL: the system
    size_t reach_bytes;        // bytes from plane[0] on that a device may read in place while the image is lent
};

// Returns the start of row `row` of a plane, in rows of that plane.
static inline uint8_t *image_row(const struct image *image, int plane, int row)
{
    return image->plane[plane] + (size_t)(row & ~image->wraps[plane]) * image->stride[plane];
}

// Returns the address of the sample of channel 0 to 2 (Y, U, V or R, G, B) of pixel (x, y).
uint8_t *image_sample(const struct image *image, int channel, int x, int y);

// Returns the bytes of all planes without padding.
size_t image_bytes(const struct image_shape *shape);
// Points the planes at `memory`, without padding.
void image_wrap(struct image *image, const struct image_shape *shape, void *memory);
// The next functions allocate memory. They return false if there is none.
//
// Allocates an image without padding, page-aligned and with spare bytes, so that a device may use it in place. The
// pixels are not initialised.
bool image_alloc(struct image *image, const struct image_shape *shape);
// Prepares an empty image, or an image of an earlier call, for this shape. Reuses its memory if that is large enough.
// Rows and planes have room for whole blocks of 16 pixels, which decoders write.
bool image_reserve(struct image *image, const struct image_shape *shape);
// The same, but only `rows` rows (a power of two, at least 16) are in memory: row y shares its memory with row y +
// rows. Address the rows of such an image with image_row only.
bool image_reserve_few(struct image *image, const struct image_shape *shape, int rows);
void image_free(struct image *image); // accepts an empty one; leaves it empty
// Copies an image that owns its memory, with its layout, into memory of `owner`.
bool image_duplicate(struct image *to, const struct image *from, struct pages_owner *owner);
// Exchanges rows and columns. For the formats of decoded files; 422p becomes 444p. `to` has the shape that
// image_transposed returns.
struct image_shape image_transposed(const struct image_shape *shape);
void image_transpose(struct image *to, const struct image *from);
// Copies pixels between images of the same shape; strides may differ.
void image_copy(struct image *to, const struct image *from);
// The same for part 0 to parts - 1 of the rows.
void image_copy_rows(struct image *to, const struct image *from, int part, int parts);
// Returns true if no pixel of an RGBA image is transparent, not even partly.
bool image_is_opaque(const struct image *image);
// Writes random bytes, the same ones for the same seed, to an image without padding.
void image_randomize(const struct image *image, uint32_t seed);
bool image_shape_equal(const struct image_shape *a, const struct image_shape *b);

// A frame of a source, lent by source_next until source_return.
struct frame {
    struct image image;  // borrowed pixels
    uint64_t number;     // of the frame in its source, from 0 on; of a video also after a seek and in each round. A
                         // gap without a seek: frames lost before monocle received them
    int64_t captured_ns; // time of capture; all times are of clock_now_ns
    int64_t decode_ns;   // start of decoding; 0: not encoded
    int64_t ready_ns;    // when the pixels were complete in memory
    int64_t video_ns;    // its time in the source: in the video, or since a device's first frame
    int64_t elapsed_ns;  // for a recording: time on the clock if live, else since the first frame, without seeks
    double rate;         // measured frames per second of a live source without a nominal rate, or of a camera that is
                 // faster than its nominal rate; 0: unknown, or the nominal rate; negative: the camera is faster,
                 // but its rate is unknown as yet
    bool follows;     // it continues the source's previous frame; false: the first one, or after a seek
    const char *file; // of an image file: its path, borrowed until source_close; else NULL
    int slot;         // for the source
};
