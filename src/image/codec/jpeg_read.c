// jpeg_read.c: JPEG into planes, or into RGBA where its planes are of no format here
#include "image/codec/jpeg.h"

#include <jerror.h>
#include <stdlib.h>
#include <string.h>

enum { SCANS_MAX = 500 }; // a small file of very many scans keeps a decoder busy for minutes

// All of the file is in memory from the start: who asks for more has a file cut short. The warning does not return.
static boolean more(j_decompress_ptr info)
{
    WARNMS(info, JWRN_JPEG_EOF);
    return FALSE;
}

static void skip(j_decompress_ptr info, long count)
{
    struct jpeg_source_mgr *source = info->src;
    if (count <= 0)
        return;
    if ((size_t)count > source->bytes_in_buffer)
        more(info);
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

static void nothing(j_decompress_ptr info) {}

static void watch_scans(j_common_ptr info)
{
    struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
    if (((j_decompress_ptr)info)->input_scan_number <= SCANS_MAX)
        return;
    codec_refuse(errors->error, CODEC_UNSUPPORTED, "it has more than %d scans; save it as a baseline JPEG first",
                 SCANS_MAX);
    longjmp(errors->back, 1);
}

// Within setjmp. A decompressor keeps its tables from file to file, where they would stand in for those that a damaged
// file lacks: each file has a new one.
static void start(struct jpeg_reader *reader, const uint8_t *data, size_t size)
{
    struct jpeg_decompress_struct *info = &reader->info;
    jpeg_destroy_decompress(info); // also one of zeros, that has never been created
    info->err = jpeg_errors_init(&reader->errors);
    jpeg_create_decompress(info);
    info->mem->max_memory_to_use = (long)(2 * IMAGE_MAX_BYTES); // a coefficient takes two bytes
    reader->progress.progress_monitor = watch_scans;
    info->progress = &reader->progress;
    reader->source = (struct jpeg_source_mgr){
        .next_input_byte = data,
        .bytes_in_buffer = size,
        .init_source = nothing,
        .fill_input_buffer = more,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = nothing,
    };
    info->src = &reader->source;
    jpeg_read_header(info, TRUE);
}

// The format whose planes are those of the file. False where there is none.
static bool planes_format(const struct jpeg_decompress_struct *info, enum pixfmt *format)
{
    static const enum pixfmt formats[] = {PIXFMT_YU12, PIXFMT_422P, PIXFMT_444P};
    const jpeg_component_info *part = info->comp_info;
    *format = PIXFMT_GREY;
    if (info->jpeg_color_space == JCS_GRAYSCALE)
        return true;
    if (info->jpeg_color_space != JCS_YCbCr || part[0].h_samp_factor != info->max_h_samp_factor ||
        part[0].v_samp_factor != info->max_v_samp_factor || part[1].h_samp_factor != part[2].h_samp_factor ||
        part[1].v_samp_factor != part[2].v_samp_factor)
        return false;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        int across, down;
        jpeg_sampling(formats[i], &across, &down);
        if (part[0].h_samp_factor == across * part[1].h_samp_factor &&
            part[0].v_samp_factor == down * part[1].v_samp_factor) {
            *format = formats[i];
            return true;
        }
    }
    return false;
}

// The quality whose table, made as libjpeg makes it (jpeg_quality_scaling), is nearest to that of the first component.
static int nearest_quality(const struct jpeg_decompress_struct *info)
{
    // ITU-T T.81 table K.1, in natural order
    static const uint8_t base[DCTSIZE2] = {
        16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
        69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
        81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99,
    };
    const JQUANT_TBL *table = info->quant_tbl_ptrs[info->comp_info[0].quant_tbl_no & (NUM_QUANT_TBLS - 1)];
    int best = 0;
    long least = 0;
    for (int quality = 100; table && quality >= 1 && (best == 0 || least > 0); quality--) {
        const int scale = quality < 50 ? 5000 / quality : 200 - 2 * quality;
        long off = 0;
        for (int i = 0; i < DCTSIZE2; i++) {
            const int scaled = (base[i] * scale + 50) / 100;
            off += abs((scaled < 1 ? 1 : scaled > 255 ? 255 : scaled) - (int)table->quantval[i]);
        }
        if (best == 0 || off < least) {
            best = quality;
            least = off;
        }
    }
    return best;
}

static bool colour_ok(const struct jpeg_decompress_struct *info, struct codec_error *error)
{
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB:
        return true;
    case JCS_CMYK:
    case JCS_YCCK:
        return codec_refuse(error, CODEC_UNSUPPORTED, "CMYK images are not supported; convert the image to RGB first");
    default:
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "its colour space with %d components is not supported; convert the image to RGB first",
                            info->num_components);
    }
}

// Of a Huffman-coded file: a bit for the DC coefficient of every block of one component at least (ITU-T T.81, annex
// F.1). Arithmetic coding may take any part of a bit.
static uint64_t least_bytes(const struct jpeg_decompress_struct *info)
{
    return info->arith_code ? 0 : (uint64_t)info->image_width * info->image_height / DCTSIZE2 / 8;
}

