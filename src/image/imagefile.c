// imagefile.c: reads image files as RGBA pixels, writes PNG files
#include "image/imagefile.h"

#include "base/file.h"
#include "base/log.h"
#include "image/codec/codec.h"
#include "image/codec/metadata.h"
#include "image/convert.h"
#include "image/rgb_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(IMAGEFILE_WHY >= (int)CODEC_WHY + 32, "a codec's reason fits");

static bool refuse(char why[IMAGEFILE_WHY], const char *reason)
{
    snprintf(why, IMAGEFILE_WHY, "%s", reason);
    return false;
}

// Converts an image to RGBA and rotates it upright. `to` has the upright size.
static void convert_upright(struct image *to, const struct image *from, struct codec_turn turn)
{
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    const int width = to->shape.width, height = to->shape.height;
    for (int y = 0; y < height; y++) {
        uint8_t *row = image_row(to, 0, turn.flip ? height - 1 - y : y);
        convert_row_to_rgba(from, &coefficients, 0, y, width, row, ROW_KEPT);
        if (turn.mirror)
            rgb_rows()->mirror(row, row, width);
    }
}

static bool decode_head(struct codec *codec, const void *data, size_t size, const struct codec_head *head,
                        struct image *image, struct codec_error *error)
{
    struct image raw = {0}, transposed = {0};
    const struct codec_turn turn = codec_turn(head->orientation);
    const struct image_shape upright = turn.transpose ? image_transposed(&head->shape) : head->shape;
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = upright.width, .height = upright.height};
    bool ok = image_reserve(&raw, &head->shape) && image_alloc(image, &rgba) &&
              (!turn.transpose || image_reserve(&transposed, &upright));
    if (!ok)
        snprintf(error->why, sizeof(error->why), "out of memory");
    ok = ok && codec_decode(codec, data, size, head, &raw, error);
    if (ok && turn.transpose)
        image_transpose(&transposed, &raw);
    if (ok)
        convert_upright(image, turn.transpose ? &transposed : &raw, turn);
    else
        image_free(image);
    image->shape.opaque = ok && (!head->alpha || image_is_opaque(image));
    image_free(&raw);
    image_free(&transposed);
    return ok;
}

bool imagefile_decode(struct image *image, const void *data, size_t size, char why[IMAGEFILE_WHY])
{
    struct codec_head head;
    struct codec_error error;
    *image = (struct image){0};
    struct codec *codec = codec_open();
    codec_to_srgb(codec);
    const bool ok =
        codec_head(codec, data, size, 0, &head, &error) && decode_head(codec, data, size, &head, image, &error);
    const unsigned told = ok ? head.remarks & (CODEC_UNPROFILED | CODEC_BRIGHT) : 0;
    codec_close(codec);
    if (!ok)
        snprintf(why, IMAGEFILE_WHY, "%s%s", error.why, error.fault == CODEC_DAMAGED ? "; copy it again" : "");
    else
        snprintf(why, IMAGEFILE_WHY, "%s", told ? codec_remark_text(told) : "");
    return ok;
}

bool imagefile_try(struct image *image, const char *path, char why[IMAGEFILE_WHY])
{
    *image = (struct image){0};
    struct stat status;
    if (stat(path, &status) != 0)
        return refuse(why, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(why, "it is a directory; name an image file");
    if (!S_ISREG(status.st_mode)) // a pipe or device could block or never end
        return refuse(why, "it is not a regular file");
    size_t size;
    char *data = file_read(path, IMAGE_MAX_BYTES, &size);
    if (!data)
        return refuse(why, errno == EFBIG ? "the file is larger than 1 GiB" : strerror(errno));
    struct codec_error error;
    const bool ok =
        codec_name_ok(path, data, size, &error) ? imagefile_decode(image, data, size, why) : refuse(why, error.why);
    free(data);
    return ok;
}

bool imagefile_read(struct image *image, const char *path)
{
    char why[IMAGEFILE_WHY];
    const bool ok = imagefile_try(image, path, why);
    if (!ok)
        log_error("cannot read image %s: %s", path, why);
    else if (why[0])
        log_warn("%s: %s", path, why);
    return ok;
}

// Reads the head of an image file. Its metadata are copied to `buffer`. Returns false if it is no image file.
static bool read_head(struct codec *codec, const char *path, struct codec_head *head, struct codec_buffer *buffer)
{
    struct stat status;
    struct codec_error error;
    size_t size;
    const bool is_file = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    char *data = is_file ? file_read(path, IMAGE_MAX_BYTES, &size) : NULL;
    const bool ok =
        data && codec_head(codec, data, size, 0, head, &error) && codec_metadata_keep(&head->metadata, buffer);
    free(data);
    return ok;
}

void imagefile_facts(const char *path, struct imagefile_facts *facts)
{
    enum { TAG_MODEL = 0x0110, TAG_TAKEN = 0x9003 };
    struct codec_head head = {0};
    struct codec_buffer buffer = {0};
    struct codec *codec = codec_open();
    if (!read_head(codec, path, &head, &buffer))
        head.metadata.exif = (struct codec_bytes){0};
    exif_text(head.metadata.exif, TAG_TAKEN, facts->date, sizeof(facts->date));
    exif_text(head.metadata.exif, TAG_MODEL, facts->model, sizeof(facts->model));
    for (char *at = facts->date; *at; at++)
        *at = *at == ':' ? '-' : *at;
    codec_close(codec);
    codec_buffer_free(&buffer);
}

bool imagefile_write_claimed(struct claim *claim, const struct image *image, const char *like)
{
    enum { COMPRESSION = 6 };
    struct codec_buffer file = {0}, metadata = {0};
    struct codec_settings settings = {
        .format = CODEC_PNG, .compression = COMPRESSION, .opaque = image_is_opaque(image)};
    struct codec_head head;
    struct codec_error error;
    struct codec *codec = codec_open();
    codec_to_srgb(codec);
    settings.metadata.colours = CODEC_COLOURS_SRGB;
    if (read_head(codec, like, &head, &metadata)) {
        settings.metadata = head.metadata;
        settings.orientation = 1;
        settings.turned = codec_turn(head.orientation).transpose;
    }
    bool ok = codec_encode(codec, image, &settings, &file, &error);
    if (!ok) {
        log_error("cannot write %s: %s", claim->path, error.why);
    } else if (!claim_write(claim, file.data, file.size)) {
        log_error("cannot write %s: %s", claim->path, strerror(errno));
        ok = false;
    }
    codec_close(codec);
    codec_buffer_free(&file);
    codec_buffer_free(&metadata);
    return ok;
}

bool imagefile_write_png(const char *path, const struct image *image, const char *like)
{
    struct claim claim = {.missing = false};
    snprintf(claim.path, sizeof(claim.path), "%s", path);
    return imagefile_write_claimed(&claim, image, like);
}
