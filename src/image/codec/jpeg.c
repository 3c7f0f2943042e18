// jpeg.c: JPEG files, by libjpeg-turbo: planes as the file codes them (raw data), other files as RGBA
#include "base/process.h"
#include "image/codec/codec_kind.h"
#include "image/codec/metadata.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h> // its numbers depend on jpeglib.h

enum {
    SCANS_MAX = 500,          // a small file of very many scans keeps a decoder busy for minutes
    PLANE_ROWS = 4 * DCTSIZE, // the most rows of a plane that libjpeg reads or writes per call
    FIRST_BYTES = 1 << 16,    // of a file that is written
    QUALITY = 90,
    SEGMENT_MAX = 65533, // bytes of a marker
    PARTS_MAX = 255,     // markers of an ICC profile
    PART_HEAD = 14,      // "ICC_PROFILE", NUL, number, count
    SOI = 0xd8,
    APP1 = JPEG_APP0 + 1,
    APP2 = JPEG_APP0 + 2,
    APP13 = JPEG_APP0 + 13,
    PROFILE_MAX = PARTS_MAX * (SEGMENT_MAX - PART_HEAD),
};

// libjpeg's objects point to this struct (client_data), which must not move.
struct jpeg {
    struct codec_buffer scratch;  // rows that do not fit the image; for one call
    struct codec_buffer metadata; // of the last head
    struct codec_buffer blocks;   // of Photoshop: of the last head, or to be written
    struct codec_buffer comment;  // of the last head
    struct codec_buffer exif;     // of the last head, joined
    struct jpeg_decompress_struct reader;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    struct jpeg_compress_struct writer;
    struct jpeg_destination_mgr destination;
    struct codec_buffer *file; // the writer's output
    struct jpeg_error_mgr errors;
    const uint8_t *bound;      // in the reader's data: see find_bound
    bool ended;                // the reader is at the end of the file, before an end marker
    struct codec_error *error; // where a failure is reported
    jmp_buf back;              // target of longjmp after a failure; set by each function that calls libjpeg
};

static enum codec_fault fault_of(int code)
{
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return CODEC_NO_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_NO_BACKING_STORE: // more coefficients of a progressive picture than the limit that the reader sets
        return CODEC_TOO_LARGE;
#if JPEG_LIB_VERSION < 70 // as on Debian; Ubuntu builds the interface of version 8
    case JERR_ARITH_NOTIMPL:
#endif
    case JERR_BAD_PRECISION:
    case JERR_COMPONENT_COUNT:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return CODEC_UNSUPPORTED;
    default:
        return CODEC_DAMAGED;
    }
}

static void fail(j_common_ptr info)
{
    struct jpeg *jpeg = info->client_data;
    const enum codec_fault fault = fault_of(info->err->msg_code);
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    if (jpeg->ended && fault == CODEC_DAMAGED)
        codec_refuse(jpeg->error, fault, "the file is truncated");
    else if (fault == CODEC_NO_MEMORY)
        codec_refuse(jpeg->error, fault, "out of memory");
    else
        codec_refuse(jpeg->error, fault,
                     fault == CODEC_DAMAGED ? "the image is damaged (libjpeg: %s)" : "libjpeg cannot read it (%s)",
                     text);
    longjmp(jpeg->back, 1);
}

// A warning means damaged data, which libjpeg would replace by grey. The exceptions do not concern the pixels: cameras
// often leave a few bytes too many between two parts of a file.
static void warn(j_common_ptr info, int level)
{
    const int code = info->err->msg_code;
    if (level < 0 && code != JWRN_EXTRANEOUS_DATA && code != JWRN_ADOBE_XFORM && code != JWRN_JFIF_MAJOR &&
        code != JWRN_BOGUS_ICC && code != JWRN_NOT_SEQUENTIAL)
        fail(info);
}

