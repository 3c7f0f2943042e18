// jpeg_write.c: planes into JPEG
#include "image/codec/jpeg.h"

#include "image/codec/exif.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BYTES = 1 << 16, QUALITY = 90, SEGMENT_MAX = 65533, PROFILE_MOST = 255 * (SEGMENT_MAX - 14) };

static struct jpeg_writer *writer_of(j_compress_ptr info)
{
    return info->client_data;
}

static void give_room(j_compress_ptr info, size_t used, size_t room)
{
    struct codec_buffer *buffer = writer_of(info)->buffer;
    buffer->size = used;
    if (!codec_buffer_room(buffer, room))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    info->dest->next_output_byte = buffer->data + used;
    info->dest->free_in_buffer = buffer->room - used;
}

static void begin(j_compress_ptr info)
{
    give_room(info, 0, FIRST_BYTES);
}

static boolean grow(j_compress_ptr info)
{
    const size_t room = writer_of(info)->buffer->room;
    give_room(info, room, 2 * room);
    return TRUE;
}

static void end(j_compress_ptr info)
{
    struct codec_buffer *buffer = writer_of(info)->buffer;
    buffer->size = buffer->room - info->dest->free_in_buffer;
}

// Within setjmp.
static void start(struct jpeg_writer *writer, struct codec_buffer *buffer)
{
    struct jpeg_compress_struct *info = &writer->info;
    if (!writer->open) {
        info->err = jpeg_errors_init(&writer->errors);
        info->client_data = writer;
        jpeg_create_compress(info);
        writer->open = true;
        info->dest = &writer->destination;
        writer->destination.init_destination = begin;
        writer->destination.empty_output_buffer = grow;
        writer->destination.term_destination = end;
    }
    jpeg_abort_compress(info);
    writer->buffer = buffer;
}

static void configure(struct jpeg_compress_struct *info, const struct image_shape *shape, int quality)
{
    int across, down;
    jpeg_sampling(shape->format, &across, &down);
    const bool grey = shape->format == PIXFMT_GREY;
    info->image_width = (JDIMENSION)shape->width;
    info->image_height = (JDIMENSION)shape->height;
    info->input_components = grey ? 1 : PIXFMT_PLANES;
    info->in_color_space = grey ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality ? quality : QUALITY, TRUE);
    info->raw_data_in = TRUE;
    info->comp_info[0].h_samp_factor = across;
    info->comp_info[0].v_samp_factor = down;
}

// One marker of a few letters and some data. False where it would be too long, which a marker cannot be.
static bool write_segment(struct jpeg_writer *writer, const char *name, size_t name_bytes, struct codec_bytes bytes,
                          int orientation)
{
    struct codec_buffer *segment = &writer->segment;
    if (!bytes.data)
        return true;
    if (name_bytes + bytes.size > SEGMENT_MAX)
        return false;
    if (!codec_buffer_room(segment, SEGMENT_MAX))
        ERREXIT1(&writer->info, JERR_OUT_OF_MEMORY, 0);
    memcpy(segment->data, name, name_bytes);
    memcpy(segment->data + name_bytes, bytes.data, bytes.size);
    segment->size = name_bytes + bytes.size;
    if (orientation >= 0)
        segment->size = name_bytes + exif_settle(segment->data + name_bytes, bytes.size, orientation);
    jpeg_write_marker(&writer->info, JPEG_APP0 + 1, segment->data, (unsigned)segment->size);
    return true;
}

static void write_metadata(struct jpeg_writer *writer, const struct codec_settings *settings)
{
    static const char exif[] = "Exif\0", xmp[] = "http://ns.adobe.com/xap/1.0/"; // each with a NUL more at its end
    const struct codec_metadata *metadata = &settings->metadata;
    if (!write_segment(writer, exif, sizeof(exif), metadata->exif, settings->orientation))
        codec_leave_out(writer->errors.error, "its EXIF data are too long for a JPEG and are left out");
    if (!write_segment(writer, xmp, sizeof(xmp), metadata->xmp, -1))
        codec_leave_out(writer->errors.error, "its XMP data are too long for a JPEG and are left out");
    if (metadata->icc.size > PROFILE_MOST)
        codec_leave_out(writer->errors.error, "its colour profile is too long for a JPEG and is left out");
    else if (metadata->icc.data)
        jpeg_write_icc_profile(&writer->info, metadata->icc.data, (unsigned)metadata->icc.size);
}

// A row of the image, the last one again below it; a copy, ended with its last sample, where it ends within a block.
static const uint8_t *row_of(const struct image *image, int plane, int row, size_t bytes, uint8_t *copy)
{
    const int rows = pixfmt_rows(image->shape.format, plane, image->shape.height);
    const size_t row_bytes = pixfmt_row_bytes(image->shape.format, plane, image->shape.width);
    const uint8_t *from = image_row(image, plane, row < rows ? row : rows - 1);
    if (row_bytes == bytes)
        return from;
    memcpy(copy, from, row_bytes);
    memset(copy + row_bytes, from[row_bytes - 1], bytes - row_bytes);
    return copy;
}

// Within setjmp. As many rows of whole MCUs as the first `count` rows of the image are.
static void write_planes(struct jpeg_writer *writer, const struct image *image, int count)
{
    struct jpeg_compress_struct *info = &writer->info;
    JSAMPROW rows[PIXFMT_PLANES][JPEG_PLANES_ROWS];
    JSAMPARRAY planes[PIXFMT_PLANES] = {rows[0], rows[1], rows[2]};
    size_t bytes[PIXFMT_PLANES], all = 0;
    for (int p = 0; p < info->num_components; p++) {
        bytes[p] = (size_t)info->comp_info[p].width_in_blocks * DCTSIZE;
        all += bytes[p] * JPEG_PLANES_ROWS;
    }
    if (!codec_buffer_room(&writer->rows, all))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    const int height = image->shape.height, mcu_rows = info->max_v_samp_factor * DCTSIZE;
    while ((int)info->next_scanline < height && (count >= height || (int)info->next_scanline + mcu_rows <= count)) {
        const int step = (int)info->next_scanline / mcu_rows;
        uint8_t *copy = writer->rows.data;
        for (int p = 0; p < info->num_components; p++) {
            const int of_mcu = info->comp_info[p].v_samp_factor * DCTSIZE;
            for (int i = 0; i < of_mcu; i++, copy += bytes[p])
                rows[p][i] = (JSAMPROW)row_of(image, p, step * of_mcu + i, bytes[p], copy); // libjpeg only reads it
        }
        jpeg_write_raw_data(info, planes, (JDIMENSION)mcu_rows);
    }
}

bool jpeg_write_begin(struct jpeg_writer *writer, const struct image *image, const struct codec_settings *settings,
                      struct codec_buffer *buffer, struct codec_error *error)
{
    int across, down;
    if (!jpeg_sampling(image->shape.format, &across, &down))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "JPEG files can be written from yu12, 422p, 444p or grey pixels only");
    writer->errors.error = error;
    if (setjmp(writer->errors.back) != 0)
        return false;
    start(writer, buffer);
    configure(&writer->info, &image->shape, settings->quality);
    jpeg_start_compress(&writer->info, TRUE);
    write_metadata(writer, settings);
    return true;
}

bool jpeg_write_rows(struct jpeg_writer *writer, const struct image *image, int count, struct codec_error *error)
{
    writer->errors.error = error;
    if (setjmp(writer->errors.back) != 0)
        return false;
    write_planes(writer, image, count);
    if (count >= image->shape.height)
        jpeg_finish_compress(&writer->info);
    return true;
}
