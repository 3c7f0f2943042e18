// png.c: PNG files (PNG specification, third edition): libdeflate unpacks; png_filter.c and deflate.c do the rest
#include "base/number.h"
#include "image/codec/codec_kind.h"
#include "image/codec/deflate.h"
#include "image/codec/metadata.h"
#include "image/codec/png_filter.h"
#include "image/codec/profile.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libdeflate.h>

enum colour { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };
// PROFILE: EXIF, XMP or IPTC data, as text (ImageMagick, ExifTool); TEXT_XMP, TEXT_IPTC: from such a text
enum { ICC, EXIF, XMP, PROFILE, TEXT_XMP, TEXT_IPTC, METADATA };
enum {
    SIGNATURE_BYTES = 8,
    PALETTE_MAX = 256,       // colours
    UNPACKED_MAX = 16 << 20, // bytes of a profile, or of XMP data
    SLACK = 16,              // bytes behind and before rows that png_filter may read
    DEFLATE_MOST = 1032,     // maximum bytes per byte of deflated data (258 for two bits)
    CHUNK_HEAD = 8,          // bytes: length and type of a chunk
    CHUNK_EXTRA = 12,        // bytes: also its checksum
    LEVEL_QUICK = 1,
    LEVEL_MAX = 9,
    DEEP = 16, // bits per sample, of which the image keeps 8
};
static const uint8_t signature[SIGNATURE_BYTES] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

struct png {
    struct codec_buffer packed;                     // compressed pixels
    struct codec_buffer plain;                      // filtered rows
    struct codec_buffer rows;                       // a few rows of the image
    struct codec_buffer unpacked[METADATA], chunks; // until the next head
    struct libdeflate_decompressor *inflater;
    struct libdeflate_compressor *deflater;
    int deflater_level;
};

// All of a file but its pixels.
struct header {
    int width, height, depth; // bits per sample
    enum colour colour;
    enum pixfmt format; // of the decoded image
    bool interlaced, has_palette, animated;
    bool after_palette;              // a PLTE chunk was read, of whatever use
    unsigned kept;                   // bits of the rows of kept_chunks that the file has
    size_t text_bytes;               // of its texts, unpacked
    bool seen[METADATA];             // the file has such a chunk, damaged or not
    int profiles;                    // text chunks with profiles
    bool transparent;                // the palette has alpha, or one colour is transparent
    uint8_t palette[PALETTE_MAX][4]; // RGBA
    uint16_t key[3];                 // the transparent colour, as samples of `depth` bits
    int pieces;                      // chunks of compressed pixels (IDAT)
    struct codec_bytes pixels;       // data of the first of them; size of all of them
};

struct chunk {
    char type[5];
    struct codec_bytes bytes;
    bool whole; // the checksum is right
};

// Reads the chunk at *at, and sets *at to the next chunk. chunk->bytes are borrowed from `data`. Returns false if the
// file ends within the chunk. `pixels`: also verify the checksums of chunks with pixels.
static bool chunk_next(struct chunk *chunk, const uint8_t *data, size_t size, size_t *at, bool pixels)
{
    const uint8_t *from = data + *at;
    if (size - *at < CHUNK_EXTRA || number_big(from, 4) > size - *at - CHUNK_EXTRA)
        return false;
    const size_t length = number_big(from, 4);
    *chunk = (struct chunk){.bytes = {from + CHUNK_HEAD, length}};
    memcpy(chunk->type, from + 4, 4);
    chunk->whole = (!pixels && memcmp(chunk->type, "IDAT", 4) == 0) ||
                   libdeflate_crc32(0, from + 4, length + 4) == number_big(from + CHUNK_HEAD + length, 4);
    *at += length + CHUNK_EXTRA;
    return true;
}

static bool chunk_is(const struct chunk *chunk, const char *type)
{
    return memcmp(chunk->type, type, 4) == 0;
}

// Begins a chunk with its first data, and sets *start for chunk_end. Append the rest before that call. This and the
// next two return false if there is no memory.
static bool chunk_begin(struct codec_buffer *buffer, const char *type, const void *data, size_t size, size_t *start)
{
    *start = buffer->size;
    return codec_buffer_append(buffer, (const uint8_t[4]){0}, 4) && codec_buffer_append(buffer, type, 4) &&
           codec_buffer_append(buffer, data, size);
}

static bool chunk_end(struct codec_buffer *buffer, size_t start)
{
    const size_t size = buffer->size - start - CHUNK_HEAD;
    uint8_t sum[4];
    number_put_big(buffer->data + start, 4, (uint32_t)size);
    number_put_big(sum, 4, libdeflate_crc32(0, buffer->data + start + 4, size + 4));
    return codec_buffer_append(buffer, sum, sizeof(sum));
}

static bool chunk_write(struct codec_buffer *buffer, const char *type, const void *data, size_t size)
{
    size_t start;
    return chunk_begin(buffer, type, data, size, &start) && chunk_end(buffer, start);
}

static bool looks_so(const uint8_t *data, size_t size)
{
    return size >= SIGNATURE_BYTES && memcmp(data, signature, SIGNATURE_BYTES) == 0;
}

static int channels_of(enum colour colour)
{
    static const uint8_t channels[] = {[GREY] = 1, [RGB] = 3, [PALETTE] = 1, [GREY_ALPHA] = 2, [RGBA] = 4};
    return channels[colour];
}

