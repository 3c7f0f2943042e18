// heif.c: HEIC and AVIF images, by libheif, which is loaded with the first such file
#include "base/library.h"
#include "image/codec/codec_kind.h"

#include <string.h>

#include <libheif/heif.h>

enum {
    MAJOR_AT = 8,
    BRAND = 4,
    METADATA_MOST = 64,
    METADATA_BYTES = 64 << 20,
};

// The functions of libheif, without their prefix
#define FUNCTIONS(F)                                                                                                   \
    F(context_alloc)                                                                                                   \
    F(context_free)                                                                                                    \
    F(context_read_from_memory_without_copy)                                                                           \
    F(context_set_maximum_image_size_limit)                                                                            \
    F(context_get_primary_image_handle)                                                                                \
    F(context_get_number_of_top_level_images)                                                                          \
    F(image_handle_release)                                                                                            \
    F(image_handle_get_width)                                                                                          \
    F(image_handle_get_height)                                                                                         \
    F(image_handle_has_alpha_channel)                                                                                  \
    F(image_handle_get_luma_bits_per_pixel)                                                                            \
    F(image_handle_get_list_of_metadata_block_IDs)                                                                     \
    F(image_handle_get_metadata_type)                                                                                  \
    F(image_handle_get_metadata_content_type)                                                                          \
    F(image_handle_get_metadata_size)                                                                                  \
    F(image_handle_get_metadata)                                                                                       \
    F(image_handle_get_raw_color_profile_size)                                                                         \
    F(image_handle_get_raw_color_profile)                                                                              \
    F(image_handle_get_nclx_color_profile)                                                                             \
    F(nclx_color_profile_free)                                                                                         \
    F(decode_image)                                                                                                    \
    F(image_get_plane_readonly)                                                                                        \
    F(image_get_width)                                                                                                 \
    F(image_get_height)                                                                                                \
    F(image_release)

struct heif {
    struct codec_buffer icc, exif, xmp; // of the last head
#define MEMBER(name) __typeof__(heif_##name) *name;
    FUNCTIONS(MEMBER)
    bool tried, loaded;
};

// An open file; heif_close accepts a zeroed one.
struct opened {
    struct heif_context *context;
    struct heif_image_handle *handle;
    int bits; // per channel
};

static bool looks_so(const uint8_t *data, size_t size)
{
    static const char brands[] = "avifavisheicheixheimheishevchevxhevmhevsmif1mif2msf1"; // ISO 23008-12, 10; AVIF
    bool found = false;
    for (size_t i = 0; size >= MAJOR_AT + BRAND && i < sizeof(brands) - 1; i += BRAND)
        found = found || (memcmp(data + 4, "ftyp", 4) == 0 && memcmp(data + MAJOR_AT, brands + i, BRAND) == 0);
    return found;
}

static bool load(struct heif *heif, struct codec_error *error)
{
    const struct library_function functions[] = {
#define ROW(name) {"heif_" #name, &heif->name},
        FUNCTIONS(ROW)};
    if (!heif->tried)
        heif->loaded = library_load("libheif.so.1", functions, sizeof(functions) / sizeof(*functions));
    heif->tried = true;
    return heif->loaded || codec_refuse(error, CODEC_UNSUPPORTED,
                                        "HEIC and AVIF images need libheif, which is not installed; install it, or "
                                        "convert the image to PNG or JPEG first");
}

static bool check(struct heif_error result, struct codec_error *error)
{
    const int line = (int)strcspn(result.message, "\n");
    switch (result.code) {
    case heif_error_Ok:
        return true;
    case heif_error_Memory_allocation_error:
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory (libheif: %.*s)", line, result.message);
    case heif_error_Unsupported_filetype:
    case heif_error_Unsupported_feature:
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "libheif cannot read it (%.*s); convert the image to PNG or JPEG first", line,
                            result.message);
    default:
        if (result.subcode == heif_suberror_End_of_data)
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged (libheif: %.*s)", line, result.message);
    }
}

static void heif_close(const struct heif *heif, struct opened *opened)
{
    if (opened->handle)
        heif->image_handle_release(opened->handle);
    if (opened->context)
        heif->context_free(opened->context);
}

static bool heif_open(struct heif *heif, const uint8_t *data, size_t size, struct opened *opened,
                      struct codec_error *error)
{
    if (!load(heif, error))
        return false;
    opened->context = heif->context_alloc();
    if (!opened->context)
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    heif->context_set_maximum_image_size_limit(opened->context, IMAGE_MAX_SIDE);
    if (!check(heif->context_read_from_memory_without_copy(opened->context, data, size, NULL), error) ||
        !check(heif->context_get_primary_image_handle(opened->context, &opened->handle), error))
        return false;
    opened->bits = heif->image_handle_get_luma_bits_per_pixel(opened->handle);
    return true;
}

