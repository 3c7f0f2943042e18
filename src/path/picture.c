// picture.c: reads and scales the image file of a user's filter
#include "path/picture.h"

#include "filter/rows.h"
#include "filter/warp.h"
#include "image/imagefile.h"
#include "path/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Replaces an image by one of half the size, whose pixels are the means of four. Less than two pixels stay one.
static void halve(struct image *image)
{
    struct image_shape shape = image->shape;
    const int width = shape.width, height = shape.height;
    shape.width = (width + 1) / 2;
    shape.height = (height + 1) / 2;
    for (int y = 0; y < shape.height; y++) {
        const uint8_t *above = image_row(image, 0, 2 * y), *below = image_row(image, 0, 2 * y + (2 * y + 1 < height));
        uint8_t *to = image->plane[0] + 4 * (size_t)shape.width * (size_t)y; // never behind the rows that are read
        for (int x = 0; x < shape.width; x++) {
            const int left = 8 * x, right = left + (2 * x + 1 < width ? 4 : 0);
            for (int i = 0; i < 4; i++)
                to[4 * x + i] =
                    (uint8_t)((above[left + i] + above[right + i] + below[left + i] + below[right + i] + 2) / 4);
        }
    }
    image->shape = shape;
    image->stride[0] = 4 * (size_t)shape.width;
}

// Scales an image, between its pixels, so that it covers `picture`, and cuts off what is outside. False: out of memory.
static bool cover(struct image *picture, struct image *from)
{
    const int width = picture->shape.width, height = picture->shape.height;
    while (from->shape.width >= 2 * width && from->shape.height >= 2 * height)
        halve(from);
    const double across = (double)from->shape.width / width, down = (double)from->shape.height / height;
    const double step = across < down ? across : down; // pixels of `from` for one of `picture`
    const struct filter_map map = {
        .width = width,
        .height = height,
        .matrix = {step, 0, (from->shape.width - 1 - step * (width - 1)) / 2, //
                   0, step, (from->shape.height - 1 - step * (height - 1)) / 2, 0, 0, 1},
    };
    int32_t *numbers = malloc(sizeof(*numbers) * (size_t)warp_count(&map));
    if (!numbers)
        return false;
    warp_fill(&map, numbers);
    const struct warp_source source = {from->plane[0], from->stride[0], from->shape.width, from->shape.height};
    for (int y = 0; y < height; y++)
        row_level()->warp(numbers, &source, y, image_row(picture, 0, y));
    free(numbers);
    return true;
}

bool picture_open(struct image *picture, const struct pass *pass, char **error)
{
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = pass->width, .height = pass->height};
    const struct filter_values *values = &pass->last->values;
    struct image from = {0};
    char why[IMAGEFILE_WHY], text[FILTER_FILE + sizeof(why) + 100];
    const bool named = filter_file_wanted(pass->last->filter, values);
    *picture = (struct image){0};
    if (named && !imagefile_try(&from, values->file, why)) {
        snprintf(text, sizeof(text), "cannot read the picture '%s' of the filter %s: %s", values->file,
                 pass->last->filter->name, why);
        path_fail(error, text);
        return false;
    }
    bool ok = image_alloc(picture, &rgba);
    if (ok && named)
        ok = cover(picture, &from);
    else if (ok)
        memset(picture->plane[0], 0, image_bytes(&rgba));
    if (!ok) {
        image_free(picture);
        path_fail(error, "out of memory for the picture of a filter");
    }
    image_free(&from);
    return ok;
}
