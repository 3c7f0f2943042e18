// jpeg.c: JPEG files, by libjpeg-turbo
#include "image/codec/jpeg.h"

#include <jerror.h>
#include <stdlib.h>

struct jpeg {
    struct jpeg_reader reader;
    struct jpeg_writer writer;
};

static enum codec_fault fault_of(int code)
{
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return CODEC_NO_MEMORY;
    case JERR_IMAGE_TOO_BIG:
    case JERR_NO_BACKING_STORE: // more coefficients of a progressive picture than the limit that the reader sets
        return CODEC_TOO_LARGE;
    case JERR_ARITH_NOTIMPL:
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

static void leave(j_common_ptr info)
{
    struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    const enum codec_fault fault = fault_of(info->err->msg_code);
    if (fault == CODEC_NO_MEMORY)
        codec_refuse(errors->error, fault, "out of memory");
    else
        codec_refuse(errors->error, fault,
                     fault == CODEC_DAMAGED ? "the image is damaged (libjpeg: %s)" : "libjpeg cannot read it (%s)",
                     text);
    longjmp(errors->back, 1);
}

// A warning means data that do not belong together, which the decoder would paint grey; but for what says nothing of
// the pixels. Cameras often leave a few bytes too many between two parts of a picture.
static void warn(j_common_ptr info, int level)
{
    struct jpeg_errors *errors = (struct jpeg_errors *)info->err;
    const int code = info->err->msg_code;
    if (level >= 0 || code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
        code == JWRN_BOGUS_ICC)
        return;
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    if (code == JWRN_JPEG_EOF)
        codec_refuse(errors->error, CODEC_DAMAGED, "the file is truncated");
    else
        codec_refuse(errors->error, CODEC_DAMAGED, "the image is damaged (libjpeg: %s)", text);
    longjmp(errors->back, 1);
}

struct jpeg_error_mgr *jpeg_errors_init(struct jpeg_errors *errors)
{
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = leave;
    errors->manager.emit_message = warn;
    return &errors->manager;
}

bool jpeg_sampling(enum pixfmt format, int *across, int *down)
{
    static const struct {
        int across, down;
    } factors[PIXFMT_COUNT] = {
        [PIXFMT_YU12] = {2, 2}, [PIXFMT_422P] = {2, 1}, [PIXFMT_444P] = {1, 1}, [PIXFMT_GREY] = {1, 1}};
    *across = factors[format].across;
    *down = factors[format].down;
    return *across > 0;
}

static void reader_close(struct jpeg_reader *reader)
{
    jpeg_destroy_decompress(&reader->info);
    codec_buffer_free(&reader->rows);
    codec_buffer_free(&reader->profile);
}

static void writer_close(struct jpeg_writer *writer)
{
    if (writer->open)
        jpeg_destroy_compress(&writer->info);
    codec_buffer_free(&writer->rows);
    codec_buffer_free(&writer->segment);
}

static void jpeg_close(void *state)
{
    struct jpeg *jpeg = state;
    reader_close(&jpeg->reader);
    writer_close(&jpeg->writer);
}

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= 3 && data[0] == 0xff && data[1] == 0xd8 && data[2] == 0xff;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    return jpeg_read_head(&jpeg->reader, data, size, head, error);
}

static bool decode_begin(void *state, const uint8_t *data, size_t size, const struct image *image,
                         struct codec_error *error)
{
    struct jpeg *jpeg = state;
    return jpeg_read_begin(&jpeg->reader, data, size, image, error);
}

static int decode_rows(void *state, struct image *image, int last, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    return jpeg_read_rows(&jpeg->reader, image, last, error);
}

static bool encode_begin(void *state, const struct image *image, const struct codec_settings *settings,
                         struct codec_buffer *buffer, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    return jpeg_write_begin(&jpeg->writer, image, settings, buffer, error);
}

static bool encode_rows(void *state, const struct image *image, int count, struct codec_error *error)
{
    struct jpeg *jpeg = state;
    return jpeg_write_rows(&jpeg->writer, image, count, error);
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    return decode_begin(state, data, size, image, error) &&
           decode_rows(state, image, image->shape.height - 1, error) > 0;
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    return encode_begin(state, image, settings, buffer, error) && encode_rows(state, image, image->shape.height, error);
}

static const char *const extensions[] = {"jpg", "jpeg", "jpe", "jfif", NULL};

const struct codec_kind codec_jpeg = {
    .info = {.name = "jpeg", .extensions = extensions, .writes = true, .quality = true, .subsampling = true},
    .state_bytes = sizeof(struct jpeg),
    .close = jpeg_close,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
    .encode = encode,
    .decode_begin = decode_begin,
    .decode_rows = decode_rows,
    .encode_begin = encode_begin,
    .encode_rows = encode_rows,
};
