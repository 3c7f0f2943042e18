// tiff_read.c: pixels and metadata out of TIFF files
#include "image/codec/exif.h"
#include "image/codec/tiff.h"

#include <string.h>

enum { WHY = 1024 }; // as libtiff wants it

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

static bool is_whole(const TIFFRGBAImage *reader)
{
    return (is_grey(reader) || reader->photometric == PHOTOMETRIC_RGB) && reader->bitspersample >= 8;
}

// A sample of `bytes` bytes as 8 bits. Where colours are multiplied by alpha, it is divided again (TIFF 6.0, section
// 18): `alpha` is 0 elsewhere.
static uint8_t sample_of(const uint8_t *from, int bytes, uint32_t alpha)
{
    uint16_t deep = from[0];
    if (bytes == 2)
        memcpy(&deep, from, sizeof(deep));
    if (alpha == 0)
        return (uint8_t)(bytes == 2 ? (deep + 128u) / 257 : deep);
    const uint32_t value = (deep * 255u + alpha / 2) / alpha;
    return (uint8_t)(value < 255 ? value : 255);
}

// Converts rows to RGBA. `samples` are red, green, blue and alpha (NULL: opaque); neighbours are `step` bytes apart.
static inline void put_rows(const TIFFRGBAImage *reader, uint8_t *to, uint32_t width, uint32_t height, int32_t skip,
                            int32_t skip_to, const uint8_t *const samples[4], size_t step, int bytes)
{
    const uint8_t turned = reader->photometric == PHOTOMETRIC_MINISWHITE ? 255 : 0;
    size_t at = 0;
    for (uint32_t y = 0; y < height; y++, at += (size_t)skip * step, to += 4 * (ptrdiff_t)skip_to) {
        for (uint32_t x = 0; x < width; x++, at += step, to += 4) {
            uint16_t alpha = samples[3] ? samples[3][at] : 0;
            if (samples[3] && bytes == 2)
                memcpy(&alpha, samples[3] + at, sizeof(alpha));
            for (int c = 0; c < 3; c++)
                to[c] = turned ^ sample_of(samples[c] + at, bytes, reader->alpha == EXTRASAMPLE_ASSOCALPHA ? alpha : 0);
            to[3] = samples[3] ? sample_of(samples[3] + at, bytes, 0) : 255;
        }
    }
}

// libtiff's own routines cut grey of 16 bits to 8, multiply by alpha, and lose their place in a tile at the right edge
// where grey has extra samples. These round, and leave colours as they are.
static void put_together(TIFFRGBAImage *reader, uint32_t *to, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                         int32_t skip, int32_t skip_to, unsigned char *from)
{
    const size_t bytes = reader->bitspersample / 8, colour = is_grey(reader) ? 0 : bytes;
    const uint8_t *const samples[] = {from, from + colour, from + 2 * colour,
                                      reader->alpha ? from + 2 * colour + bytes : NULL};
    if (bytes == 2)
        put_rows(reader, (uint8_t *)to, width, height, skip, skip_to, samples, 2 * (size_t)reader->samplesperpixel, 2);
    else
        put_rows(reader, (uint8_t *)to, width, height, skip, skip_to, samples, reader->samplesperpixel, 1);
}

static void put_separate(TIFFRGBAImage *reader, uint32_t *to, uint32_t x, uint32_t y, uint32_t width, uint32_t height,
                         int32_t skip, int32_t skip_to, unsigned char *red, unsigned char *green, unsigned char *blue,
                         unsigned char *alpha)
{
    const uint8_t *const samples[] = {red, green, blue, reader->alpha ? alpha : NULL};
    const int bytes = reader->bitspersample / 8;
    put_rows(reader, (uint8_t *)to, width, height, skip, skip_to, samples, (size_t)bytes, bytes);
}

// What of a picture's samples is understood here.
static bool samples_ok(const TIFFRGBAImage *reader, int sample_format, const uint16_t *extra, int extras)
{
    const int colours = is_grey(reader) ? 1 : 3;
    const bool palette = reader->photometric == PHOTOMETRIC_PALETTE;
    if (sample_format != SAMPLEFORMAT_UINT || (!is_whole(reader) && !palette && !is_grey(reader)))
        return false;
    if (!is_whole(reader))
        return reader->samplesperpixel == 1;
    for (int i = 1; i < extras; i++) // libtiff takes alpha from the first
        if (extra[0] == EXTRASAMPLE_UNSPECIFIED && extra[i] != EXTRASAMPLE_UNSPECIFIED)
            return false;
    return reader->samplesperpixel >= colours + (reader->alpha ? 1 : 0);
}

// A reader of the file's first picture, to be ended.
static bool begin(TIFFRGBAImage *reader, TIFF *file, struct codec_error *error)
{
    uint16_t compression = 0, sample_format = 0, photometric = 0, extras = 0, *extra = NULL;
    char why[WHY] = "";
    TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &sample_format);
    TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &extras, &extra);
    if (!is_packed_well(compression))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "TIFF compression %d is not supported; convert the image to PNG first", compression);
    if (TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric) && photometric == PHOTOMETRIC_SEPARATED)
        return codec_refuse(error, CODEC_UNSUPPORTED, "CMYK images are not supported; convert the image to RGB first");
    round_palette(file);
    if (!TIFFRGBAImageBegin(reader, file, 1, why))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "libtiff cannot read it (%s); convert the image to 8-bit RGB first",
                            tiff_without(why, "Sorry, "));
    reader->req_orientation = ORIENTATION_TOPLEFT;
    if (reader->alpha && (extras == 0 || extra[0] != EXTRASAMPLE_ASSOCALPHA)) // also of a fourth sample of no kind
        reader->alpha = EXTRASAMPLE_UNASSALPHA;
    if (is_whole(reader) && reader->isContig)
        reader->put.contig = put_together;
    else if (is_whole(reader))
        reader->put.separate = put_separate;
    if (samples_ok(reader, sample_format, extra, extras))
        return true;
    TIFFRGBAImageEnd(reader);
    return codec_refuse(error, CODEC_UNSUPPORTED,
                        "its TIFF sample format is not supported; convert the image to 8-bit RGB first");
}

