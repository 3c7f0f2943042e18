// psd.c: the merged image of PSD files, RGB of 8 bits (Adobe Photoshop File Formats Specification)
#include "base/number.h"
#include "image/codec/codec_kind.h"
#include "image/codec/metadata.h"

#include <string.h>

// Offsets in the header, and what follows it.
enum { VERSION_AT = 4, CHANNELS_AT = 12, HEIGHT_AT = 14, WIDTH_AT = 18, DEPTH_AT = 22, MODE_AT = 24, SECTIONS = 26 };
enum { RGB = 3, CHANNELS = 3, RAW = 0, PACKBITS = 1 };

// The header.
struct psd {
    struct image_shape shape;
    struct codec_bytes resources; // image resource blocks
    int compression;
    size_t rows; // place of the rows, or of the table with their lengths
};

static bool is_psd(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, "8BPS", 4) == 0;
}

static bool kind_ok(const uint8_t *data, struct codec_error *error)
{
    if (number_big(data + VERSION_AT, 2) != 1)
        return codec_refuse(error, CODEC_UNSUPPORTED, "PSB files are not supported; save the image as PNG first");
    if (number_big(data + DEPTH_AT, 2) != 8)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "PSD files with %u bits per channel are not supported; convert the image to 8 bits first",
                            number_big(data + DEPTH_AT, 2));
    if (number_big(data + MODE_AT, 2) != RGB)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "PSD files that are not in RGB mode are not supported; save the image as PNG first");
    if (number_big(data + CHANNELS_AT, 2) > CHANNELS)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "PSD files with an alpha channel are not supported; save the image as PNG first");
    return number_big(data + CHANNELS_AT, 2) == CHANNELS ||
           codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header is invalid");
}

static bool read_header(struct psd *psd, const uint8_t *data, size_t size, struct codec_error *error)
{
    enum { COLOURS, RESOURCES, LAYERS, SECTION_COUNT, LENGTH = 4, COMPRESSION = 2 };
    size_t at = SECTIONS;
    *psd = (struct psd){.compression = RAW};
    if (size < SECTIONS)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    if (!kind_ok(data, error))
        return false;
    // codec.c refuses images that are too large.
    const size_t width = number_big(data + WIDTH_AT, 4), height = number_big(data + HEIGHT_AT, 4);
    psd->shape.format = PIXFMT_RGBA;
    psd->shape.width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    psd->shape.height = height <= IMAGE_MAX_SIDE ? (int)height : IMAGE_MAX_SIDE + 1;
    for (int i = 0; i < SECTION_COUNT; i++) {
        const size_t left = size - at, length = left >= LENGTH ? number_big(data + at, LENGTH) : SIZE_MAX;
        if (left < LENGTH || length > left - LENGTH)
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        if (i == RESOURCES)
            psd->resources = (struct codec_bytes){data + at + LENGTH, length};
        at += LENGTH + length;
    }
    if (size - at < COMPRESSION)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    psd->compression = (int)number_big(data + at, COMPRESSION);
    psd->rows = at + COMPRESSION;
    return psd->compression == RAW || psd->compression == PACKBITS ||
           codec_refuse(error, CODEC_UNSUPPORTED, "PSD compression %d is not supported; save the image as PNG first",
                        psd->compression);
}

static void read_metadata(struct codec_bytes resources, struct codec_metadata *metadata)
{
    enum { FIXED_ONE = 1 << 16, RESOLUTION_BYTES = 16, DOWN_AT = 8 };
    metadata->icc = photoshop_find(resources, PHOTOSHOP_ICC);
    metadata->exif = photoshop_find(resources, PHOTOSHOP_EXIF);
    metadata->xmp = photoshop_find(resources, PHOTOSHOP_XMP);
    metadata->iptc = photoshop_find(resources, PHOTOSHOP_IPTC);
    const struct codec_bytes resolution = photoshop_find(resources, PHOTOSHOP_RESOLUTION); // 16.16 bits, per inch
    for (int i = 0; i < 2 && resolution.size >= RESOLUTION_BYTES; i++)
        metadata->density[i] = (double)number_big(resolution.data + i * DOWN_AT, 4) / FIXED_ONE;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    enum { HAS_MERGED_AT = 4 };
    struct psd psd;
    const bool ok = read_header(&psd, data, size, error);
    head->shape = psd.shape;
    if (!ok)
        return false;
    const struct codec_bytes version = photoshop_find(psd.resources, PHOTOSHOP_VERSION);
    if (version.size > HAS_MERGED_AT && version.data[HAS_MERGED_AT] == 0)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "it has only layers, because it was saved without \"Maximize compatibility\"; save it with "
                            "that, or as PNG");
    const uint64_t samples = (uint64_t)psd.shape.width * (uint64_t)psd.shape.height * CHANNELS;
    if (!codec_can_hold(size, psd.compression == RAW ? samples : samples / CODEC_RUN_MOST, error))
        return false;
    head->jpeg = PIXFMT_YU12;
    read_metadata(psd.resources, &head->metadata);
    return true;
}

// Writes a row of one channel, every fourth byte. Returns false if the data end before the row.
static bool unpack_row(const uint8_t *from, size_t size, uint8_t *to, int width)
{
    enum { NOTHING = 128 };
    int x = 0;
    for (size_t at = 0; at < size && x < width;) {
        const int code = from[at++];
        int count = code < NOTHING ? code + 1 : 257 - code;
        if (code == NOTHING)
            count = 0;
        for (int i = 0; i < count && at < size && x < width; i++, x++) {
            to[4 * x] = from[at];
            at += code < NOTHING;
        }
        at += code > NOTHING;
    }
    return x == width;
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    enum { LENGTH = 2 };
    struct psd psd;
    if (!read_header(&psd, data, size, error) || !codec_fits(image, &psd.shape, error))
        return false;
    const int width = psd.shape.width, height = psd.shape.height, rows = CHANNELS * height;
    const size_t table = psd.compression == PACKBITS ? (size_t)rows * LENGTH : 0;
    if (table > size - psd.rows)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    const uint8_t *lengths = data + psd.rows, *from = lengths + table, *end = data + size;
    for (int i = 0; i < rows; i++) {
        uint8_t *to = image_row(image, 0, i % height);
        const size_t bytes = table > 0 ? number_big(lengths + (size_t)i * LENGTH, LENGTH) : (size_t)width;
        if (bytes > (size_t)(end - from))
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        if (table > 0 && !unpack_row(from, bytes, to + i / height, width))
            return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: one of its rows is too short");
        for (int x = 0; x < width; x++) {
            if (table == 0)
                to[4 * x + i / height] = from[x];
            to[4 * x + 3] = 255;
        }
        from += bytes;
    }
    return true;
}

static const char *const extensions[] = {"psd", NULL};

const struct codec_kind codec_psd = {
    .info = {.name = "psd", .extensions = extensions}, .looks_so = is_psd, .head = head_of, .decode = decode};
