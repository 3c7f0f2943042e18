// exif.c: the orientation and the thumbnail in EXIF data; EXIF data out of TIFF files and into them
#include "image/codec/exif.h"

#include "image/codec/kind.h"

#include <string.h>

enum {
    TAG_ORIENTATION = 0x0112,
    TAG_THUMBNAIL = 0x0201,
    TAG_THUMBNAIL_BYTES = 0x0202,
    TAG_EXIF = 0x8769, // this and the next two: where another directory lies
    TAG_GPS = 0x8825,
    TAG_INTEROPERABILITY = 0xa005,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    HEAD = 8,
    ENTRY = 12,
    COUNT = 2, // bytes of a directory before its entries, and behind them
    LINK = 4,
};

// Of a picture's own directory, in order: what is said of the picture, not how it is stored. The five at the end are
// titles and the like of Windows.
static const uint16_t main_tags[] = {
    0x010e, 0x010f, 0x0110, TAG_ORIENTATION, 0x011a,  0x011b, 0x0128, 0x0131, 0x0132, 0x013b, 0x013c,
    0x4746, 0x4749, 0x8298, TAG_EXIF,        TAG_GPS, 0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f,
};
enum { MAIN_TAGS = sizeof(main_tags) / sizeof(*main_tags) };

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
    *first = at + 2;
    if (at < 8 || at > tiff->size - 2)
        return 0;
    const int count = (int)read_int(tiff, at, 2);
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

// Directories on their way into TIFF data at the end of `to`, whose offsets count from its start.
struct copy {
    struct tiff from; // in the same byte order
    struct codec_buffer *to;
    size_t most; // bytes of `to`: entries may share theirs, so that a small file could become a very large one
    bool left_out;
};

// An entry of `from`; its value is of so many bytes and lies at that place.
struct entry {
    uint32_t tag, type, count;
    size_t value, bytes;
};

static bool read_entry(const struct tiff *tiff, size_t at, struct entry *entry)
{
    static const uint8_t type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    *entry = (struct entry){read_int(tiff, at, 2), read_int(tiff, at + 2, 2), read_int(tiff, at + 4, 4), at + 8, 0};
    entry->bytes = entry->type < sizeof(type_bytes) ? (size_t)type_bytes[entry->type] * entry->count : 0;
    if (entry->bytes > 4)
        entry->value = read_int(tiff, at + 8, 4);
    return entry->bytes > 0 && entry->value <= tiff->size && entry->bytes <= tiff->size - entry->value;
}

static void write_int(struct copy *copy, size_t at, size_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        copy->to->data[at + (size_t)(copy->from.big_endian ? bytes - 1 - i : i)] = (uint8_t)(value >> 8 * i);
}

// So many bytes more, of 0, at an even place.
static bool append(struct copy *copy, size_t bytes, size_t *at)
{
    struct codec_buffer *to = copy->to;
    *at = to->size + to->size % 2;
    const size_t end = *at + bytes;
    if (end > copy->most || (to->room < end && !codec_buffer_room(to, end + EXIF_MOST_BYTES / 16))) {
        copy->left_out = true;
        return false;
    }
    memset(to->data + to->size, 0, end - to->size);
    to->size = end;
    return true;
}

static bool copy_directory(struct copy *copy, size_t from, int depth, size_t *at);

// Into the entry at that place; nothing there where it is damaged or too large.
static bool copy_entry(struct copy *copy, size_t at, size_t from, int depth)
{
    struct entry entry;
    size_t value = at + 8;
    bool ok = read_entry(&copy->from, from, &entry);
    const bool inner = entry.tag == TAG_EXIF || entry.tag == TAG_GPS || entry.tag == TAG_INTEROPERABILITY;
    if (ok && inner)
        ok = depth == (entry.tag == TAG_INTEROPERABILITY ? 1 : 0) && entry.bytes == 4 &&
             copy_directory(copy, read_int(&copy->from, entry.value, 4), depth + 1, &value);
    else if (ok && entry.bytes > 4)
        ok = append(copy, entry.bytes, &value);
    if (!ok) {
        copy->left_out = true;
        return false;
    }
    write_int(copy, at, entry.tag, 2);
    write_int(copy, at + 2, inner ? TYPE_LONG : entry.type, 2);
    write_int(copy, at + 4, inner ? 1 : entry.count, 4);
    if (inner || entry.bytes > 4)
        write_int(copy, at + 8, value, 4);
    if (!inner)
        memcpy(copy->to->data + value, copy->from.data + entry.value, entry.bytes);
    return true;
}