static bool take_header(struct header *header, const struct chunk *chunk, struct codec_error *error)
{
    static const uint8_t depths[] = {
        [GREY] = 1 | 2 | 4 | 8 | 16, [RGB] = 8 | 16, [PALETTE] = 1 | 2 | 4 | 8, [GREY_ALPHA] = 8 | 16, [RGBA] = 8 | 16};
    const uint8_t *data = chunk->bytes.data;
    if (chunk_is(chunk, "CgBI"))
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "it is a CgBI PNG of Xcode, which only Apple's systems read; convert it with pngcrush "
                            "-revert-iphone-optimizations first");
    if (!chunk_is(chunk, "IHDR") || chunk->bytes.size != 13 || !chunk->whole)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header (IHDR) is invalid");
    const uint32_t width = number_big(data, 4), height = number_big(data + 4, 4);
    header->depth = data[8];
    header->colour = data[9];
    header->interlaced = data[12] == 1;
    const bool power = header->depth > 0 && (header->depth & (header->depth - 1)) == 0;
    if (data[9] >= sizeof(depths) || !power || !(depths[data[9]] & header->depth) || data[10] != 0 || data[11] != 0 ||
        data[12] > 1 || width == 0 || height == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its header (IHDR) is invalid");
    // codec.c refuses images that are too large.
    header->width = width <= IMAGE_MAX_SIDE ? (int)width : IMAGE_MAX_SIDE + 1;
    header->height = height <= IMAGE_MAX_SIDE ? (int)height : IMAGE_MAX_SIDE + 1;
    for (int i = 0; i < PALETTE_MAX; i++)
        header->palette[i][3] = 255;
    return true;
}

static bool take_palette(struct header *header, const struct chunk *chunk, struct codec_error *error)
{
    const size_t count = chunk->bytes.size / 3;
    if (chunk->bytes.size % 3 != 0 || count > PALETTE_MAX || count == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its palette (PLTE) is invalid");
    header->has_palette = true;
    for (size_t i = 0; i < count; i++)
        memcpy(header->palette[i], chunk->bytes.data + 3 * i, 3);
    return true;
}

static bool take_transparency(struct header *header, const struct chunk *chunk, struct codec_error *error)
{
    const size_t size = chunk->bytes.size;
    const uint8_t *data = chunk->bytes.data;
    const bool palette = header->colour == PALETTE;
    const size_t channels = header->colour == RGB ? 3 : 1;
    if (header->colour == GREY_ALPHA || header->colour == RGBA || (palette ? size > PALETTE_MAX : size != 2 * channels))
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its transparency (tRNS) is invalid");
    header->transparent = true;
    for (size_t i = 0; palette && i < size; i++)
        header->palette[i][3] = data[i];
    for (size_t i = 0; !palette && i < channels; i++)
        header->key[i] = (uint16_t)(number_big(data + 2 * i, 2) & ((1u << header->depth) - 1));
    return true;
}

static bool skip(struct codec_bytes *bytes, size_t count)
{
    if (bytes->size < count)
        return false;
    *bytes = (struct codec_bytes){bytes->data + count, bytes->size - count};
    return true;
}

// Skips a text and its NUL.
static bool skip_text(struct codec_bytes *bytes)
{
    const uint8_t *end = bytes->size > 0 ? memchr(bytes->data, 0, bytes->size) : NULL;
    return end && skip(bytes, (size_t)(end + 1 - bytes->data));
}

// Unpacks data of unknown size in place of *bytes. Returns false if they are damaged or larger than UNPACKED_MAX.
static bool unpack(struct png *png, struct codec_buffer *buffer, struct codec_bytes *bytes)
{
    enum libdeflate_result result;
    const size_t size = bytes->size;
    size_t room = size < UNPACKED_MAX / 4 - 1024 ? 4 * size + 4096 : UNPACKED_MAX;
    if (!png->inflater)
        png->inflater = libdeflate_alloc_decompressor();
    for (;; room = room < UNPACKED_MAX / 4 ? 4 * room : UNPACKED_MAX) {
        if (!png->inflater || !codec_buffer_room(buffer, room))
            return false;
        result = libdeflate_zlib_decompress(png->inflater, bytes->data, size, buffer->data, room, &buffer->size);
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE || room == UNPACKED_MAX)
            break;
    }
    *bytes = (struct codec_bytes){buffer->data, buffer->size};
    return result == LIBDEFLATE_SUCCESS;
}

// EXIF, XMP and IPTC data in text chunks, as ImageMagick and ExifTool write them: a line with a name, the size, and the
// bytes as hexadecimal digits, in lines.
//
// Returns true for the data of a text chunk with EXIF, XMP or IPTC data.
static bool is_profile(struct codec_bytes chunk)
{
    static const char *const names[] = {"exif", "APP1", "iptc", "8bim", "xmp"};
    static const char start[] = "Raw profile type ";
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        found |= chunk.size > sizeof(start) + strlen(names[i]) && codec_begins(chunk, start, strlen(start)) &&
                 strcmp((const char *)chunk.data + strlen(start), names[i]) == 0;
    return found;
}

