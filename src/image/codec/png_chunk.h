// png_chunk.h: chunks of PNG files
#pragma once

#include "image/codec/codec.h"

enum {
    PNG_CHUNK_HEAD = 8,   // bytes: length and type
    PNG_CHUNK_EXTRA = 12, // bytes: length, type and checksum
};

struct png_chunk {
    char type[5];
    struct codec_bytes bytes;
    bool whole; // the checksum is right
};

uint32_t png_read_u32(const uint8_t *at);
void png_write_u32(uint8_t *at, uint32_t value);

// Reads the chunk at *at, and sets *at to the next chunk. chunk->bytes are borrowed from `data`. Returns false if the
// file ends within the chunk. `pixels`: also verify the checksums of chunks with pixels.
bool png_chunk_next(struct png_chunk *chunk, const uint8_t *data, size_t size, size_t *at, bool pixels);
bool png_chunk_is(const struct png_chunk *chunk, const char *type);

// Write a chunk. The functions return false if there is no memory.
bool png_chunk_write(struct codec_buffer *buffer, const char *type, const void *data, size_t size);
// Begins a chunk with its first data, and sets *start for png_chunk_end. Append the rest before that call.
bool png_chunk_begin(struct codec_buffer *buffer, const char *type, const void *data, size_t size, size_t *start);
bool png_chunk_end(struct codec_buffer *buffer, size_t start);
