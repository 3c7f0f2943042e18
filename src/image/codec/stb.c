// stb.c: reads GIF (first frame), BMP, PSD and TGA files, by stb_image, which is compiled only here
#include "image/codec/kind.h"

#include <stdlib.h>
#include <string.h>

// The largest block that stb_image may allocate: an RGBA image and a little. This limits files that unpack to far more
// than their head says.
#define STB_BLOCK_MAX (IMAGE_MAX_BYTES + IMAGE_MAX_SIDE + 4096)

static void *block_alloc(size_t size)
{
    return size <= STB_BLOCK_MAX ? malloc(size) : NULL;
}

static void *block_resize(void *block, size_t size)
{
    return size <= STB_BLOCK_MAX ? realloc(block, size) : NULL;
}

// stb declares functions of disabled features and does not define them. GCC warns at the end of the file, so there is
// no pop.
#pragma GCC diagnostic ignored "-Wunused-function"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_GIF
#define STBI_ONLY_BMP
#define STBI_ONLY_PSD
#define STBI_ONLY_TGA
#define STBI_MAX_DIMENSIONS 32768
#define STBI_MALLOC block_alloc
#define STBI_REALLOC block_resize
#define STBI_FREE free
#include <stb_image.h>

_Static_assert(STBI_MAX_DIMENSIONS == IMAGE_MAX_SIDE, "stb refuses what the program refuses");

// Passes stb the bytes piece by piece, to notice when it wants more than the file has.
struct reader {
    const uint8_t *data;
    size_t size, at;
    const char *ahead; // stb's small read-ahead buffer, known from its first read
    bool cut_short;
};

static int reader_read(void *user, char *to, int wanted)
{
    struct reader *reader = user;
    const size_t left = reader->size - reader->at;
    const size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, reader->data + reader->at, count);
    reader->at += count;
    if (!reader->ahead)
        reader->ahead = to;
    // A read-ahead may be incomplete. An empty one means that stb needs a byte behind the end.
    reader->cut_short |= count == 0 || (to != reader->ahead && count < (size_t)wanted);
    return (int)count;
}

static void reader_skip(void *user, int count) // stb only skips forward
{
    struct reader *reader = user;
    const size_t left = reader->size - reader->at;
    reader->at += (size_t)count < left ? (size_t)count : left;
}

static int reader_at_end(void *user)
{
    const struct reader *reader = user;
    return reader->at >= reader->size;
}

// Turns stb's two or three words into a sentence.
static bool refuse(struct codec_error *error, const char *reason, bool cut_short)
{
    if (cut_short || (reason && strcmp(reason, "outofdata") == 0))
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    if (reason && strcmp(reason, "too large") == 0)
        return codec_refuse(error, CODEC_TOO_LARGE, "it is wider or higher than 32768 pixels, or larger than 1 GiB");
    if (reason && strcmp(reason, "outofmem") == 0)
        return codec_refuse(error, CODEC_NO_MEMORY,
                            "out of memory, or its data decompress to more bytes than its size allows");
    return codec_refuse(error, CODEC_DAMAGED,
                        "the image is damaged, or its variant of the format is not supported (stb_image: %s)",
                        reason ? reason : "no reason given");
}

static uint8_t *load(const uint8_t *data, size_t size, int *width, int *height, struct codec_error *error)
{
    static const stbi_io_callbacks callbacks = {reader_read, reader_skip, reader_at_end};
    struct reader reader = {.data = data, .size = size};
    int channels;
    uint8_t *pixels = stbi_load_from_callbacks(&callbacks, &reader, width, height, &channels, 4);
    if (pixels && !reader.cut_short)
        return pixels;
    refuse(error, pixels ? NULL : stbi_failure_reason(), reader.cut_short);
    free(pixels);
    return NULL;
}

static bool is_gif(const uint8_t *data, size_t size)
{
    return size >= 6 && (memcmp(data, "GIF87a", 6) == 0 || memcmp(data, "GIF89a", 6) == 0);
}

static bool is_psd(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, "8BPS", 4) == 0;
}

