// image.c: pixels in memory
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

static size_t plane_bytes(const struct image_shape *shape, int plane)
{
    return pixfmt_row_bytes(shape->format, plane, shape->width) *
           (size_t)pixfmt_rows(shape->format, plane, shape->height);
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
    const size_t pages = (image_bytes(shape) + IMAGE_PAGE - 1) / IMAGE_PAGE;
    void *memory = aligned_alloc(IMAGE_PAGE, pages * IMAGE_PAGE);
    if (!memory) {
        *image = (struct image){0};
        return false;
    }
    image_wrap(image, shape, memory);
    image->memory = memory;
    return true;
}

void image_free(struct image *image)
{
    free(image->memory);
    *image = (struct image){0};
}

void image_copy(struct image *to, const struct image *from)
{
    const struct image_shape *shape = &from->shape;
    for (int i = 0; i < pixfmt_info(shape->format)->planes; i++) {
        const size_t bytes = pixfmt_row_bytes(shape->format, i, shape->width);
        const int rows = pixfmt_rows(shape->format, i, shape->height);
        if (to->stride[i] == bytes && from->stride[i] == bytes) {
            memcpy(to->plane[i], from->plane[i], bytes * (size_t)rows);
            continue;
        }
        for (int y = 0; y < rows; y++)
            memcpy(to->plane[i] + (size_t)y * to->stride[i], from->plane[i] + (size_t)y * from->stride[i], bytes);
    }
}

bool image_shape_equal(const struct image_shape *a, const struct image_shape *b)
{
    return a->format == b->format && a->width == b->width && a->height == b->height &&
           a->color.matrix == b->color.matrix && a->color.range == b->color.range;
}
