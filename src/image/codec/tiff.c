// tiff.c: TIFF files of one picture, by libtiff
#include "image/codec/exif.h"
#include "image/codec/kind.h"

#include <stdio.h>
#include <string.h>

#include <tiffio.h>

enum { ALWAYS_BYTES = 16 << 20, STRIP_ROWS = 64, WHY = 1024 }; // WHY: as libtiff wants it
#define NAME "picture"                                         // libtiff wants one, too

struct tiff {
    struct codec_buffer raster;   // RGBA without gaps
    struct codec_buffer metadata; // of the last head
};

// A file in memory, and what libtiff says of it.
struct stream {
    const uint8_t *data;
    size_t size, at;
    struct codec_buffer *buffer; // what is written to; else NULL
    struct codec_error *error;
    bool failed; // the error is filled in
};

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
    struct stream *stream = handle;
    const size_t left = stream->at < stream->size ? stream->size - stream->at : 0;
    const size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, stream->data + stream->at, count);
    stream->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count)
{
    struct stream *stream = handle;
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
    struct stream *stream = handle;
    stream->at = (size_t)offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? stream->at : stream->size);
    return stream->at;
}

static toff_t size_of(thandle_t handle)
{
    const struct stream *stream = handle;
    return stream->size;
}

static int leave_open(thandle_t handle)
{
    return 0;
}

static const char *without(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : text;
}

// The first error is the one that tells.
static int take_error(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    struct stream *stream = user;
    char text[CODEC_WHY / 2];
    vsnprintf(text, sizeof(text), format, arguments);
    if (!stream->failed && strncmp(text, "Read error", 10) == 0)
        codec_refuse(stream->error, CODEC_DAMAGED, "the file is cut short");
    else if (!stream->failed)
        codec_refuse(stream->error, CODEC_DAMAGED, "the picture is damaged (libtiff: %s)", without(text, NAME ": "));
    stream->failed = true;
    return 1;
}

static int take_warning(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    return 1;
}

// NULL, and why, where it cannot be opened. libtiff gets about `bytes` at a time at most.
static TIFF *open_stream(struct stream *stream, const char *mode, uint64_t bytes)
{
    TIFF *file = NULL;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(ALWAYS_BYTES + bytes));
        TIFFOpenOptionsSetErrorHandlerExtR(options, take_error, stream);
        TIFFOpenOptionsSetWarningHandlerExtR(options, take_warning, stream);
        file = TIFFClientOpenExt(NAME, mode, stream, read_bytes, write_bytes, seek_to, leave_open, size_of, NULL, NULL,
                                 options);
        TIFFOpenOptionsFree(options);
    }
    if (!file && !stream->failed)
        codec_refuse(stream->error, CODEC_NO_MEMORY, "there is not enough memory");
    stream->failed = stream->failed && !file; // tags that it leaves out, such as an orientation of 0
    return file;
}

// libtiff knows more, some of it from libraries that trust what they read.
static bool is_packed_well(int compression)
{
    return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW || compression == COMPRESSION_DEFLATE ||
           compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_PACKBITS;
}

static bool is_grey(const TIFFRGBAImage *reader)
{
    return reader->photometric == PHOTOMETRIC_MINISBLACK || reader->photometric == PHOTOMETRIC_MINISWHITE;
}

static enum pixfmt format_of(const TIFFRGBAImage *reader)
{
    return is_grey(reader) && !reader->alpha ? PIXFMT_GREY : PIXFMT_RGBA;
}

// libtiff cuts 16 bits to 8 in palettes; of these nothing is lost.
static void round_palette(TIFF *file)
{
    uint16_t bits = 0, *map[3];
    TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
    if (bits > 8 || !TIFFGetField(file, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
        return;
    bool deep = false; // else it holds 8 bits in the first place, as some do
    for (int i = 0; i < 3 << bits; i++)
        deep |= map[i % 3][i / 3] > 255;
    for (int i = 0; deep && i < 3 << bits; i++)
        map[i % 3][i / 3] = (uint16_t)((map[i % 3][i / 3] + 128) / 257 * 257);
}

// And it cuts grey: this rounds, as libtiff itself does with colours.
static void put_deep_grey(TIFFRGBAImage *reader, uint32_t *to, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                          int32_t skip, int32_t skip_to, unsigned char *from)
{
    const uint32_t turned = reader->photometric == PHOTOMETRIC_MINISWHITE ? 255 : 0;
    for (; height > 0; height--, to += skip_to, from += 2 * skip) {
        for (uint32_t i = 0; i < width; i++, from += 2) {
            uint16_t sample;
            memcpy(&sample, from, sizeof(sample));
            *to++ = 0x010101 * ((sample + 128u) / 257 ^ turned) | 0xff000000;
        }
    }
}

// A reader of the file's first picture, to be ended. *multiplied: its colours are multiplied by alpha.
static bool begin(TIFFRGBAImage *reader, TIFF *file, bool *multiplied, struct codec_error *error)
{
    const uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
    uint16_t compression = 0, sample_format = 0, extras = 0, *extra = NULL;
    char why[WHY] = "";
    TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &sample_format);
    TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &extras, &extra);
    if (!is_packed_well(compression))
        return codec_refuse(error, CODEC_UNSUPPORTED, "TIFF's compression %d is not supported; convert it first",
                            compression);
    *multiplied = extras > 0 && extra[0] == EXTRASAMPLE_ASSOCALPHA;
    if (extras > 0 && extra[0] == EXTRASAMPLE_UNASSALPHA) // libtiff would multiply them
        TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &associated);
    round_palette(file);
    if (!TIFFRGBAImageBegin(reader, file, 1, why))
        return codec_refuse(error, CODEC_UNSUPPORTED, "libtiff says: %s; convert it to RGB first",
                            without(why, "Sorry, "));
    reader->req_orientation = ORIENTATION_TOPLEFT;
    if (format_of(reader) == PIXFMT_GREY && reader->bitspersample == 16)
        reader->put.contig = put_deep_grey;
    const bool colours = reader->photometric == PHOTOMETRIC_RGB || reader->photometric == PHOTOMETRIC_PALETTE;
    if ((colours || is_grey(reader)) && sample_format == SAMPLEFORMAT_UINT &&
        (!reader->alpha || reader->samplesperpixel == 4 || (is_grey(reader) && reader->bitspersample == 8)))
        return true;
    TIFFRGBAImageEnd(reader);
    return codec_refuse(error, CODEC_UNSUPPORTED, "%s pictures are not supported; convert it to RGB first",
                        reader->photometric == PHOTOMETRIC_SEPARATED ? "CMYK" : "TIFF's less usual");
}