static void jpeg_open(void *state)
{
    struct jpeg *jpeg = state;
    jpeg->reader.err = jpeg->writer.err = jpeg_std_error(&jpeg->errors);
    jpeg->reader.client_data = jpeg->writer.client_data = jpeg;
    jpeg->errors.error_exit = fail;
    jpeg->errors.emit_message = warn;
}

static void jpeg_close(void *state)
{
    struct jpeg *jpeg = state;
    jpeg_destroy_decompress(&jpeg->reader); // also if it was never created
    jpeg_destroy_compress(&jpeg->writer);
}

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 0xff && data[1] == SOI; // some writers put bytes before the first marker
}

// The formats that files code as planes, and the sampling factors of their luma; those of chroma are 1.
static const struct sampling {
    enum pixfmt format;
    int across, down;
} samplings[] = {{PIXFMT_YU12, 2, 2}, {PIXFMT_422P, 2, 1}, {PIXFMT_444P, 1, 1}, {PIXFMT_GREY, 1, 1}};
enum { SAMPLINGS = sizeof(samplings) / sizeof(*samplings) };

static const struct sampling *sampling_of(enum pixfmt format)
{
    for (int i = 0; i < SAMPLINGS; i++)
        if (samplings[i].format == format)
            return &samplings[i];
    return NULL;
}

// The names of APP1 and APP13 markers; each includes a final NUL.
static const char exif_name[] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/", blocks_name[] = "Photoshop 3.0";

// Returns the bytes after the name, or none if the marker has another name.
static struct codec_bytes behind(jpeg_saved_marker_ptr marker, const char *name, size_t name_bytes)
{
    if (marker->data_length <= name_bytes || memcmp(marker->data, name, name_bytes) != 0)
        return (struct codec_bytes){0};
    return (struct codec_bytes){marker->data + name_bytes, marker->data_length - name_bytes};
}

// Reads the comments, one per line, and the IPTC data, which may be split over several markers.
static bool read_texts(struct jpeg *jpeg, struct codec_metadata *metadata)
{
    bool ok = true;
    jpeg->blocks.size = jpeg->comment.size = 0;
    for (jpeg_saved_marker_ptr marker = jpeg->reader.marker_list; ok && marker; marker = marker->next) {
        const struct codec_bytes blocks = behind(marker, blocks_name, sizeof(blocks_name));
        const size_t length = strnlen((const char *)marker->data, marker->data_length);
        if (marker->marker == APP13 && blocks.data)
            ok = codec_buffer_append(&jpeg->blocks, blocks.data, blocks.size);
        else if (marker->marker == JPEG_COM && length > 0)
            ok = codec_buffer_append(&jpeg->comment, "\n", jpeg->comment.size > 0) &&
                 codec_buffer_append(&jpeg->comment, marker->data, length);
    }
    metadata->iptc = photoshop_iptc((struct codec_bytes){jpeg->blocks.data, jpeg->blocks.size});
    if (jpeg->comment.size > 0)
        metadata->comment = (struct codec_bytes){jpeg->comment.data, jpeg->comment.size};
    return ok;
}

// Reads the resolution of the JFIF header, or the shape of its pixels.
static void read_density(const struct jpeg_decompress_struct *info, struct codec_metadata *metadata)
{
    const bool known = info->density_unit == 1 || info->density_unit == 2;
    const double inch = info->density_unit == 2 ? 2.54 : 1;
    if (!info->saw_JFIF_marker || info->X_density == 0 || info->Y_density == 0)
        return;
    double *density = known ? metadata->density : metadata->aspect;
    if (!known && info->X_density == info->Y_density) // also of files that do not know it
        return;
    density[0] = info->X_density * inch;
    density[1] = info->Y_density * inch;
}