static int hex_digit(int letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

// Unpacks the text into the buffer, and sets *text to the result. The text may be in the buffer itself. Returns false
// if it is damaged, or there is no memory.
static bool profile_read(struct codec_buffer *buffer, struct codec_bytes *text)
{
    const uint8_t *at = text->data, *end = at + text->size;
    size_t size = 0;
    while (at < end && *at == '\n')
        at++;
    while (at < end && *at != '\n')
        at++;
    while (at < end && isspace(*at))
        at++;
    for (; at < end && isdigit(*at) && size <= text->size; at++)
        size = size * 10 + (size_t)(*at - '0');
    if (size > text->size / 2 || !codec_buffer_room(buffer, size))
        return false;
    buffer->size = 0;
    for (int high = -1; at < end && buffer->size < size; at++) {
        const int digit = hex_digit(*at);
        if (digit < 0 && !isspace(*at))
            return false;
        if (digit < 0)
            continue;
        if (high >= 0)
            buffer->data[buffer->size++] = (uint8_t)(high << 4 | digit);
        high = high < 0 ? digit : -1;
    }
    *text = (struct codec_bytes){buffer->data, buffer->size};
    return buffer->size == size;
}

// Appends bytes as text. Returns false if there is no memory.
static bool profile_write(struct codec_buffer *text, const char *name, struct codec_bytes bytes)
{
    enum { LINE = 36 }; // bytes
    char digits[64];
    snprintf(digits, sizeof(digits), "\n%s\n%8zu", name, bytes.size);
    bool ok = codec_buffer_append(text, digits, strlen(digits));
    for (size_t i = 0; ok && i < bytes.size; i++) {
        snprintf(digits, sizeof(digits), "%s%02x", i % LINE == 0 ? "\n" : "", bytes.data[i]);
        ok = codec_buffer_append(text, digits, strlen(digits));
    }
    return ok && codec_buffer_append(text, "\n", 1);
}

// Returns the metadata in a chunk.
static bool read_metadata(struct png *png, const struct chunk *chunk, int kind, struct codec_bytes *bytes)
{
    bool ok = chunk->whole, packed = chunk_is(chunk, "iCCP") || chunk_is(chunk, "zTXt");
    *bytes = chunk->bytes;
    if (packed) { // name, method 0, packed profile or text
        ok = ok && skip_text(bytes) && bytes->size > 1 && bytes->data[0] == 0 && skip(bytes, 1);
    } else if (chunk_is(chunk, "tEXt")) {
        ok = ok && skip_text(bytes);
    } else if (chunk_is(chunk, "iTXt")) { // keyword, whether packed, method 0, language, translated keyword, text
        ok = ok && skip_text(bytes) && bytes->size >= 2;
        packed = ok && bytes->data[0] == 1;
        ok = ok && bytes->data[0] <= 1 && bytes->data[1] == 0 && skip(bytes, 2) && skip_text(bytes) && skip_text(bytes);
    }
    return ok && (!packed || unpack(png, &png->unpacked[kind], bytes));
}

// Copies metadata, unless there are some already.
static void keep_profile(struct codec_bytes *part, struct codec_buffer *buffer, struct codec_bytes bytes)
{
    if (!part->data && bytes.size > 0 && codec_buffer_append(buffer, bytes.data, bytes.size))
        *part = (struct codec_bytes){buffer->data, bytes.size};
}

// Takes EXIF, XMP or IPTC data from a text chunk. A chunk of their own has precedence.
static void take_profile(struct png *png, const struct chunk *chunk, struct codec_metadata *metadata)
{
    static const char exif_name[] = "Exif\0", xmp_name[] = "http://ns.adobe.com/xap/1.0/"; // each with its final NUL
    struct codec_buffer *unpacked = png->unpacked;
    struct codec_bytes bytes = {0};
    const bool ok = read_metadata(png, chunk, PROFILE, &bytes) && profile_read(&unpacked[PROFILE], &bytes);
    const struct codec_bytes iptc = photoshop_iptc(ok ? bytes : (struct codec_bytes){0});
    if (ok && codec_begins(bytes, exif_name, sizeof(exif_name)))
        skip(&bytes, sizeof(exif_name));
    const bool named = ok && codec_begins(bytes, xmp_name, sizeof(xmp_name)) && skip(&bytes, sizeof(xmp_name));
    if (ok && iptc.data)
        keep_profile(&metadata->iptc, &unpacked[TEXT_IPTC], iptc);
    else if (ok && (named || codec_begins(bytes, "<", 1)))
        keep_profile(&metadata->xmp, &unpacked[TEXT_XMP], bytes);
    else if (ok && (codec_begins(bytes, "II*\0", 4) || codec_begins(bytes, "MM\0*", 4)))
        keep_profile(&metadata->exif, &unpacked[EXIF], bytes);
    else
        codec_lacks(metadata, "a damaged or too large profile in its texts is left out");
}

static bool is_ascii(struct codec_bytes bytes)
{
    bool ascii = true;
    for (size_t i = 0; i < bytes.size; i++)
        ascii = ascii && bytes.data[i] > 0 && bytes.data[i] < 128;
    return ascii;
}

// Chunks that a PNG file may keep as they are: bytes (0: a text), and after which chunk they count no more.
static const struct kept_chunk {
    char type[5];
    size_t bytes;
    bool before_palette; // and before the pixels
} kept_chunks[] = {{"cICP", 4, true}, {"cHRM", 32, true}, {"gAMA", 4, true},  {"sRGB", 1, true},  {"mDCV", 24, true},
                   {"cLLI", 8, true}, {"pHYs", 9, false}, {"tEXt", 0, false}, {"zTXt", 0, false}, {"iTXt", 0, false}};
enum { KEPT_CHUNKS = sizeof(kept_chunks) / sizeof(*kept_chunks) };

static void lacks_chunk(struct codec_metadata *metadata, const char *fault, const char *type)
{
    char text[64];
    snprintf(text, sizeof(text), "its %s %s chunk is left out", fault, type);
    codec_lacks(metadata, text);
}

// Returns true if the keyword of a text is valid: Latin-1 without spaces that nobody sees (11.3.3.1).
static bool is_keyword(struct codec_bytes text)
{
    enum { MOST = 79 };
    const uint8_t *end = memchr(text.data, 0, text.size < MOST + 1 ? text.size : MOST + 1);
    bool ok = end && end > text.data;
    for (const uint8_t *at = text.data; ok && at < end; at++) {
        const bool edge = at == text.data || at + 1 == end || at[-1] == ' ';
        ok = *at == ' ' ? !edge : (*at > ' ' && *at < 127) || *at > 160;
    }
    return ok;
}

// Returns true if a text chunk is valid, and what it unpacks to is not too large together with earlier ones.
static bool is_text(struct png *png, const struct chunk *chunk, struct header *header)
{
    struct codec_bytes text;
    if (!is_keyword(chunk->bytes) || header->text_bytes > UNPACKED_MAX)
        return false;
    const bool ok = read_metadata(png, chunk, PROFILE, &text) && (text.size == 0 || !memchr(text.data, 0, text.size));
    header->text_bytes += ok ? text.size : UNPACKED_MAX / 8; // damaged data may be as slow as good ones
    return ok;
}

// Returns true if the values of a chunk other than a text are valid (PNG specification, 11.3).
static bool is_valid(const struct chunk *chunk)
{
    enum { ONE = 100000, INTENTS = 4 };
    const uint8_t *data = chunk->bytes.data;
    bool ok = true;
    if (chunk_is(chunk, "gAMA"))
        ok = number_big(data, 4) > 0 && number_big(data, 4) <= INT32_MAX;
    if (chunk_is(chunk, "sRGB"))
        ok = data[0] < INTENTS;
    if (chunk_is(chunk, "cICP"))
        ok = data[2] == 0 && data[3] <= 1;
    if (chunk_is(chunk, "pHYs"))
        ok = data[8] <= 1 && number_big(data, 4) > 0 && number_big(data + 4, 4) > 0;
    for (int i = 0; chunk_is(chunk, "cHRM") && i < 4; i++) { // x and y of white, red, green, blue
        const uint64_t x = number_big(data + 8 * i, 4), y = number_big(data + 8 * i + 4, 4);
        ok = ok && x + y <= ONE && (i > 0 || y > 0);
    }
    return ok;
}

static void take_resolution(const uint8_t *data, struct codec_metadata *metadata)
{
    static const double inch = 0.0254;
    double *density = data[8] == 1 ? metadata->density : metadata->aspect;
    for (int i = 0; i < 2; i++)
        density[i] = number_big(data + 4 * i, 4) * (data[8] == 1 ? inch : 1);
}

// Returns true for a text of ImageMagick with a copy of an EXIF size or orientation, which the output need not
// have.
static bool is_exif_copy(struct codec_bytes text)
{
    static const char *const names[] = {"Orientation",     "ImageWidth",     "ImageLength",    "PixelXDimension",
                                        "PixelYDimension", "ExifImageWidth", "ExifImageLength"};
    bool found = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && codec_begins(text, "exif:", 5); i++)
        found |= strcmp((const char *)text.data + 5, names[i]) == 0; // a keyword ends within the chunk
    return found;
}

