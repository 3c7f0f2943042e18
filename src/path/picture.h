// picture.h: the image file that a user's filter gets as its second picture
#pragma once

#include "filter/plan.h"
#include "image/image.h"

// Reads the image file of the pass's last filter, scaled to cover the pass's picture and cut to its size, as RGBA
// without padding; free it with image_free. If the filter's parameter names no file, all pixels are transparent black.
// False on failure: *error as in path_open.
bool picture_open(struct image *picture, const struct pass *pass, char **error);