// Takes EXIF or XMP data. EXIF data may continue in further markers, as ExifTool and Pillow write them: these do not
// begin as a TIFF file does. Returns false if there is no memory.
static bool take_app1(struct jpeg *jpeg, jpeg_saved_marker_ptr marker, struct codec_metadata *metadata)
{
    const struct codec_bytes exif = behind(marker, exif_name, sizeof(exif_name));
    const struct codec_bytes xmp = behind(marker, xmp_name, sizeof(xmp_name));
    const bool begins = codec_begins(exif, "II*", 4) || codec_begins(exif, "MM\0*", 4);
    if (xmp.data && metadata->xmp.data)
        codec_lacks(metadata, "its second packet of XMP data is left out");
    else if (xmp.data)
        metadata->xmp = xmp;
    if (exif.data && begins && jpeg->exif.size > 0) {
        codec_lacks(metadata, "its second block of EXIF data is left out");
    } else if (exif.data) {
        if (!codec_buffer_append(&jpeg->exif, exif.data, exif.size))
            return false;
        metadata->exif = (struct codec_bytes){jpeg->exif.data, jpeg->exif.size};
    }
    return true;
}

// Returns the ICC profile, EXIF and XMP data of the markers that libjpeg has saved.
static bool read_markers(struct jpeg *jpeg, struct codec_metadata *metadata)
{
    static const char more_xmp[] = "http://ns.adobe.com/xmp/extension/";
    JOCTET *profile = NULL;
    unsigned profile_bytes = 0;
    bool has_profile = false, more = false;
    jpeg->exif.size = 0;
    for (jpeg_saved_marker_ptr marker = jpeg->reader.marker_list; marker; marker = marker->next) {
        if (marker->marker == APP1 && !take_app1(jpeg, marker, metadata))
            return codec_refuse(jpeg->error, CODEC_NO_MEMORY, "out of memory");
        if (marker->marker == APP1 && behind(marker, more_xmp, sizeof(more_xmp)).data)
            more = true;
        has_profile |= marker->marker == APP2 && behind(marker, "ICC_PROFILE", 12).data;
    }
    if (has_profile && jpeg_read_icc_profile(&jpeg->reader, &profile, &profile_bytes))
        metadata->icc = (struct codec_bytes){profile, profile_bytes};
    else if (has_profile)
        codec_lacks(metadata, "its colour profile is damaged and is left out");
    if (more)
        codec_lacks(metadata, "its XMP data beyond the first 64 KiB are left out");
    read_density(&jpeg->reader, metadata);
    const bool ok = read_texts(jpeg, metadata) && codec_metadata_keep(metadata, &jpeg->metadata);
    free(profile);
    return ok || codec_refuse(jpeg->error, CODEC_NO_MEMORY, "out of memory");
}

// libjpeg calls this at the end of the file. It gets an end marker, because some cameras do not write one. If a scan
// lacks data, libjpeg warns.
static boolean more(j_decompress_ptr info)
{
    static const JOCTET end_marker[] = {0xff, JPEG_EOI};
    ((struct jpeg *)info->client_data)->ended = true;
    info->src->next_input_byte = end_marker;
    info->src->bytes_in_buffer = sizeof(end_marker);
    return TRUE;
}

