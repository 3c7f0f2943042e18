// jxl.c: JPEG XL images, by libjxl, which is loaded with the first such file
#include "base/library.h"
#include "image/codec/codec_kind.h"

#include <string.h>

#include <jxl/decode.h>

enum {
    BOX_FIRST = 1 << 16,
    BOX_MOST = 64 << 20,
    ICC_MOST = 16 << 20,
};
#define TEXT(macro) TEXT_OF(macro)
#define TEXT_OF(text) #text
// The interface differs between versions, so the library must be the one of the header.
#if JPEGXL_MAJOR_VERSION == 0
#define LIBRARY "libjxl.so.0." TEXT(JPEGXL_MINOR_VERSION)
#else
#define LIBRARY "libjxl.so." TEXT(JPEGXL_MAJOR_VERSION)
#endif
#if JPEGXL_MAJOR_VERSION == 0 && JPEGXL_MINOR_VERSION < 9
#define UNUSED_FORMAT NULL,
#else
#define UNUSED_FORMAT
#endif

// The functions of libjxl, without their prefix
#define FUNCTIONS(F)                                                                                                   \
    F(Create)                                                                                                          \
    F(Destroy)                                                                                                         \
    F(SubscribeEvents)                                                                                                 \
    F(SetUnpremultiplyAlpha)                                                                                           \
    F(SetDecompressBoxes)                                                                                              \
    F(SetInput)                                                                                                        \
    F(CloseInput)                                                                                                      \
    F(ProcessInput)                                                                                                    \
    F(GetBasicInfo)                                                                                                    \
    F(GetExtraChannelInfo)                                                                                             \
    F(SetExtraChannelBuffer)                                                                                           \
    F(GetICCProfileSize)                                                                                               \
    F(GetColorAsICCProfile)                                                                                            \
    F(GetBoxType)                                                                                                      \
    F(SetBoxBuffer)                                                                                                    \
    F(ReleaseBoxBuffer)                                                                                                \
    F(SetImageOutBuffer)

struct jxl {
    struct codec_buffer icc, exif, xmp; // of the last head
    struct codec_buffer raster;
#define MEMBER(name) __typeof__(JxlDecoder##name) *name;
    FUNCTIONS(MEMBER)
    bool tried, loaded;
    int black; // index of the channel of black ink, of the last take_info; -1: there is none
};

static bool looks_so(const uint8_t *data, size_t size)
{
    const struct codec_bytes bytes = {data, size};
    return codec_begins(bytes, "\xff\x0a", 2) || codec_begins(bytes, "\0\0\0\x0cJXL \r\n\x87\n", 12);
}

static bool load(struct jxl *jxl, struct codec_error *error)
{
    const struct library_function functions[] = {
#define ROW(name) {"JxlDecoder" #name, &jxl->name},
        FUNCTIONS(ROW)};
    if (!jxl->tried)
        jxl->loaded = library_load(LIBRARY, functions, sizeof(functions) / sizeof(*functions));
    jxl->tried = true;
    return jxl->loaded ||
           codec_refuse(error, CODEC_UNSUPPORTED,
                        "JPEG XL images need " LIBRARY ", which is not installed; install it, or convert "
                        "the image to PNG or JPEG first");
}

// Returns NULL and fills in the error on failure. End it with jxl->Destroy.
static JxlDecoder *start(struct jxl *jxl, const uint8_t *data, size_t size, int events, struct codec_error *error)
{
    JxlDecoder *decoder = load(jxl, error) ? jxl->Create(NULL) : NULL;
    if (decoder && jxl->SubscribeEvents(decoder, events) == JXL_DEC_SUCCESS &&
        jxl->SetUnpremultiplyAlpha(decoder, JXL_TRUE) == JXL_DEC_SUCCESS &&
        jxl->SetInput(decoder, data, size) == JXL_DEC_SUCCESS) {
        (void)jxl->SetDecompressBoxes(decoder, JXL_TRUE); // without Brotli, packed metadata are left out
        jxl->CloseInput(decoder);
        return decoder;
    }
    if (decoder)
        jxl->Destroy(decoder);
    if (error->fault == CODEC_FINE)
        codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    return NULL;
}

static bool refuse(JxlDecoderStatus status, struct codec_error *error)
{
    return codec_refuse(error, CODEC_DAMAGED,
                        status == JXL_DEC_NEED_MORE_INPUT ? "the file is truncated" : "the image is damaged");
}

