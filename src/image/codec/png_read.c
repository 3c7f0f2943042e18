// png_read.c: the pixels of a PNG file
#include "image/codec/png.h"
#include "image/codec/png_filter.h"

#include <stdlib.h>
#include <string.h>

enum { SLACK = 16 };

int png_channels(enum png_colour colour)
{
    return colour == PNG_RGB ? 3 : colour == PNG_RGBA ? 4 : colour == PNG_GREY_ALPHA ? 2 : 1;
}

enum pixfmt png_format(const struct png_header *header)
{
    if (header->transparent || header->colour == PNG_GREY_ALPHA || header->colour == PNG_RGBA)
        return PIXFMT_RGBA;
    return header->colour == PNG_GREY ? PIXFMT_GREY : PIXFMT_RGB24;
}

// A picture, or one of the seven that an interlaced one is made of: every so many pixels from a first one.
struct part {
    int x, y, step_x, step_y;
};
static const struct part whole = {0, 0, 1, 1};
static const struct part adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                    {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
enum { ADAM7 = sizeof(adam7) / sizeof(*adam7) };

static int part_columns(const struct png_header *header, const struct part *part)
{
    return (header->width - part->x + part->step_x - 1) / part->step_x;
}

static int part_rows(const struct png_header *header, const struct part *part)
{
    return (header->height - part->y + part->step_y - 1) / part->step_y;
}

static size_t row_bytes(const struct png_header *header, int columns)
{
    return ((size_t)columns * (size_t)(png_channels(header->colour) * header->depth) + 7) / 8;
}

// Filtered bytes of a part: a row of it begins with its filter's number. A part without columns has no rows either.
static size_t part_bytes(const struct png_header *header, const struct part *part)
{
    const int columns = part_columns(header, part), rows = part_rows(header, part);
    return columns > 0 && rows > 0 ? (1 + row_bytes(header, columns)) * (size_t)rows : 0;
}

// A sample of a row whose samples have `depth` bits.
static int sample(const uint8_t *row, int index, int depth)
{
    if (depth == 16)
        return row[2 * (size_t)index] << 8 | row[2 * (size_t)index + 1];
    const int bit = index * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1 << depth) - 1);
}

// Rounded where there were more bits.
static uint8_t to_8_bits(int value, int depth)
{
    const int most = (1 << depth) - 1;
    return (uint8_t)((value * 255 + most / 2) / most);
}

// One pixel as the picture's format has it.
static void expand_pixel(const struct png_header *header, const uint8_t *row, int x, uint8_t *to)
{
    const int channels = png_channels(header->colour), depth = header->depth;
    int value[4];
    bool keyed = header->transparent;
    for (int c = 0; c < channels; c++) {
        value[c] = sample(row, x * channels + c, depth);
        keyed &= c >= 3 || value[c] == header->key[c];
    }
    if (header->colour == PNG_PALETTE) {
        memcpy(to, header->palette[value[0]], header->transparent ? 4 : 3);
        return;
    }
    const bool grey = header->colour == PNG_GREY || header->colour == PNG_GREY_ALPHA;
    for (int c = 0; c < 3; c++)
        to[png_format(header) == PIXFMT_GREY ? 0 : c] = to_8_bits(value[grey ? 0 : c], depth);
    if (png_format(header) == PIXFMT_RGBA)
        to[3] = header->colour == PNG_GREY_ALPHA ? to_8_bits(value[1], depth)
                : header->colour == PNG_RGBA     ? to_8_bits(value[3], depth)
                : keyed                          ? 0
                                                 : 255;
}

// Whether a row's bytes are the picture's as they are.
static bool plain(const struct png_header *header)
{
    return !header->interlaced && !header->transparent && header->depth == 8 && header->colour != PNG_PALETTE &&
           header->colour != PNG_GREY_ALPHA;
}

