// codec.c: picture files in memory to pixels and back
#include "image/codec.h"

#include "base/log.h"
#include "image/jpeg.h"
#include "image/magic.h"
#include "image/stb.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <turbojpeg.h>

struct codec {
    struct jpeg *jpeg;
    tjhandle writer;
};

static const char *const jpeg_extensions[] = {"jpg", "jpeg", "jpe", "jfif", NULL};
static const char *const png_extensions[] = {"png", NULL};
static const char *const gif_extensions[] = {"gif", NULL};
static const char *const bmp_extensions[] = {"bmp", "dib", NULL};
static const char *const psd_extensions[] = {"psd", NULL};
static const char *const tga_extensions[] = {"tga", NULL};

static const struct codec_info infos[CODEC_FORMATS] = {
    [CODEC_JPEG] = {"jpeg", jpeg_extensions, .writes = true}, [CODEC_PNG] = {"png", png_extensions, .writes = true},
    [CODEC_GIF] = {"gif", gif_extensions, .writes = false},   [CODEC_BMP] = {"bmp", bmp_extensions, .writes = false},
    [CODEC_PSD] = {"psd", psd_extensions, .writes = false},   [CODEC_TGA] = {"tga", tga_extensions, .writes = false},
};

static const char *const fault_names[] = {
    [CODEC_FINE] = "fine",           [CODEC_NOT_A_PICTURE] = "not-a-picture", [CODEC_DAMAGED] = "damaged",
    [CODEC_TOO_LARGE] = "too-large", [CODEC_UNSUPPORTED] = "unsupported",     [CODEC_NO_MEMORY] = "no-memory",
};

const struct codec_info *codec_info(enum codec_format format)
{
    return &infos[format];
}

bool codec_from_name(const char *name, enum codec_format *format)
{
    for (int i = 0; i < CODEC_FORMATS; i++) {
        bool found = strcasecmp(name, infos[i].name) == 0;
        for (const char *const *extension = infos[i].extensions; !found && *extension; extension++)
            found = strcasecmp(name, *extension) == 0;
        if (found) {
            *format = (enum codec_format)i;
            return true;
        }
    }
    return false;
}

bool codec_probe(const void *data, size_t size, enum codec_format *format)
{
    static const struct {
        enum magic magic;
        enum codec_format format;
    } known[] = {{MAGIC_JPEG, CODEC_JPEG}, {MAGIC_PNG, CODEC_PNG}, {MAGIC_GIF, CODEC_GIF},
                 {MAGIC_BMP, CODEC_BMP},   {MAGIC_PSD, CODEC_PSD}, {MAGIC_TGA, CODEC_TGA}};
    const enum magic magic = magic_find(data, size);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (known[i].magic == magic) {
            *format = known[i].format;
            return true;
        }
    }
    return false;
}

const char *codec_fault_name(enum codec_fault fault)
{
    return fault_names[fault];
}

__attribute__((format(printf, 3, 4))) static bool refuse(struct codec_error *error, enum codec_fault fault,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->fault = fault;
    vsnprintf(error->why, sizeof(error->why), format, arguments);
    va_end(arguments);
    return false;
}

struct codec *codec_open(void)
{
    struct codec *codec = calloc(1, sizeof(*codec));
    if (!codec)
        return NULL;
    codec->jpeg = jpeg_open();
    codec->writer = tjInitCompress();
    if (codec->jpeg && codec->writer)
        return codec;
    codec_close(codec);
    return NULL;
}

void codec_close(struct codec *codec)
{
    if (!codec)
        return;
    jpeg_close(codec->jpeg);
    tjDestroy(codec->writer);
    free(codec);
}

static bool size_ok(const struct image_shape *shape, uint64_t most_pixels, struct codec_error *error)
{
    const char *why;
    const uint64_t pixels = (uint64_t)shape->width * (uint64_t)shape->height;
    if (!pixfmt_size_ok(shape->format, shape->width, shape->height, &why))
        return refuse(error, CODEC_TOO_LARGE, "it has %dx%d pixels: %s", shape->width, shape->height, why);
    if (most_pixels > 0 && pixels > most_pixels)
        return refuse(error, CODEC_TOO_LARGE, "it has %dx%d pixels, more than the %llu allowed", shape->width,
                      shape->height, (unsigned long long)most_pixels);
    return true;
}

static bool stb_head(const void *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    bool deep;
    if (!stb_info(data, size, &head->shape.width, &head->shape.height, &deep))
        return refuse(error, CODEC_DAMAGED, "its head is damaged or of an unsupported variant");
    if (deep)
        return refuse(error, CODEC_UNSUPPORTED, "pictures with 16 bits per channel are not supported");
    head->shape.format = PIXFMT_RGBA;
    head->jpeg = PIXFMT_YU12;
    head->alpha = true;
    return true;
}