// Takes the resolution, a comment, and chunks that a PNG file can keep as they are.
static void take_other(struct png *png, const struct chunk *chunk, struct header *header,
                       struct codec_metadata *metadata)
{
    enum { FULL_RANGE = 1 };
    struct codec_bytes text = chunk->bytes;
    int row = 0;
    while (row < KEPT_CHUNKS && !chunk_is(chunk, kept_chunks[row].type))
        row++;
    if (row == KEPT_CHUNKS)
        return;
    const struct kept_chunk *kept = &kept_chunks[row];
    const bool once = kept->bytes > 0, again = once && header->kept & 1u << row;
    header->kept |= 1u << row;
    if (once && (header->pieces > 0 || (kept->before_palette && header->after_palette))) {
        lacks_chunk(metadata, "misplaced", kept->type);
    } else if (again) {
        lacks_chunk(metadata, "second", kept->type);
    } else if (!chunk->whole || (once ? text.size != kept->bytes || !is_valid(chunk) : !is_text(png, chunk, header))) {
        lacks_chunk(metadata, "damaged", kept->type);
    } else if (chunk_is(chunk, "pHYs")) {
        take_resolution(text.data, metadata);
    } else if (!once && is_exif_copy(text)) {
        return;
    } else if (chunk_is(chunk, "tEXt") && codec_begins(text, "Comment", 8) && skip(&text, 8) && is_ascii(text) &&
               !metadata->comment.data && text.size > 0) {
        metadata->comment = text;
    } else if (png->chunks.size + chunk->bytes.size > UNPACKED_MAX) {
        codec_lacks(metadata, "texts beyond 16 MiB are left out");
    } else if (codec_buffer_append(&png->chunks, chunk->bytes.data - CHUNK_HEAD, chunk->bytes.size + CHUNK_EXTRA)) {
        metadata->chunks = (struct codec_bytes){png->chunks.data, png->chunks.size};
        if (chunk_is(chunk, "cICP") && text.data[3] == FULL_RANGE)
            memcpy(metadata->codes, text.data, sizeof(metadata->codes));
    }
}

// Removes the sRGB chunk if there is a colour profile: a file must not have both.
static void remove_srgb(struct png *png, struct codec_metadata *metadata)
{
    struct codec_buffer *chunks = &png->chunks;
    for (size_t at = 0; metadata->icc.data && at < chunks->size; at += codec_chunk_bytes(chunks->data + at)) {
        const size_t end = at + CHUNK_EXTRA + 1;
        if (memcmp(chunks->data + at + 4, "sRGB", 4) != 0)
            continue;
        memmove(chunks->data + at, chunks->data + end, chunks->size - end);
        chunks->size -= end - at;
        lacks_chunk(metadata, "needless", "sRGB");
        break;
    }
    metadata->chunks = (struct codec_bytes){chunks->size > 0 ? chunks->data : NULL, chunks->size};
}

// Returns ICC, EXIF or XMP; METADATA: another kind of chunk.
static int kind_of(const struct chunk *chunk)
{
    static const char xmp[] = "XML:com.adobe.xmp"; // with its NUL
    if (chunk_is(chunk, "iCCP"))
        return ICC;
    if (chunk_is(chunk, "eXIf"))
        return EXIF;
    return chunk_is(chunk, "iTXt") && codec_begins(chunk->bytes, xmp, sizeof(xmp)) ? XMP : METADATA;
}

// Takes the first chunk of each kind, as libpng does: unpacking hundreds of them could take seconds.
static void take_metadata(struct png *png, const struct chunk *chunk, struct header *header,
                          struct codec_metadata *metadata)
{
    enum { PROFILES_MOST = 4 };
    static const char *const left_out[METADATA] = {
        [ICC] = "its colour profile is damaged or larger than 16 MiB and is left out",
        [EXIF] = "its EXIF data are damaged and are left out",
        [XMP] = "its XMP data are damaged or larger than 16 MiB and are left out",
    };
    struct codec_bytes *const parts[METADATA] = {&metadata->icc, &metadata->exif, &metadata->xmp};
    struct codec_bytes bytes;
    const int kind = kind_of(chunk);
    const bool profile =
        (chunk_is(chunk, "tEXt") || chunk_is(chunk, "zTXt") || chunk_is(chunk, "iTXt")) && is_profile(chunk->bytes);
    if (profile && header->profiles++ < PROFILES_MOST)
        take_profile(png, chunk, metadata);
    else if (kind == METADATA && !profile)
        take_other(png, chunk, header, metadata);
    if (kind == METADATA)
        return;
    const char *name = kind == XMP ? "XMP" : chunk->type;
    if (kind == ICC && (header->pieces > 0 || header->after_palette)) {
        lacks_chunk(metadata, "misplaced", name);
        return;
    }
    if (header->seen[kind]) {
        lacks_chunk(metadata, "second", name);
        return;
    }
    header->seen[kind] = true;
    if (!read_metadata(png, chunk, kind, &bytes))
        codec_lacks(metadata, left_out[kind]);
    else if (bytes.size > 0)
        *parts[kind] = bytes;
}

