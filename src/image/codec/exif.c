// exif.c: the orientation and the thumbnail in EXIF data
#include "image/codec/exif.h"

#include <stdbool.h>
#include <string.h>

enum { TAG_ORIENTATION = 0x0112, TAG_THUMBNAIL = 0x0201, TAG_THUMBNAIL_BYTES = 0x0202, TYPE_SHORT = 3, ENTRY = 12 };

// TIFF data: the byte order is the file's choice, and no offset can be trusted.
struct tiff {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint32_t read_int(const struct tiff *tiff, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | tiff->data[at + (size_t)(tiff->big_endian ? i : bytes - 1 - i)];
    return value;
}

static bool tiff_open(struct tiff *tiff, const uint8_t *data, size_t size)
{
    *tiff = (struct tiff){.data = data, .size = size};
    if (size < 8 || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0))
        return false;
    tiff->big_endian = data[0] == 'M';
    return true;
}

// The entries of the directory at that place, and where they begin. 0 where there is none, or not all of it.
static int directory(const struct tiff *tiff, size_t at, size_t *first)
{
    if (at < 8 || at > tiff->size - 2)
        return 0;
    const int count = (int)read_int(tiff, at, 2);
    *first = at + 2;
    return (size_t)count * ENTRY <= tiff->size - *first ? count : 0;
}

// Where the value of a directory's entry lies; 0 where there is no such entry. Values here are of 4 bytes at most.
static size_t entry_value(const struct tiff *tiff, size_t at, uint32_t tag)
{
    size_t first;
    const int count = directory(tiff, at, &first);
    for (int i = 0; i < count; i++)
        if (read_int(tiff, first + (size_t)i * ENTRY, 2) == tag)
            return first + (size_t)i * ENTRY + 8;
    return 0;
}

// Where the orientation's two bytes lie; 0 where there is none.
static size_t orientation_place(const struct tiff *tiff)
{
    const size_t value = entry_value(tiff, read_int(tiff, 4, 4), TAG_ORIENTATION);
    return value && read_int(tiff, value - 6, 2) == TYPE_SHORT ? value : 0;
}

int exif_orientation(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    const size_t place = tiff_open(&tiff, data, size) ? orientation_place(&tiff) : 0;
    const uint32_t orientation = place ? read_int(&tiff, place, 2) : 1;
    return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
}

// The second directory is the thumbnail's. Its link is cut and its picture made unreadable, or cut off where it comes
// last, as it nearly always does.
static size_t remove_thumbnail(const struct tiff *tiff, uint8_t *data)
{
    size_t first;
    const int count = directory(tiff, read_int(tiff, 4, 4), &first);
    const size_t link = first + (size_t)count * ENTRY;
    if (count == 0 || link > tiff->size - 4)
        return tiff->size;
    const size_t second = read_int(tiff, link, 4);
    const size_t place = entry_value(tiff, second, TAG_THUMBNAIL);
    const size_t length = entry_value(tiff, second, TAG_THUMBNAIL_BYTES);
    memset(data + link, 0, 4);
    if (!place || !length)
        return tiff->size;
    const size_t begin = read_int(tiff, place, 4), bytes = read_int(tiff, length, 4);
    if (begin <= link || begin >= tiff->size)
        return tiff->size;
    if (bytes >= tiff->size - begin)
        return begin;
    memset(data + begin, 0, bytes);
    return tiff->size;
}

size_t exif_settle(uint8_t *data, size_t size, int orientation)
{
    struct tiff tiff;
    if (!tiff_open(&tiff, data, size))
        return size;
    const size_t place = orientation > 0 ? orientation_place(&tiff) : 0;
    if (place) {
        data[place + (tiff.big_endian ? 1 : 0)] = (uint8_t)orientation;
        data[place + (tiff.big_endian ? 0 : 1)] = 0;
    }
    return remove_thumbnail(&tiff, data);
}
