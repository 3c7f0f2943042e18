// tiff.c: TIFF files of one image, by libtiff, from and to memory
#include "image/codec/codec_kind.h"
#include "image/codec/metadata.h"
#include "image/codec/profile.h"

#include <stdio.h>
#include <string.h>

#include <tiffio.h>

enum {
    ALLOC_BYTES = 16 << 20, // that libtiff may always allocate at a time
    WHY_BYTES = 1024,       // of TIFFRGBAImageBegin's reason
    STRIP_ROWS = 64,
    TIFF_MOST = 1536, // maximum bytes per byte: JPEG has at least a bit for the 192 bytes of a block of three channels
};
#define NAME "picture" // libtiff wants one
#define EXIF_LEFT_OUT "the damaged or too long parts of its EXIF data are left out"

struct tiff {
    struct codec_buffer raster;   // RGBA without gaps; a row for writing
    struct codec_buffer exif;     // of the last head
    struct codec_buffer metadata; // of the last head
    struct codec_buffer iptc;     // to be written
};

// A file in memory, and libtiff's first error.
struct tiff_file {
    const uint8_t *data;
    size_t size, at;
    struct codec_buffer *buffer; // for writing; else NULL
    struct codec_error *error;
    bool failed;                   // the error is filled in
    const struct profile *profile; // converts 16 bits to sRGB; NULL: no conversion
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
    struct tiff_file *stream = handle;
    const size_t left = stream->at < stream->size ? stream->size - stream->at : 0;
    const size_t count = (size_t)wanted < left ? (size_t)wanted : left;
    memcpy(to, stream->data + stream->at, count);
    stream->at += count;
    return (tmsize_t)count;
}

static tmsize_t write_bytes(thandle_t handle, void *from, tmsize_t count)
{
    struct tiff_file *stream = handle;
    struct codec_buffer *buffer = stream->buffer;
    const size_t end = stream->at + (size_t)count;
    if (!codec_buffer_room(buffer, end))
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
    struct tiff_file *stream = handle;
    size_t base = 0;
    if (whence != SEEK_SET)
        base = whence == SEEK_CUR ? stream->at : stream->size;
    stream->at = base + (size_t)offset;
    return stream->at;
}

static toff_t size_of(thandle_t handle)
{
    const struct tiff_file *stream = handle;
    return stream->size;
}

// Without a mapping, libtiff refuses uncompressed tiles whose size is no multiple of 1 KiB.
static int map_bytes(thandle_t handle, void **base, toff_t *size)
{
    const struct tiff_file *stream = handle;
    *base = (void *)(uintptr_t)stream->data; // only read
    *size = stream->size;
    return stream->buffer == NULL;
}

static void leave_mapped(thandle_t handle, void *base, toff_t size) {}

static int leave_open(thandle_t handle)
{
    return 0;
}

// Returns libtiff's text without its start.
static const char *without(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : text;
}

// Keeps the first error, which names the cause.
static int take_error(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    struct tiff_file *stream = user;
    char text[CODEC_WHY / 2];
    vsnprintf(text, sizeof(text), format, arguments);
    if (!stream->failed && strncmp(text, "Read error", 10) == 0)
        codec_refuse(stream->error, CODEC_DAMAGED, "the file is truncated");
    else if (!stream->failed)
        codec_refuse(stream->error, CODEC_DAMAGED, "the image is damaged (libtiff: %s)", without(text, NAME ": "));
    stream->failed = true;
    return 1;
}

static int take_warning(TIFF *file, void *user, const char *module, const char *format, va_list arguments)
{
    return 1;
}

// Returns NULL and fills in the error if the file cannot be opened. libtiff allocates about `bytes` at a time at most.
// Close it with TIFFClose.
static TIFF *stream_open(struct tiff_file *stream, const char *mode, uint64_t bytes)
{
    TIFF *file = NULL;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options) {
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)(ALLOC_BYTES + bytes));
        TIFFOpenOptionsSetErrorHandlerExtR(options, take_error, stream);
        TIFFOpenOptionsSetWarningHandlerExtR(options, take_warning, stream);
        file = TIFFClientOpenExt(NAME, mode, stream, read_bytes, write_bytes, seek_to, leave_open, size_of, map_bytes,
                                 leave_mapped, options);
        TIFFOpenOptionsFree(options);
    }
    if (!file && !stream->failed)
        codec_refuse(stream->error, CODEC_NO_MEMORY, "out of memory");
    stream->failed = stream->failed && !file; // an opened file only lacks bad tags, such as an orientation of 0
    return file;
}

