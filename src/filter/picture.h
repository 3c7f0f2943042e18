// picture.h: image files as numbers of filters: a pixel is red + 2^8 green + 2^16 blue + 2^24 alpha
#pragma once

#include "filter/file_resource.h"

resource_maker picture_file; // the pixels, row by row; sets width and height

// Copies the numbers; free() frees them. False: out of memory.
bool picture_copy_of(const struct file_resource *from, struct file_resource *to);
// Scales pixels as the filter `scale` does. False: out of memory.
bool picture_scale(const struct file_resource *from, int width, int height, int32_t *to);
// Scales them so that they cover a picture of this size, and cuts off the sides. False: out of memory.
bool picture_cover(const struct file_resource *from, int width, int height, int32_t *to);
// Repeats them from the top left.
void picture_tile(const struct file_resource *from, int width, int height, int32_t *to);

// Returns false if the file is no picture; *why is then a static text. For filter.prepare.
bool picture_check(const char *path, const char **why);
