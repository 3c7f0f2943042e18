// bmp.c: BMP files of Windows and OS/2 (Microsoft, "Bitmap Storage"; IBM, OS/2 Warp PM programming reference, "Bitmap
// file format")
#include "base/number.h"
#include "image/codec/codec_kind.h"

#include <string.h>

enum {
    FILE_HEAD = 14, // bytes of the file's own header, before the info header
    OS2_HEAD = 12,  // bytes of the first info header
    MASKS_AT = 40,  // in info headers that have them
    COLOURS = 256,
    RGB = 0, // kinds of compression
    RLE8 = 1,
    RLE4 = 2,
    MASKS = 3,
    ALPHA_MASKS = 6,
    RLE_MOST = 128,       // pixels per byte of RLE data
    EMPTY_MOST = 1 << 24, // most pixels of an image whose RLE data does not set all of them
};

// The header.
struct bmp {
    const uint8_t *data;
    size_t size;
    size_t pixels;  // their offset in the file
    int64_t height; // before the sign is removed
    int width, bits, compression;
    bool upwards;                // the first row is the lowest one
    uint32_t mask[4];            // red, green, blue, alpha; of 16 and 32 bits
    uint8_t colours[COLOURS][4]; // of up to 8 bits; black beyond the file's palette
};

// Two letters are too short a signature, so the size of the info header must also be a known one.
static bool looks_so(const uint8_t *data, size_t size)
{
    static const uint8_t info_sizes[] = {OS2_HEAD, 16, 24, 40, 48, 52, 56, 64, 108, 124};
    return size >= 18 && data[0] == 'B' && data[1] == 'M' && memchr(info_sizes, data[14], sizeof(info_sizes)) &&
           number_little(data + 15, 3) == 0;
}

// Reads the palette at `place`, which has `each` bytes per colour and ends at the pixels. Some programs write the place
// of the palette into the field for the place of the pixels.
static void read_colours(struct bmp *bmp, size_t place, size_t each, uint32_t used)
{
    size_t count = (size_t)1 << bmp->bits;
    if (used > 0 && used < count)
        count = used;
    if (bmp->pixels == place)
        bmp->pixels += count * each;
    const size_t end = bmp->pixels < bmp->size ? bmp->pixels : bmp->size;
    for (size_t i = 0; i < COLOURS; i++) {
        const uint8_t *from = bmp->data + place + i * each;
        memcpy(bmp->colours[i], "\0\0\0\xff", 4);
        for (int c = 0; i < count && place + (i + 1) * each <= end && c < 3; c++)
            bmp->colours[i][c] = from[2 - c];
    }
}

// Reads the masks of 16 and 32 bits per pixel. Returns the bytes that they take behind an info header of `info` bytes.
static size_t read_masks(struct bmp *bmp, size_t info)
{
    static const uint32_t of_16[] = {0x7c00, 0x3e0, 0x1f, 0}, of_32[] = {0xff0000, 0xff00, 0xff, 0xff000000};
    const bool inside = info > MASKS_AT;
    int count = bmp->compression == MASKS ? 3 : 4;
    memcpy(bmp->mask, bmp->bits == 16 ? of_16 : of_32, sizeof(bmp->mask));
    if (bmp->compression != MASKS && bmp->compression != ALPHA_MASKS)
        return 0;
    if (inside)
        count = info >= MASKS_AT + 16 ? 4 : 3;
    bmp->mask[3] = 0;
    for (int c = 0; c < count && FILE_HEAD + MASKS_AT + 4 * (size_t)(c + 1) <= bmp->size; c++)
        bmp->mask[c] = number_little(bmp->data + FILE_HEAD + MASKS_AT + 4 * c, 4);
    return inside ? 0 : (size_t)count * 4;
}

static bool kind_ok(const struct bmp *bmp, size_t info, struct codec_error *error)
{
    static const uint8_t bits[] = {1, 2, 4, 8, 16, 24, 32};
    const int kind = bmp->compression;
    if (info == 64 && kind >= MASKS) // OS/2 gives these numbers another meaning
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "BMP files of OS/2 with Huffman or RLE24 compression are not supported; convert the image "
                            "to PNG first");
    if (kind == 4 || kind == 5)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "BMP files that contain a %s are not supported; convert the image to PNG first",
                            kind == 4 ? "JPEG" : "PNG");
    if (!memchr(bits, bmp->bits, sizeof(bits)) ||
        (kind != RGB && kind != RLE8 && kind != RLE4 && kind != MASKS && kind != ALPHA_MASKS))
        return codec_refuse(
            error, CODEC_UNSUPPORTED,
            "BMP files of %d bits per pixel with compression %d are not supported; convert the image to "
            "PNG first",
            bmp->bits, kind);
    if ((kind == RLE8 && bmp->bits != 8) || (kind == RLE4 && bmp->bits != 4) ||
        ((kind == MASKS || kind == ALPHA_MASKS) && bmp->bits != 16 && bmp->bits != 32))
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header is invalid");
    return true;
}

