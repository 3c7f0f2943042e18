// image.c: images in memory
#include "image/image.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static size_t plane_bytes(const struct image_shape *shape, int plane)
{
    return pixfmt_row_bytes(shape->format, plane, shape->width) *
           (size_t)pixfmt_rows(shape->format, plane, shape->height);
}

uint8_t *image_sample(const struct image *image, int channel, int x, int y)
{
    const struct pixfmt_info *info = pixfmt_info(image->shape.format);
    const struct pixfmt_samples *where = &info->samples[channel];
    const struct pixfmt_plane *plane = &info->plane[where->plane];
    const int column = channel > 0 ? x >> plane->shift_x : x;
    return image_row(image, where->plane, y >> plane->shift_y) + where->first + (size_t)column * where->step;
}

size_t image_bytes(const struct image_shape *shape)
{
    size_t bytes = 0;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++)
        bytes += plane_bytes(shape, i);
    return bytes;
}

void image_wrap(struct image *image, const struct image_shape *shape, void *memory)
{
    *image = (struct image){.shape = *shape};
    uint8_t *at = memory;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        image->plane[i] = at;
        image->stride[i] = pixfmt_row_bytes(shape->format, i, shape->width);
        at += plane_bytes(shape, i);
    }
}

bool image_alloc(struct image *image, const struct image_shape *shape)
{
    const size_t bytes = image_bytes(shape) + IMAGE_SPARE_BYTES;
    void *memory = pages_alloc(bytes);
    if (!memory) {
        *image = (struct image){0};
        return false;
    }
    image_wrap(image, shape, memory);
    image->memory = memory;
    image->memory_bytes = bytes;
    return true;
}

static size_t round_up(size_t value, size_t step)
{
    return (value + step - 1) / step * step;
}

enum { BLOCK = 16 };

// `rows`: a multiple of BLOCK.
static bool reserve(struct image *image, const struct image_shape *shape, int rows)
{
    const struct image_shape whole = {
        .format = shape->format, .width = (int)round_up((size_t)shape->width, BLOCK), .height = rows};
    const int planes = pixfmt_info(shape->format)->planes;
    size_t stride[PIXFMT_PLANES], start[PIXFMT_PLANES], bytes = IMAGE_SPARE_BYTES;
    for (int i = 0; i < planes; i++) {
        stride[i] = round_up(pixfmt_row_bytes(shape->format, i, whole.width), IMAGE_ALIGNMENT);
        start[i] = bytes - IMAGE_SPARE_BYTES;
        bytes += stride[i] * (size_t)pixfmt_rows(shape->format, i, whole.height);
    }
    if (!image->memory || image->memory_bytes < bytes) {
        image_free(image);
        image->memory = pages_alloc(bytes);
        if (!image->memory)
            return false;
        image->memory_bytes = bytes;
    }
    *image = (struct image){
        .shape = *shape, .memory = image->memory, .memory_bytes = image->memory_bytes, .owner = image->owner};
    for (int i = 0; i < planes; i++) {
        image->plane[i] = (uint8_t *)image->memory + start[i];
        image->stride[i] = stride[i];
    }
    return true;
}

bool image_reserve(struct image *image, const struct image_shape *shape)
{
    return reserve(image, shape, (int)round_up((size_t)shape->height, BLOCK));
}

bool image_reserve_few(struct image *image, const struct image_shape *shape, int rows)
{
    if (rows >= shape->height)
        return image_reserve(image, shape);
    if (!reserve(image, shape, rows))
        return false;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++)
        image->wraps[i] = ~(pixfmt_rows(shape->format, i, rows) - 1);
    return true;
}

void image_free(struct image *image)
{
    pages_give(image->owner, image->memory);
    *image = (struct image){0};
}

bool image_duplicate(struct image *to, const struct image *from, struct pages_owner *owner)
{
    uint8_t *memory = pages_take(owner, from->memory_bytes);
    if (!memory)
        return false;
    memcpy(memory, from->memory, from->memory_bytes);
    *to = *from;
    to->memory = memory;
    to->owner = owner;
    for (int i = 0; i < pixfmt_info(from->shape.format)->planes; i++)
        to->plane[i] = memory + (from->plane[i] - (uint8_t *)from->memory);
    return true;
}

