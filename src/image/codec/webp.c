// webp.c: WebP files, by libwebp; the container with the metadata is read and written here
#include "base/number.h"
#include "image/codec/codec_kind.h"
#include "image/codec/metadata.h"

#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>

// WebP container (RFC 9649, section 2): RIFF, then chunks of name, size and data, padded to an even size.
enum {
    RIFF_BYTES = 12,
    CHUNK_HEAD = 8,
    EXTENDED_BYTES = 10,
    EXTENDED_CHUNK = CHUNK_HEAD + EXTENDED_BYTES,
    FLAG_ICC = 0x20,
    FLAG_ALPHA = 0x10,
    FLAG_EXIF = 0x08,
    FLAG_XMP = 0x04,
    LOSSLESS = 2, // WebPGetFeatures' format
    QUALITY = 90,
    QUALITY_LOSSLESS = 100,
};

static const char mismatch[] =
    "the installed libwebp does not match the version that monocle was built with; rebuild monocle";

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= RIFF_BYTES && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0;
}

// Reads the chunk at *at, and sets *at to the next chunk. Returns false after the last complete chunk.
static bool next_chunk(const uint8_t *data, size_t size, size_t *at, const uint8_t **name, struct codec_bytes *bytes)
{
    if (size < CHUNK_HEAD || *at > size - CHUNK_HEAD || number_little(data + *at + 4, 4) > size - *at - CHUNK_HEAD)
        return false;
    *name = data + *at;
    *bytes = (struct codec_bytes){data + *at + CHUNK_HEAD, number_little(data + *at + 4, 4)};
    *at += CHUNK_HEAD + bytes->size + bytes->size % 2;
    return true;
}

static void find_metadata(const uint8_t *data, size_t size, struct codec_metadata *metadata)
{
    size_t at = RIFF_BYTES;
    const uint8_t *name;
    for (struct codec_bytes bytes; next_chunk(data, size, &at, &name, &bytes);) {
        const bool prefixed = bytes.size >= 6 && memcmp(bytes.data, "Exif\0", 6) == 0; // written by some programs
        if (bytes.size == 0)
            continue;
        if (memcmp(name, "ICCP", 4) == 0)
            metadata->icc = bytes;
        else if (memcmp(name, "EXIF", 4) == 0 && bytes.size > 6)
            metadata->exif = prefixed ? (struct codec_bytes){bytes.data + 6, bytes.size - 6} : bytes;
        else if (memcmp(name, "XMP ", 4) == 0)
            metadata->xmp = bytes;
    }
}

static bool refuse(struct codec_error *error, VP8StatusCode status)
{
    if (status == VP8_STATUS_OUT_OF_MEMORY)
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    return codec_refuse(error, CODEC_DAMAGED, "the image is damaged");
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(data, size, &features);
    if (status != VP8_STATUS_OK)
        return refuse(error, status);
    head->shape = (struct image_shape){.format = PIXFMT_RGBA, .width = features.width, .height = features.height};
    if (features.has_animation)
        return codec_refuse(error, CODEC_UNSUPPORTED, "animated WebP is not supported; convert it to PNG or GIF");
    head->jpeg = PIXFMT_YU12;
    head->alpha = features.has_alpha;
    head->quality = features.format == LOSSLESS ? QUALITY_LOSSLESS : QUALITY;
    find_metadata(data, size, &head->metadata);
    return true;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return codec_refuse(error, CODEC_UNSUPPORTED, mismatch);
    const VP8StatusCode known = WebPGetFeatures(data, size, &config.input);
    if (known != VP8_STATUS_OK)
        return refuse(error, known);
    const struct image_shape shape = {
        .format = PIXFMT_RGBA, .width = config.input.width, .height = config.input.height};
    if (!codec_fits(image, &shape, error))
        return false;
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = image->plane[0];
    config.output.u.RGBA.stride = (int)image->stride[0];
    config.output.u.RGBA.size = image->stride[0] * (size_t)(image->shape.height - 1) + 4 * (size_t)image->shape.width;
    const VP8StatusCode status = WebPDecode(data, size, &config);
    return status == VP8_STATUS_OK || refuse(error, status);
}

static int append(const uint8_t *data, size_t size, const WebPPicture *picture)
{
    return codec_buffer_append(picture->custom_ptr, data, size);
}

// Writes a chunk, for which there must be room. Returns its end.
static uint8_t *put_chunk(uint8_t *at, const char *name, struct codec_bytes bytes)
{
    memcpy(at, name, 4);
    number_put_little(at + 4, 4, bytes.size);
    memcpy(at + CHUNK_HEAD, bytes.data, bytes.size);
    if (bytes.size % 2 != 0)
        at[CHUNK_HEAD + bytes.size] = 0;
    return at + CHUNK_HEAD + bytes.size + bytes.size % 2;
}

