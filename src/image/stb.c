// stb.c: stb_image and stb_image_write, compiled here and nowhere else
#include "image/stb.h"

#include "image/image.h"

#include <stdlib.h>
#include <string.h>

// Largest single block stb_image gets: a whole RGBA picture and a little (PNG puts a byte before each row). Data that
// unpacks to far more than the head of the file promised meets this limit.
#define STB_BLOCK_MAX (IMAGE_MAX_BYTES + IMAGE_MAX_SIDE + 4096)

static void *block_alloc(size_t size)
{
    return size <= STB_BLOCK_MAX ? malloc(size) : NULL;
}

static void *block_resize(void *block, size_t size)
{
    return size <= STB_BLOCK_MAX ? realloc(block, size) : NULL;
}

// Declared by stb for features that are switched off, never defined; reported at the end of the file, so there is no
// pop.
#pragma GCC diagnostic ignored "-Wunused-function"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PIC
#define STBI_NO_PNM
#define STBI_MAX_DIMENSIONS 32768
#define STBI_MALLOC block_alloc
#define STBI_REALLOC block_resize
#define STBI_FREE free
#include <stb_image.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

_Static_assert(STBI_MAX_DIMENSIONS == IMAGE_MAX_SIDE, "stb refuses what the program refuses");

// Hands stb the bytes one piece at a time, so that it shows when it wants more than there are.
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
    // Reading ahead may come short; nothing at all means that a byte past the end was needed.
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

bool stb_info(const void *data, size_t size, int *width, int *height, bool *deep)
{
    int channels;
    if (stbi_info_from_memory(data, (int)size, width, height, &channels) == 0)
        return false;
    *deep = stbi_is_16_bit_from_memory(data, (int)size) != 0;
    return true;
}

uint8_t *stb_decode(const void *data, size_t size, int *width, int *height, bool *cut_short, const char **why)
{
    static const stbi_io_callbacks callbacks = {reader_read, reader_skip, reader_at_end};
    struct reader reader = {.data = data, .size = size};
    int channels;
    uint8_t *pixels = stbi_load_from_callbacks(&callbacks, &reader, width, height, &channels, 4);
    *cut_short = reader.cut_short;
    *why = pixels ? NULL : stbi_failure_reason();
    return pixels;
}

void stb_free(void *pixels)
{
    free(pixels);
}

uint8_t *stb_encode_png(const uint8_t *rgba, size_t stride, int width, int height, size_t *size)
{
    int bytes;
    uint8_t *png = stbi_write_png_to_mem(rgba, (int)stride, width, height, 4, &bytes);
    *size = png ? (size_t)bytes : 0;
    return png;
}