bool jpeg_read_head(struct jpeg_reader *reader, const uint8_t *data, size_t size, struct codec_head *head,
                    struct codec_error *error)
{
    struct jpeg_decompress_struct *info = &reader->info;
    reader->errors.error = error;
    if (setjmp(reader->errors.back) != 0)
        return false;
    start(reader, data, size);
    if (!colour_ok(info, error))
        return false;
    enum pixfmt format;
    const bool planes = planes_format(info, &format);
    head->shape = (struct image_shape){
        .format = planes ? format : PIXFMT_RGBA,
        .width = (int)info->image_width,
        .height = (int)info->image_height,
        .color = {COLOR_MATRIX_601, COLOR_RANGE_FULL},
    };
    head->jpeg = planes ? format : info->jpeg_color_space == JCS_RGB ? PIXFMT_444P : PIXFMT_YU12;
    head->quality = nearest_quality(info);
    if (!codec_can_hold(size, least_bytes(info), error))
        return false;
    jpeg_markers(data, size, &reader->profile, &head->metadata);
    return true;
}

// Copies what could not go into the image.
static void keep_rows(struct image *image, int plane, int first, int count, JSAMPARRAY rows)
{
    const int end = pixfmt_rows(image->shape.format, plane, image->shape.height);
    const size_t row_bytes = pixfmt_row_bytes(image->shape.format, plane, image->shape.width);
    for (int i = 0; i < count && first + i < end; i++)
        memcpy(image_row(image, plane, first + i), rows[i], row_bytes);
}

// Within setjmp. Planes as they are coded, a row of whole MCUs at a time, until row `last` is there.
static void read_planes(struct jpeg_reader *reader, struct image *image, int last)
{
    struct jpeg_decompress_struct *info = &reader->info;
    JSAMPROW rows[PIXFMT_PLANES][JPEG_PLANES_ROWS];
    JSAMPARRAY planes[PIXFMT_PLANES] = {rows[0], rows[1], rows[2]};
    size_t bytes[PIXFMT_PLANES], all = 0;
    int direct[PIXFMT_PLANES]; // rows of the image that have room for whole blocks: the upper ones, or none
    for (int p = 0; p < info->num_components; p++) {
        bytes[p] = (size_t)info->comp_info[p].width_in_blocks * DCTSIZE;
        all += bytes[p] * JPEG_PLANES_ROWS;
        direct[p] = image->stride[p] >= bytes[p] ? pixfmt_rows(image->shape.format, p, image->shape.height) : 0;
    }
    if (!codec_buffer_room(&reader->rows, all))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    while ((int)info->output_scanline <= last) {
        const int step = (int)info->output_scanline / (info->max_v_samp_factor * DCTSIZE);
        uint8_t *spare = reader->rows.data;
        for (int p = 0; p < info->num_components; p++) {
            const int count = info->comp_info[p].v_samp_factor * DCTSIZE;
            for (int i = 0, row = step * count; i < count; i++, row++, spare += bytes[p])
                rows[p][i] = row < direct[p] ? image_row(image, p, row) : spare;
        }
        jpeg_read_raw_data(info, planes, (JDIMENSION)(info->max_v_samp_factor * DCTSIZE));
        for (int p = 0; p < info->num_components; p++) {
            const int count = info->comp_info[p].v_samp_factor * DCTSIZE;
            if (direct[p] == 0)
                keep_rows(image, p, step * count, count, planes[p]);
        }
    }
}

bool jpeg_read_begin(struct jpeg_reader *reader, const uint8_t *data, size_t size, const struct image *image,
                     struct codec_error *error)
{
    struct jpeg_decompress_struct *info = &reader->info;
    reader->errors.error = error;
    if (setjmp(reader->errors.back) != 0)
        return false;
    start(reader, data, size);
    enum pixfmt format;
    const bool planes = planes_format(info, &format);
    if (!colour_ok(info, error))
        return false;
    if ((int)info->image_width != image->shape.width || (int)info->image_height != image->shape.height ||
        (planes ? format : PIXFMT_RGBA) != image->shape.format)
        return codec_refuse(error, CODEC_DAMAGED, "its pixels do not match its header");
    info->do_fancy_upsampling = FALSE; // chroma is replicated: docs/pixels.md section 1
    info->raw_data_out = planes;
    if (!planes)
        info->out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(info);
    return true;
}

// libjpeg counts the last MCUs whole.
static int rows_there(const struct jpeg_decompress_struct *info)
{
    return (int)(info->output_scanline < info->output_height ? info->output_scanline : info->output_height);
}

int jpeg_read_rows(struct jpeg_reader *reader, struct image *image, int last, struct codec_error *error)
{
    struct jpeg_decompress_struct *info = &reader->info;
    if (last < (int)info->output_scanline)
        return rows_there(info);
    reader->errors.error = error;
    if (setjmp(reader->errors.back) != 0)
        return 0;
    if (info->raw_data_out)
        read_planes(reader, image, last);
    while ((int)info->output_scanline <= last) {
        JSAMPROW row = image_row(image, 0, (int)info->output_scanline);
        jpeg_read_scanlines(info, &row, 1);
    }
    const int rows = rows_there(info);
    if (rows == image->shape.height)
        jpeg_finish_decompress(info);
    return rows;
}