static bool take_pixels(struct header *header, const struct chunk *chunk, bool follows, struct codec_error *error)
{
    if (header->pieces > 0 && !follows)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its IDAT chunks are not consecutive");
    if (header->pieces == 0)
        header->pixels.data = chunk->bytes.data;
    header->pieces++;
    header->pixels.size += chunk->bytes.size;
    return true;
}

static bool take_chunk(struct png *png, const struct chunk *chunk, bool follows, struct header *header,
                       struct codec_metadata *metadata, struct codec_error *error)
{
    const bool critical = (chunk->type[0] & 0x20) == 0 && !chunk_is(chunk, "IEND");
    header->animated |= chunk_is(chunk, "acTL") && chunk->bytes.size >= 4 && number_big(chunk->bytes.data, 4) > 1;
    if (!critical && metadata)
        take_metadata(png, chunk, header, metadata);
    if (!chunk->whole) // without its transparency it would be another image
        return !(critical || chunk_is(chunk, "tRNS")) ||
               codec_refuse(error, CODEC_DAMAGED, "the image is damaged: the checksum of its %s chunk is wrong",
                            chunk->type);
    if (chunk_is(chunk, "IDAT"))
        return take_pixels(header, chunk, follows, error);
    header->after_palette |= chunk_is(chunk, "PLTE");
    if (chunk_is(chunk, "PLTE"))
        return header->colour != PALETTE || take_palette(header, chunk, error);
    if (chunk_is(chunk, "tRNS") && (header->transparent || header->pieces > 0)) { // as libpng does
        if (metadata)
            lacks_chunk(metadata, header->transparent ? "second" : "misplaced", "tRNS");
        return true;
    }
    if (chunk_is(chunk, "tRNS"))
        return take_transparency(header, chunk, error);
    if (critical)
        return codec_refuse(error, CODEC_UNSUPPORTED,
                            "it has an unknown critical chunk (%s); save it as a standard PNG first", chunk->type);
    return true;
}

// Reads all but the pixels, and their checksums only if `metadata` is NULL (not wanted). Returns false if anything that
// the pixels need is damaged or missing.
static bool read_header(struct png *png, const uint8_t *data, size_t size, struct header *header,
                        struct codec_metadata *metadata, struct codec_error *error)
{
    struct chunk chunk;
    size_t at = SIGNATURE_BYTES;
    bool pixels = false; // the previous chunk was IDAT
    *header = (struct header){0};
    if (metadata)
        png->unpacked[EXIF].size = png->unpacked[TEXT_XMP].size = png->unpacked[TEXT_IPTC].size = png->chunks.size = 0;
    do {
        if (!chunk_next(&chunk, data, size, &at, !metadata))
            return codec_refuse(error, CODEC_DAMAGED, "the file is truncated");
        if (header->depth == 0 ? !take_header(header, &chunk, error)
                               : !take_chunk(png, &chunk, pixels, header, metadata, error))
            return false;
        pixels = chunk_is(&chunk, "IDAT");
    } while (!chunk_is(&chunk, "IEND"));
    header->format = header->colour == GREY ? PIXFMT_GREY : PIXFMT_RGB24;
    if (header->transparent || header->colour == GREY_ALPHA || header->colour == RGBA)
        header->format = PIXFMT_RGBA;
    if (metadata)
        remove_srgb(png, metadata);
    if (header->pieces == 0)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: it has no pixels (IDAT)");
    if (header->colour == PALETTE && !header->has_palette)
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its palette (PLTE) is missing");
    return true;
}

static bool head_of(void *state, const uint8_t *data, size_t size, struct codec_head *head, struct codec_error *error)
{
    struct header header;
    const bool ok = read_header(state, data, size, &header, &head->metadata, error);
    head->shape = (struct image_shape){
        .format = header.format,
        .width = header.width,
        .height = header.height,
        .color = {COLOR_MATRIX_601, COLOR_RANGE_FULL},
    };
    head->jpeg = header.colour == GREY || header.colour == GREY_ALPHA ? PIXFMT_GREY : PIXFMT_YU12;
    head->alpha = head->shape.format == PIXFMT_RGBA;
    head->remarks = header.depth == DEEP ? CODEC_DEEP : 0;
    head->remarks |= header.animated ? CODEC_FRAMES : 0;
    return ok;
}