// Returns the least number of bytes that the samples take in a file; 0 if the image is too large for monocle.
static uint64_t least_bytes(TIFF *file, const TIFFRGBAImage *reader)
{
    uint16_t compression = 0;
    if (reader->width > IMAGE_MAX_SIDE || reader->height > IMAGE_MAX_SIDE)
        return 0;
    const uint64_t bits = (uint64_t)reader->width * reader->height * reader->samplesperpixel * reader->bitspersample;
    TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression);
    switch (compression) {
    case COMPRESSION_NONE:
        return bits / 8;
    case COMPRESSION_PACKBITS: // TIFF 6.0, section 9: two bytes for at most 128
        return bits / 8 / 64;
    case COMPRESSION_LZW:
        return bits / 8 / CODEC_LZW_MOST;
    default:
        return bits / 8 / CODEC_DEFLATE_MOST;
    }
}

static bool is_thumbnail(TIFF *file)
{
    uint32_t type = 0;
    return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &type) && (type & FILETYPE_REDUCEDIMAGE);
}

static bool take_metadata(struct tiff *tiff, TIFF *file, const struct tiff_stream *stream, int orientation,
                          struct codec_metadata *metadata)
{
    uint32_t size = 0;
    void *data = NULL;
    bool left_out = false;
    if (TIFFGetField(file, TIFFTAG_ICCPROFILE, &size, &data) && size > 0)
        metadata->icc = (struct codec_bytes){data, size};
    if (TIFFGetField(file, TIFFTAG_XMLPACKET, &size, &data) && size > 0)
        metadata->xmp = (struct codec_bytes){data, size};
    if (exif_from_tiff(stream->data, stream->size, orientation <= 8 ? orientation : 1, &tiff->exif, &left_out))
        metadata->exif = (struct codec_bytes){tiff->exif.data, tiff->exif.size};
    if (left_out)
        metadata->left_out = TIFF_EXIF_LEFT_OUT;
    return codec_metadata_keep(metadata, &tiff->metadata);
}

static bool read_head(struct tiff *tiff, TIFF *file, const struct tiff_stream *stream, struct codec_head *head,
                      struct codec_error *error)
{
    TIFFRGBAImage reader;
    uint32_t width = 0, height = 0;
    TIFFGetField(file, TIFFTAG_IMAGEWIDTH, &width);
    TIFFGetField(file, TIFFTAG_IMAGELENGTH, &height);
    head->shape.width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    head->shape.height = height <= IMAGE_MAX_SIDE ? (int)height : IMAGE_MAX_SIDE + 1;
    if (is_thumbnail(file))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "its first image is a thumbnail, as in camera raw files; convert it to PNG or JPEG first");
    if (!begin(&reader, file, error))
        return false;
    head->shape.format = format_of(&reader);
    head->shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
    head->jpeg = is_grey(&reader) ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = reader.alpha != 0;
    TIFFRGBAImageEnd(&reader);
    if (!codec_can_hold(stream->size, least_bytes(file, &reader), error))
        return false;
    if (!take_metadata(tiff, file, stream, reader.orientation, &head->metadata))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (TIFFReadDirectory(file) && !is_thumbnail(file))
        return codec_refuse(error, CODEC_UNSUPPORTED, "it has several pages; split it into files of one page first");
    *error = (struct codec_error){0}; // of what is behind the picture
    return true;
}

bool tiff_head(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct tiff_stream stream = {.data = data, .size = size, .error = error};
    TIFF *file = tiff_stream_open(&stream, "r", size);
    const bool ok = file && read_head(state, file, &stream, head, error);
    if (file)
        TIFFClose(file);
    return ok;
}

static void put_row(uint8_t *to, const uint8_t *rgba, enum pixfmt format, int width)
{
    if (format == PIXFMT_RGBA)
        memcpy(to, rgba, 4 * (size_t)width);
    for (int x = 0; x < width && format == PIXFMT_GREY; x++)
        to[x] = rgba[4 * x];
}

static bool decode_file(struct tiff *tiff, TIFF *file, struct tiff_stream *stream, struct image *image)
{
    const int width = image->shape.width, height = image->shape.height;
    TIFFRGBAImage reader;
    if (!codec_buffer_room(&tiff->raster, 4 * (size_t)width * (size_t)height))
        return codec_refuse(stream->error, CODEC_NO_MEMORY, "out of memory");
    if (!begin(&reader, file, stream->error))
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
                image->shape.format, width);
    if (!ok && !stream->failed)
        codec_refuse(stream->error, CODEC_DAMAGED, "its pixels do not match its header");
    return ok;
}

bool tiff_decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                 struct codec_error *error)
{
    const uint64_t pixels = (uint64_t)image->shape.width * (uint64_t)image->shape.height;
    struct tiff_stream stream = {.data = data, .size = size, .error = error};
    TIFF *file = tiff_stream_open(&stream, "r", size + 12 * pixels); // six samples of 16 bits at most
    const bool ok = file && decode_file(state, file, &stream, image);
    if (file)
        TIFFClose(file);
    return ok;
}