static bool is_thumbnail(TIFF *file)
{
    uint32_t type = 0;
    return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &type) && (type & FILETYPE_REDUCEDIMAGE);
}

static bool take_metadata(struct tiff *tiff, TIFF *file, int orientation, struct codec_metadata *metadata)
{
    // TIFF 6.0: the orientation alone, as EXIF data, which is what other formats have it in.
    const uint8_t exif[] = {'I', 'I', '*', 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, (uint8_t)orientation,
                            0,   0,   0,   0, 0, 0, 0};
    uint32_t size = 0;
    void *data = NULL;
    if (TIFFGetField(file, TIFFTAG_ICCPROFILE, &size, &data) && size > 0)
        metadata->icc = (struct codec_bytes){data, size};
    if (TIFFGetField(file, TIFFTAG_XMLPACKET, &size, &data) && size > 0)
        metadata->xmp = (struct codec_bytes){data, size};
    if (orientation > 1 && orientation <= 8)
        metadata->exif = (struct codec_bytes){exif, sizeof(exif)};
    return codec_metadata_keep(metadata, &tiff->metadata);
}

static bool read_head(struct tiff *tiff, TIFF *file, struct codec_head *head, struct codec_error *error)
{
    TIFFRGBAImage reader;
    bool multiplied;
    uint32_t width = 0, height = 0;
    TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height);
    head->shape.width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    head->shape.height = height <= IMAGE_MAX_SIDE ? (int)height : IMAGE_MAX_SIDE + 1;
    if (is_thumbnail(file))
        return codec_refuse(error, CODEC_UNSUPPORTED, "its first picture is a thumbnail, as in cameras' raw files");
    if (!begin(&reader, file, &multiplied, error))
        return false;
    head->shape.format = format_of(&reader);
    head->shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
    head->jpeg = is_grey(&reader) ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = reader.alpha;
    TIFFRGBAImageEnd(&reader);
    if (!take_metadata(tiff, file, reader.orientation, &head->metadata))
        return codec_refuse(error, CODEC_NO_MEMORY, "there is not enough memory");
    if (TIFFReadDirectory(file) && !is_thumbnail(file))
        return codec_refuse(error, CODEC_UNSUPPORTED, "it has several pages, which are not supported; split it first");
    *error = (struct codec_error){0}; // of what is behind the picture
    return true;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct stream stream = {.data = data, .size = size, .error = error};
    TIFF *file = open_stream(&stream, "r", size);
    const bool ok = file && read_head(state, file, head, error);
    if (file)
        TIFFClose(file);
    return ok;
}

// A row of the raster, its colours divided by alpha again where they were multiplied (TIFF 6.0, section 18).
static void put_row(uint8_t *to, const uint8_t *rgba, enum pixfmt format, int width, bool multiplied)
{
    if (format == PIXFMT_RGBA)
        memcpy(to, rgba, 4 * (size_t)width);
    for (int x = 0; x < width && format == PIXFMT_GREY; x++)
        to[x] = rgba[4 * x];
    for (int x = 0; x < width && multiplied; x++, to += 4) {
        for (int c = 0; c < 3 && to[3] > 0; c++) {
            const int value = (to[c] * 255 + to[3] / 2) / to[3];
            to[c] = (uint8_t)(value < 255 ? value : 255);
        }
    }
}

