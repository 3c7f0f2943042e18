// stb.c: reads TGA files, by stb_image, which is compiled only here
#include "image/codec/codec_kind.h"
#include "image/rgb_rows.h"

#include <stdlib.h>
#include <string.h>

// The largest block that stb_image may allocate: an RGBA image and a little. This limits files that unpack to far more
// than their head says.
#define STB_BLOCK_MAX (IMAGE_MAX_BYTES + IMAGE_MAX_SIDE + 4096)

static void *block_alloc(size_t size)
{
    return size <= STB_BLOCK_MAX ? malloc(size) : NULL;
}

// stb declares functions of disabled features and does not define them. GCC warns at the end of the file, so there is
// no pop.
#pragma GCC diagnostic ignored "-Wunused-function"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_TGA
#define STBI_MAX_DIMENSIONS 32768
#define STBI_MALLOC block_alloc
#define STBI_REALLOC realloc // not called for this format
#define STBI_FREE free
#include <stb_image.h>

_Static_assert(STBI_MAX_DIMENSIONS == IMAGE_MAX_SIDE, "stb refuses what the program refuses");

// Passes stb the bytes piece by piece, to notice when it wants more than the file has.
struct stb_reader {
    const uint8_t *data;
    size_t size, at;
    const char *ahead; // stb's small read-ahead buffer, known from its first read
    bool cut_short;
};

static int reader_read(void *user, char *to, int wanted)
{
    struct stb_reader *reader = user;
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
    struct stb_reader *reader = user;
    const size_t left = reader->size - reader->at;
    reader->at += (size_t)count < left ? (size_t)count : left;
}

static int reader_at_end(void *user)
{
    const struct stb_reader *reader = user;
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
    struct stb_reader reader = {.data = data, .size = size};
    int channels;
    uint8_t *pixels = stbi_load_from_callbacks(&callbacks, &reader, width, height, &channels, 4);
    if (pixels && !reader.cut_short)
        return pixels;
    refuse(error, pixels ? NULL : stbi_failure_reason(), reader.cut_short);
    free(pixels);
    return NULL;
}

static bool is_one_of(int value, const uint8_t *choices, size_t count)
{
    return memchr(choices, value, count) != NULL;
}

// Offsets of fields: Truevision TGA 2.0, section "TGA file header".
enum { TGA_MAP = 1, TGA_TYPE, TGA_MAP_FIRST, TGA_WIDTH = 12, TGA_HEIGHT = 14, TGA_DEPTH = 16, TGA_ORDER, TGA_HEAD };
enum { TGA_RIGHT_TO_LEFT = 0x10, TGA_INTERLEAVED = 0xc0 };

static bool has_colour_map_type(const uint8_t *data)
{
    return data[TGA_TYPE] % 8 == 1;
}

// A TGA file has no signature, so its whole header must make sense.
static bool is_tga(const uint8_t *data, size_t size)
{
    static const uint8_t types[] = {1, 2, 3, 9, 10, 11}, depths[] = {8, 15, 16, 24, 32}, of_maps[] = {15, 16, 24, 32};
    enum { MAP_COUNT = 5, MAP_DEPTH = 7 };
    if (size < TGA_HEAD || data[TGA_MAP] > 1 || !is_one_of(data[TGA_TYPE], types, sizeof(types)) ||
        !is_one_of(data[TGA_DEPTH], depths, sizeof(depths)))
        return false;
    const bool has_map = data[TGA_MAP] == 1;
    const bool map_ok = !has_map || ((data[MAP_COUNT] | data[MAP_COUNT + 1]) != 0 &&
                                     is_one_of(data[MAP_DEPTH], of_maps, sizeof(of_maps)));
    return (has_map || !has_colour_map_type(data)) && map_ok && (data[TGA_WIDTH] | data[TGA_WIDTH + 1]) != 0 &&
           (data[TGA_HEIGHT] | data[TGA_HEIGHT + 1]) != 0 && (data[TGA_ORDER] & TGA_INTERLEAVED) == 0;
}

static bool tga_supported(const uint8_t *data, size_t size, struct codec_error *error)
{
    // stb_image would take a needless colour map for pixels, and ignores the number of the map's first colour.
    if (data[TGA_MAP] == 1 && !has_colour_map_type(data))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "TGA files with a colour map that they do not use are not supported; convert the image to "
                            "PNG first");
    if (data[TGA_MAP] == 1 && (data[TGA_MAP_FIRST] | data[TGA_MAP_FIRST + 1]) != 0)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "TGA files whose colour map does not begin at 0 are not supported; convert the image to "
                            "PNG first");
    return true;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    int channels;
    struct image_shape *shape = &head->shape;
    if (!tga_supported(data, size, error))
        return false;
    if (stbi_info_from_memory(data, (int)size, &shape->width, &shape->height, &channels) == 0) {
        // Only the decoder reports the reason. It fails at the same place of the head.
        uint8_t *pixels = load(data, size, &shape->width, &shape->height, error);
        free(pixels);
        return pixels ? codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header is invalid") : false;
    }
    if (!codec_can_hold(size, (uint64_t)shape->width * (uint64_t)shape->height / CODEC_RUN_MOST, error))
        return false;
    shape->format = PIXFMT_RGBA;
    head->jpeg = channels <= 2 ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = channels == 2 || channels == 4;
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
    // stb_image ignores this order.
    for (int y = 0; ok && (data[TGA_ORDER] & TGA_RIGHT_TO_LEFT) && y < shape.height; y++)
        rgb_rows()->mirror(image_row(image, 0, y), image_row(image, 0, y), shape.width);
    free(pixels);
    return ok;
}

static const char *const tga[] = {"tga", "icb", "vda", "vst", NULL};

const struct codec_kind codec_tga = {
    .info = {.name = "tga", .extensions = tga, .guess = true}, .looks_so = is_tga, .head = head_of, .decode = decode};