static void skip(j_decompress_ptr info, long count)
{
    struct jpeg_source_mgr *source = info->src;
    if (count <= 0)
        return;
    if ((size_t)count > source->bytes_in_buffer) {
        more(info);
        return;
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

static void nothing(j_decompress_ptr info) {}

// Ends the decoder in a file of very many scans, and after a signal in a file of several.
static void watch_scans(j_common_ptr info)
{
    struct jpeg *jpeg = info->client_data;
    if (jpeg->reader.input_scan_number > SCANS_MAX)
        codec_refuse(jpeg->error, CODEC_UNSUPPORTED, "it has more than %d scans; save it as a baseline JPEG first",
                     SCANS_MAX);
    else if (jpeg->reader.input_scan_number > 1 && process_interrupted())
        codec_refuse(jpeg->error, CODEC_UNSUPPORTED, "interrupted");
    else
        return;
    longjmp(jpeg->back, 1);
}

// Returns the format whose planes are those of the file; PIXFMT_RGBA if there is none.
static enum pixfmt format_of(const struct jpeg_decompress_struct *info)
{
    const jpeg_component_info *part = info->comp_info;
    if (info->jpeg_color_space == JCS_GRAYSCALE)
        return PIXFMT_GREY;
    if (info->jpeg_color_space != JCS_YCbCr || part[0].h_samp_factor != info->max_h_samp_factor ||
        part[0].v_samp_factor != info->max_v_samp_factor || part[1].h_samp_factor != part[2].h_samp_factor ||
        part[1].v_samp_factor != part[2].v_samp_factor)
        return PIXFMT_RGBA;
    for (int i = 0; i < SAMPLINGS; i++)
        if (part[0].h_samp_factor == samplings[i].across * part[1].h_samp_factor &&
            part[0].v_samp_factor == samplings[i].down * part[1].v_samp_factor)
            return samplings[i].format; // grey has the factors of 444p, which comes first
    return PIXFMT_RGBA;
}

static bool has_inks(const struct jpeg_decompress_struct *info)
{
    return info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK;
}

static bool colour_ok(const struct jpeg_decompress_struct *info, struct codec_error *error)
{
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB:
    case JCS_CMYK:
    case JCS_YCCK:
        return true;
    default:
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "its colour space with %d components is not supported; convert the image to RGB first",
                            info->num_components);
    }
}

// Returns the first end marker, or the first start marker, which begins the next image; NULL: there is neither. Call it
// only within compressed data, where the two bytes cannot be anything else.
static const uint8_t *find_bound(const struct jpeg_source_mgr *source)
{
    const uint8_t *at = source->next_input_byte, *end = at + source->bytes_in_buffer;
    for (; (at = memchr(at, 0xff, (size_t)(end - at))) && at + 1 < end; at++) {
        if (at[1] == JPEG_EOI || at[1] == SOI)
            return at;
    }
    return NULL;
}

// Call after setjmp. Each file has a new decompressor, because one keeps its tables from file to file: they would
// replace the missing tables of a damaged file. Keeps markers with metadata up to `marker_bytes`.
static bool start_reading(struct jpeg *jpeg, const uint8_t *data, size_t size, unsigned marker_bytes,
                          struct image_shape *shape)
{
    struct jpeg_decompress_struct *info = &jpeg->reader;
    jpeg_destroy_decompress(info);
    jpeg_create_decompress(info);
    info->mem->max_memory_to_use = (long)(2 * IMAGE_MAX_BYTES); // a coefficient takes two bytes
    jpeg->progress.progress_monitor = watch_scans;
    info->progress = &jpeg->progress;
    jpeg->source = (struct jpeg_source_mgr){
        .next_input_byte = data,
        .bytes_in_buffer = size,
        .init_source = nothing,
        .fill_input_buffer = more,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = nothing,
    };
    info->src = &jpeg->source;
    jpeg->ended = false;
    jpeg_save_markers(info, APP1, marker_bytes);
    jpeg_save_markers(info, APP2, marker_bytes);
    jpeg_save_markers(info, APP13, marker_bytes);
    jpeg_save_markers(info, JPEG_COM, marker_bytes);
    jpeg_read_header(info, TRUE);
    jpeg->bound = find_bound(&jpeg->source);
    if (jpeg->bound && jpeg->bound[1] == SOI) // an image without an end marker, and another one
        jpeg->source.bytes_in_buffer = (size_t)(jpeg->bound - jpeg->source.next_input_byte);
    if (!colour_ok(info, jpeg->error))
        return false;
    *shape = (struct image_shape){
        .format = format_of(info),
        .width = (int)info->image_width,
        .height = (int)info->image_height,
        .color = {COLOR_MATRIX_601, COLOR_RANGE_FULL},
    };
    return true;
}

