// imagefile.h: one picture file as RGBA pixels, upright, and back: codec.h for those who have a name and want a picture
#pragma once

#include "image/image.h"

// Reads `path` as RGBA (own pixels, image_free). False on failure (logged with path and reason): unreadable, not of a
// format of codec.h, damaged or cut short, larger than IMAGE_MAX_SIDE or IMAGE_MAX_BYTES (checked before allocation).
bool imagefile_read(struct image *image, const char *path);
// The same from bytes in memory; `name` is for messages.
bool imagefile_decode(struct image *image, const void *data, size_t size, const char *name);
// The same, but the reason goes to `why` instead of the log, for callers who can do without the picture.
enum { IMAGEFILE_WHY = 256 };
bool imagefile_try(struct image *image, const char *path, char why[IMAGEFILE_WHY]);

// RGBA to PNG, complete or not at all (temporary name, rename). False on failure (logged).
bool imagefile_write_png(const char *path, const struct image *image);
