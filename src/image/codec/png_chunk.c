// png_chunk.c: chunks of PNG files
#include "image/codec/png_chunk.h"

#include "image/codec/codec_kind.h"

#include <string.h>

#include <libdeflate.h>

uint32_t png_read_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void png_write_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

bool png_chunk_next(struct png_chunk *chunk, const uint8_t *data, size_t size, size_t *at, bool pixels)
{
    const uint8_t *from = data + *at;
    if (size - *at < PNG_CHUNK_EXTRA || png_read_u32(from) > size - *at - PNG_CHUNK_EXTRA)
        return false;
    const size_t length = png_read_u32(from);
    *chunk = (struct png_chunk){.bytes = {from + PNG_CHUNK_HEAD, length}};
    memcpy(chunk->type, from + 4, 4);
    chunk->whole = (!pixels && memcmp(chunk->type, "IDAT", 4) == 0) ||
                   libdeflate_crc32(0, from + 4, length + 4) == png_read_u32(from + PNG_CHUNK_HEAD + length);
    *at += length + PNG_CHUNK_EXTRA;
    return true;
}

bool png_chunk_is(const struct png_chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, 4) == 0;
}

bool png_chunk_begin(struct codec_buffer *buffer, const char *type, const void *data, size_t size, size_t *start)
{
    *start = buffer->size;
    return codec_buffer_append(buffer, (const uint8_t[4]){0}, 4) && codec_buffer_append(buffer, type, 4) &&
           codec_buffer_append(buffer, data, size);
}

bool png_chunk_end(struct codec_buffer *buffer, size_t start)
{
    const size_t size = buffer->size - start - PNG_CHUNK_HEAD;
    uint8_t sum[4];
    png_write_u32(buffer->data + start, (uint32_t)size);
    png_write_u32(sum, libdeflate_crc32(0, buffer->data + start + 4, size + 4));
    return codec_buffer_append(buffer, sum, sizeof(sum));
}

bool png_chunk_write(struct codec_buffer *buffer, const char *type, const void *data, size_t size)
{
    size_t start;
    return png_chunk_begin(buffer, type, data, size, &start) && png_chunk_end(buffer, start);
}