static bool read_plain(const struct png_header *header, const uint8_t *from, const uint8_t *zeros, struct image *image)
{
    const size_t bytes = row_bytes(header, header->width);
    const uint8_t *before = zeros;
    for (int y = 0; y < header->height; y++, from += 1 + bytes) {
        uint8_t *to = image->plane[0] + (size_t)y * image->stride[0];
        if (!png_filter()->undo(from[0], to, from + 1, before, bytes, png_channels(header->colour)))
            return false;
        before = to;
    }
    return true;
}

static bool read_part(const struct png_header *header, const struct part *part, uint8_t *from, const uint8_t *zeros,
                      struct image *image)
{
    const int columns = part_columns(header, part), rows = part_rows(header, part);
    const size_t bytes = row_bytes(header, columns);
    const int step = header->depth < 8 ? 1 : png_channels(header->colour) * header->depth / 8;
    const size_t pixel = pixfmt_info(image->shape.format)->plane[0].bytes;
    const uint8_t *before = zeros;
    for (int y = 0; columns > 0 && y < rows; y++, from += 1 + bytes) {
        if (!png_filter()->undo(from[0], from + 1, from + 1, before, bytes, step))
            return false;
        before = from + 1;
        uint8_t *to = image->plane[0] + (size_t)(part->y + y * part->step_y) * image->stride[0];
        for (int x = 0; x < columns; x++)
            expand_pixel(header, before, x, to + (size_t)(part->x + x * part->step_x) * pixel);
    }
    return true;
}

static uint32_t read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// The compressed pixels as one; pieces are copied together, a single one is used where it lies. The header has been
// read: the chunks are whole.
static const uint8_t *pack(struct png *png, const uint8_t *data, const struct png_header *header)
{
    if (header->pieces == 1)
        return data + header->pixels_at;
    if (!codec_buffer_room(&png->packed, header->pixels_bytes))
        return NULL;
    png->packed.size = 0;
    for (size_t at = header->pixels_at; png->packed.size < header->pixels_bytes;) {
        const size_t length = read_u32(data + at - 8);
        memcpy(png->packed.data + png->packed.size, data + at, length);
        png->packed.size += length;
        at += length + 12;
    }
    return png->packed.data;
}

static bool inflate(struct png *png, const uint8_t *packed, const struct png_header *header, size_t bytes,
                    struct codec_error *error)
{
    if (!png->inflater)
        png->inflater = libdeflate_alloc_decompressor();
    // No more than can come of them is asked for: a small file cannot make us have a gigabyte.
    if (header->pixels_bytes < bytes / CODEC_DEFLATE_MOST)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated: its pixels are incomplete");
    if (!png->inflater || !codec_buffer_room(&png->plain, bytes + SLACK))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    switch (libdeflate_zlib_decompress(png->inflater, packed, header->pixels_bytes, png->plain.data, bytes, NULL)) {
    case LIBDEFLATE_SUCCESS:
        return true;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: it has more data than pixels");
    default:
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its pixels cannot be decompressed");
    }
}

bool png_read_pixels(struct png *png, const uint8_t *data, size_t size, const struct png_header *header,
                     struct image *image, struct codec_error *error)
{
    const struct part *parts = header->interlaced ? adam7 : &whole;
    const int count = header->interlaced ? ADAM7 : 1;
    const size_t row = 1 + row_bytes(header, header->width) + SLACK;
    size_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += part_bytes(header, &parts[i]);
    const uint8_t *packed = pack(png, data, header);
    if (!packed || !codec_buffer_room(&png->rows, row))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (!inflate(png, packed, header, bytes, error))
        return false;
    memset(png->rows.data, 0, row);
    uint8_t *from = png->plain.data;
    bool ok = true;
    if (plain(header)) {
        ok = read_plain(header, from, png->rows.data, image);
    } else {
        for (int i = 0; ok && i < count; i++) {
            ok = read_part(header, &parts[i], from, png->rows.data, image);
            from += part_bytes(header, &parts[i]);
        }
    }
    return ok || codec_refuse(error, CODEC_DAMAGED, "the image is damaged: one of its rows has an unknown filter type");
}
