// codec_kind.c: functions that the codecs share
#include "image/codec/codec_kind.h"

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "image/codec/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool codec_refuse(struct codec_error *error, enum codec_fault fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    error->fault = fault;
    vsnprintf(error->why, sizeof(error->why), format, arguments);
    va_end(arguments);
    return false;
}

bool codec_can_hold(size_t size, uint64_t least, struct codec_error *error)
{
    return size >= least ||
           codec_refuse(error, CODEC_DAMAGED, "the file is truncated: its pixels need at least %llu bytes",
                        (unsigned long long)least);
}

bool codec_fits(const struct image *image, const struct image_shape *shape, struct codec_error *error)
{
    return (image->shape.format == shape->format && image->shape.width == shape->width &&
            image->shape.height == shape->height) ||
           codec_refuse(error, CODEC_DAMAGED, "its pixels do not match its header");
}

static void add_text(char text[CODEC_WHY], const char *more)
{
    if (!strstr(text, more)) // many parts of a file may have the same fault
        text_append(text, CODEC_WHY, "%s%s", text_if(text[0], "; "), more);
}

void codec_leave_out(struct codec_error *error, const char *what)
{
    add_text(error->why, what);
}

bool codec_begins(struct codec_bytes bytes, const char *with, size_t size)
{
    return bytes.size >= size && memcmp(bytes.data, with, size) == 0;
}

struct codec_bytes codec_exif_block(struct codec_bytes block)
{
    enum { PREFIX = 4, NAME = 6 };
    if (block.size <= PREFIX)
        return (struct codec_bytes){0};
    const uint8_t *at = block.data;
    size_t offset = number_big(at, PREFIX);
    block = (struct codec_bytes){at + PREFIX, block.size - PREFIX};
    if (codec_begins(block, "Exif\0", NAME)) // some programs write 0 then
        offset = NAME;
    if (offset >= block.size)
        return block;
    return (struct codec_bytes){block.data + offset, block.size - offset};
}

void codec_lacks(struct codec_metadata *metadata, const char *what)
{
    add_text(metadata->left_out, what);
}

size_t codec_chunk_bytes(const uint8_t *chunk)
{
    enum { EXTRA = 12 }; // length, type, checksum
    return EXTRA + (size_t)number_big(chunk, 4);
}

bool codec_names_colours(const uint8_t *chunk)
{
    static const char types[][5] = {"cICP", "cHRM", "gAMA", "sRGB", "mDCV", "cLLI"};
    bool found = false;
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
        found = found || memcmp(chunk + 4, types[i], 4) == 0;
    return found;
}

void codec_pack_row(const struct image *image, int y, int channels, uint8_t *to)
{
    const uint8_t *from = image_row(image, 0, y);
    const int width = image->shape.width;
    if (image->shape.format != PIXFMT_RGBA || channels == 4) {
        memcpy(to, from, (size_t)(width * channels));
    } else if (channels == 3) {
        const pixel_word *pixels = (const pixel_word *)from;
        for (int x = 0; x + 1 < width; x++) // a byte too many, which the next pixel overwrites
            *(pixel_word *)(to + 3 * (size_t)x) = pixels[x];
        memcpy(to + 3 * (size_t)(width - 1), from + 4 * (size_t)(width - 1), 3);
    } else {
        for (int x = 0; x < width; x++) {
            to[channels * x] = from[4 * x];
            if (channels == 2)
                to[2 * x + 1] = from[4 * x + 3];
        }
    }
}

void codec_put_deep(const struct profile *profile, const uint16_t *from, int bits, enum pixfmt format, uint8_t *to,
                    int count)
{
    enum { GROUP = 64 };
    const uint32_t most = (1u << bits) - 1;
    const size_t channels = format == PIXFMT_GREY ? 1 : 4;
    for (int x = 0, part; x < count; x += part) {
        uint16_t deep[GROUP][4];
        uint8_t made[GROUP][4];
        part = count - x < GROUP ? count - x : GROUP;
        for (size_t i = 0; i < 4 * (size_t)part; i++) {
            const uint32_t value = from[channels == 4 ? i : i / 4];
            deep[i / 4][i % 4] = (uint16_t)((value < most ? value : most) * UINT16_MAX / most);
            made[i / 4][i % 4] = (uint8_t)((deep[i / 4][i % 4] + 128u) / 257);
        }
        if (profile)
            profile_convert_deep(profile, (const uint16_t(*)[4])deep, made, part);
        for (int i = 0; i < part; i++)
            memcpy(to + (size_t)(x + i) * channels, made[i], channels);
        from += channels * (size_t)part;
    }
}

bool codec_buffer_room(struct codec_buffer *buffer, size_t room)
{
    if (buffer->room >= room)
        return true;
    const size_t grown = buffer->room + buffer->room / 2, bytes = room > grown ? room : grown;
    uint8_t *larger = realloc(buffer->data, bytes);
    if (!larger)
        return false;
    buffer->data = larger;
    buffer->room = bytes;
    return true;
}

bool codec_buffer_append(struct codec_buffer *buffer, const void *data, size_t size)
{
    if (size == 0)
        return true;
    if (!codec_buffer_room(buffer, buffer->size + size))
        return false;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    return true;
}

void codec_buffer_free(struct codec_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct codec_buffer){0};
}

enum { PARTS = 6 };

static void parts_of(struct codec_metadata *metadata, struct codec_bytes *parts[PARTS])
{
    struct codec_bytes *const all[PARTS] = {&metadata->icc,  &metadata->exif,    &metadata->xmp,
                                            &metadata->iptc, &metadata->comment, &metadata->chunks};
    memcpy(parts, all, sizeof(all));
}

size_t codec_metadata_bytes(const struct codec_metadata *metadata)
{
    struct codec_metadata copy = *metadata;
    struct codec_bytes *parts[PARTS];
    size_t size = 0;
    parts_of(&copy, parts);
    for (int i = 0; i < PARTS; i++)
        size += parts[i]->size;
    return size;
}

bool codec_metadata_keep(struct codec_metadata *metadata, struct codec_buffer *buffer)
{
    struct codec_bytes *parts[PARTS];
    parts_of(metadata, parts);
    if (!codec_buffer_room(buffer, codec_metadata_bytes(metadata)))
        return false;
    buffer->size = 0;
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i]->data)
            continue;
        memcpy(buffer->data + buffer->size, parts[i]->data, parts[i]->size);
        parts[i]->data = buffer->data + buffer->size;
        buffer->size += parts[i]->size;
    }
    return true;
}