// Returns the quality whose table in libjpeg is nearest to that of the first component.
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
        const int scale = jpeg_quality_scaling(quality);
        long off = 0;
        for (int i = 0; i < DCTSIZE2; i++) {
            const int scaled = (base[i] * scale + 50) / 100, limited = scaled > 255 ? 255 : scaled;
            off += abs((limited < 1 ? 1 : limited) - (int)table->quantval[i]);
        }
        if (best == 0 || off < least) {
            best = quality;
            least = off;
        }
    }
    return best;
}

// Returns the least size of a file: a bit for the DC coefficient of every block of one component (ITU-T T.81, annex
// F.1). Arithmetic coding may use any part of a bit.
static uint64_t least_bytes(const struct jpeg_decompress_struct *info)
{
    return info->arith_code ? 0 : (uint64_t)info->image_width * info->image_height / DCTSIZE2 / 8;
}

// Names what follows the image: phones and cameras add a gain map (Ultra HDR, ISO 21496-1), previews, or a video.
static void look_behind(struct codec_metadata *metadata, const uint8_t *end, size_t size)
{
    static const uint8_t start[] = {0xff, 0xd8, 0xff};
    const bool gain_map = metadata->xmp.data && memmem(metadata->xmp.data, metadata->xmp.size, "/hdr-gain-map/", 14);
    if (memmem(end, size, start, sizeof(start)))
        codec_lacks(metadata, gain_map
                                  ? "its gain map (Ultra HDR) is left out"
                                  : "the further images of the file, such as a gain map or a preview, are left out");
    if (memmem(end, size, "ftyp", 4))
        codec_lacks(metadata, "the video of the file is left out");
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    jpeg->error = error;
    if (setjmp(jpeg->back) != 0)
        return false;
    if (!start_reading(jpeg, data, size, SEGMENT_MAX, &head->shape))
        return false;
    head->quality = nearest_quality(&jpeg->reader);
    head->inks = has_inks(&jpeg->reader);
    head->jpeg = head->shape.format;
    if (head->jpeg == PIXFMT_RGBA)
        head->jpeg = jpeg->reader.jpeg_color_space == JCS_RGB ? PIXFMT_444P : PIXFMT_YU12;
    if (!codec_can_hold(size, least_bytes(&jpeg->reader), error))
        return false;
    if (!jpeg->bound || jpeg->bound[1] != JPEG_EOI)
        head->remarks = CODEC_NO_END;
    if (!read_markers(jpeg, &head->metadata))
        return false;
    if (jpeg->bound)
        look_behind(&head->metadata, jpeg->bound, (size_t)(data + size - jpeg->bound));
    return true;
}

// Copies rows that libjpeg could not write into the image.
static void keep_rows(struct image *image, int plane, int first, int count, JSAMPARRAY rows)
{
    const int end = pixfmt_rows(image->shape.format, plane, image->shape.height);
    const size_t row_bytes = pixfmt_row_bytes(image->shape.format, plane, image->shape.width);
    for (int i = 0; i < count && first + i < end; i++)
        memcpy(image_row(image, plane, first + i), rows[i], row_bytes);
}