// Every `step` pixels from (x, y) on: the whole image, or one of the seven parts of an interlaced one (Adam7).
static const struct adam7_part {
    int x, y, step_x, step_y;
} parts[] = {{0, 0, 1, 1}, {0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
             {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
enum { PARTS = sizeof(parts) / sizeof(*parts) };

static int part_columns(const struct header *header, const struct adam7_part *part)
{
    return (header->width - part->x + part->step_x - 1) / part->step_x;
}

// A part without columns has no rows.
static int part_rows(const struct header *header, const struct adam7_part *part)
{
    return part_columns(header, part) > 0 ? (header->height - part->y + part->step_y - 1) / part->step_y : 0;
}

// Returns the bytes of a filtered row. Its first byte is the filter's number.
static size_t row_bytes(const struct header *header, int columns)
{
    return 1 + ((size_t)columns * (size_t)(channels_of(header->colour) * header->depth) + 7) / 8;
}

static size_t part_bytes(const struct header *header, const struct adam7_part *part)
{
    return row_bytes(header, part_columns(header, part)) * (size_t)part_rows(header, part);
}

static int sample(const uint8_t *row, int index, int depth)
{
    if (depth == 16)
        return row[2 * (size_t)index] << 8 | row[2 * (size_t)index + 1];
    const int bit = index * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1 << depth) - 1);
}

static uint8_t to_8_bits(int value, int depth)
{
    const int most = (1 << depth) - 1;
    return (uint8_t)((value * 255 + most / 2) / most);
}

// Converts a pixel to the image's format.
static void expand_pixel(const struct header *header, const uint8_t *row, int x, uint8_t *to)
{
    const int channels = channels_of(header->colour), depth = header->depth;
    int value[4];
    bool keyed = header->transparent;
    for (int c = 0; c < channels; c++) {
        value[c] = sample(row, x * channels + c, depth);
        keyed &= c >= 3 || value[c] == header->key[c];
    }
    if (header->colour == PALETTE) {
        memcpy(to, header->palette[value[0]], header->transparent ? 4 : 3);
        return;
    }
    const bool grey = header->colour == GREY || header->colour == GREY_ALPHA;
    for (int c = 0; c < 3; c++) {
        const int from = grey ? 0 : c;
        to[header->format == PIXFMT_GREY ? 0 : c] = to_8_bits(value[from], depth);
    }
    if (header->format != PIXFMT_RGBA)
        return;
    if (header->colour == GREY_ALPHA || header->colour == RGBA)
        to[3] = to_8_bits(value[channels - 1], depth);
    else
        to[3] = keyed ? 0 : 255;
}

// Converts a row of a part to sRGB and to the image's format.
static void expand_profiled(const struct header *header, const struct profile *profile, const uint8_t *row,
                            const struct adam7_part *part, uint8_t *to)
{
    enum { GROUP = 64 };
    const size_t pixel = pixfmt_info(header->format)->plane[0].bytes;
    const int columns = part_columns(header, part), channels = channels_of(header->colour);
    const bool grey = channels < 3, alpha = channels % 2 == 0;
    for (int x = 0, count; x < columns; x += count) {
        uint16_t deep[GROUP][4];
        uint8_t made[GROUP][4];
        count = columns - x < GROUP ? columns - x : GROUP;
        for (int i = 0; i < count; i++) {
            const int first = (x + i) * channels;
            bool keyed = header->transparent;
            for (int c = 0; c < 3; c++) {
                deep[i][c] = (uint16_t)sample(row, first + (grey ? 0 : c), DEEP);
                keyed &= deep[i][c] == header->key[grey ? 0 : c];
            }
            deep[i][3] = alpha ? (uint16_t)sample(row, first + channels - 1, DEEP) : UINT16_MAX;
            deep[i][3] = keyed ? 0 : deep[i][3];
        }
        profile_convert_deep(profile, (const uint16_t(*)[4])deep, made, count);
        for (int i = 0; i < count; i++)
            memcpy(to + (size_t)(part->x + (x + i) * part->step_x) * pixel, made[i], pixel);
    }
}

// Removes the filters from a part's rows and converts them, also to sRGB if `profile` is not NULL. Returns false for an
// unknown filter.
static bool read_part(const struct header *header, const struct adam7_part *part, const struct profile *profile,
                      uint8_t *from, const uint8_t *zeros, struct image *image)
{
    const int columns = part_columns(header, part), channels = channels_of(header->colour);
    const size_t bytes = row_bytes(header, columns), pixel = pixfmt_info(header->format)->plane[0].bytes;
    const int step = header->depth < 8 ? 1 : channels * header->depth / 8;
    const bool direct = !header->interlaced && !header->transparent && header->depth == 8 &&
                        header->colour != PALETTE && header->colour != GREY_ALPHA; // the image has the same bytes
    const uint8_t *before = zeros;
    for (int y = 0; y < part_rows(header, part); y++, from += bytes) {
        uint8_t *to = image_row(image, 0, part->y + y * part->step_y), *row = direct ? to : from + 1;
        if (!png_filter()->undo(from[0], row, from + 1, before, bytes - 1, step))
            return false;
        before = row;
        if (profile)
            expand_profiled(header, profile, row, part, to);
        for (int x = 0; !direct && !profile && x < columns; x++)
            expand_pixel(header, row, x, to + (size_t)(part->x + x * part->step_x) * pixel);
    }
    return true;
}

// Returns the compressed pixels: in the file if they are one chunk, otherwise copied together. The header has been
// read, so the chunks are whole.
static const uint8_t *join_pixels(struct png *png, const struct header *header)
{
    if (header->pieces == 1)
        return header->pixels.data;
    if (!codec_buffer_room(&png->packed, header->pixels.size))
        return NULL;
    size_t size = 0;
    for (const uint8_t *at = header->pixels.data; size < header->pixels.size;) {
        const size_t length = number_big(at - CHUNK_HEAD, 4);
        memcpy(png->packed.data + size, at, length);
        size += length;
        at += length + CHUNK_EXTRA;
    }
    return png->packed.data;
}

static bool inflate(struct png *png, const struct header *header, size_t bytes, struct codec_error *error)
{
    if (!png->inflater)
        png->inflater = libdeflate_alloc_decompressor();
    // A small file must not make monocle allocate a gigabyte.
    if (header->pixels.size == 0 || header->pixels.size < bytes / DEFLATE_MOST)
        return codec_refuse(error, CODEC_DAMAGED, "the file is truncated: its pixels are incomplete");
    const uint8_t *packed = join_pixels(png, header);
    if (!packed || !png->inflater || !codec_buffer_room(&png->plain, bytes + SLACK))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    switch (libdeflate_zlib_decompress(png->inflater, packed, header->pixels.size, png->plain.data, bytes, NULL)) {
    case LIBDEFLATE_SUCCESS:
        return true;
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: it has more data than pixels");
    default:
        return codec_refuse(error, CODEC_DAMAGED, "the image is damaged: its pixels cannot be decompressed");
    }
}

static bool decode(void *state, const uint8_t *data, size_t size, const struct codec_head *head, struct image *image,
                   struct codec_error *error)
{
    struct png *png = state;
    struct header header;
    if (!read_header(png, data, size, &header, NULL, error))
        return false;
    const struct image_shape shape = {.format = header.format, .width = header.width, .height = header.height};
    const int first = header.interlaced, end = header.interlaced ? PARTS : 1;
    const size_t row = row_bytes(&header, header.width) + SLACK;
    size_t bytes = 0;
    for (int i = first; i < end; i++)
        bytes += part_bytes(&header, &parts[i]);
    if (!codec_fits(image, &shape, error) || !inflate(png, &header, bytes, error))
        return false;
    if (!codec_buffer_room(&png->rows, row))
        return codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
    memset(png->rows.data, 0, row);
    uint8_t *from = png->plain.data;
    for (int i = first; i < end; i++) {
        if (!read_part(&header, &parts[i], header.depth == DEEP ? head->profile : NULL, from, png->rows.data, image))
            return codec_refuse(error, CODEC_DAMAGED,
                                "the image is damaged: one of its rows has an unknown filter type");
        from += part_bytes(&header, &parts[i]);
    }
    return true;
}

static bool append_packed(struct png *png, struct codec_buffer *buffer, int level, const void *data, size_t size)
{
    if (!png->deflater || png->deflater_level != level) {
        libdeflate_free_compressor(png->deflater);
        png->deflater = libdeflate_alloc_compressor(level);
        png->deflater_level = level;
    }
    if (!png->deflater ||
        !codec_buffer_room(buffer, buffer->size + libdeflate_zlib_compress_bound(png->deflater, size)))
        return false;
    const size_t packed =
        libdeflate_zlib_compress(png->deflater, data, size, buffer->data + buffer->size, buffer->room - buffer->size);
    buffer->size += packed;
    return packed > 0;
}

// Writes IPTC data as ImageMagick and ExifTool do: PNG has no place of its own for them.
static bool write_iptc(struct png *png, struct codec_buffer *buffer, struct codec_bytes iptc)
{
    enum { LINE = 36 };                                   // bytes
    static const char head[] = "Raw profile type iptc\0"; // keyword, method 0
    struct codec_buffer *blocks = &png->packed, *text = &png->plain;
    size_t start;
    blocks->size = text->size = 0;
    return photoshop_append(blocks, PHOTOSHOP_IPTC, iptc) &&
           profile_write(text, "iptc", (struct codec_bytes){blocks->data, blocks->size}) &&
           chunk_begin(buffer, "zTXt", head, sizeof(head), &start) &&
           append_packed(png, buffer, LEVEL_MAX, text->data, text->size) && chunk_end(buffer, start);
}

// tEXt is Latin-1 and iTXt UTF-8. A comment that is not ASCII is taken for UTF-8.
static bool write_comment(struct codec_buffer *buffer, struct codec_bytes comment)
{
    static const char head[] = "Comment\0\0\0\0"; // keyword, not packed, no language, no translation
    size_t start;
    return (is_ascii(comment) ? chunk_begin(buffer, "tEXt", head, 8, &start)
                              : chunk_begin(buffer, "iTXt", head, sizeof(head), &start)) &&
           codec_buffer_append(buffer, comment.data, comment.size) && chunk_end(buffer, start);
}

// Writes the resolution, or the shape of pixels.
static bool write_density(struct codec_buffer *buffer, const struct codec_metadata *metadata)
{
    const bool known = metadata->density[0] > 0;
    const double *density = known ? metadata->density : metadata->aspect;
    const double unit = known ? 0.0254 : 1;
    uint8_t data[9] = {[8] = known};
    if (density[0] <= 0)
        return true;
    number_put_big(data, 4, (uint32_t)lround(density[0] / unit));
    number_put_big(data + 4, 4, (uint32_t)lround(density[1] / unit));
    return chunk_write(buffer, "pHYs", data, sizeof(data));
}

// Writes that the colours are sRGB, unless other chunks name colours.
static bool write_srgb(struct codec_buffer *buffer, const struct codec_metadata *metadata)
{
    enum { PERCEPTUAL = 0 };
    const struct codec_bytes chunks = metadata->chunks;
    bool named = metadata->icc.data || metadata->colours == CODEC_COLOURS_OWN;
    for (size_t at = 0; !named && at < chunks.size; at += codec_chunk_bytes(chunks.data + at))
        named = codec_names_colours(chunks.data + at);
    return named || chunk_write(buffer, "sRGB", &(const uint8_t){PERCEPTUAL}, 1);
}

static bool write_metadata(struct png *png, struct codec_buffer *buffer, const struct codec_metadata *metadata)
{
    static const char icc_head[] = "ICC profile\0";             // name, method 0
    static const char xmp_head[] = "XML:com.adobe.xmp\0\0\0\0"; // keyword, not packed, no language, no translation
    const struct codec_bytes icc = metadata->icc, exif = metadata->exif, xmp = metadata->xmp;
    size_t start;
    bool ok = true;
    if (icc.data)
        ok = chunk_begin(buffer, "iCCP", icc_head, sizeof(icc_head), &start) &&
             append_packed(png, buffer, LEVEL_MAX, icc.data, icc.size) && chunk_end(buffer, start);
    ok = ok && write_srgb(buffer, metadata);
    ok = ok && (!metadata->chunks.data || codec_buffer_append(buffer, metadata->chunks.data, metadata->chunks.size));
    ok = ok && write_density(buffer, metadata);
    ok = ok && (!exif.data || chunk_write(buffer, "eXIf", exif.data, exif.size));
    ok = ok && (!metadata->iptc.data || write_iptc(png, buffer, metadata->iptc));
    ok = ok && (!metadata->comment.data || write_comment(buffer, metadata->comment));
    if (ok && xmp.data)
        ok = chunk_begin(buffer, "iTXt", xmp_head, sizeof(xmp_head), &start) &&
             codec_buffer_append(buffer, xmp.data, xmp.size) && chunk_end(buffer, start);
    return ok;
}

static enum colour colour_of(enum pixfmt format, const struct codec_settings *settings)
{
    if (format == PIXFMT_GREY)
        return GREY;
    if (format == PIXFMT_RGB24)
        return RGB;
    if (settings->grey)
        return settings->opaque ? GREY : GREY_ALPHA;
    return settings->opaque ? RGB : RGBA;
}

// Makes filtered rows of an image, from the first row on.
struct rows {
    const struct image *image;
    enum colour colour;
    size_t bytes;    // of an unfiltered row
    uint8_t *row[2]; // a row and the row above it, used in turn; zeros precede each
};

static bool rows_open(struct rows *rows, struct png *png, const struct image *image,
                      const struct codec_settings *settings)
{
    *rows = (struct rows){.image = image, .colour = colour_of(image->shape.format, settings)};
    rows->bytes = (size_t)image->shape.width * (size_t)channels_of(rows->colour);
    const size_t room = SLACK + rows->bytes;
    if (!codec_buffer_room(&png->rows, 2 * room))
        return false;
    memset(png->rows.data, 0, 2 * room);
    rows->row[0] = png->rows.data + SLACK;
    rows->row[1] = png->rows.data + room + SLACK;
    return true;
}

static void rows_make(struct rows *rows, int y, int filter, uint8_t *to)
{
    uint8_t *row = rows->row[y % 2];
    if (y == 0)
        memset(rows->row[1], 0, rows->bytes);
    codec_pack_row(rows->image, y, channels_of(rows->colour), row);
    png_filter()->apply(filter, to, row, rows->row[(y + 1) % 2], rows->bytes, channels_of(rows->colour));
}

// Packs blocks of rows while they are in cache. A block has the filter that is best for its first row. This is the
// fastest way, and gives the smallest files of photographs.
static bool write_quick(struct png *png, struct rows *rows, struct codec_buffer *buffer)
{
    const size_t row = 1 + rows->bytes;
    const size_t block = row > DEFLATE_BLOCK ? row : DEFLATE_BLOCK;
    if (!codec_buffer_room(&png->plain, SLACK + block + DEFLATE_SLACK) ||
        !codec_buffer_append(buffer, "\x78\x01", 2)) // zlib's head
        return false;
    uint8_t *from = png->plain.data + SLACK;
    uint32_t sum = 1;
    struct deflate deflate = {0};
    size_t filled = 0;
    for (int y = 0; y < rows->image->shape.height; y++) {
        rows_make(rows, y, filled == 0 ? PNG_FILTER_BEST : from[0], from + filled);
        if (filled == 0 && y == 0)
            from[-1] = (uint8_t)~from[0];
        filled += row;
        const bool last = y + 1 == rows->image->shape.height;
        if (!last && filled + row <= block)
            continue;
        if (!codec_buffer_room(buffer, buffer->size + deflate_room(filled)))
            return false;
        sum = libdeflate_adler32(sum, from, filled);
        deflate.at = buffer->data + buffer->size;
        deflate_block(&deflate, from, filled, last);
        buffer->size = (size_t)(deflate.at - buffer->data);
        from[-1] = from[filled - 1];
        filled = 0;
    }
    uint8_t bytes[4];
    number_put_big(bytes, 4, sum);
    return codec_buffer_append(buffer, bytes, sizeof(bytes));
}

// Also looks for longer repetitions, which drawings have, and writes the smaller result.
static bool write_small(struct png *png, struct rows *rows, struct codec_buffer *buffer, int level)
{
    const size_t row = 1 + rows->bytes, size = row * (size_t)rows->image->shape.height, start = buffer->size;
    if (!write_quick(png, rows, buffer) || !codec_buffer_room(&png->plain, size))
        return false;
    for (int y = 0; y < rows->image->shape.height; y++)
        rows_make(rows, y, PNG_FILTER_BEST, png->plain.data + (size_t)y * row);
    png->packed.size = 0;
    if (!append_packed(png, &png->packed, level < LEVEL_MAX ? level : LEVEL_MAX, png->plain.data, size))
        return false;
    if (png->packed.size >= buffer->size - start)
        return true;
    buffer->size = start;
    return codec_buffer_append(buffer, png->packed.data, png->packed.size);
}

static bool encode(void *state, const struct image *image, const struct codec_settings *settings,
                   struct codec_buffer *buffer, struct codec_error *error)
{
    const enum pixfmt format = image->shape.format;
    struct png *png = state;
    struct rows rows;
    uint8_t head[13] = {[8] = 8, [9] = colour_of(format, settings)};
    number_put_big(head, 4, (uint32_t)image->shape.width);
    number_put_big(head + 4, 4, (uint32_t)image->shape.height);
    size_t start = 0;
    bool ok = codec_buffer_append(buffer, signature, SIGNATURE_BYTES) &&
              chunk_write(buffer, "IHDR", head, sizeof(head)) && write_metadata(png, buffer, &settings->metadata) &&
              rows_open(&rows, png, image, settings) && chunk_begin(buffer, "IDAT", "", 0, &start);
    ok = ok && (settings->compression <= LEVEL_QUICK ? write_quick(png, &rows, buffer)
                                                     : write_small(png, &rows, buffer, settings->compression));
    ok = ok && chunk_end(buffer, start) && chunk_write(buffer, "IEND", "", 0);
    return ok || codec_refuse(error, CODEC_NO_MEMORY, "out of memory");
}

static void png_close(void *state)
{
    struct png *png = state;
    libdeflate_free_decompressor(png->inflater);
    libdeflate_free_compressor(png->deflater);
}

static const char *const extensions[] = {"png", "apng", NULL};

const struct codec_kind codec_png = {
    .info = {.name = "png", .extensions = extensions, .writes = true, .compression = true},
    .state_bytes = sizeof(struct png),
    .buffers = METADATA + 4,
    .close = png_close,
    .looks_so = looks_so,
    .head = head_of,
    .keeps = CODEC_KEEPS_IPTC | CODEC_KEEPS_COMMENT | CODEC_KEEPS_CHUNKS,
    .encodes = 1 << PIXFMT_RGBA | 1 << PIXFMT_RGB24 | 1 << PIXFMT_GREY,
    .decode = decode,
    .encode = encode,
};
