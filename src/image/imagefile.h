// imagefile.h: reads an image file by name as upright RGBA pixels in sRGB, and writes PNG files
#pragma once

#include "base/file.h"
#include "image/image.h"

// Reads `path` as RGBA; free the image with image_free. Returns false on failure (logged): the file is unreadable or
// damaged, codec.h does not know its format, or it exceeds IMAGE_MAX_SIDE or IMAGE_MAX_BYTES (checked before
// allocation).
bool imagefile_read(struct image *image, const char *path);
// The same, but writes the reason to `why` instead of the log. On success, `why` is "" or a warning about the colours.
enum { IMAGEFILE_WHY = 544 };
bool imagefile_try(struct image *image, const char *path, char why[IMAGEFILE_WHY]);
// The same for a file in memory.
bool imagefile_decode(struct image *image, const void *data, size_t size, char why[IMAGEFILE_WHY]);

// What an image file says about its photograph; "": nothing.
struct imagefile_facts {
    char date[11];  // "2026-11-29"
    char model[64]; // of the camera
};
void imagefile_facts(const char *path, struct imagefile_facts *facts);

// Writes RGBA pixels as PNG, completely or not at all (temporary name, rename). The file says that they are sRGB, and
// gets the metadata of the image file `like`, if it is there; NULL: none. Returns false on failure (logged).
bool imagefile_write_png(const char *path, const struct image *image, const char *like);
// The same with claim_write.
bool imagefile_write_claimed(struct claim *claim, const struct image *image, const char *like);