// Sets *bytes to the profile, or to a block of metadata, if it can be read.
static void take_block(const struct heif *heif, const struct opened *opened, const heif_item_id *block,
                       struct codec_buffer *buffer, struct codec_bytes *bytes)
{
    const size_t size = block ? heif->image_handle_get_metadata_size(opened->handle, *block)
                              : heif->image_handle_get_raw_color_profile_size(opened->handle);
    if (bytes->data || size == 0 || size > METADATA_BYTES || !codec_buffer_room(buffer, size))
        return;
    const struct heif_error result = block ? heif->image_handle_get_metadata(opened->handle, *block, buffer->data)
                                           : heif->image_handle_get_raw_color_profile(opened->handle, buffer->data);
    if (result.code == heif_error_Ok)
        *bytes = (struct codec_bytes){buffer->data, size};
}

// Takes the code points of an image without a profile.
static void take_codes(const struct heif *heif, const struct opened *opened, struct codec_metadata *metadata)
{
    struct heif_color_profile_nclx *nclx = NULL;
    if (!metadata->icc.data && heif->image_handle_get_nclx_color_profile(opened->handle, &nclx).code == heif_error_Ok) {
        metadata->codes[0] = (uint8_t)nclx->color_primaries;
        metadata->codes[1] = (uint8_t)nclx->transfer_characteristics;
    }
    if (nclx)
        heif->nclx_color_profile_free(nclx);
}

static void take_metadata(struct heif *heif, const struct opened *opened, struct codec_metadata *metadata)
{
    heif_item_id ids[METADATA_MOST];
    const int count = heif->image_handle_get_list_of_metadata_block_IDs(opened->handle, NULL, ids, METADATA_MOST);
    take_block(heif, opened, NULL, &heif->icc, &metadata->icc);
    take_codes(heif, opened, metadata);
    for (int i = 0; i < count; i++) {
        const char *type = heif->image_handle_get_metadata_type(opened->handle, ids[i]);
        const char *content = heif->image_handle_get_metadata_content_type(opened->handle, ids[i]);
        if (type && strcmp(type, "Exif") == 0)
            take_block(heif, opened, &ids[i], &heif->exif, &metadata->exif);
        else if (content && strcmp(content, "application/rdf+xml") == 0)
            take_block(heif, opened, &ids[i], &heif->xmp, &metadata->xmp);
    }
    metadata->exif = codec_exif_block(metadata->exif);
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct heif *heif = state;
    struct opened opened = {0};
    const bool ok = heif_open(heif, data, size, &opened, error);
    if (ok) {
        head->shape = (struct image_shape){.format = PIXFMT_RGBA,
                                           .width = heif->image_handle_get_width(opened.handle),
                                           .height = heif->image_handle_get_height(opened.handle)};
        head->jpeg = PIXFMT_YU12;
        head->alpha = heif->image_handle_has_alpha_channel(opened.handle);
        head->upright = true;
        head->remarks = opened.bits > 8 ? CODEC_DEEP : 0;
        head->remarks |= heif->context_get_number_of_top_level_images(opened.context) > 1 ? CODEC_FRAMES : 0;
        take_metadata(heif, &opened, &head->metadata);
    }
    heif_close(heif, &opened);
    return ok;
}

static bool put_rows(const struct heif *heif, const struct heif_image *from, const struct opened *opened,
                     const struct codec_head *head, struct image *image, struct codec_error *error)
{
    const enum heif_channel channel = heif_channel_interleaved;
    const struct image_shape shape = {.format = PIXFMT_RGBA,
                                      .width = heif->image_get_width(from, channel),
                                      .height = heif->image_get_height(from, channel)};
    int stride;
    const uint8_t *plane = heif->image_get_plane_readonly(from, channel, &stride);
    if (!plane || !codec_fits(image, &shape, error))
        return codec_refuse(error, CODEC_DAMAGED, "its pixels do not match its header");
    for (int y = 0; y < shape.height; y++) {
        const uint8_t *row = plane + (size_t)y * (size_t)stride;
        if (opened->bits > 8)
            codec_put_deep(head->profile, (const uint16_t *)(const void *)row, opened->bits, PIXFMT_RGBA,
                           image_row(image, 0, y), shape.width);
        else
            memcpy(image_row(image, 0, y), row, 4 * (size_t)shape.width);
    }
    return true;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct heif *heif = state;
    struct opened opened = {0};
    struct heif_image *decoded = NULL;
    bool ok = heif_open(heif, data, size, &opened, error);
    ok = ok && check(heif->decode_image(
                         opened.handle, &decoded, heif_colorspace_RGB,
                         opened.bits > 8 ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RGBA, NULL),
                     error);
    ok = ok && put_rows(heif, decoded, &opened, head, image, error);
    if (decoded)
        heif->image_release(decoded);
    heif_close(heif, &opened);
    return ok;
}

static const char *const extensions[] = {"heic", "heif", "hif", "avif", "heics", "heifs", "avifs", NULL};

const struct codec_kind codec_heif = {
    .info = {.name = "heif", .extensions = extensions},
    .state_bytes = sizeof(struct heif),
    .buffers = 3,
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
};