void image_copy_rows(struct image *to, const struct image *from, int part, int parts)
{
    const struct image_shape *shape = &from->shape;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        const size_t bytes = pixfmt_row_bytes(shape->format, i, shape->width);
        const int rows = pixfmt_rows(shape->format, i, shape->height);
        const int first = rows * part / parts, end = rows * (part + 1) / parts;
        const bool packed = to->stride[i] == bytes && from->stride[i] == bytes && from->wraps[i] == 0;
        if (packed)
            memcpy(image_row(to, i, first), image_row(from, i, first), bytes * (size_t)(end - first));
        for (int y = first; !packed && y < end; y++)
            memcpy(image_row(to, i, y), image_row(from, i, y), bytes);
    }
}

void image_copy(struct image *to, const struct image *from)
{
    image_copy_rows(to, from, 0, 1);
}

struct image_shape image_transposed(const struct image_shape *shape)
{
    struct image_shape transposed = *shape;
    transposed.width = shape->height;
    transposed.height = shape->width;
    if (shape->format == PIXFMT_422P) // no format here halves chroma down and not across
        transposed.format = PIXFMT_444P;
    return transposed;
}

// Transposes a plane in tiles of 16 by 16 samples, so that both sides stay in cache.
static inline void transpose_samples(uint8_t *to, size_t to_stride, const uint8_t *from, size_t from_stride,
                                     int columns, int rows, int bytes, int shift)
{
    enum { TILE = 16 };
    for (int top = 0; top < rows; top += TILE)
        for (int left = 0; left < columns; left += TILE)
            for (int x = left; x < columns && x < left + TILE; x++)
                for (int y = top; y < rows && y < top + TILE; y++)
                    memcpy(to + (size_t)x * to_stride + (size_t)(y * bytes),
                           from + (size_t)y * from_stride + (size_t)((x >> shift) * bytes), (size_t)bytes);
}

void image_transpose(struct image *to, const struct image *from)
{
    for (int i = 0; i < pixfmt_info(from->shape.format)->planes; i++) {
        const int bytes = pixfmt_info(to->shape.format)->plane[i].bytes;
        const int rows = (int)pixfmt_row_bytes(to->shape.format, i, to->shape.width) / bytes;
        const int columns = pixfmt_rows(to->shape.format, i, to->shape.height);
        const int shift = to->shape.format != from->shape.format && i > 0 ? 1 : 0;
        uint8_t *t = to->plane[i];
        const uint8_t *f = from->plane[i];
        switch (bytes) { // with a constant size, a copy is one instruction
        case 1:
            transpose_samples(t, to->stride[i], f, from->stride[i], columns, rows, 1, shift);
            break;
        case 3:
            transpose_samples(t, to->stride[i], f, from->stride[i], columns, rows, 3, shift);
            break;
        default:
            transpose_samples(t, to->stride[i], f, from->stride[i], columns, rows, 4, shift);
            break;
        }
    }
}

bool image_is_opaque(const struct image *image)
{
    uint8_t all = 255;
    for (int y = 0; y < image->shape.height; y++)
        for (int x = 0; x < image->shape.width; x++)
            all &= image->plane[0][(size_t)y * image->stride[0] + 4 * (size_t)x + 3];
    return all == 255;
}

void image_randomize(const struct image *image, uint32_t seed)
{
    const size_t bytes = image_bytes(&image->shape);
    random_fill(image->plane[0], bytes, seed);
    for (size_t i = 3; image->shape.format == PIXFMT_RGBA && image->shape.opaque && i < bytes; i += 4)
        image->plane[0][i] = 255;
}

bool image_shape_equal(const struct image_shape *a, const struct image_shape *b)
{
    return a->format == b->format && a->width == b->width && a->height == b->height &&
           a->color.matrix == b->color.matrix && a->color.range == b->color.range &&
           image_shape_opaque(a) == image_shape_opaque(b);
}