static void find_black(struct jxl *jxl, JxlDecoder *decoder, uint32_t channels)
{
    JxlExtraChannelInfo info;
    jxl->black = -1;
    for (uint32_t i = 0; i < channels; i++) {
        if (jxl->GetExtraChannelInfo(decoder, i, &info) == JXL_DEC_SUCCESS && info.type == JXL_CHANNEL_BLACK)
            jxl->black = (int)i;
    }
}

static void take_info(struct jxl *jxl, JxlDecoder *decoder, struct codec_head *head)
{
    JxlBasicInfo info;
    if (jxl->GetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS)
        return;
    find_black(jxl, decoder, info.num_extra_channels);
    const bool grey = info.num_color_channels == 1 && info.alpha_bits == 0;
    head->shape = (struct image_shape){
        .format = grey ? PIXFMT_GREY : PIXFMT_RGBA,
        .width = info.xsize <= IMAGE_MAX_SIDE ? (int)info.xsize : IMAGE_MAX_SIDE + 1,
        .height = info.ysize <= IMAGE_MAX_SIDE ? (int)info.ysize : IMAGE_MAX_SIDE + 1,
        .color = {COLOR_MATRIX_601, COLOR_RANGE_FULL},
    };
    head->jpeg = info.num_color_channels == 1 ? PIXFMT_GREY : PIXFMT_YU12;
    head->inks = jxl->black >= 0;
    head->alpha = info.alpha_bits > 0 && !head->inks;
    head->upright = true;
    head->remarks |= info.bits_per_sample > 8 && !head->inks ? CODEC_DEEP : 0;
    head->remarks |= info.have_animation ? CODEC_FRAMES : 0;
    if (head->inks && info.bits_per_sample > 8)
        codec_lacks(&head->metadata, codec_remark_text(CODEC_DEEP));
    if (head->inks && info.alpha_bits > 0)
        codec_lacks(&head->metadata, codec_remark_text(CODEC_CLEAR));
}

static void take_colours(struct jxl *jxl, JxlDecoder *decoder, struct codec_metadata *metadata)
{
    size_t size = 0;
    if (jxl->GetICCProfileSize(decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, &size) == JXL_DEC_SUCCESS &&
        size > 0 && size <= ICC_MOST && codec_buffer_room(&jxl->icc, size) &&
        jxl->GetColorAsICCProfile(decoder, UNUSED_FORMAT JXL_COLOR_PROFILE_TARGET_DATA, jxl->icc.data, size) ==
            JXL_DEC_SUCCESS)
        metadata->icc = (struct codec_bytes){jxl->icc.data, size};
}

// Receives a box with metadata. `buffer` NULL: no such box is open.
struct box {
    struct codec_buffer *buffer;
    struct codec_bytes *part;
};

// Gives libjxl room for the rest of the box. Without memory, or for a huge box, the box is left out.
static void more_room(const struct jxl *jxl, JxlDecoder *decoder, struct box *box)
{
    struct codec_buffer *buffer = box->buffer;
    buffer->size = buffer->size > 0 ? buffer->room - jxl->ReleaseBoxBuffer(decoder) : 0;
    if (buffer->size > BOX_MOST || !codec_buffer_room(buffer, buffer->size + BOX_FIRST) ||
        jxl->SetBoxBuffer(decoder, buffer->data + buffer->size, buffer->room - buffer->size) != JXL_DEC_SUCCESS)
        box->buffer = NULL;
    else
        buffer->size = buffer->room;
}

static void end_box(const struct jxl *jxl, JxlDecoder *decoder, struct box *box)
{
    if (!box->buffer)
        return;
    const size_t size = box->buffer->room - jxl->ReleaseBoxBuffer(decoder);
    if (size > 0)
        *box->part = (struct codec_bytes){box->buffer->data, size};
    box->buffer = NULL;
}

