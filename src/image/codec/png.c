// png.c: PNG files: chunks and what they say; their pixels by libdeflate
#include "image/codec/png.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_EXTRA = 12, UNPACKED_MOST = 16 << 20 }; // length, type and checksum; of a profile, or XMP data

const uint8_t png_signature[PNG_SIGNATURE_BYTES] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= PNG_SIGNATURE_BYTES && memcmp(data, png_signature, PNG_SIGNATURE_BYTES) == 0;
}

struct chunk {
    size_t at; // of its data
    char type[5];
    struct codec_bytes bytes;
    bool whole; // its checksum is right
};

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// The chunk that begins there. False where the file ends before it does. Checksums of pixels may wait for who needs
// them.
static bool chunk_at(struct chunk *chunk, const uint8_t *data, size_t size, size_t at, bool pixels)
{
    if (size - at < CHUNK_EXTRA || read_u32(data + at) > size - at - CHUNK_EXTRA)
        return false;
    const size_t length = read_u32(data + at);
    *chunk = (struct chunk){.at = at + 8, .bytes = {data + at + 8, length}};
    memcpy(chunk->type, data + at + 4, 4);
    chunk->whole = (!pixels && memcmp(chunk->type, "IDAT", 4) == 0) ||
                   libdeflate_crc32(0, data + at + 4, length + 4) == read_u32(data + at + 8 + length);
    return true;
}

static bool is(const struct chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, 4) == 0;
}

