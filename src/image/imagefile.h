// imagefile.h: reads an image file by name as upright RGBA pixels, and writes PNG files
#pragma once

#include "image/image.h"

// Reads `path` as RGBA; free it with image_free. False on failure (logged with path and reason): the file is
// unreadable, damaged or truncated, its format is none of codec.h, or it exceeds IMAGE_MAX_SIDE or IMAGE_MAX_BYTES
// (checked before allocation).
bool imagefile_read(struct image *image, const char *path);
// The same from bytes in memory; `name` is for messages.
bool imagefile_decode(struct image *image, const void *data, size_t size, const char *name);
// The same, but writes the reason to `why` instead of the log.
enum { IMAGEFILE_WHY = 256 };
bool imagefile_try(struct image *image, const char *path, char why[IMAGEFILE_WHY]);

// RGBA to PNG, complete or not at all (temporary name, rename). False on failure (logged).
bool imagefile_write_png(const char *path, const struct image *image);
