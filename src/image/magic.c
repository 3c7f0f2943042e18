// magic.c: what kind of picture file some bytes are
#include "image/magic.h"

#include <string.h>

static const struct {
    enum magic kind;
    const char *bytes;
    size_t count;
} signatures[] = {
    {MAGIC_PNG, "\x89PNG\r\n\x1a\n", 8},
    {MAGIC_JPEG, "\xff\xd8\xff", 3},
    {MAGIC_GIF, "GIF87a", 6},
    {MAGIC_GIF, "GIF89a", 6},
    {MAGIC_PSD, "8BPS", 4},
    {MAGIC_HDR, "#?RADIANCE", 10},
    {MAGIC_HDR, "#?RGBE", 6},
};

static bool is_one_of(int value, const uint8_t *choices, size_t count)
{
    return memchr(choices, value, count) != NULL;
}

// Two letters are too few to go by: the size of the info header must be one of the known ones.
static bool is_bmp(const uint8_t *data, size_t size)
{
    static const uint8_t info_sizes[] = {12, 40, 56, 108, 124};
    return size >= 18 && data[0] == 'B' && data[1] == 'M' && is_one_of(data[14], info_sizes, sizeof(info_sizes)) &&
           data[15] == 0 && data[16] == 0 && data[17] == 0;
}

// Truevision TGA 2.0, section "TGA file header".
static bool is_tga(const uint8_t *data, size_t size)
{
    static const uint8_t types[] = {1, 2, 3, 9, 10, 11}, depths[] = {8, 15, 16, 24, 32};
    if (size < 18 || data[1] > 1 || !is_one_of(data[2], types, sizeof(types)) ||
        !is_one_of(data[16], depths, sizeof(depths)))
        return false;
    const bool has_map = data[1] == 1, needs_map = data[2] % 8 == 1;
    return has_map == needs_map && (data[12] | data[13]) != 0 && (data[14] | data[15]) != 0 && (data[17] & 0xc0) == 0;
}

enum magic magic_find(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++)
        if (size >= signatures[i].count && memcmp(data, signatures[i].bytes, signatures[i].count) == 0)
            return signatures[i].kind;
    if (is_bmp(data, size))
        return MAGIC_BMP;
    return is_tga(data, size) ? MAGIC_TGA : MAGIC_NONE;
}

// The tables of one DHT segment of `length` bytes. The decoder reads whole tables, also past the segment's end.
static bool huffman_tables_ok(const uint8_t *data, size_t length, size_t available)
{
    enum { HEAD = 17, LENGTHS = 16, VALUES_MAX = 256 };
    while (length > 0 && available >= HEAD) {
        size_t values = 0;
        for (int i = 0; i < LENGTHS; i++)
            values += data[1 + i];
        if (values > VALUES_MAX)
            return false;
        const size_t used = HEAD + values;
        if (used > length || used > available)
            return true; // damaged, and the decoder will notice
        data += used;
        length -= used;
        available -= used;
    }
    return true;
}

bool magic_jpeg_tables_ok(const uint8_t *data, size_t size)
{
    enum { STUFFED = 0x00, TEM = 0x01, DHT = 0xc4, RST0 = 0xd0, EOI = 0xd9, FILL = 0xff };
    size_t at = 2; // behind SOI
    while (at + 4 <= size) {
        const uint8_t *mark = memchr(data + at, 0xff, size - at - 3);
        if (!mark)
            return true;
        const int code = mark[1];
        at = (size_t)(mark - data) + (code == FILL ? 1 : 2);
        if (code == STUFFED || code == TEM || code == FILL || (code >= RST0 && code <= EOI))
            continue;
        const size_t length = (size_t)mark[2] << 8 | mark[3];
        if (code == DHT && length >= 2 && !huffman_tables_ok(mark + 4, length - 2, size - at - 2))
            return false;
        at += length < 2 ? 2 : length;
    }
    return true;
}