// Refuses the other compressions of libtiff: some come from libraries that trust their input. libjpeg does not.
static bool is_compression_ok(int compression)
{
    return compression == COMPRESSION_NONE || compression == COMPRESSION_LZW || compression == COMPRESSION_DEFLATE ||
           compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_PACKBITS ||
           compression == COMPRESSION_JPEG;
}

static bool is_grey(const TIFFRGBAImage *reader)
{
    return reader->photometric == PHOTOMETRIC_MINISBLACK || reader->photometric == PHOTOMETRIC_MINISWHITE;
}

static enum pixfmt format_of(const TIFFRGBAImage *reader)
{
    return is_grey(reader) && !reader->alpha ? PIXFMT_GREY : PIXFMT_RGBA;
}

// Rounds a palette of 16 bits to 8, because libtiff would truncate it.
static void round_palette(TIFF *file)
{
    uint16_t bits = 0, *map[3];
    TIFFGetFieldDefaulted(file, TIFFTAG_BITSPERSAMPLE, &bits);
    if (bits > 8 || !TIFFGetField(file, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]))
        return;
    bool deep = false; // some files have palettes of 8 bits
    for (int i = 0; i < 3 << bits; i++)
        deep |= map[i % 3][i / 3] > 255;
    for (int i = 0; deep && i < 3 << bits; i++)
        map[i % 3][i / 3] = (uint16_t)((map[i % 3][i / 3] + 128) / 257 * 257);
}

static bool is_whole(const TIFFRGBAImage *reader)
{
    return (is_grey(reader) || reader->photometric == PHOTOMETRIC_RGB) && reader->bitspersample >= 8;
}

// Returns a sample of `bytes` bytes as 8 bits, divided by `alpha` if that is not 0 (TIFF 6.0, section 18: associated
// alpha).
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

// Converts a row of samples of 16 bits to RGBA in sRGB; `at` is the place of the first pixel.
static void put_profiled(const TIFFRGBAImage *reader, const struct profile *profile, uint8_t *to, uint32_t width,
                         const uint8_t *const samples[4], size_t at, size_t step)
{
    enum { GROUP = 64 };
    const bool turned = reader->photometric == PHOTOMETRIC_MINISWHITE;
    const bool divided = reader->alpha == EXTRASAMPLE_ASSOCALPHA;
    for (uint32_t x = 0, count; x < width; x += count, to += 4 * (size_t)count) {
        uint16_t deep[GROUP][4];
        count = width - x < GROUP ? width - x : GROUP;
        for (uint32_t i = 0; i < count; i++, at += step) {
            uint16_t pixel[4] = {[3] = UINT16_MAX};
            for (int c = 0; c < 4 && samples[c]; c++)
                memcpy(&pixel[c], samples[c] + at, sizeof(pixel[c]));
            deep[i][3] = pixel[3];
            for (int c = 0; c < 3; c++) {
                const uint32_t alpha = pixel[3], value = pixel[c];
                const uint32_t whole = divided && alpha > 0 ? (value * UINT16_MAX + alpha / 2) / alpha : value;
                deep[i][c] = (uint16_t)((whole < UINT16_MAX ? whole : UINT16_MAX) ^ (turned ? UINT16_MAX : 0));
            }
        }
        profile_convert_deep(profile, (const uint16_t(*)[4])deep, (uint8_t(*)[4])to, (int)count);
    }
}