static bool decode_file(struct tiff *tiff, TIFF *file, struct stream *stream, struct image *image)
{
    const int width = image->shape.width, height = image->shape.height;
    TIFFRGBAImage reader;
    bool multiplied;
    if (!codec_buffer_room(&tiff->raster, 4 * (size_t)width * (size_t)height))
        return codec_refuse(stream->error, CODEC_NO_MEMORY, "there is not enough memory");
    if (!begin(&reader, file, &multiplied, stream->error))
        return false;
    const bool same = reader.width == (uint32_t)width && reader.height == (uint32_t)height &&
                      format_of(&reader) == image->shape.format;
    reader.orientation = ORIENTATION_TOPLEFT; // pixels as they lie
    const bool ok = same &&
                    TIFFRGBAImageGet(&reader, (uint32_t *)(void *)tiff->raster.data, reader.width, reader.height) &&
                    !stream->failed;
    TIFFRGBAImageEnd(&reader);
    for (int y = 0; ok && y < height; y++)
        put_row(image->plane[0] + (size_t)y * image->stride[0], tiff->raster.data + 4 * (size_t)y * (size_t)width,
                image->shape.format, width, multiplied);
    if (!ok && !stream->failed)
        codec_refuse(stream->error, CODEC_DAMAGED, "it is not the picture that its head announced");
    return ok;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    const uint64_t pixels = (uint64_t)image->shape.width * (uint64_t)image->shape.height;
    struct stream stream = {.data = data, .size = size, .error = error};
    TIFF *file = open_stream(&stream, "r", size + 8 * pixels); // four samples of 16 bits at most
    const bool ok = file && decode_file(state, file, &stream, image);
    if (file)
        TIFFClose(file);
    return ok;
}

static void set_fields(TIFF *file, const struct image *image, const struct codec_settings *settings)
{
    const struct codec_metadata *metadata = &settings->metadata;
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    const int kept = metadata->exif.data ? exif_orientation(metadata->exif.data, metadata->exif.size) : 1;
    TIFFSetField(file, TIFFTAG_IMAGEWIDTH, (uint32_t)image->shape.width);
    TIFFSetField(file, TIFFTAG_IMAGELENGTH, (uint32_t)image->shape.height);
    TIFFSetField(file, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(file, TIFFTAG_SAMPLESPERPIXEL, (settings->grey ? 1 : 3) + !settings->opaque);
    TIFFSetField(file, TIFFTAG_PHOTOMETRIC, settings->grey ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    TIFFSetField(file, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(file, TIFFTAG_ROWSPERSTRIP, STRIP_ROWS);
    TIFFSetField(file, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(file, TIFFTAG_ZIPQUALITY, settings->compression ? settings->compression : 1);
    TIFFSetField(file, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    TIFFSetField(file, TIFFTAG_ORIENTATION, settings->orientation ? settings->orientation : kept);
    if (!settings->opaque)
        TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    if (metadata->icc.data)
        TIFFSetField(file, TIFFTAG_ICCPROFILE, (uint32_t)metadata->icc.size, metadata->icc.data);
    if (metadata->xmp.data)
        TIFFSetField(file, TIFFTAG_XMLPACKET, (uint32_t)metadata->xmp.size, metadata->xmp.data);
}

static bool write_file(struct tiff *tiff, TIFF *file, const struct image *image, const struct codec_settings *settings)
{
    const int colours = settings->grey ? 1 : 3;
    bool ok = codec_buffer_room(&tiff->raster, 4 * (size_t)image->shape.width);
    for (int y = 0; ok && y < image->shape.height; y++) {
        const uint8_t *rgba = image->plane[0] + (size_t)y * image->stride[0];
        uint8_t *to = tiff->raster.data;
        for (int x = 0; x < image->shape.width; x++, rgba += 4) {
            for (int c = 0; c < colours; c++)
                *to++ = rgba[c];
            if (!settings->opaque)
                *to++ = rgba[3];
        }
        ok = TIFFWriteScanline(file, tiff->raster.data, (uint32_t)y, 0) > 0;
    }
    return ok && TIFFWriteDirectory(file);
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    if (image->shape.format != PIXFMT_RGBA)
        return codec_refuse(error, CODEC_UNSUPPORTED, "a TIFF file is made from rgba");
    struct stream stream = {.buffer = buffer, .error = error};
    TIFF *file = open_stream(&stream, "wl", 8 * (uint64_t)image->shape.width * STRIP_ROWS);
    if (file)
        set_fields(file, image, settings);
    const bool ok = file && write_file(state, file, image, settings);
    if (file)
        TIFFClose(file);
    buffer->size = stream.size;
    if (!ok)
        return codec_refuse(error, CODEC_NO_MEMORY, "there is not enough memory to make a TIFF file");
    if (settings->metadata.exif.data)
        codec_refuse(error, CODEC_FINE, "of its EXIF data only the orientation is kept in a TIFF file");
    return true;
}

static void tiff_close(void *state)
{
    struct tiff *tiff = state;
    codec_buffer_free(&tiff->raster);
    codec_buffer_free(&tiff->metadata);
}

static const char *const extensions[] = {"tif", "tiff", NULL};

const struct codec_kind codec_tiff = {
    .info = {.name = "tiff", .extensions = extensions, .writes = true},
    .state_bytes = sizeof(struct tiff),
    .close = tiff_close,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
    .encode = encode,
};