// Call after setjmp. Reads whole MCU rows until row `last` is decoded.
static void read_planes(struct jpeg *jpeg, struct image *image, int last)
{
    struct jpeg_decompress_struct *info = &jpeg->reader;
    JSAMPROW rows[PIXFMT_PLANES][PLANE_ROWS];
    JSAMPARRAY planes[PIXFMT_PLANES] = {rows[0], rows[1], rows[2]};
    size_t bytes[PIXFMT_PLANES], all = 0;
    int direct[PIXFMT_PLANES]; // rows of the image that have room for whole blocks: the upper ones, or none
    for (int p = 0; p < info->num_components; p++) {
        bytes[p] = (size_t)info->comp_info[p].width_in_blocks * DCTSIZE;
        all += bytes[p] * PLANE_ROWS;
        direct[p] = image->stride[p] >= bytes[p] ? pixfmt_rows(image->shape.format, p, image->shape.height) : 0;
    }
    if (!codec_buffer_room(&jpeg->scratch, all))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    while ((int)info->output_scanline <= last) {
        const int step = (int)info->output_scanline / (info->max_v_samp_factor * DCTSIZE);
        uint8_t *spare = jpeg->scratch.data;
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

static bool decode_begin(void *state, const uint8_t *data, size_t size, const struct image *image,
                         struct codec_error *error)
{
    struct jpeg *jpeg = state;
    struct jpeg_decompress_struct *info = &jpeg->reader;
    struct image_shape shape;
    jpeg->error = error;
    if (setjmp(jpeg->back) != 0)
        return false;
    if (!start_reading(jpeg, data, size, 0, &shape))
        return false;
    // Chroma is replicated (docs/pixels.md section 1), but interpolated for a conversion to sRGB, as programs do that
    // convert colours.
    info->do_fancy_upsampling = has_inks(info) || image->shape.format != shape.format;
    if (image->shape.format == PIXFMT_RGBA)
        shape.format = PIXFMT_RGBA;
    if (!codec_fits(image, &shape, error))
        return false;
    info->raw_data_out = shape.format != PIXFMT_RGBA;
    if (!info->raw_data_out)
        info->out_color_space = has_inks(info) ? JCS_CMYK : JCS_EXT_RGBA;
    jpeg_start_decompress(info);
    return true;
}

// Returns false if scans are missing, because libjpeg accepts such a file.
static bool has_all_scans(const struct jpeg_decompress_struct *info)
{
    for (int c = 0; c < info->num_components; c++) {
        if (!info->comp_info[c].quant_table) // libjpeg sets it at the component's first scan
            return false;
        for (int i = 0; info->coef_bits && i < DCTSIZE2; i++)
            if (info->coef_bits[c][i] != 0)
                return false;
    }
    return true;
}

static int decode_rows(void *state, struct image *image, int last, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    struct jpeg_decompress_struct *info = &jpeg->reader;
    const int before = (int)info->output_scanline;
    jpeg->error = error;
    if (setjmp(jpeg->back) != 0)
        return 0;
    if (info->raw_data_out)
        read_planes(jpeg, image, last);
    while ((int)info->output_scanline <= last) {
        JSAMPROW row = image_row(image, 0, (int)info->output_scanline);
        jpeg_read_scanlines(info, &row, 1);
    }
    const int done = (int)info->output_scanline, height = image->shape.height; // libjpeg counts the last MCU row whole
    if (before < height && done >= height) {
        if (jpeg->ended && !has_all_scans(info))
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        jpeg_finish_decompress(info);
    }
    return done < height ? done : height;
}

static void give_room(j_compress_ptr info, size_t used, size_t room)
{
    struct codec_buffer *file = ((struct jpeg *)info->client_data)->file;
    file->size = used;
    if (!codec_buffer_room(file, room))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    info->dest->next_output_byte = file->data + used;
    info->dest->free_in_buffer = file->room - used;
}

static void begin(j_compress_ptr info)
{
    give_room(info, 0, FIRST_BYTES);
}

static boolean grow(j_compress_ptr info)
{
    const size_t room = ((struct jpeg *)info->client_data)->file->room;
    give_room(info, room, 2 * room);
    return TRUE;
}

static void end(j_compress_ptr info)
{
    struct codec_buffer *file = ((struct jpeg *)info->client_data)->file;
    file->size = file->room - info->dest->free_in_buffer;
}

// Writes the resolution into the JFIF header, in the unit in which it is nearer to whole numbers, or the shape of
// pixels.
static void set_density(struct jpeg_compress_struct *info, const double density[2], const double aspect[2])
{
    const double inch[] = {1, 2.54};
    const int unit = fabs(density[0] - round(density[0])) <= fabs(density[0] / 2.54 - round(density[0] / 2.54)) ? 0 : 1;
    const double across = round(density[0] / inch[unit]), down = round(density[1] / inch[unit]);
    const double most = fmax(aspect[0], aspect[1]), scale = most > UINT16_MAX ? UINT16_MAX / most : 1;
    if (aspect[0] * scale >= 1 && aspect[1] * scale >= 1) {
        info->density_unit = 0;
        info->X_density = (UINT16)round(aspect[0] * scale);
        info->Y_density = (UINT16)round(aspect[1] * scale);
    }
    if (across < 1 || down < 1 || across > UINT16_MAX || down > UINT16_MAX)
        return;
    info->density_unit = (UINT8)(unit + 1);
    info->X_density = (UINT16)across;
    info->Y_density = (UINT16)down;
}

// Call after setjmp.
static void start_writing(struct jpeg *jpeg, const struct image_shape *shape, const struct codec_settings *settings)
{
    struct jpeg_compress_struct *info = &jpeg->writer;
    const struct sampling *sampling = sampling_of(shape->format);
    const bool grey = shape->format == PIXFMT_GREY;
    if (!info->dest)
        jpeg_create_compress(info);
    jpeg->destination =
        (struct jpeg_destination_mgr){.init_destination = begin, .empty_output_buffer = grow, .term_destination = end};
    info->dest = &jpeg->destination;
    jpeg_abort_compress(info);
    info->image_width = (JDIMENSION)shape->width;
    info->image_height = (JDIMENSION)shape->height;
    info->input_components = grey ? 1 : PIXFMT_PLANES;
    info->in_color_space = grey ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, settings->quality ? settings->quality : QUALITY, TRUE);
    set_density(info, settings->metadata.density, settings->metadata.aspect);
    info->raw_data_in = TRUE;
    info->comp_info[0].h_samp_factor = sampling->across;
    info->comp_info[0].v_samp_factor = sampling->down;
    jpeg_start_compress(info, TRUE);
}

// Writes a marker: a name, then the data. Returns false if it is too long for a marker.
static bool write_marker(struct jpeg *jpeg, int kind, const char *name, size_t name_bytes, struct codec_bytes bytes)
{
    if (!bytes.data)
        return true;
    if (name_bytes + bytes.size > SEGMENT_MAX)
        return false;
    jpeg_write_m_header(&jpeg->writer, kind, (unsigned)(name_bytes + bytes.size));
    for (size_t i = 0; i < name_bytes; i++)
        jpeg_write_m_byte(&jpeg->writer, name[i]);
    for (size_t i = 0; i < bytes.size; i++)
        jpeg_write_m_byte(&jpeg->writer, bytes.data[i]);
    return true;
}

// Writes EXIF data in as many markers as they need.
static void write_exif(struct jpeg *jpeg, struct codec_bytes exif)
{
    enum { PART_MOST = SEGMENT_MAX - sizeof(exif_name) };
    if (exif.size > PART_MOST)
        codec_leave_out(jpeg->error, "its EXIF data need several segments, which not all programs read");
    for (size_t at = 0, size; at < exif.size; at += size) {
        size = exif.size - at < PART_MOST ? exif.size - at : PART_MOST;
        write_marker(jpeg, APP1, exif_name, sizeof(exif_name), (struct codec_bytes){exif.data + at, size});
    }
}

static void write_metadata(struct jpeg *jpeg, const struct codec_metadata *metadata)
{
    write_exif(jpeg, metadata->exif);
    if (!write_marker(jpeg, APP1, xmp_name, sizeof(xmp_name), metadata->xmp))
        codec_leave_out(jpeg->error, "its XMP data are too long for a JPEG and are left out");
    jpeg->blocks.size = 0;
    if (metadata->iptc.data && !photoshop_append(&jpeg->blocks, PHOTOSHOP_IPTC, metadata->iptc))
        ERREXIT1(&jpeg->writer, JERR_OUT_OF_MEMORY, 0);
    const struct codec_bytes blocks = {jpeg->blocks.size > 0 ? jpeg->blocks.data : NULL, jpeg->blocks.size};
    if (!write_marker(jpeg, APP13, blocks_name, sizeof(blocks_name), blocks))
        codec_leave_out(jpeg->error, "its IPTC data are too long for a JPEG and are left out");
    if (!write_marker(jpeg, JPEG_COM, "", 0, metadata->comment))
        codec_leave_out(jpeg->error, "its comments are too long for a JPEG and are left out");
    if (metadata->icc.size > PROFILE_MAX)
        codec_leave_out(jpeg->error, "its colour profile is too long for a JPEG and is left out");
    else if (metadata->icc.data)
        jpeg_write_icc_profile(&jpeg->writer, metadata->icc.data, (unsigned)metadata->icc.size);
}

// Returns a row of the image; below the image, its last row. A row that ends within a block is copied to `copy` and
// continued with its last sample.
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

// Call after setjmp. Writes the whole MCU rows among the first `count` rows of the image.
static void write_planes(struct jpeg *jpeg, const struct image *image, int count)
{
    struct jpeg_compress_struct *info = &jpeg->writer;
    JSAMPROW rows[PIXFMT_PLANES][PLANE_ROWS];
    JSAMPARRAY planes[PIXFMT_PLANES] = {rows[0], rows[1], rows[2]};
    size_t bytes[PIXFMT_PLANES], all = 0;
    for (int p = 0; p < info->num_components; p++) {
        bytes[p] = (size_t)info->comp_info[p].width_in_blocks * DCTSIZE;
        all += bytes[p] * PLANE_ROWS;
    }
    if (!codec_buffer_room(&jpeg->scratch, all))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    const int height = image->shape.height, mcu_rows = info->max_v_samp_factor * DCTSIZE;
    while ((int)info->next_scanline < height && (count >= height || (int)info->next_scanline + mcu_rows <= count)) {
        const int step = (int)info->next_scanline / mcu_rows;
        uint8_t *copy = jpeg->scratch.data;
        for (int p = 0; p < info->num_components; p++) {
            const int of_mcu = info->comp_info[p].v_samp_factor * DCTSIZE;
            for (int i = 0; i < of_mcu; i++, copy += bytes[p])
                rows[p][i] = (JSAMPROW)row_of(image, p, step * of_mcu + i, bytes[p], copy); // libjpeg only reads it
        }
        jpeg_write_raw_data(info, planes, (JDIMENSION)mcu_rows);
    }
}

static bool encode_begin(void *state, const struct image *image, const struct codec_settings *settings,
                         struct codec_buffer *buffer, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    jpeg->error = error;
    jpeg->file = buffer;
    if (setjmp(jpeg->back) != 0)
        return false;
    start_writing(jpeg, &image->shape, settings);
    write_metadata(jpeg, &settings->metadata);
    return true;
}

static bool encode_rows(void *state, const struct image *image, int count, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    jpeg->error = error;
    if (setjmp(jpeg->back) != 0)
        return false;
    write_planes(jpeg, image, count);
    if (count >= image->shape.height)
        jpeg_finish_compress(&jpeg->writer);
    return true;
}

static const char *const extensions[] = {"jpg", "jpeg", "jpe", "jfif", "jfi", "jif", "jps", "mpo", "insp", NULL};

const struct codec_kind codec_jpeg = {
    .info = {.name = "jpeg", .extensions = extensions, .writes = true, .quality = true, .subsampling = true},
    .state_bytes = sizeof(struct jpeg),
    .open = jpeg_open,
    .buffers = 5,
    .close = jpeg_close,
    .looks_so = looks_so,
    .head = head_of,
    .keeps = CODEC_KEEPS_IPTC | CODEC_KEEPS_COMMENT,
    .encodes = 1 << PIXFMT_YU12 | 1 << PIXFMT_422P | 1 << PIXFMT_444P | 1 << PIXFMT_GREY,
    .decode_begin = decode_begin,
    .decode_rows = decode_rows,
    .encode_begin = encode_begin,
    .encode_rows = encode_rows,
};
