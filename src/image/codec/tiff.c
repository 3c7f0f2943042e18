// tiff.c: TIFF files of one picture, by libtiff: files in memory
#include "image/codec/tiff.h"

#include <stdio.h>
#include <string.h>

enum { ALWAYS_BYTES = 16 << 20 };
#define NAME "picture" // libtiff wants one

static bool looks_so(const uint8_t *data, size_t size)
{
    static const char magic[][5] = {"II*\0", "MM\0*", "II+\0", "MM\0+"}; // the last two: BigTIFF
    bool found = false;
    for (size_t i = 0; i < sizeof(magic) / sizeof(*magic); i++)
        found |= size >= 4 && memcmp(data, magic[i], 4) == 0;
    return found;
}

static tmsize_t read_bytes(thandle_t handle, void *to, tmsize_t wanted)
{
    struct tiff_stream *stream = handle;
    const size_t left = stream->at < stream->size ? stream->size - stream->at : 0;
    const size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, stream->data + stream->at, count);
    stream->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count)
{
    struct tiff_stream *stream = handle;
    struct codec_buffer *buffer = stream->buffer;
    const size_t end = stream->at + (size_t)count;
    if (buffer->room < end && !codec_buffer_room(buffer, 2 * end))
        return 0;
    if (stream->at > stream->size)
        memset(buffer->data + stream->size, 0, stream->at - stream->size);
    memcpy(buffer->data + stream->at, from, (size_t)count);
    stream->data = buffer->data;
    stream->at = end;
    stream->size = end > stream->size ? end : stream->size;
    return count;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    struct tiff_stream *stream = handle;
    stream->at = (size_t)offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? stream->at : stream->size);
    return stream->at;
}

static toff_t size_of(thandle_t handle)
{
    const struct tiff_stream *stream = handle;
    return stream->size;
}

// Where libtiff cannot have the bytes as they lie, it refuses tiles that are not packed unless they are of whole KiB.
static int map_bytes(thandle_t handle, void **base, toff_t *size)
{
    const struct tiff_stream *stream = handle;
    *base = (void *)(uintptr_t)stream->data; // only read
    *size = stream->size;
    return stream->buffer == NULL;
}

static void leave_mapped(thandle_t handle, void *base, toff_t size) {}

static int leave_open(thandle_t handle)
{
    return 0;
}

const char *tiff_without(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : text;
}

// The first error is the one that tells.
static int take_error(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    struct tiff_stream *stream = user;
    char text[CODEC_WHY / 2];
    vsnprintf(text, sizeof(text), format, arguments);
    if (!stream->failed && strncmp(text, "Read error", 10) == 0)
        codec_refuse(stream->error, CODEC_DAMAGED, "the file is truncated");
    else if (!stream->failed)
        codec_refuse(stream->error, CODEC_DAMAGED, "the image is damaged (libtiff: %s)", tiff_without(text, NAME ": "));
    stream->failed = true;
    return 1;
}

static int take_warning(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    return 1;
}

TIFF *tiff_stream_open(struct tiff_stream *stream, const char *mode, uint64_t bytes)
{
    TIFF *file = NULL;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(ALWAYS_BYTES + bytes));
        TIFFOpenOptionsSetErrorHandlerExtR(options, take_error, stream);
        TIFFOpenOptionsSetWarningHandlerExtR(options, take_warning, stream);
        file = TIFFClientOpenExt(NAME, mode, stream, read_bytes, write_bytes, seek_to, leave_open, size_of, map_bytes,
                                 leave_mapped, options);
        TIFFOpenOptionsFree(options);
    }
    if (!file && !stream->failed)
        codec_refuse(stream->error, CODEC_NO_MEMORY, "out of memory");
    stream->failed = stream->failed && !file; // tags that it leaves out, such as an orientation of 0
    return file;
}

static void tiff_close(void *state)
{
    struct tiff *tiff = state;
    codec_buffer_free(&tiff->raster);
    codec_buffer_free(&tiff->exif);
    codec_buffer_free(&tiff->metadata);
}

static const char *const extensions[] = {"tif", "tiff", NULL};

const struct codec_kind codec_tiff = {
    .info = {.name = "tiff", .extensions = extensions, .writes = true, .compression = true},
    .state_bytes = sizeof(struct tiff),
    .close = tiff_close,
    .looks_so = looks_so,
    .head = tiff_head,
    .decode = tiff_decode,
    .encode = tiff_encode,
};