// Converts rows to RGBA. `samples` are red, green, blue and alpha (NULL: opaque); neighbours are `step` bytes apart.
static inline void put_rows(const TIFFRGBAImage *reader, uint8_t *to, uint32_t width, uint32_t height, int32_t skip,
                            int32_t skip_to, const uint8_t *const samples[4], size_t step, int bytes)
{
    const uint8_t turned = reader->photometric == PHOTOMETRIC_MINISWHITE ? 255 : 0;
    const struct tiff_file *file = TIFFClientdata(reader->tif);
    size_t at = 0;
    for (uint32_t y = 0; y < height; y++, at += (size_t)skip * step, to += 4 * (ptrdiff_t)skip_to) {
        if (file->profile && bytes == 2) {
            put_profiled(reader, file->profile, to, width, samples, at, step);
            at += step * width;
            to += 4 * (size_t)width;
            continue;
        }
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

// This and put_separate replace libtiff's own routines, which truncate 16-bit grey, multiply by alpha, and misplace
// grey with extra samples in tiles at the right edge.
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

// Returns a name of samples that this file cannot convert; NULL: it can.
static const char *odd_samples(const TIFFRGBAImage *reader, int sample_format, const uint16_t *extra, int extras)
{
    const int colours = is_grey(reader) ? 1 : 3;
    const bool palette = reader->photometric == PHOTOMETRIC_PALETTE;
    if (sample_format != SAMPLEFORMAT_UINT)
        return sample_format == SAMPLEFORMAT_INT ? "signed samples" : "samples that are not integers";
    if (!is_whole(reader) && !palette && !is_grey(reader))
        return reader->photometric == PHOTOMETRIC_RGB ? "RGB samples of less than 8 bits" : "samples that are not RGB";
    if (!is_whole(reader) && reader->samplesperpixel != 1)
        return "samples beside a palette, or beside grey of less than 8 bits,";
    for (int i = 1; i < extras && is_whole(reader); i++) // libtiff takes alpha from the first
        if (extra[0] == EXTRASAMPLE_UNSPECIFIED && extra[i] != EXTRASAMPLE_UNSPECIFIED)
            return "samples of unknown kind before alpha";
    if (is_whole(reader) && reader->samplesperpixel < colours + (reader->alpha ? 1 : 0))
        return "fewer samples than colours";
    return NULL;
}

// Opens a reader of the file's first image; end it with TIFFRGBAImageEnd.
static bool begin(TIFFRGBAImage *reader, TIFF *file, struct codec_error *error)
{
    uint16_t compression = 0, sample_format = 0, photometric = 0, extras = 0, *extra = NULL;
    char why[WHY_BYTES] = "";
    const char *samples;
    TIFFGetFieldDefaulted(file, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(file, TIFFTAG_SAMPLEFORMAT, &sample_format);
    if (sample_format == SAMPLEFORMAT_VOID) // TIFF 6.0, section 19: undefined; readers take it for unsigned
        sample_format = SAMPLEFORMAT_UINT;
    TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &extras, &extra);
    const TIFFCodec *coding = TIFFFindCODEC(compression);
    if (!is_compression_ok(compression))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "TIFF compression %d (%s) is not supported; convert the image to PNG first", compression,
                            coding ? coding->name : "unknown");
    if (TIFFGetField(file, TIFFTAG_PHOTOMETRIC, &photometric) && photometric == PHOTOMETRIC_SEPARATED)
        return codec_refuse(error, CODEC_UNSUPPORTED, "CMYK images are not supported; convert the image to RGB first");
    round_palette(file);
    if (!TIFFRGBAImageBegin(reader, file, 1, why))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "libtiff cannot read it (%s); convert the image to 8-bit RGB first",
                            without(why, "Sorry, "));
    reader->req_orientation = ORIENTATION_TOPLEFT;
    if (reader->alpha &&
        (extras == 0 || extra[0] != EXTRASAMPLE_ASSOCALPHA)) // also a fourth sample of unspecified kind
        reader->alpha = EXTRASAMPLE_UNASSALPHA;
    if (is_whole(reader) && reader->isContig)
        reader->put.contig = put_together;
    else if (is_whole(reader))
        reader->put.separate = put_separate;
    if (!(samples = odd_samples(reader, sample_format, extra, extras)))
        return true;
    TIFFRGBAImageEnd(reader);
    return codec_refuse(error, CODEC_UNSUPPORTED, "TIFF %s are not supported; convert the image to 8-bit RGB first",
                        samples);
}

static bool is_thumbnail(TIFF *file)
{
    uint32_t type = 0;
    return TIFFGetField(file, TIFFTAG_SUBFILETYPE, &type) && (type & FILETYPE_REDUCEDIMAGE);
}

static bool has_exif(TIFF *file)
{
    static const uint32_t tags[] = {
        TIFFTAG_EXIFIFD,  TIFFTAG_GPSIFD,   TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,      TIFFTAG_MODEL,
        TIFFTAG_SOFTWARE, TIFFTAG_DATETIME, TIFFTAG_ARTIST,           TIFFTAG_COPYRIGHT,
    };
    union {
        uint64_t directory;
        const char *text;
    } value;
    bool has = false;
    for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++)
        has = has || TIFFGetField(file, tags[i], &value);
    return has;
}