bool codec_head(struct codec *codec, const void *data, size_t size, uint64_t most_pixels, struct codec_head *head,
                struct codec_error *error)
{
    *head = (struct codec_head){.orientation = 1};
    *error = (struct codec_error){0};
    if (!codec_probe(data, size, &head->format))
        return refuse(error, CODEC_NOT_A_PICTURE, "it is not a picture in PNG, JPEG, BMP, TGA, PSD or GIF format");
    if (head->format == CODEC_JPEG) {
        char why[JPEG_WHY];
        if (!jpeg_head(codec->jpeg, data, size, &head->shape, why))
            return refuse(error, CODEC_DAMAGED, "%s", why);
        head->shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
        head->jpeg = head->shape.format;
        head->quality = 90;
    } else if (!stb_head(data, size, head, error)) {
        return false;
    }
    return size_ok(&head->shape, most_pixels, error);
}

bool codec_decode(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                  struct image *image, struct codec_error *error)
{
    *error = (struct codec_error){0};
    if (head->format == CODEC_JPEG) {
        char why[JPEG_WHY];
        return jpeg_decode(codec->jpeg, data, size, image, why) || refuse(error, CODEC_DAMAGED, "%s", why);
    }
    struct image from;
    struct image_shape shape = head->shape;
    bool cut_short;
    const char *why;
    uint8_t *pixels = stb_decode(data, size, &shape.width, &shape.height, &cut_short, &why);
    if (pixels && !cut_short) {
        image_wrap(&from, &shape, pixels);
        image_copy(image, &from);
    }
    stb_free(pixels);
    return (pixels && !cut_short) || refuse(error, CODEC_DAMAGED, "the picture is damaged or cut short");
}

void codec_buffer_free(struct codec_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct codec_buffer){0};
}

static bool put(struct codec_buffer *buffer, const void *data, size_t size, struct codec_error *error)
{
    if (buffer->room < size) {
        uint8_t *larger = realloc(buffer->data, size);
        if (!larger)
            return refuse(error, CODEC_NO_MEMORY, "there is not enough memory");
        buffer->data = larger;
        buffer->room = size;
    }
    memcpy(buffer->data, data, size);
    buffer->size = size;
    return true;
}

static bool encode_png(const struct image *image, struct codec_buffer *buffer, struct codec_error *error)
{
    size_t size;
    if (image->shape.format != PIXFMT_RGBA)
        return refuse(error, CODEC_UNSUPPORTED, "a PNG is made from rgba");
    uint8_t *png = stb_encode_png(image->plane[0], image->stride[0], image->shape.width, image->shape.height, &size);
    if (!png)
        return refuse(error, CODEC_NO_MEMORY, "there is not enough memory");
    const bool ok = put(buffer, png, size, error);
    stb_free(png);
    return ok;
}

static bool encode_jpeg(struct codec *codec, const struct image *image, int quality, struct codec_buffer *buffer,
                        struct codec_error *error)
{
    static const int samplings[PIXFMT_COUNT] = {[PIXFMT_YU12] = TJSAMP_420 + 1,
                                                [PIXFMT_422P] = TJSAMP_422 + 1,
                                                [PIXFMT_444P] = TJSAMP_444 + 1,
                                                [PIXFMT_GREY] = TJSAMP_GRAY + 1};
    const struct image_shape *shape = &image->shape;
    if (samplings[shape->format] == 0)
        return refuse(error, CODEC_UNSUPPORTED, "a JPEG is made from yu12, 422p, 444p or grey");
    struct image padded = {0};
    if (!image_reserve(&padded, shape))
        return refuse(error, CODEC_NO_MEMORY, "there is not enough memory");
    image_copy(&padded, image);
    int strides[PIXFMT_PLANES];
    for (int i = 0; i < PIXFMT_PLANES; i++)
        strides[i] = (int)padded.stride[i];
    uint8_t *data = NULL;
    unsigned long size = 0;
    bool ok = tjCompressFromYUVPlanes(codec->writer, (const uint8_t **)padded.plane, shape->width, strides,
                                      shape->height, samplings[shape->format] - 1, &data, &size, quality, 0) == 0;
    ok = ok ? put(buffer, data, size, error) : refuse(error, CODEC_NO_MEMORY, "%s", tjGetErrorStr2(codec->writer));
    tjFree(data);
    image_free(&padded);
    return ok;
}

bool codec_encode(struct codec *codec, const struct image *image, const struct codec_settings *settings,
                  struct codec_buffer *buffer, struct codec_error *error)
{
    *error = (struct codec_error){0};
    if (settings->format == CODEC_JPEG)
        return encode_jpeg(codec, image, settings->quality ? settings->quality : 90, buffer, error);
    if (settings->format == CODEC_PNG)
        return encode_png(image, buffer, error);
    return refuse(error, CODEC_UNSUPPORTED, "%s files are only read", infos[settings->format].name);
}

struct codec_turn codec_turn(int orientation)
{
    // EXIF 2.32, tag 0x0112: where row 0 and column 0 of the file lie in the picture.
    static const struct codec_turn turns[] = {
        {0}, {0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1},
    };
    return turns[orientation >= 1 && orientation <= 8 ? orientation : 1];
}