static void begin_box(struct jxl *jxl, JxlDecoder *decoder, struct codec_metadata *metadata, struct box *box)
{
    JxlBoxType type;
    end_box(jxl, decoder, box);
    if (jxl->GetBoxType(decoder, type, JXL_TRUE) != JXL_DEC_SUCCESS)
        return;
    if (memcmp(type, "Exif", 4) == 0 && !metadata->exif.data)
        *box = (struct box){&jxl->exif, &metadata->exif};
    else if (memcmp(type, "xml ", 4) == 0 && !metadata->xmp.data)
        *box = (struct box){&jxl->xmp, &metadata->xmp};
    if (box->buffer) {
        box->buffer->size = 0;
        more_room(jxl, decoder, box);
    }
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct jxl *jxl = state;
    JxlDecoder *decoder = start(jxl, data, size, JXL_DEC_BASIC_INFO | JXL_DEC_COLOR_ENCODING | JXL_DEC_BOX, error);
    struct box box = {0};
    JxlDecoderStatus status = JXL_DEC_BOX;
    while (decoder && (status == JXL_DEC_BASIC_INFO || status == JXL_DEC_COLOR_ENCODING || status == JXL_DEC_BOX ||
                       status == JXL_DEC_BOX_NEED_MORE_OUTPUT)) {
        status = jxl->ProcessInput(decoder);
        if (status == JXL_DEC_BASIC_INFO)
            take_info(jxl, decoder, head);
        else if (status == JXL_DEC_COLOR_ENCODING)
            take_colours(jxl, decoder, &head->metadata);
        else if (status == JXL_DEC_BOX)
            begin_box(jxl, decoder, &head->metadata, &box);
        else if (status == JXL_DEC_BOX_NEED_MORE_OUTPUT && box.buffer)
            more_room(jxl, decoder, &box);
    }
    if (!decoder)
        return false;
    end_box(jxl, decoder, &box);
    head->metadata.exif = codec_exif_block(head->metadata.exif);
    jxl->Destroy(decoder);
    return (status == JXL_DEC_SUCCESS && head->shape.width > 0) || refuse(status, error);
}

// `black`: the samples of black ink; NULL: none
static void put_row(const struct codec_head *head, const uint8_t *from, const uint8_t *black, struct image *image,
                    int y)
{
    uint8_t *to = image_row(image, 0, y);
    const int width = image->shape.width;
    if (head->remarks & CODEC_DEEP)
        codec_put_deep(head->profile, (const uint16_t *)(const void *)from, 16, image->shape.format, to, width);
    else
        memcpy(to, from, (size_t)width * (image->shape.format == PIXFMT_GREY ? 1 : 4));
    for (int x = 0; black && x < width; x++)
        to[4 * x + 3] = black[x];
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct jxl *jxl = state;
    const bool deep = head->remarks & CODEC_DEEP;
    const JxlPixelFormat format = {image->shape.format == PIXFMT_GREY ? 1 : 4, deep ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                                   JXL_LITTLE_ENDIAN, 0};
    const size_t row = (size_t)image->shape.width * format.num_channels * (deep ? 2 : 1);
    const JxlPixelFormat ink = {1, JXL_TYPE_UINT8, JXL_LITTLE_ENDIAN, 0};
    const size_t bytes = row * (size_t)image->shape.height, width = (size_t)image->shape.width;
    const size_t inks = head->inks ? width * (size_t)image->shape.height : 0;
    struct codec_head again = {0};
    JxlDecoder *decoder = start(jxl, data, size, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE, error);
    if (!decoder)
        return false;
    JxlDecoderStatus status = jxl->ProcessInput(decoder);
    if (status == JXL_DEC_BASIC_INFO) {
        take_info(jxl, decoder, &again);
        status = jxl->ProcessInput(decoder);
    }
    bool ok = codec_fits(image, &again.shape, error) &&
              (codec_buffer_room(&jxl->raster, bytes + inks) || codec_refuse(error, CODEC_NO_MEMORY, "out of memory"));
    if (ok && status == JXL_DEC_NEED_IMAGE_OUT_BUFFER &&
        jxl->SetImageOutBuffer(decoder, &format, jxl->raster.data, bytes) == JXL_DEC_SUCCESS &&
        (inks == 0 || jxl->SetExtraChannelBuffer(decoder, &ink, jxl->raster.data + bytes, inks, (uint32_t)jxl->black) ==
                          JXL_DEC_SUCCESS))
        status = jxl->ProcessInput(decoder);
    if (ok && status != JXL_DEC_FULL_IMAGE)
        ok = refuse(status, error);
    for (int y = 0; ok && y < image->shape.height; y++)
        put_row(head, jxl->raster.data + (size_t)y * row,
                inks > 0 ? jxl->raster.data + bytes + (size_t)y * width : NULL, image, y);
    jxl->Destroy(decoder);
    return ok;
}

static const char *const extensions[] = {"jxl", NULL};

const struct codec_kind codec_jxl = {
    .info = {.name = "jxl", .extensions = extensions},
    .state_bytes = sizeof(struct jxl),
    .buffers = 4,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
};