static uint8_t *put_extended(uint8_t *at, const struct image *image, int flags)
{
    uint8_t data[EXTENDED_BYTES] = {0};
    number_put_little(data, 4, (size_t)flags);
    number_put_little(data + 4, 3, (size_t)image->shape.width - 1);
    number_put_little(data + 7, 3, (size_t)image->shape.height - 1);
    return put_chunk(at, "VP8X", (struct codec_bytes){data, EXTENDED_BYTES});
}

// Adds metadata to the file in the buffer. Returns false if there is no memory.
static bool add_metadata(struct codec_buffer *buffer, const struct image *image, const struct codec_settings *settings)
{
    const struct codec_bytes icc = settings->metadata.icc, xmp = settings->metadata.xmp;
    const double *density = settings->metadata.density;
    uint8_t resolution[EXIF_DENSITY_BYTES];
    struct codec_bytes exif = settings->metadata.exif;
    if (!exif.data && density[0] > 0) { // the container has no place of its own for it
        exif_from_density(density, resolution);
        exif = (struct codec_bytes){resolution, sizeof(resolution)};
    }
    const bool extended = memcmp(buffer->data + RIFF_BYTES, "VP8X", 4) == 0;
    const size_t skip = RIFF_BYTES + (extended ? EXTENDED_CHUNK : 0), picture = buffer->size - skip;
    const size_t ahead = RIFF_BYTES + EXTENDED_CHUNK + (icc.data ? CHUNK_HEAD + icc.size + icc.size % 2 : 0);
    if (!icc.data && !exif.data && !xmp.data)
        return true;
    if (!codec_buffer_room(buffer, ahead + picture + exif.size + xmp.size + 2 * (CHUNK_HEAD + 1)))
        return false;
    const uint8_t *first = buffer->data + RIFF_BYTES;
    const bool lossless = memcmp(first, "VP8L", 4) == 0; // it has its own alpha flag
    int flags = icc.data ? FLAG_ICC : 0;
    flags |= exif.data ? FLAG_EXIF : 0;
    flags |= xmp.data ? FLAG_XMP : 0;
    if (extended)
        flags |= first[CHUNK_HEAD] & FLAG_ALPHA;
    else if (lossless)
        flags |= first[CHUNK_HEAD + 4] & FLAG_ALPHA;
    memmove(buffer->data + ahead, buffer->data + skip, picture);
    uint8_t *at = put_extended(buffer->data + RIFF_BYTES, image, flags);
    if (icc.data)
        put_chunk(at, "ICCP", icc);
    at = buffer->data + ahead + picture;
    if (exif.data)
        at = put_chunk(at, "EXIF", exif);
    if (xmp.data)
        at = put_chunk(at, "XMP ", xmp);
    buffer->size = (size_t)(at - buffer->data);
    number_put_little(buffer->data + 4, 4, buffer->size - CHUNK_HEAD);
    return true;
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    WebPConfig config;
    WebPPicture picture;
    const int quality = settings->quality ? settings->quality : QUALITY;
    if (image->shape.width > WEBP_MAX_DIMENSION || image->shape.height > WEBP_MAX_DIMENSION)
        return codec_refuse(error, CODEC_TOO_LARGE,
                            "a WebP file can be at most %d pixels wide and high; choose another format",
                            WEBP_MAX_DIMENSION);
    if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, (float)quality) || !WebPPictureInit(&picture))
        return codec_refuse(error, CODEC_UNSUPPORTED, mismatch);
    config.lossless = quality == QUALITY_LOSSLESS;
    config.exact = config.lossless;
    picture.use_argb = config.lossless;
    picture.width = image->shape.width;
    picture.height = image->shape.height;
    picture.writer = append;
    picture.custom_ptr = buffer;
    const bool ok = (settings->opaque ? WebPPictureImportRGBX : WebPPictureImportRGBA)(&picture, image->plane[0],
                                                                                       (int)image->stride[0]) &&
                    WebPEncode(&config, &picture) && add_metadata(buffer, image, settings);
    WebPPictureFree(&picture);
    double density[2];
    const struct codec_metadata *metadata = &settings->metadata;
    if (metadata->density[0] > 0 && metadata->exif.data &&
        !exif_density(metadata->exif.data, metadata->exif.size, density))
        codec_leave_out(error, "its resolution is left out");
    if (metadata->aspect[0] != metadata->aspect[1])
        codec_leave_out(error, "the shape of its pixels is left out, because a webp file cannot hold it");
    if (!ok && picture.error_code > VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY &&
        picture.error_code != VP8_ENC_ERROR_BAD_WRITE)
        return codec_refuse(error, CODEC_UNSUPPORTED, "libwebp fails with its error %d", picture.error_code);
    return ok || codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
}

static const char *const extensions[] = {"webp", NULL};

const struct codec_kind codec_webp = {
    .info = {.name = "webp", .extensions = extensions, .writes = true, .quality = true},
    .looks_so = looks_so,
    .head = head_of,
    .encodes = 1 << PIXFMT_RGBA,
    .decode = decode,
    .encode = encode,
};
