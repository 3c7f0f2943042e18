// imagefile.c: still pictures in files
#include "image/imagefile.h"

#include "base/file.h"
#include "base/log.h"
#include "image/magic.h"
#include "image/stb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool imagefile_probe(const void *data, size_t size)
{
    return magic_find(data, size) != MAGIC_NONE;
}

static bool refuse(char why[IMAGEFILE_WHY], const char *reason)
{
    snprintf(why, IMAGEFILE_WHY, "%s", reason);
    return false;
}

// What stb says in two or three words, as a sentence.
static bool refuse_stb(char why[IMAGEFILE_WHY], const char *reason, bool cut_short)
{
    if (cut_short || (reason && strcmp(reason, "outofdata") == 0))
        return refuse(why, "the file is cut short");
    if (reason && strcmp(reason, "too large") == 0)
        return refuse(why, "the picture is larger than 32768 pixels a side or 1 GiB");
    if (reason && strcmp(reason, "outofmem") == 0)
        return refuse(why, "there is not enough memory, or it unpacks to more than its size allows");
    snprintf(why, IMAGEFILE_WHY, "the picture is damaged or of an unsupported variant (%s)",
             reason ? reason : "no reason given");
    return false;
}

// Everything that can be refused before any pixel is decoded.
static bool check(const uint8_t *data, size_t size, char why[IMAGEFILE_WHY])
{
    if (size == 0)
        return refuse(why, "the file is empty");
    if (size > IMAGE_MAX_BYTES)
        return refuse(why, "the file is larger than 1 GiB");
    const enum magic kind = magic_find(data, size);
    if (kind == MAGIC_NONE)
        return refuse(why, "it is not a picture in PNG, JPEG, BMP, TGA, PSD or GIF format");
    if (kind == MAGIC_HDR)
        return refuse(why, "HDR pictures are not supported; convert it to PNG first");
    if (kind == MAGIC_JPEG && !magic_jpeg_tables_ok(data, size))
        return refuse(why, "the picture is damaged (a Huffman table is too long)");
    int width, height;
    bool deep;
    const char *reason;
    if (!stb_info(data, size, &width, &height, &deep)) {
        // Only the decoder says why; it stops at the same place of the head.
        bool cut_short;
        stb_free(stb_decode(data, size, &width, &height, &cut_short, &reason));
        return refuse_stb(why, reason, cut_short);
    }
    if (deep)
        return refuse(why, "pictures with 16 bits per channel are not supported; convert it to 8 bits first");
    if (!pixfmt_size_ok(PIXFMT_RGBA, width, height, &reason)) {
        snprintf(why, IMAGEFILE_WHY, "it is %dx%d pixels large: %s", width, height, reason);
        return false;
    }
    return true;
}

static bool decode(struct image *image, const void *data, size_t size, char why[IMAGEFILE_WHY])
{
    *image = (struct image){0};
    if (!check(data, size, why))
        return false;
    struct image_shape shape = {.format = PIXFMT_RGBA};
    bool cut_short;
    const char *reason;
    uint8_t *pixels = stb_decode(data, size, &shape.width, &shape.height, &cut_short, &reason);
    bool ok = pixels && !cut_short;
    if (!ok) {
        refuse_stb(why, reason, cut_short);
    } else if (!image_alloc(image, &shape)) { // page-aligned, so that a device may use the pixels in place
        ok = refuse(why, "there is not enough memory");
    } else {
        memcpy(image->plane[0], pixels, image_bytes(&shape));
    }
    stb_free(pixels);
    return ok;
}

bool imagefile_try(struct image *image, const char *path, char why[IMAGEFILE_WHY])
{
    *image = (struct image){0};
    struct stat status;
    if (stat(path, &status) != 0)
        return refuse(why, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(why, "it is a directory");
    if (!S_ISREG(status.st_mode)) // a pipe or device could block or never end
        return refuse(why, "it is not a regular file");
    size_t size;
    char *data = file_read(path, IMAGE_MAX_BYTES, &size);
    if (!data)
        return refuse(why, errno == EFBIG ? "the file is larger than 1 GiB" : strerror(errno));
    const bool ok = decode(image, data, size, why);
    free(data);
    return ok;
}

bool imagefile_read(struct image *image, const char *path)
{
    char why[IMAGEFILE_WHY];
    if (imagefile_try(image, path, why))
        return true;
    log_error("cannot read picture %s: %s", path, why);
    return false;
}

bool imagefile_decode(struct image *image, const void *data, size_t size, const char *name)
{
    char why[IMAGEFILE_WHY];
    if (decode(image, data, size, why))
        return true;
    log_error("cannot read picture %s: %s", name, why);
    return false;
}

bool imagefile_write_png(const char *path, const struct image *image)
{
    const struct image_shape *shape = &image->shape;
    if (image_bytes(shape) > STB_PNG_MAX) {
        log_error("cannot write %s: a PNG may have at most 134 megapixels here, the picture has %dx%d pixels", path,
                  shape->width, shape->height);
        return false;
    }
    size_t size;
    uint8_t *png = stb_encode_png(image->plane[0], image->stride[0], shape->width, shape->height, &size);
    if (!png) {
        log_error("cannot write %s: there is not enough memory", path);
        return false;
    }
    const bool ok = file_write_atomic(path, png, size);
    if (!ok)
        log_error("cannot write %s: %s", path, strerror(errno));
    stb_free(png);
    return ok;
}
