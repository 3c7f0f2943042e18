// tiff_write.c: TIFF files made of pixels and metadata
#include "image/codec/exif.h"
#include "image/codec/tiff.h"

enum { STRIP_ROWS = 64 };

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

bool tiff_encode(void *state, const struct image *image, const struct codec_settings *settings,
                 struct codec_buffer *buffer, struct codec_error *error)
{
    if (image->shape.format != PIXFMT_RGBA)
        return codec_refuse(error, CODEC_UNSUPPORTED, "TIFF files can be written from rgba pixels only");
    struct tiff_stream stream = {.buffer = buffer, .error = error};
    const struct codec_bytes exif = settings->metadata.exif;
    const bool big_endian = exif.size > 0 && exif.data[0] == 'M'; // as what goes into it
    TIFF *file = tiff_stream_open(&stream, big_endian ? "wb" : "wl", 8 * (uint64_t)image->shape.width * STRIP_ROWS);
    if (file)
        set_fields(file, image, settings);
    const bool ok = file && write_file(state, file, image, settings);
    if (file)
        TIFFClose(file);
    buffer->size = stream.size;
    if (!ok)
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    if (exif.data && !exif_into_tiff(exif.data, exif.size, buffer))
        codec_leave_out(error, TIFF_EXIF_LEFT_OUT);
    return true;
}