static bool take_header(struct png_header *header, const struct chunk *chunk, struct codec_error *error)
{
    static const uint8_t depths[] = {[PNG_GREY] = 1 | 2 | 4 | 8 | 16,
                                     [PNG_RGB] = 8 | 16,
                                     [PNG_PALETTE] = 1 | 2 | 4 | 8,
                                     [PNG_GREY_ALPHA] = 8 | 16,
                                     [PNG_RGBA] = 8 | 16};
    const uint8_t *data = chunk->bytes.data;
    if (!is(chunk, "IHDR") || chunk->bytes.size != 13 || !chunk->whole)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header (IHDR) is invalid");
    const uint32_t width = read_u32(data), height = read_u32(data + 4);
    header->depth = data[8];
    header->colour = data[9];
    header->interlaced = data[12] == 1;
    const bool power = header->depth > 0 && (header->depth & (header->depth - 1)) == 0;
    if (data[9] >= sizeof(depths) || !power || !(depths[data[9]] & header->depth) || data[10] != 0 || data[11] != 0 ||
        data[12] > 1 || width == 0 || height == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header (IHDR) is invalid");
    // What is larger than any picture may be is refused by whoever reads the shape.
    header->width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    header->height = height <= IMAGE_MAX_SIDE ? (int)height : IMAGE_MAX_SIDE + 1;
    for (int i = 0; i < PNG_PALETTE_MAX; i++)
        header->palette[i][3] = 255;
    return true;
}

static bool take_palette(struct png_header *header, const struct chunk *chunk, struct codec_error *error)
{
    const size_t count = chunk->bytes.size / 3;
    if (chunk->bytes.size % 3 != 0 || count > PNG_PALETTE_MAX || count == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its palette (PLTE) is invalid");
    header->has_palette = true;
    for (size_t i = 0; i < count; i++)
        memcpy(header->palette[i], chunk->bytes.data + 3 * i, 3);
    return true;
}

static bool take_transparency(struct png_header *header, const struct chunk *chunk, struct codec_error *error)
{
    const size_t size = chunk->bytes.size;
    const uint8_t *data = chunk->bytes.data;
    const bool palette = header->colour == PNG_PALETTE;
    const size_t channels = header->colour == PNG_RGB ? 3 : 1;
    if (header->colour == PNG_GREY_ALPHA || header->colour == PNG_RGBA ||
        (palette ? size > PNG_PALETTE_MAX : size != 2 * channels))
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its transparency (tRNS) is invalid");
    header->transparent = true;
    for (size_t i = 0; palette && i < size; i++)
        header->palette[i][3] = data[i];
    for (size_t i = 0; !palette && i < channels; i++)
        header->key[i] = (uint16_t)((data[2 * i] << 8 | data[2 * i + 1]) & ((1 << header->depth) - 1));
    return true;
}

// What stands behind the name, which a NUL ends; NULL where there is no such place.
static const uint8_t *behind_name(struct codec_bytes bytes, size_t *left)
{
    const uint8_t *end = bytes.size > 0 ? memchr(bytes.data, 0, bytes.size) : NULL;
    *left = end ? bytes.size - (size_t)(end + 1 - bytes.data) : 0;
    return end ? end + 1 : NULL;
}

// Unpacks data of unknown size. NULL where that is done; else which of the texts tells why not.
static const char *unpack(struct png *png, struct codec_buffer *buffer, const uint8_t *data, size_t size,
                          const char *const why[2])
{
    if (!png->inflater)
        png->inflater = libdeflate_alloc_decompressor();
    enum libdeflate_result result = LIBDEFLATE_INSUFFICIENT_SPACE;
    size_t room = size < UNPACKED_MOST / 4 - 1024 ? 4 * size + 4096 : UNPACKED_MOST;
    while (png->inflater && result == LIBDEFLATE_INSUFFICIENT_SPACE && codec_buffer_room(buffer, room)) {
        result = libdeflate_zlib_decompress(png->inflater, data, size, buffer->data, room, &buffer->size);
        if (result == LIBDEFLATE_INSUFFICIENT_SPACE && room == UNPACKED_MOST)
            return why[1];
        room = room < UNPACKED_MOST / 4 ? 4 * room : UNPACKED_MOST;
    }
    return result == LIBDEFLATE_SUCCESS ? NULL : why[0];
}

// Of each kind the first counts, as libpng has it: a small file of hundreds would take seconds to unpack.
static bool is_first(bool *seen, struct codec_metadata *metadata, const char *why)
{
    const bool first = !*seen;
    *seen = true;
    if (!first && !metadata->left_out)
        metadata->left_out = why;
    return first;
}

// iCCP: name, method 0, packed profile.
static void take_profile(struct png *png, const struct chunk *chunk, struct codec_metadata *metadata)
{
    static const char *const why[] = {"its colour profile is damaged and is left out",
                                      "its colour profile is larger than 16 MiB and is left out"};
    size_t left;
    const uint8_t *data = behind_name(chunk->bytes, &left);
    const char *left_out = why[0];
    if (chunk->whole && data && left > 1 && data[0] == 0)
        left_out = unpack(png, &png->profile, data + 1, left - 1, why);
    metadata->icc = left_out ? (struct codec_bytes){0} : (struct codec_bytes){png->profile.data, png->profile.size};
    metadata->left_out = left_out ? left_out : metadata->left_out;
}

static void take_exif(const struct chunk *chunk, struct codec_metadata *metadata)
{
    if (chunk->whole)
        metadata->exif = chunk->bytes;
    else
        metadata->left_out = "its EXIF data are damaged and are left out";
}

// iTXt: keyword, whether packed, method 0, language, keyword in that language, text.
static void take_text(struct png *png, const struct chunk *chunk, struct png_header *header,
                      struct codec_metadata *metadata)
{
    static const char *const why[] = {"its XMP data are damaged and are left out",
                                      "its XMP data are larger than 16 MiB and are left out"};
    size_t left;
    const uint8_t *data = behind_name(chunk->bytes, &left);
    if (!data || strcmp((const char *)chunk->bytes.data, "XML:com.adobe.xmp") != 0 ||
        !is_first(&header->has_xmp, metadata, "it has XMP data twice, and the second XMP data are left out"))
        return;
    const bool packed = left > 0 && data[0] == 1;
    data = left >= 2 ? behind_name((struct codec_bytes){data + 2, left - 2}, &left) : NULL;
    data = data ? behind_name((struct codec_bytes){data, left}, &left) : NULL;
    const char *left_out = !chunk->whole || !data ? why[0] : packed ? unpack(png, &png->text, data, left, why) : NULL;
    metadata->xmp = left_out || left == 0 ? (struct codec_bytes){0}
                    : packed              ? (struct codec_bytes){png->text.data, png->text.size}
                                          : (struct codec_bytes){data, left};
    metadata->left_out = left_out ? left_out : metadata->left_out;
}

static void take_metadata(struct png *png, const struct chunk *chunk, struct png_header *header,
                          struct codec_metadata *metadata)
{
    if (is(chunk, "iCCP") &&
        is_first(&header->has_profile, metadata, "it has two colour profiles, and the second one is left out"))
        take_profile(png, chunk, metadata);
    else if (is(chunk, "eXIf") &&
             is_first(&header->has_exif, metadata, "it has EXIF data twice, and the second EXIF data are left out"))
        take_exif(chunk, metadata);
    else if (is(chunk, "iTXt"))
        take_text(png, chunk, header, metadata);
}

static bool take_pixels(struct png_header *header, const struct chunk *chunk, bool follows, struct codec_error *error)
{
    if (header->pieces > 0 && !follows)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its IDAT chunks are not consecutive");
    if (header->pieces == 0)
        header->pixels_at = chunk->at;
    header->pieces++;
    header->pixels_bytes += chunk->bytes.size;
    return true;
}

static bool take_chunk(struct png *png, const struct chunk *chunk, bool follows, struct png_header *header,
                       struct codec_metadata *metadata, struct codec_error *error)
{
    const bool critical = (chunk->type[0] & 0x20) == 0;
    if (!critical && metadata)
        take_metadata(png, chunk, header, metadata);
    if (!chunk->whole) // without its transparency it would be another picture
        return !(critical || is(chunk, "tRNS")) ||
               codec_refuse(error, CODEC_DAMAGED, "the image is damaged: the checksum of its %s chunk is wrong",
                            chunk->type);
    if (is(chunk, "IDAT"))
        return take_pixels(header, chunk, follows, error);
    if (is(chunk, "PLTE"))
        return header->colour != PNG_PALETTE || take_palette(header, chunk, error);
    if (is(chunk, "tRNS"))
        return take_transparency(header, chunk, error);
    if (critical)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "it has an unknown critical chunk (%s); save it as a standard PNG first", chunk->type);
    return true;
}

bool png_read_header(struct png *png, const uint8_t *data, size_t size, struct png_header *header,
                     struct codec_metadata *metadata, struct codec_error *error)
{
    struct chunk chunk;
    size_t at = PNG_SIGNATURE_BYTES;
    bool pixels = false; // the chunk before was of pixels
    *header = (struct png_header){0};
    if (!chunk_at(&chunk, data, size, at, !metadata))
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    if (!take_header(header, &chunk, error))
        return false;
    for (;;) {
        at = chunk.at + chunk.bytes.size + 4;
        if (!chunk_at(&chunk, data, size, at, !metadata))
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        if (is(&chunk, "IEND"))
            break;
        if (!take_chunk(png, &chunk, pixels, header, metadata, error))
            return false;
        pixels = is(&chunk, "IDAT");
    }
    if (header->pieces == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: it has no pixels (IDAT)");
    if (header->colour == PNG_PALETTE && !header->has_palette)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its palette (PLTE) is missing");
    return true;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct png_header header;
    const bool ok = png_read_header(state, data, size, &header, &head->metadata, error);
    head->shape = (struct image_shape){
        .format = png_format(&header),
        .width = header.width,
        .height = header.height,
        .color = {COLOR_MATRIX_601, COLOR_RANGE_FULL},
    };
    head->jpeg = header.colour == PNG_GREY || header.colour == PNG_GREY_ALPHA ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = head->shape.format == PIXFMT_RGBA;
    return ok;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct png_header header;
    if (!png_read_header(state, data, size, &header, NULL, error))
        return false;
    const struct image_shape shape = {.format = png_format(&header), .width = header.width, .height = header.height};
    return codec_fits(image, &shape, error) && png_read_pixels(state, data, size, &header, image, error);
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    return png_write(state, image, settings, buffer, error);
}

static void png_close(void *state)
{
    struct png *png = state;
    if (png->inflater)
        libdeflate_free_decompressor(png->inflater);
    if (png->deflater)
        libdeflate_free_compressor(png->deflater);
    struct codec_buffer *const buffers[] = {&png->packed, &png->plain, &png->rows, &png->profile, &png->text};
    for (size_t i = 0; i < sizeof(buffers) / sizeof(*buffers); i++)
        codec_buffer_free(buffers[i]);
}

static const char *const extensions[] = {"png", NULL};

const struct codec_kind codec_png = {
    .info = {.name = "png", .extensions = extensions, .writes = true, .compression = true},
    .state_bytes = sizeof(struct png),
    .close = png_close,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
    .encode = encode,
};