static void take_density(TIFF *file, struct codec_metadata *metadata)
{
    float across = 0, down = 0;
    uint16_t unit = RESUNIT_INCH;
    TIFFGetField(file, TIFFTAG_XRESOLUTION, &across);
    TIFFGetField(file, TIFFTAG_YRESOLUTION, &down);
    TIFFGetField(file, TIFFTAG_RESOLUTIONUNIT, &unit);
    double *density = unit == RESUNIT_NONE ? metadata->aspect : metadata->density;
    if (!(across > 0) || !(down > 0) || (unit == RESUNIT_NONE && across == down)) // also of files that do not know it
        return;
    density[0] = across * (unit == RESUNIT_CENTIMETER ? 2.54 : 1);
    density[1] = down * (unit == RESUNIT_CENTIMETER ? 2.54 : 1);
}

static bool take_metadata(struct tiff *tiff, TIFF *file, const struct tiff_file *stream, int orientation,
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
    metadata->iptc = exif_value(stream->data, stream->size, TIFFTAG_RICHTIFFIPTC);
    if (!metadata->iptc.data)
        metadata->iptc = photoshop_iptc(exif_value(stream->data, stream->size, TIFFTAG_PHOTOSHOP));
    take_density(file, metadata);
    if (left_out)
        codec_lacks(metadata, EXIF_LEFT_OUT);
    else if (TIFFIsBigTIFF(file) && has_exif(file))
        codec_lacks(metadata, "its EXIF data are left out, because it is a BigTIFF file");
    return codec_metadata_keep(metadata, &tiff->metadata);
}

static bool read_head(struct tiff *tiff, TIFF *file, const struct tiff_file *stream, struct codec_head *head,
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
                            "its first image is a thumbnail, as in camera raw files; develop or convert it first");
    if (!begin(&reader, file, error))
        return false;
    head->shape.format = format_of(&reader);
    head->shape.color = (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL};
    head->jpeg = is_grey(&reader) ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = reader.alpha != 0;
    head->remarks = reader.bitspersample == 16 ? CODEC_DEEP : 0;
    const uint64_t bits = (uint64_t)reader.width * reader.height * reader.samplesperpixel * reader.bitspersample;
    TIFFRGBAImageEnd(&reader);
    if (!codec_can_hold(stream->size, bits / 8 / TIFF_MOST, error))
        return false;
    if (!take_metadata(tiff, file, stream, reader.orientation, &head->metadata))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (TIFFReadDirectory(file) && !is_thumbnail(file))
        return codec_refuse(error, CODEC_UNSUPPORTED, "it has several pages; split it into files of one page first");
    *error = (struct codec_error){0}; // errors of later directories do not count
    return true;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct tiff_file stream = {.data = data, .size = size, .error = error};
    TIFF *file = stream_open(&stream, "r", size);
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

static bool decode_file(struct tiff *tiff, TIFF *file, struct tiff_file *stream, struct image *image)
{
    const int width = image->shape.width, height = image->shape.height;
    TIFFRGBAImage reader;
    if (!codec_buffer_room(&tiff->raster, 4 * (size_t)width * (size_t)height))
        return codec_refuse(stream->error, CODEC_NO_MEMORY, "out of memory");
    if (!begin(&reader, file, stream->error))
        return false;
    const struct image_shape shape = {
        .format = format_of(&reader), .width = (int)reader.width, .height = (int)reader.height};
    reader.orientation = ORIENTATION_TOPLEFT; // pixels in file order
    const bool ok = codec_fits(image, &shape, stream->error) &&
                    TIFFRGBAImageGet(&reader, (uint32_t *)(void *)tiff->raster.data, reader.width, reader.height) &&
                    !stream->failed;
    TIFFRGBAImageEnd(&reader);
    for (int y = 0; ok && y < height; y++)
        put_row(image->plane[0] + (size_t)y * image->stride[0], tiff->raster.data + 4 * (size_t)y * (size_t)width,
                image->shape.format, width);
    if (!ok && stream->error->fault == CODEC_FINE)
        codec_refuse(stream->error, CODEC_DAMAGED, "the image is damaged");
    return ok;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    const uint64_t pixels = (uint64_t)image->shape.width * (uint64_t)image->shape.height;
    struct tiff_file stream = {.data = data, .size = size, .error = error, .profile = head->profile};
    TIFF *file = stream_open(&stream, "r", size + 12 * pixels); // six samples of 16 bits at most
    const bool ok = file && decode_file(state, file, &stream, image);
    if (file)
        TIFFClose(file);
    return ok;
}

