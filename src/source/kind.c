// kind.c: what the kinds of source share: the user's colour, size and format
#include "source/kind.h"

#include "base/log.h"
#include "image/convert.h"

struct color source_color(const struct source_setup *setup, struct color said, enum pixfmt format, int width,
                          int height)
{
    return color_resolve(said, setup->color, format == PIXFMT_GREY, width, height);
}

bool source_size_fits(const struct source_setup *setup, int width, int height, const char *name)
{
    if ((setup->width == 0 || setup->width == width) && (setup->height == 0 || setup->height == height))
        return true;
    log_error("%s has %dx%d pixels, not %dx%d; leave out --size, which is for cameras, the pattern and raw files", name,
              width, height, setup->width, setup->height);
    return false;
}

bool source_convert(struct image *image, const struct source_setup *setup, const char *name)
{
    struct image_shape shape = image->shape;
    shape.format = setup->has_format ? setup->format : PIXFMT_RGBA;
    shape.color = source_color(setup, (struct color){0}, shape.format, shape.width, shape.height);
    if (shape.format == PIXFMT_RGBA) {
        image->shape = shape;
        return true;
    }
    const char *why = "out of memory";
    struct image converted;
    if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why) || !image_alloc(&converted, &shape)) {
        log_error("cannot convert %s (%dx%d pixels) to %s: %s", name, shape.width, shape.height,
                  pixfmt_info(shape.format)->name, why);
        return false;
    }
    encode_image(&converted, image);
    image_free(image);
    *image = converted;
    return true;
}
