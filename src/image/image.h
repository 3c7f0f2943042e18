// image.h: pixels in memory, and the frame a source yields
#pragma once

#include "base/pages.h"
#include "image/color.h"
#include "image/pixfmt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IMAGE_MAX_SIDE = 32768 };          // keeps every coordinate and stride in 32 bits
#define IMAGE_MAX_BYTES ((size_t)1 << 30) // a header that asks for more is an attack or a mistake
enum { IMAGE_ALIGNMENT = 64 };
enum { IMAGE_SPARE_BYTES = 16 }; // behind the last pixel: devices that read pictures where they lie load whole blocks

// What pixels are, without where they are.
struct image_shape {
    enum pixfmt format;
    int width, height;  // pixels
    struct color color; // resolved; means nothing for RGB formats
};

struct image {
    struct image_shape shape;
    uint8_t *plane[PIXFMT_PLANES]; // first pixel of each plane; unused ones NULL
    size_t stride[PIXFMT_PLANES];  // bytes from row to row, at least pixfmt_row_bytes
    int wraps[PIXFMT_PLANES];      // bits of a row's number that its place knows nothing of; 0: each has its own place
    void *memory;                  // what image_free frees; NULL where the pixels are borrowed
    size_t memory_bytes;           // how many there are
    struct pages_owner *owner;     // whose memory it is; NULL: the system's
    size_t reach_bytes; // from plane[0] on: what a device may read where it lies, while the picture is lent; 0: nothing
};

// Where row `row` of a plane, counted in its own rows, begins.
static inline uint8_t *image_row(const struct image *image, int plane, int row)
{
    return image->plane[plane] + (size_t)(row & ~image->wraps[plane]) * image->stride[plane];
}

// Returns the address of the sample of channel 0 to 2 (Y, U, V or R, G, B) of pixel (x, y).
uint8_t *image_sample(const struct image *image, int channel, int x, int y);

// Bytes of all planes, tightly packed one behind the other.
size_t image_bytes(const struct image_shape *shape);
// Points the planes at `memory`, tightly packed.
void image_wrap(struct image *image, const struct image_shape *shape, void *memory);
// Own pixels, tightly packed, page-aligned and with spare bytes, so that a device may use them in place. Not cleared.
bool image_alloc(struct image *image, const struct image_shape *shape);
// Own pixels for one picture after another: the memory of an image of image_reserve's (or an empty one) is kept where
// it is large enough. Rows and planes have room for the whole blocks of 16 pixels that decoders write.
bool image_reserve(struct image *image, const struct image_shape *shape);
// The same with places for `rows` rows alone, a power of two from 16 on, which rows take in turns: for pictures that
// come and go row by row. Such an image is only for those who go by image_row.
bool image_reserve_few(struct image *image, const struct image_shape *shape, int rows);
void image_free(struct image *image); // takes an empty one; leaves it empty
// Own pixels in memory of `owner`, the same and laid out the same as `from` has them for its own.
bool image_duplicate(struct image *to, const struct image *from, struct pages_owner *owner);
// Rows become columns. For the formats of decoded files; 422p becomes 444p. `to` has the shape of image_transposed.
struct image_shape image_transposed(const struct image_shape *shape);
void image_transpose(struct image *to, const struct image *from);
// Copies pixels between two images of one shape, whatever the strides.
void image_copy(struct image *to, const struct image *from);
bool image_shape_equal(const struct image_shape *a, const struct image_shape *b);

// One picture of a source. Lent by source_next until source_return.
struct frame {
    struct image image;  // borrowed pixels
    uint64_t number;     // the source's count, from 0; a gap means frames dropped before they reached us
    int64_t captured_ns; // when the picture was taken, clock_now_ns time
    int64_t decode_ns;   // when its decoding began; 0 where it came as it is
    int64_t ready_ns;    // when its bytes were complete in memory
    int slot;            // the source's own
};
