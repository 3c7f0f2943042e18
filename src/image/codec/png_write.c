// png_write.c: pixels into a PNG file
#include "image/codec/png.h"
#include "image/codec/png_filter.h"

#include "base/vector.h"
#include "image/codec/exif.h"
#include "image/codec/runs.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_HEAD = 8, QUICK = 1, LEVEL_MOST = 9, BEFORE = 16 };

static void write_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

// Makes room for so much more, and for more than that where it must grow: a file does not grow by bytes.
static bool extend(struct codec_buffer *buffer, size_t bytes)
{
    const size_t needed = buffer->size + bytes;
    return buffer->room >= needed || codec_buffer_room(buffer, needed + needed / 2);
}

// A chunk is begun, its data are appended, it is ended.
static bool chunk_begin(struct codec_buffer *buffer, const char *type, size_t *start)
{
    if (!extend(buffer, CHUNK_HEAD))
        return false;
    *start = buffer->size;
    memcpy(buffer->data + buffer->size + 4, type, 4);
    buffer->size += CHUNK_HEAD;
    return true;
}

static bool append(struct codec_buffer *buffer, const void *data, size_t size)
{
    if (!extend(buffer, size))
        return false;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

static bool chunk_end(struct codec_buffer *buffer, size_t start)
{
    const size_t size = buffer->size - start - CHUNK_HEAD;
    uint8_t sum[4];
    write_u32(buffer->data + start, (uint32_t)size);
    write_u32(sum, libdeflate_crc32(0, buffer->data + start + 4, size + 4));
    return append(buffer, sum, sizeof(sum));
}

static bool write_chunk(struct codec_buffer *buffer, const char *type, const void *data, size_t size)
{
    size_t start;
    return chunk_begin(buffer, type, &start) && append(buffer, data, size) && chunk_end(buffer, start);
}

static bool set_level(struct png *png, int level)
{
    if (png->deflater && png->deflater_level == level)
        return true;
    if (png->deflater)
        libdeflate_free_compressor(png->deflater);
    png->deflater = libdeflate_alloc_compressor(level);
    png->deflater_level = level;
    return png->deflater != NULL;
}

// Packs all of the data behind what is there.
static bool append_packed(struct png *png, struct codec_buffer *buffer, int level, const void *data, size_t size)
{
    if (!set_level(png, level) || !extend(buffer, libdeflate_zlib_compress_bound(png->deflater, size)))
        return false;
    const size_t packed =
        libdeflate_zlib_compress(png->deflater, data, size, buffer->data + buffer->size, buffer->room - buffer->size);
    buffer->size += packed;
    return packed > 0;
}

static bool write_profile(struct png *png, struct codec_buffer *buffer, struct codec_bytes icc)
{
    static const char head[] = "ICC profile\0"; // its name, and the method 0
    size_t start;
    return chunk_begin(buffer, "iCCP", &start) && append(buffer, head, sizeof(head)) &&
           append_packed(png, buffer, LEVEL_MOST, icc.data, icc.size) && chunk_end(buffer, start);
}

static bool write_exif(struct codec_buffer *buffer, struct codec_bytes exif, int orientation)
{
    size_t start;
    if (!chunk_begin(buffer, "eXIf", &start) || !append(buffer, exif.data, exif.size))
        return false;
    const size_t left = exif_settle(buffer->data + start + CHUNK_HEAD, exif.size, orientation);
    buffer->size = start + CHUNK_HEAD + left;
    return chunk_end(buffer, start);
}

static bool write_xmp(struct codec_buffer *buffer, struct codec_bytes xmp)
{
    static const char head[] = "XML:com.adobe.xmp\0\0\0\0"; // keyword, not packed, no language, no other keyword
    size_t start;
    return chunk_begin(buffer, "iTXt", &start) && append(buffer, head, sizeof(head)) &&
           append(buffer, xmp.data, xmp.size) && chunk_end(buffer, start);
}

static bool write_metadata(struct png *png, struct codec_buffer *buffer, const struct codec_settings *settings)
{
    const struct codec_metadata *metadata = &settings->metadata;
    return (!metadata->icc.data || write_profile(png, buffer, metadata->icc)) &&
           (!metadata->exif.data || write_exif(buffer, metadata->exif, settings->orientation)) &&
           (!metadata->xmp.data || write_xmp(buffer, metadata->xmp));
}

static enum png_colour colour_of(enum pixfmt format, const struct codec_settings *settings)
{
    if (format == PIXFMT_GREY)
        return PNG_GREY;
    if (format == PIXFMT_RGB24)
        return PNG_RGB;
    if (settings->grey)
        return settings->opaque ? PNG_GREY : PNG_GREY_ALPHA;
    return settings->opaque ? PNG_RGB : PNG_RGBA;
}

// A row of the image as the file has it.
static void pack_row(const struct image *image, int y, enum png_colour colour, uint8_t *to)
{
    const uint8_t *from = image->plane[0] + (size_t)y * image->stride[0];
    const int width = image->shape.width, channels = png_channels(colour);
    if (image->shape.format != PIXFMT_RGBA || colour == PNG_RGBA) {
        memcpy(to, from, (size_t)(width * channels));
    } else if (colour == PNG_RGB) {
        const pixel_word *pixels = (const pixel_word *)from;
        for (int x = 0; x + 1 < width; x++) // a byte too many, which the next pixel writes over
            *(pixel_word *)(to + 3 * (size_t)x) = pixels[x];
        memcpy(to + 3 * (size_t)(width - 1), from + 4 * (size_t)(width - 1), 3);
    } else {
        for (int x = 0; x < width; x++) {
            to[channels * x] = from[4 * x];
            if (colour == PNG_GREY_ALPHA)
                to[2 * x + 1] = from[4 * x + 3];
        }
    }
}

// What makes filtered rows: the row and the one before it, each behind zeros.
struct rows {
    const struct image *image;
    enum png_colour colour;
    int step;
    size_t bytes;
    uint8_t *row[2];
};

static bool rows_open(struct rows *rows, struct png *png, const struct image *image,
                      const struct codec_settings *settings)
{
    rows->image = image;
    rows->colour = colour_of(image->shape.format, settings);
    rows->step = png_channels(rows->colour);
    rows->bytes = (size_t)image->shape.width * (size_t)rows->step;
    const size_t room = BEFORE + rows->bytes;
    if (!codec_buffer_room(&png->rows, 2 * room))
        return false;
    memset(png->rows.data, 0, 2 * room);
    rows->row[0] = png->rows.data + BEFORE;
    rows->row[1] = png->rows.data + room + BEFORE;
    return true;
}

static void rows_make(struct rows *rows, int y, int filter, uint8_t *to)
{
    uint8_t *row = rows->row[y % 2];
    if (y == 0)
        memset(rows->row[1], 0, rows->bytes);
    pack_row(rows->image, y, rows->colour, row);
    png_filter()->apply(filter, to, row, rows->row[(y + 1) % 2], rows->bytes, rows->step);
}

// A block of rows at a time, while they are in cache, with the filter that is best for its first one. Quickest, and for
// photographs also smallest.
static bool write_quick(struct png *png, struct rows *rows, struct codec_buffer *buffer)
{
    enum { HEAD = 2, SUM = 4 };
    const size_t row = 1 + rows->bytes;
    const size_t block = row > RUNS_BLOCK ? row : RUNS_BLOCK;
    if (!codec_buffer_room(&png->plain, BEFORE + block + RUNS_SLACK) || !append(buffer, "\x78\x01", HEAD))
        return false;
    uint8_t *from = png->plain.data + BEFORE;
    uint32_t sum = 1;
    struct runs runs = {0};
    size_t filled = 0;
    for (int y = 0; y < rows->image->shape.height; y++) {
        rows_make(rows, y, filled == 0 ? PNG_FILTER_BEST : from[0], from + filled);
        if (filled == 0 && y == 0)
            from[-1] = (uint8_t)~from[0];
        filled += row;
        const bool last = y + 1 == rows->image->shape.height;
        if (!last && filled + row <= block)
            continue;
        if (!extend(buffer, runs_room(filled)))
            return false;
        sum = libdeflate_adler32(sum, from, filled);
        runs.at = buffer->data + buffer->size;
        runs_block(&runs, from, filled, last);
        buffer->size = (size_t)(runs.at - buffer->data);
        from[-1] = from[filled - 1];
        filled = 0;
    }
    uint8_t bytes[SUM];
    write_u32(bytes, sum);
    return append(buffer, bytes, SUM);
}

// Longer repetitions are looked for too, which drawings have; what turns out smaller is taken.
static bool write_small(struct png *png, struct rows *rows, struct codec_buffer *buffer, int level)
{
    const size_t row = 1 + rows->bytes, size = row * (size_t)rows->image->shape.height, start = buffer->size;
    if (!write_quick(png, rows, buffer) || !codec_buffer_room(&png->plain, size))
        return false;
    for (int y = 0; y < rows->image->shape.height; y++)
        rows_make(rows, y, PNG_FILTER_BEST, png->plain.data + (size_t)y * row);
    png->packed.size = 0;
    if (!append_packed(png, &png->packed, level < LEVEL_MOST ? level : LEVEL_MOST, png->plain.data, size))
        return false;
    if (png->packed.size >= buffer->size - start)
        return true;
    buffer->size = start;
    return append(buffer, png->packed.data, png->packed.size);
}

bool png_write(struct png *png, const struct image *image, const struct codec_settings *settings,
               struct codec_buffer *buffer, struct codec_error *error)
{
    const enum pixfmt format = image->shape.format;
    if (format != PIXFMT_RGBA && format != PIXFMT_RGB24 && format != PIXFMT_GREY)
        return codec_refuse(error, CODEC_UNSUPPORTED, "PNG files can be written from rgba, rgb24 or grey pixels only");
    struct rows rows;
    uint8_t head[13] = {[8] = 8, [9] = colour_of(format, settings)};
    write_u32(head, (uint32_t)image->shape.width);
    write_u32(head + 4, (uint32_t)image->shape.height);
    size_t start = 0;
    bool ok = append(buffer, png_signature, PNG_SIGNATURE_BYTES) && write_chunk(buffer, "IHDR", head, sizeof(head)) &&
              write_metadata(png, buffer, settings) && rows_open(&rows, png, image, settings) &&
              chunk_begin(buffer, "IDAT", &start);
    ok = ok && (settings->compression <= QUICK ? write_quick(png, &rows, buffer)
                                               : write_small(png, &rows, buffer, settings->compression));
    ok = ok && chunk_end(buffer, start) && write_chunk(buffer, "IEND", "", 0);
    return ok || codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
}