static bool copy_directory(struct copy *copy, size_t from, int depth, size_t *at)
{
    size_t first, copied = 0;
    const int count = directory(&copy->from, from, &first);
    if (count == 0 || !append(copy, COUNT + (size_t)count * ENTRY + LINK, at))
        return false;
    for (int i = 0; i < count; i++)
        copied += copy_entry(copy, *at + COUNT + copied * ENTRY, first + (size_t)i * ENTRY, depth);
    write_int(copy, *at, copied, COUNT);
    return true;
}

// The entry of a tag of the first directory; 0 where there is none.
static size_t main_entry(const struct tiff *tiff, uint32_t tag)
{
    const size_t value = entry_value(tiff, read_int(tiff, 4, 4), tag);
    return value ? value - 8 : 0;
}

bool exif_from_tiff(const uint8_t *file, size_t size, int orientation, struct codec_buffer *exif)
{
    struct copy copy = {.to = exif, .most = EXIF_MOST_BYTES};
    const bool readable = tiff_open(&copy.from, file, size);
    size_t at, copied = 0;
    exif->size = 0;
    if (!append(&copy, HEAD + COUNT + MAIN_TAGS * ENTRY + LINK, &at))
        return false;
    for (int i = 0; i < MAIN_TAGS; i++) {
        const size_t place = HEAD + COUNT + copied * ENTRY;
        if (main_tags[i] == TAG_ORIENTATION && orientation > 1) {
            write_int(&copy, place, TAG_ORIENTATION, 2);
            write_int(&copy, place + 2, TYPE_SHORT, 2);
            write_int(&copy, place + 4, 1, 4);
            write_int(&copy, place + 8, (size_t)orientation, 2);
            copied++;
        } else if (main_tags[i] != TAG_ORIENTATION && readable) {
            const size_t from = main_entry(&copy.from, main_tags[i]);
            copied += from && copy_entry(&copy, place, from, 0);
        }
    }
    memcpy(exif->data, copy.from.big_endian ? "MM" : "II", 2);
    write_int(&copy, 2, 42, 2);
    write_int(&copy, 4, HEAD, 4);
    write_int(&copy, HEAD, copied, COUNT);
    return copied > 0;
}

// The first directory is written anew behind all else, the file's own entries and those of the EXIF data in order.
bool exif_into_tiff(const uint8_t *exif, size_t size, struct codec_buffer *file)
{
    struct copy copy = {.to = file, .most = file->size + EXIF_MOST_BYTES};
    struct tiff own;
    size_t first, at, copied = 0;
    if (!tiff_open(&copy.from, exif, size) || !tiff_open(&own, file->data, file->size) ||
        own.big_endian != copy.from.big_endian)
        return false;
    const size_t count = (size_t)directory(&own, read_int(&own, 4, 4), &first);
    if (!append(&copy, COUNT + (count + MAIN_TAGS) * ENTRY + LINK, &at))
        return false;
    for (size_t i = 0, k = 0; i < count || k < MAIN_TAGS;) {
        own.data = file->data; // which moves as it grows
        const uint32_t mine = i < count ? read_int(&own, first + i * ENTRY, 2) : UINT32_MAX;
        const uint32_t other = k < MAIN_TAGS ? main_tags[k] : UINT32_MAX;
        const size_t place = at + COUNT + copied * ENTRY;
        if (mine <= other) {
            memcpy(file->data + place, file->data + first + i++ * ENTRY, ENTRY);
            k += mine == other;
            copied++;
        } else {
            const size_t from = main_entry(&copy.from, main_tags[k++]);
            copied += from && copy_entry(&copy, place, from, 0);
        }
    }
    write_int(&copy, at, copied, COUNT);
    write_int(&copy, 4, at, 4);
    return !copy.left_out;
}