static void set_fields(TIFF *file, const struct image *image, const struct codec_settings *settings)
{
    const struct codec_metadata *metadata = &settings->metadata;
    const uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    const int orientation = metadata->exif.data ? exif_orientation(metadata->exif.data, metadata->exif.size) : 1;
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
    TIFFSetField(file, TIFFTAG_ORIENTATION, orientation);
    if (!settings->opaque)
        TIFFSetField(file, TIFFTAG_EXTRASAMPLES, 1, &alpha);
    double density[2];
    const double *own = metadata->density[0] > 0 ? metadata->density : metadata->aspect;
    if (own[0] > 0 && !exif_density(metadata->exif.data, metadata->exif.size, density)) {
        TIFFSetField(file, TIFFTAG_XRESOLUTION, own[0]);
        TIFFSetField(file, TIFFTAG_YRESOLUTION, own[1]);
        TIFFSetField(file, TIFFTAG_RESOLUTIONUNIT, own == metadata->density ? RESUNIT_INCH : RESUNIT_NONE);
    }
    if (metadata->icc.data)
        TIFFSetField(file, TIFFTAG_ICCPROFILE, (uint32_t)metadata->icc.size, metadata->icc.data);
    if (metadata->xmp.data)
        TIFFSetField(file, TIFFTAG_XMLPACKET, (uint32_t)metadata->xmp.size, metadata->xmp.data);
}

// Some versions of libtiff take the tag as bytes, others as 4-byte numbers, whose bytes they swap for a file of the
// other byte order. Returns false if there is no memory.
static bool set_iptc(struct tiff *tiff, TIFF *file, struct codec_bytes iptc)
{
    const TIFFField *field = TIFFFindField(file, TIFFTAG_RICHTIFFIPTC, TIFF_ANY);
    const size_t count = (iptc.size + 3) / 4;
    tiff->iptc.size = 0;
    if (!iptc.data)
        return true;
    if (field && TIFFFieldDataType(field) != TIFF_LONG)
        return TIFFSetField(file, TIFFTAG_RICHTIFFIPTC, (uint32_t)iptc.size, iptc.data);
    if (!codec_buffer_append(&tiff->iptc, iptc.data, iptc.size) ||
        !codec_buffer_append(&tiff->iptc, (const uint8_t[3]){0}, 4 * count - iptc.size))
        return false;
    if (TIFFIsByteSwapped(file))
        TIFFSwabArrayOfLong((uint32_t *)(void *)tiff->iptc.data, (tmsize_t)count);
    return TIFFSetField(file, TIFFTAG_RICHTIFFIPTC, (uint32_t)count, tiff->iptc.data);
}

static bool write_file(struct tiff *tiff, TIFF *file, const struct image *image, const struct codec_settings *settings)
{
    const int channels = (settings->grey ? 1 : 3) + !settings->opaque;
    bool ok = codec_buffer_room(&tiff->raster, 4 * (size_t)image->shape.width);
    for (int y = 0; ok && y < image->shape.height; y++) {
        codec_pack_row(image, y, channels, tiff->raster.data);
        ok = TIFFWriteScanline(file, tiff->raster.data, (uint32_t)y, 0) > 0;
    }
    return ok && TIFFWriteDirectory(file);
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    struct tiff_file stream = {.buffer = buffer, .error = error};
    const struct codec_bytes exif = settings->metadata.exif;
    const bool big_endian = exif.size > 0 && exif.data[0] == 'M'; // exif_into_tiff needs one byte order
    TIFF *file = stream_open(&stream, big_endian ? "wb" : "wl", 8 * (uint64_t)image->shape.width * STRIP_ROWS);
    if (file)
        set_fields(file, image, settings);
    const bool ok = file && set_iptc(state, file, settings->metadata.iptc) && write_file(state, file, image, settings);
    if (file)
        TIFFClose(file);
    buffer->size = stream.size;
    if (!ok)
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (exif.data && !exif_into_tiff(exif.data, exif.size, buffer))
        codec_leave_out(error, EXIF_LEFT_OUT);
    return true;
}

static const char *const extensions[] = {"tif", "tiff", NULL};

const struct codec_kind codec_tiff = {
    .info = {.name = "tiff", .extensions = extensions, .writes = true, .compression = true},
    .state_bytes = sizeof(struct tiff),
    .buffers = 4,
    .looks_so = looks_so,
    .head = head_of,
    .keeps = CODEC_KEEPS_IPTC,
    .encodes = 1 << PIXFMT_RGBA,
    .decode = decode,
    .encode = encode,
};