static uint32_t read_u16_be(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

// Offsets of fields: Adobe Photoshop File Formats Specification, "File Header Section".
enum { PSD_CHANNELS = 12, PSD_DEPTH = 22, PSD_SECTIONS = 26 };

static bool psd_supported(const uint8_t *data, size_t size, struct codec_error *error)
{
    if (size < PSD_SECTIONS)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    // stb_image reads the depth at a wrong offset and decodes such images wrongly.
    if (read_u16_be(data + PSD_DEPTH) == 16)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "PSD files with 16 bits per channel are not supported; convert the image to 8 bits first");
    // stb_image takes any fourth channel for alpha and divides by it, even if the result is out of range.
    if (read_u16_be(data + PSD_CHANNELS) > 3)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "PSD files with an alpha channel are not supported; save the image as PNG first");
    return true;
}

static bool is_one_of(int value, const uint8_t *choices, size_t count)
{
    return memchr(choices, value, count) != NULL;
}

// Two letters are too short a signature, so the size of the info header must also be a known one.
static bool is_bmp(const uint8_t *data, size_t size)
{
    static const uint8_t info_sizes[] = {12, 40, 56, 108, 124};
    return size >= 18 && data[0] == 'B' && data[1] == 'M' && is_one_of(data[14], info_sizes, sizeof(info_sizes)) &&
           data[15] == 0 && data[16] == 0 && data[17] == 0;
}

// stb_image reads too few colours of the palette of OS/2 BMP files.
static bool is_os2_palette(const uint8_t *data, size_t size)
{
    enum { INFO_SIZE = 14, OS2_SIZE = 12, DEPTH = 24 };
    return is_bmp(data, size) && data[INFO_SIZE] == OS2_SIZE && size > DEPTH && data[DEPTH] < 24;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    int channels;
    struct image_shape *shape = &head->shape;
    if (is_os2_palette(data, size))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "OS/2 BMP files with a palette are not supported; convert the image to PNG first");
    if (stbi_info_from_memory(data, (int)size, &shape->width, &shape->height, &channels) == 0) {
        // Only the decoder reports the reason. It fails at the same place of the head.
        uint8_t *pixels = load(data, size, &shape->width, &shape->height, error);
        free(pixels);
        return pixels ? codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header is invalid") : false;
    }
    if (is_psd(data, size) && !psd_supported(data, size, error))
        return false;
    if (shape->height < 0 && shape->height >= -IMAGE_MAX_SIDE) // a BMP whose first row comes first
        shape->height = -shape->height;
    const unsigned most = is_gif(data, size) ? CODEC_LZW_MOST : CODEC_RUN_MOST;
    if (!codec_can_hold(size, (uint64_t)shape->width * (uint64_t)shape->height / most, error))
        return false;
    shape->format = PIXFMT_RGBA;
    head->jpeg = channels <= 2 ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = (channels == 2 || channels == 4) && !is_psd(data, size);
    return true;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct image from;
    struct image_shape shape = head->shape;
    uint8_t *pixels = load(data, size, &shape.width, &shape.height, error);
    if (!pixels)
        return false;
    const bool ok = codec_fits(image, &shape, error);
    if (ok) {
        image_wrap(&from, &shape, pixels);
        image_copy(image, &from);
    }
    free(pixels);
    return ok;
}

// Truevision TGA 2.0, section "TGA file header".
static bool is_tga(const uint8_t *data, size_t size)
{
    static const uint8_t types[] = {1, 2, 3, 9, 10, 11}, depths[] = {8, 15, 16, 24, 32};
    if (size < 18 || data[1] > 1 || !is_one_of(data[2], types, sizeof(types)) ||
        !is_one_of(data[16], depths, sizeof(depths)))
        return false;
    const bool has_map = data[1] == 1, needs_map = data[2] % 8 == 1;
    return has_map == needs_map && (data[12] | data[13]) != 0 && (data[14] | data[15]) != 0 && (data[17] & 0xc0) == 0;
}

static const char *const gif[] = {"gif", NULL}, *const bmp[] = {"bmp", "dib", NULL}, *const psd[] = {"psd", NULL},
                         *const tga[] = {"tga", NULL};

const struct codec_kind codec_gif = {
    .info = {.name = "gif", .extensions = gif}, .looks_so = is_gif, .head = head_of, .decode = decode};
const struct codec_kind codec_bmp = {
    .info = {.name = "bmp", .extensions = bmp}, .looks_so = is_bmp, .head = head_of, .decode = decode};
const struct codec_kind codec_psd = {
    .info = {.name = "psd", .extensions = psd}, .looks_so = is_psd, .head = head_of, .decode = decode};
const struct codec_kind codec_tga = {
    .info = {.name = "tga", .extensions = tga, .guess = true}, .looks_so = is_tga, .head = head_of, .decode = decode};
