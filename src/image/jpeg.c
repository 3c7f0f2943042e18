// jpeg.c: the JPEG pictures of cameras, decoded into YUV planes by libjpeg-turbo
#include "image/jpeg.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

struct jpeg {
    tjhandle handle;
    struct image other; // for a picture whose chroma is not the wanted one
};

static const struct {
    int sampling;
    enum pixfmt format;
} formats[] = {
    {TJSAMP_420, PIXFMT_YU12}, {TJSAMP_422, PIXFMT_422P}, {TJSAMP_444, PIXFMT_444P}, {TJSAMP_GRAY, PIXFMT_GREY}};

static const char *const sampling_names[TJ_NUMSAMP] = {
    [TJSAMP_444] = "4:4:4", [TJSAMP_422] = "4:2:2", [TJSAMP_420] = "4:2:0",
    [TJSAMP_GRAY] = "grey", [TJSAMP_440] = "4:4:0", [TJSAMP_411] = "4:1:1",
};

bool jpeg_available(void)
{
    return true;
}

struct jpeg *jpeg_open(void)
{
    struct jpeg *jpeg = calloc(1, sizeof(*jpeg));
    if (jpeg)
        jpeg->handle = tjInitDecompress();
    if (jpeg && jpeg->handle)
        return jpeg;
    log_error("cannot decode JPEG: there is not enough memory");
    free(jpeg);
    return NULL;
}

void jpeg_close(struct jpeg *jpeg)
{
    if (!jpeg)
        return;
    tjDestroy(jpeg->handle);
    image_free(&jpeg->other);
    free(jpeg);
}

// Keeps what libjpeg-turbo says and makes a new decoder: one that has met a head cut short (2.1.5) takes no head of any
// other picture after that.
static bool refuse(struct jpeg *jpeg, char why[JPEG_WHY])
{
    snprintf(why, JPEG_WHY, "%s", tjGetErrorStr2(jpeg->handle));
    tjDestroy(jpeg->handle);
    jpeg->handle = tjInitDecompress(); // takes NULL everywhere: the next picture is then refused too
    return false;
}

bool jpeg_head(struct jpeg *jpeg, const void *data, size_t size, struct image_shape *shape, char why[JPEG_WHY])
{
    int sampling = -1, space = -1;
    if (tjDecompressHeader3(jpeg->handle, data, size, &shape->width, &shape->height, &sampling, &space) != 0)
        return refuse(jpeg, why);
    if (space < 0) {
        refuse(jpeg, why);
        snprintf(why, JPEG_WHY, "it holds tables, but no picture");
        return false;
    }
    if (space != TJCS_YCbCr && space != TJCS_GRAY) {
        snprintf(why, JPEG_WHY, "its JPEG pictures are not YCbCr");
        return false;
    }
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        const char *reason;
        if (formats[i].sampling != sampling)
            continue;
        shape->format = formats[i].format;
        if (pixfmt_size_ok(shape->format, shape->width, shape->height, &reason))
            return true;
        snprintf(why, JPEG_WHY, "its JPEG pictures have %dx%d pixels: %s", shape->width, shape->height, reason);
        return false;
    }
    const bool known = sampling >= 0 && sampling < TJ_NUMSAMP;
    snprintf(why, JPEG_WHY, "its JPEG pictures have %s chroma; 4:2:0, 4:2:2, 4:4:4 and grey can be used",
             known ? sampling_names[sampling] : "unusual");
    return false;
}

// Chroma planes stand for two pixels across or down: an odd size is decoded as the next even one.
bool jpeg_alloc(struct image *image, const struct image_shape *shape)
{
    struct image_shape padded = *shape;
    padded.width = (shape->width + 1) & ~1;
    padded.height = (shape->height + 1) & ~1;
    if (!image_alloc(image, &padded))
        return false;
    image->shape = *shape;
    return true;
}

// Cameras often leave a few bytes too many between two parts of a picture, which is then whole all the same.
static bool harmless(struct jpeg *jpeg)
{
    return tjGetErrorCode(jpeg->handle) == TJERR_WARNING && strstr(tjGetErrorStr2(jpeg->handle), "extraneous bytes");
}

static bool decode(struct jpeg *jpeg, const void *data, size_t size, struct image *image, char why[JPEG_WHY])
{
    int strides[PIXFMT_PLANES];
    for (int i = 0; i < PIXFMT_PLANES; i++)
        strides[i] = (int)image->stride[i];
    // A picture of very many scans would keep the decoder busy for minutes.
    if (tjDecompressToYUVPlanes(jpeg->handle, data, size, image->plane, image->shape.width, strides,
                                image->shape.height, TJFLAG_LIMITSCANS) == 0 ||
        harmless(jpeg))
        return true;
    return refuse(jpeg, why);
}

// One plane at another resolution, each sample the nearest.
static void resample_plane(struct image *to, const struct image *from, int plane)
{
    const struct pixfmt_plane *t = &pixfmt_info(to->shape.format)->plane[plane];
    const struct pixfmt_plane *f = &pixfmt_info(from->shape.format)->plane[plane];
    const int rows = pixfmt_rows(to->shape.format, plane, to->shape.height);
    const int columns = (int)pixfmt_row_bytes(to->shape.format, plane, to->shape.width);
    for (int y = 0; y < rows; y++) {
        uint8_t *row = to->plane[plane] + (size_t)y * to->stride[plane];
        const uint8_t *source = from->plane[plane];
        if (source)
            source += (size_t)((y << t->shift_y) >> f->shift_y) * from->stride[plane];
        for (int x = 0; x < columns; x++)
            row[x] = source ? source[(x << t->shift_x) >> f->shift_x] : 128;
    }
}

bool jpeg_decode(struct jpeg *jpeg, const void *data, size_t size, struct image *image, char why[JPEG_WHY])
{
    struct image_shape shape = {0};
    if (!jpeg_head(jpeg, data, size, &shape, why))
        return false;
    if (shape.width != image->shape.width || shape.height != image->shape.height) {
        snprintf(why, JPEG_WHY, "the picture has %dx%d pixels instead of %dx%d", shape.width, shape.height,
                 image->shape.width, image->shape.height);
        return false;
    }
    if (shape.format == image->shape.format)
        return decode(jpeg, data, size, image, why);
    struct image *other = &jpeg->other;
    if (!other->memory || !image_shape_equal(&other->shape, &shape)) {
        image_free(other);
        if (!jpeg_alloc(other, &shape)) {
            snprintf(why, JPEG_WHY, "there is not enough memory");
            return false;
        }
    }
    if (!decode(jpeg, data, size, other, why))
        return false;
    for (int i = 0; i < pixfmt_info(image->shape.format)->planes; i++)
        resample_plane(image, other, i);
    return true;
}