static size_t row_bytes(const struct bmp *bmp)
{
    return ((size_t)bmp->width * (size_t)bmp->bits + 7) / 8;
}

// Returns true if the file is long enough.
static bool pixels_ok(const struct bmp *bmp, struct codec_error *error)
{
    const uint64_t pixels = (uint64_t)bmp->width * (uint64_t)bmp->height;
    if (bmp->compression == RLE8 || bmp->compression == RLE4)
        return pixels <= EMPTY_MOST || codec_can_hold(bmp->size, pixels / RLE_MOST, error);
    const uint64_t row = (row_bytes(bmp) + 3) / 4 * 4; // the last one need not be padded
    return codec_can_hold(bmp->size, bmp->pixels + row * (uint64_t)(bmp->height - 1) + row_bytes(bmp), error);
}

static bool read_header(struct bmp *bmp, const uint8_t *data, size_t size, struct codec_error *error)
{
    const size_t info = data[FILE_HEAD];
    const uint8_t *at = data + FILE_HEAD + 4;
    *bmp = (struct bmp){.data = data, .size = size, .pixels = number_little(data + 10, 4), .upwards = true};
    if (size < FILE_HEAD + info)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
    const int bytes = info == OS2_HEAD ? 2 : 4;
    const uint32_t width = number_little(at, bytes), height = number_little(at + bytes, bytes);
    bmp->bits = (int)number_little(at + 2 * bytes + 2, 2);
    bmp->compression = info > 16 ? (int)number_little(data + FILE_HEAD + 16, 4) : RGB;
    bmp->height = bytes == 4 ? (int32_t)height : (int64_t)height;
    bmp->upwards = bmp->height > 0;
    bmp->height = bmp->upwards ? bmp->height : -bmp->height;
    if (!kind_ok(bmp, info, error))
        return false;
    // codec.c refuses images that are too large.
    bmp->width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    bmp->height = bmp->height <= IMAGE_MAX_SIDE ? bmp->height : IMAGE_MAX_SIDE + 1;
    const size_t place = FILE_HEAD + info + read_masks(bmp, info);
    if (bmp->pixels < place)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its pixels begin in its header");
    const uint32_t used = info >= 36 ? number_little(data + FILE_HEAD + 32, 4) : 0;
    if (bmp->bits <= 8)
        read_colours(bmp, place, info == OS2_HEAD ? 3 : 4, used);
    return true;
}

static bool has_alpha(const struct bmp *bmp)
{
    return (bmp->bits == 16 || bmp->bits == 32) && bmp->mask[3] != 0;
}

// Reads the resolution, and the colour profile that a header of 124 bytes may name.
static void read_metadata(const struct bmp *bmp, struct codec_metadata *metadata)
{
    enum { RESOLUTION_AT = 24, SPACE_AT = 56, PROFILE_AT = 112, V5 = 124 };
    static const double inch = 0.0254;
    const uint8_t *info = bmp->data + FILE_HEAD;
    if (info[0] < RESOLUTION_AT + 8)
        return;
    for (int i = 0; i < 2; i++)
        metadata->density[i] = number_little(info + RESOLUTION_AT + 4 * i, 4) * inch;
    if (info[0] < V5 || memcmp(info + SPACE_AT, "DEBM", 4) != 0) // PROFILE_EMBEDDED
        return;
    const size_t at = FILE_HEAD + (size_t)number_little(info + PROFILE_AT, 4),
                 bytes = number_little(info + PROFILE_AT + 4, 4);
    if (bytes > 0 && at < bmp->size && bytes <= bmp->size - at)
        metadata->icc = (struct codec_bytes){bmp->data + at, bytes};
    else
        codec_lacks(metadata, "its colour profile is damaged and is left out");
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct bmp bmp;
    if (!read_header(&bmp, data, size, error))
        return false;
    head->shape = (struct image_shape){.format = PIXFMT_RGBA, .width = bmp.width, .height = (int)bmp.height};
    head->jpeg = PIXFMT_YU12;
    head->alpha = has_alpha(&bmp);
    read_metadata(&bmp, &head->metadata);
    const bool empty = bmp.width < 1 || bmp.height<1, large = bmp.width> IMAGE_MAX_SIDE || bmp.height > IMAGE_MAX_SIDE;
    return empty || large || pixels_ok(&bmp, error);
}

static uint8_t *row_of(const struct bmp *bmp, const struct image *image, int64_t y)
{
    return image_row(image, 0, (int)(bmp->upwards ? bmp->height - 1 - y : y));
}

// Returns the bits of the mask as 8 bits; `none` for an empty mask.
static uint8_t channel(uint32_t value, uint32_t mask, uint8_t none)
{
    if (mask == 0)
        return none;
    const int shift = __builtin_ctz(mask);
    const uint64_t most = mask >> shift;
    return (uint8_t)(((uint64_t)((value & mask) >> shift) * 255 + most / 2) / most);
}

