// pictures.h: random pictures to measure with, and the check of a chain's result
#pragma once

#include "filter/chain.h"
#include "image/image.h"

// Pictures of one shape.
struct pictures {
    struct image *image;
    int count;
};

bool pictures_make(struct pictures *pictures, const struct image_shape *shape, int count); // false: logged
// Makes one frame as a camera delivers it: NV21.
bool pictures_make_camera(struct pictures *pictures, int width, int height);
void pictures_free(struct pictures *pictures); // accepts a zeroed one

// Calls first(context, rgba), which must filter the first picture, and compares with the cpu path's output, computed
// filter by filter. Returns true if both are equal. Otherwise logs the first difference of `what`.
bool pictures_check(const struct pictures *pictures, const struct chain *chain,
                    bool (*first)(void *context, struct image *rgba), void *context, const char *what);