static void read_row(const struct bmp *bmp, const uint8_t *from, uint8_t *to)
{
    const int bits = bmp->bits, bytes = bits / 8;
    for (int x = 0; x < bmp->width; x++, to += 4) {
        const size_t bit = (size_t)x * (size_t)bits;
        if (bits <= 8) {
            memcpy(to, bmp->colours[from[bit / 8] >> (8 - bits - (int)(bit % 8)) & ((1 << bits) - 1)], 4);
            continue;
        }
        const uint8_t *at = from + (size_t)x * (size_t)bytes;
        if (bits == 24) {
            memcpy(to, (uint8_t[]){at[2], at[1], at[0], 255}, 4);
            continue;
        }
        const uint32_t value = number_little(at, bytes);
        for (int c = 0; c < 4; c++)
            to[c] = channel(value, bmp->mask[c], c == 3 ? 255 : 0);
    }
}

// Many programs leave the fourth byte of all pixels 0: the image is then opaque.
static void settle_alpha(struct image *image)
{
    const size_t bytes = 4 * (size_t)image->shape.width;
    uint8_t all = 0;
    for (int y = 0; y < image->shape.height; y++)
        for (size_t at = 3; at < bytes; at += 4)
            all |= image_row(image, 0, y)[at];
    for (int y = 0; all == 0 && y < image->shape.height; y++)
        for (size_t at = 3; at < bytes; at += 4)
            image_row(image, 0, y)[at] = 255;
}

static void read_rows(const struct bmp *bmp, struct image *image)
{
    const size_t row = (row_bytes(bmp) + 3) / 4 * 4;
    for (int64_t y = 0; y < bmp->height; y++)
        read_row(bmp, bmp->data + bmp->pixels + (size_t)y * row, row_of(bmp, image, y));
    if (has_alpha(bmp) && bmp->compression == RGB)
        settle_alpha(image);
}

// The pen of RLE data. Pixels outside the image are ignored.
struct pen {
    const struct bmp *bmp;
    struct image *image;
    int64_t x, y;
};

// Puts `count` pixels: of 4 bits from the bytes in turn, high half first, or of 8 bits. A `run` repeats the first byte.
static void put_pixels(struct pen *pen, const uint8_t *from, int count, bool run)
{
    for (int i = 0; i < count; i++, pen->x++) {
        const bool half = pen->bmp->compression == RLE4;
        int colour = from[run ? 0 : i >> half];
        if (half)
            colour = i % 2 ? colour & 15 : colour >> 4;
        if (pen->x < pen->bmp->width && pen->y < pen->bmp->height)
            memcpy(row_of(pen->bmp, pen->image, pen->y) + 4 * pen->x, pen->bmp->colours[colour], 4);
    }
}

// Pixels that the data skip have the first colour. Data without an end are complete if they reach the last row's end.
static bool read_runs(const struct bmp *bmp, struct image *image, struct codec_error *error)
{
    enum { ROW_END, IMAGE_END, MOVE };
    struct pen pen = {.bmp = bmp, .image = image};
    size_t at = bmp->pixels;
    for (int64_t y = 0; y < bmp->height; y++)
        for (int x = 0; x < bmp->width; x++)
            memcpy(row_of(bmp, image, y) + 4 * (size_t)x, bmp->colours[0], 4);
    while (at + 2 <= bmp->size && pen.y < bmp->height) {
        const int count = bmp->data[at], code = bmp->data[at + 1];
        const size_t bytes = bmp->compression == RLE4 ? ((size_t)code + 1) / 2 : (size_t)code;
        at += 2;
        if (count > 0) {
            put_pixels(&pen, bmp->data + at - 1, count, true);
        } else if (code == IMAGE_END) {
            return true;
        } else if (code == ROW_END) {
            pen.x = 0;
            pen.y++;
        } else if (code == MOVE && at + 2 <= bmp->size) {
            pen.x += bmp->data[at];
            pen.y += bmp->data[at + 1];
            at += 2;
        } else if (code != MOVE && at + bytes <= bmp->size) {
            put_pixels(&pen, bmp->data + at, code, false);
            at += (bytes + 1) / 2 * 2;
        } else {
            at = bmp->size;
        }
    }
    return pen.y >= bmp->height || (pen.y == bmp->height - 1 && pen.x >= bmp->width) ||
           codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct bmp bmp;
    if (!looks_so(data, size))
        return codec_refuse(error, CODEC_DAMAGED, "its pixels do not match its header");
    if (!read_header(&bmp, data, size, error))
        return false;
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = bmp.width, .height = (int)bmp.height};
    if (!codec_fits(image, &shape, error) || !pixels_ok(&bmp, error))
        return false;
    if (bmp.compression == RLE8 || bmp.compression == RLE4)
        return read_runs(&bmp, image, error);
    read_rows(&bmp, image);
    return true;
}

static const char *const extensions[] = {"bmp", "dib", NULL};

const struct codec_kind codec_bmp = {
    .info = {.name = "bmp", .extensions = extensions},
    .looks_so = looks_so,
    .head = head_of,
    .decode = decode,
};
