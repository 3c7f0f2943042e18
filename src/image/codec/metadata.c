// metadata.c: reads and changes EXIF and XMP data, copies EXIF data between TIFF files; Photoshop's blocks
#include "image/codec/metadata.h"

#include "base/number.h"
#include "image/codec/codec_kind.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    TAG_WIDTH = 0x0100,
    TAG_HEIGHT = 0x0101,
    TAG_ORIENTATION = 0x0112,
    TAG_RESOLUTION_ACROSS = 0x011a,
    TAG_RESOLUTION_DOWN = 0x011b,
    TAG_RESOLUTION_UNIT = 0x0128,
    TAG_THUMBNAIL = 0x0201,
    TAG_THUMBNAIL_BYTES = 0x0202,
    TAG_EXIF = 0x8769, // this and the next two: the offset of another directory
    TAG_GPS = 0x8825,
    TAG_INTEROPERABILITY = 0xa005,
    TAG_SUBJECT_AREA = 0x9214,
    TAG_COLOUR_SPACE = 0xa001,
    TAG_PIXELS_ACROSS = 0xa002,
    TAG_PIXELS_DOWN = 0xa003,
    TAG_FOCAL_PLANE_ACROSS = 0xa20e,
    TAG_FOCAL_PLANE_DOWN = 0xa20f,
    TAG_SUBJECT_PLACE = 0xa214,
    TYPE_BYTE = 1,
    TYPE_SHORT = 3,
    TYPE_LONG = 4,
    TYPE_RATIONAL = 5,
    TYPE_SBYTE = 6,
    TYPE_SSHORT = 8,
    TYPE_SLONG = 9,
    TYPE_IFD = 13, // as LONG
    HEAD = 8,      // bytes of TIFF's header,
    COUNT = 2,     // of a directory: before its entries,
    ENTRY = 12,    // of an entry,
    LINK = 4,      // after the entries
    INCH = 2,      // of TAG_RESOLUTION_UNIT
    CENTIMETRE = 3,
};

// Tags of the first directory that describe the image and not its storage, in order. The last five are Windows' titles
// and the like.
static const uint16_t main_tags[] = {
    0x010e, 0x010f, 0x0110, TAG_ORIENTATION, 0x011a,  0x011b, 0x0128, 0x0131, 0x0132, 0x013b, 0x013c,
    0x4746, 0x4749, 0x8298, TAG_EXIF,        TAG_GPS, 0x9c9b, 0x9c9c, 0x9c9d, 0x9c9e, 0x9c9f,
};
enum { MAIN_TAGS = sizeof(main_tags) / sizeof(*main_tags) };

// TIFF data. No offset in them can be trusted.
struct tiff {
    const uint8_t *data;
    size_t size;
    bool big_endian;
};

static uint32_t read_int(const struct tiff *tiff, size_t at, int bytes)
{
    return (tiff->big_endian ? number_big : number_little)(tiff->data + at, bytes);
}

static bool tiff_open(struct tiff *tiff, const uint8_t *data, size_t size)
{
    *tiff = (struct tiff){.data = data, .size = size, .big_endian = size > 0 && data[0] == 'M'};
    return size >= HEAD && (memcmp(data, "II*\0", 4) == 0 || memcmp(data, "MM\0*", 4) == 0);
}

// Returns the number of entries of the directory at `at`, and the place of the first. 0: none, or truncated.
static int directory(const struct tiff *tiff, size_t at, size_t *first)
{
    *first = at + COUNT;
    if (at < HEAD || at > tiff->size - COUNT)
        return 0;
    const size_t count = read_int(tiff, at, COUNT);
    return count * ENTRY <= tiff->size - *first ? (int)count : 0;
}

static size_t first_directory(const struct tiff *tiff)
{
    return read_int(tiff, 4, 4);
}

// Returns the place of an entry of the directory at `at`; 0: none.
static size_t find_entry(const struct tiff *tiff, size_t at, uint32_t tag)
{
    size_t first;
    const int count = directory(tiff, at, &first);
    for (int i = 0; i < count; i++) {
        const size_t entry = first + (size_t)i * ENTRY;
        if (read_int(tiff, entry, 2) == tag)
            return entry;
    }
    return 0;
}

struct ifd_entry {
    uint32_t tag, type, count;
    size_t value, bytes; // place and size of its value
};

static bool read_entry(const struct tiff *tiff, size_t at, struct ifd_entry *entry)
{
    static const uint8_t type_bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4};
    *entry = (struct ifd_entry){read_int(tiff, at, 2), read_int(tiff, at + 2, 2), read_int(tiff, at + 4, 4), at + 8, 0};
    if (entry->type >= sizeof(type_bytes))
        return false;
    entry->bytes = (size_t)type_bytes[entry->type] * entry->count;
    if (entry->bytes > 4)
        entry->value = read_int(tiff, entry->value, 4);
    return entry->bytes > 0 && entry->count <= tiff->size && entry->value <= tiff->size &&
           entry->bytes <= tiff->size - entry->value;
}

// Returns the place of a number in the directory at `from`; 0: none. The standard has SHORT or LONG; some programs
// write other types.
static size_t number_place(const struct tiff *tiff, size_t from, uint32_t tag, int *bytes)
{
    static const uint8_t sizes[] = {[TYPE_BYTE] = 1,   [TYPE_SHORT] = 2, [TYPE_LONG] = 4, [TYPE_SBYTE] = 1,
                                    [TYPE_SSHORT] = 2, [TYPE_SLONG] = 4, [TYPE_IFD] = 4};
    struct ifd_entry entry;
    const size_t at = find_entry(tiff, from, tag);
    if (!at || !read_entry(tiff, at, &entry) || entry.type >= sizeof(sizes))
        return 0;
    *bytes = sizes[entry.type];
    return *bytes > 0 && entry.bytes <= 4 ? entry.value : 0; // a list beside the entry is no number
}

static uint32_t read_number(const struct tiff *tiff, size_t from, uint32_t tag, uint32_t none)
{
    int bytes;
    const size_t place = number_place(tiff, from, tag, &bytes);
    return place ? read_int(tiff, place, bytes) : none;
}

int exif_orientation(const uint8_t *data, size_t size)
{
    struct tiff tiff;
    const uint32_t orientation =
        tiff_open(&tiff, data, size) ? read_number(&tiff, first_directory(&tiff), TAG_ORIENTATION, 1) : 1;
    return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
}

// The second directory is the thumbnail's. Cuts the link to it and clears its image, or cuts the image off if it comes
// last, as usual. Returns the size that remains.
static size_t remove_thumbnail(const struct tiff *tiff, uint8_t *data)
{
    size_t first;
    const int count = directory(tiff, first_directory(tiff), &first);
    const size_t link = first + (size_t)count * ENTRY;
    if (count == 0 || link > tiff->size - LINK)
        return tiff->size;
    const size_t second = read_int(tiff, link, LINK);
    const size_t place = find_entry(tiff, second, TAG_THUMBNAIL);
    const size_t length = find_entry(tiff, second, TAG_THUMBNAIL_BYTES);
    memset(data + link, 0, LINK);
    if (!place || !length)
        return tiff->size;
    const size_t begin = read_int(tiff, place + 8, 4), bytes = read_int(tiff, length + 8, 4);
    if (begin <= link || begin >= tiff->size)
        return tiff->size;
    if (bytes >= tiff->size - begin)
        return begin;
    memset(data + begin, 0, bytes);
    return tiff->size;
}

static void put_int(const struct tiff *tiff, uint8_t *data, size_t at, size_t value, int bytes)
{
    (tiff->big_endian ? number_put_big : number_put_little)(data + at, bytes, value);
}

// Sets the number of an entry of the directory at `from`, if there is one. An entry that has no place for it becomes
// one number of this type.
static void set_number(const struct tiff *tiff, uint8_t *data, size_t from, uint32_t tag, int type, size_t value)
{
    int bytes;
    const size_t place = number_place(tiff, from, tag, &bytes), at = find_entry(tiff, from, tag);
    const bool one = place && read_int(tiff, at + 4, 4) == 1; // some cameras write a list
    if (one && (bytes == 4 || value >> 8 * bytes == 0)) {
        put_int(tiff, data, place, value, bytes);
    } else if (at) {
        memset(data + at + 8, 0, 4);
        put_int(tiff, data, at + 2, (size_t)type, 2);
        put_int(tiff, data, at + 4, 1, 4);
        put_int(tiff, data, at + 8, value, type == TYPE_SHORT ? 2 : 4);
    }
}

// Exchanges the values of two entries, if there are both.
static void exchange(const struct tiff *tiff, uint8_t *data, size_t from, uint32_t tag, uint32_t other)
{
    const size_t one = find_entry(tiff, from, tag), two = find_entry(tiff, from, other);
    uint8_t value[ENTRY - 2];
    if (!one || !two)
        return;
    memcpy(value, data + one + 2, sizeof(value));
    memcpy(data + one + 2, data + two + 2, sizeof(value));
    memcpy(data + two + 2, value, sizeof(value));
}

static void remove_entry(const struct tiff *tiff, uint8_t *data, size_t from, uint32_t tag)
{
    size_t first;
    const size_t count = (size_t)directory(tiff, from, &first), at = find_entry(tiff, from, tag);
    const size_t end = first + count * ENTRY + LINK;
    if (!at || end > tiff->size)
        return;
    memmove(data + at, data + at + ENTRY, end - at - ENTRY);
    memset(data + end - ENTRY, 0, ENTRY);
    put_int(tiff, data, from, count - 1, COUNT);
}

// Clears the GPS directory with its values, and removes the entry that links to it.
static void remove_place(const struct tiff *tiff, uint8_t *data, size_t main)
{
    size_t first;
    struct ifd_entry entry;
    const size_t from = read_number(tiff, main, TAG_GPS, 0);
    const int count = directory(tiff, from, &first);
    for (int i = 0; i < count; i++) {
        if (read_entry(tiff, first + (size_t)i * ENTRY, &entry))
            memset(data + entry.value, 0, entry.bytes);
        memset(data + first + (size_t)i * ENTRY, 0, ENTRY);
    }
    if (count > 0)
        memset(data + from, 0, COUNT);
    remove_entry(tiff, data, main, TAG_GPS);
}

// EXIF 2.32: colour space 1 is sRGB; the interoperability index of files with sRGB is R98, with Adobe RGB R03.
static void set_srgb(const struct tiff *tiff, uint8_t *data, size_t inner)
{
    enum { INDEX = 1 };
    struct ifd_entry entry;
    const size_t at = find_entry(tiff, read_number(tiff, inner, TAG_INTEROPERABILITY, 0), INDEX);
    set_number(tiff, data, inner, TAG_COLOUR_SPACE, TYPE_SHORT, 1);
    if (at && read_entry(tiff, at, &entry) && entry.bytes == 4 && memcmp(data + entry.value, "R03", 4) == 0)
        memcpy(data + entry.value, "R98", 4);
}

size_t exif_settle(uint8_t *data, size_t size, const struct metadata_target *target)
{
    struct tiff tiff;
    const size_t width = (size_t)target->width, height = (size_t)target->height;
    if (!tiff_open(&tiff, data, size))
        return size;
    const size_t main = first_directory(&tiff), inner = read_number(&tiff, main, TAG_EXIF, 0);
    const bool moved = target->turned || read_number(&tiff, inner, TAG_PIXELS_ACROSS, 0) != width ||
                       read_number(&tiff, inner, TAG_PIXELS_DOWN, 0) != height;
    if (target->orientation > 0)
        set_number(&tiff, data, main, TAG_ORIENTATION, TYPE_SHORT, (size_t)target->orientation);
    set_number(&tiff, data, main, TAG_WIDTH, TYPE_LONG, width);
    set_number(&tiff, data, main, TAG_HEIGHT, TYPE_LONG, height);
    set_number(&tiff, data, inner, TAG_PIXELS_ACROSS, TYPE_LONG, width);
    set_number(&tiff, data, inner, TAG_PIXELS_DOWN, TYPE_LONG, height);
    if (target->srgb)
        set_srgb(&tiff, data, inner);
    if (target->no_place)
        remove_place(&tiff, data, main);
    if (target->turned) {
        exchange(&tiff, data, main, TAG_RESOLUTION_ACROSS, TAG_RESOLUTION_DOWN);
        exchange(&tiff, data, inner, TAG_FOCAL_PLANE_ACROSS, TAG_FOCAL_PLANE_DOWN);
    }
    if (moved) {
        remove_entry(&tiff, data, inner, TAG_SUBJECT_AREA);
        remove_entry(&tiff, data, inner, TAG_SUBJECT_PLACE);
    }
    return remove_thumbnail(&tiff, data);
}

// Returns true if an entry of the directory has its value beyond the end of the data.
static bool is_cut(const struct tiff *tiff, size_t from)
{
    size_t first;
    bool cut = false;
    struct ifd_entry entry;
    const int count = directory(tiff, from, &first);
    for (int i = 0; i < count; i++)
        cut |= !read_entry(tiff, first + (size_t)i * ENTRY, &entry) && entry.bytes > 4;
    return cut || (count == 0 && (from > tiff->size - COUNT || read_int(tiff, from, COUNT) > 0));
}

const char *exif_fault(const uint8_t *data, size_t size, bool *usable)
{
    struct tiff tiff;
    size_t first;
    *usable = tiff_open(&tiff, data, size) && directory(&tiff, first_directory(&tiff), &first) > 0;
    if (!*usable)
        return "its EXIF data are damaged and are left out";
    const size_t main = first_directory(&tiff), inner = read_number(&tiff, main, TAG_EXIF, 0);
    return is_cut(&tiff, main) || (inner && is_cut(&tiff, inner)) ? "its EXIF data are cut off and lack some entries"
                                                                  : NULL;
}

// Copies directories to the end of the TIFF data in `to`, which has the same byte order.
struct copy {
    struct tiff from;
    struct codec_buffer *to;
    size_t most; // bytes of `to`: entries may share their values, so a small file could become a very large one
    bool left_out;
};

struct codec_bytes exif_value(const uint8_t *data, size_t size, uint32_t tag)
{
    struct tiff tiff;
    struct ifd_entry entry;
    const size_t at = tiff_open(&tiff, data, size) ? find_entry(&tiff, first_directory(&tiff), tag) : 0;
    if (!at || !read_entry(&tiff, at, &entry))
        return (struct codec_bytes){0};
    return (struct codec_bytes){data + entry.value, entry.bytes};
}

void exif_text(struct codec_bytes exif, uint32_t tag, char *text, size_t size)
{
    struct tiff tiff;
    struct ifd_entry entry;
    size_t at = 0;
    text[0] = '\0';
    if (tiff_open(&tiff, exif.data, exif.size)) {
        at = find_entry(&tiff, first_directory(&tiff), tag);
        at = at ? at : find_entry(&tiff, read_number(&tiff, first_directory(&tiff), TAG_EXIF, 0), tag);
    }
    if (at && read_entry(&tiff, at, &entry))
        snprintf(text, size, "%.*s", (int)(entry.bytes < size ? entry.bytes : size),
                 (const char *)exif.data + entry.value);
}

bool exif_density(const uint8_t *data, size_t size, double density[2])
{
    struct tiff tiff;
    if (!tiff_open(&tiff, data, size))
        return false;
    const uint32_t unit = read_number(&tiff, first_directory(&tiff), TAG_RESOLUTION_UNIT, INCH);
    const double inch = unit == CENTIMETRE ? 2.54 : unit == INCH; // of the unit; 0: of none
    for (int i = 0; i < 2; i++) {
        struct ifd_entry entry;
        const size_t at = find_entry(&tiff, first_directory(&tiff), i ? TAG_RESOLUTION_DOWN : TAG_RESOLUTION_ACROSS);
        if (!at || !read_entry(&tiff, at, &entry) || entry.type != TYPE_RATIONAL)
            return false;
        const double below = read_int(&tiff, entry.value + 4, 4);
        density[i] = below > 0 ? read_int(&tiff, entry.value, 4) / below * inch : 0;
    }
    return density[0] > 0 && density[1] > 0;
}

void exif_from_density(const double density[2], uint8_t exif[EXIF_DENSITY_BYTES])
{
    enum { ENTRIES = 3, VALUES = HEAD + COUNT + ENTRIES * ENTRY + LINK, PARTS = 10000 };
    static const uint16_t entries[ENTRIES][3] = {{TAG_RESOLUTION_ACROSS, TYPE_RATIONAL, VALUES},
                                                 {TAG_RESOLUTION_DOWN, TYPE_RATIONAL, VALUES + 8},
                                                 {TAG_RESOLUTION_UNIT, TYPE_SHORT, INCH}};
    const struct tiff tiff = {.data = exif};
    memset(exif, 0, EXIF_DENSITY_BYTES);
    memcpy(exif, "II*\0\x08", 5);
    put_int(&tiff, exif, HEAD, ENTRIES, COUNT);
    for (size_t i = 0, at = HEAD + COUNT; i < ENTRIES; i++, at += ENTRY) {
        put_int(&tiff, exif, at, entries[i][0], 2);
        put_int(&tiff, exif, at + 2, entries[i][1], 2);
        put_int(&tiff, exif, at + 4, 1, 4);
        put_int(&tiff, exif, at + 8, entries[i][2], 4);
    }
    for (size_t i = 0; i < 2; i++) {
        const uint32_t below = density[i] == floor(density[i]) ? 1 : PARTS;
        put_int(&tiff, exif, VALUES + 8 * i, (size_t)lround(density[i] * below), 4);
        put_int(&tiff, exif, VALUES + 8 * i + 4, below, 4);
    }
}

static void write_int(struct copy *copy, size_t at, size_t value, int bytes)
{
    put_int(&copy->from, copy->to->data, at, value, bytes);
}

// Appends zeros at an even place, *at.
static bool append(struct copy *copy, size_t bytes, size_t *at)
{
    struct codec_buffer *to = copy->to;
    *at = to->size + to->size % 2;
    const size_t end = *at + bytes;
    if (end > copy->most || !codec_buffer_room(to, end)) {
        copy->left_out = true;
        return false;
    }
    memset(to->data + to->size, 0, end - to->size);
    to->size = end;
    return true;
}

static bool copy_directory(struct copy *copy, size_t from, int depth, size_t *at);

// Writes an entry without its value.
static void write_entry(struct copy *copy, size_t at, uint32_t tag, uint32_t type, uint32_t count)
{
    write_int(copy, at, tag, 2);
    write_int(copy, at + 2, type, 2);
    write_int(copy, at + 4, count, 4);
}

// Copies the entry at `from` into the one at `at`. Returns false if it is damaged or too large.
static bool copy_entry(struct copy *copy, size_t at, size_t from, int depth)
{
    struct ifd_entry entry;
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
    if (inner)
        write_entry(copy, at, entry.tag, TYPE_LONG, 1);
    else
        write_entry(copy, at, entry.tag, entry.type, entry.count);
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

// Appends a directory to the output and makes it the first one: `count` entries of the output from `first` on, and the
// main tags of the input, in order. A tag of the output has precedence. Returns the number of entries.
static size_t merge_directories(struct copy *copy, size_t first, size_t count, int orientation)
{
    size_t at, copied = 0;
    if (!append(copy, COUNT + (count + MAIN_TAGS) * ENTRY + LINK, &at))
        return 0;
    for (size_t i = 0, k = 0; i < count || k < MAIN_TAGS;) {
        const struct tiff own = {copy->to->data, copy->to->size, copy->from.big_endian}; // it may have moved
        const uint32_t mine = i < count ? read_int(&own, first + i * ENTRY, 2) : UINT32_MAX;
        const uint32_t other = k < MAIN_TAGS ? main_tags[k] : UINT32_MAX;
        const size_t place = at + COUNT + copied * ENTRY;
        if (mine <= other) {
            memcpy(copy->to->data + place, own.data + first + i++ * ENTRY, ENTRY);
            copied++;
        } else if (other != TAG_ORIENTATION) {
            const size_t from = find_entry(&copy->from, first_directory(&copy->from), other);
            copied += from && copy_entry(copy, place, from, 0);
        } else if (orientation > 1) {
            write_entry(copy, place, TAG_ORIENTATION, TYPE_SHORT, 1);
            write_int(copy, place + 8, (size_t)orientation, 2);
            copied++;
        }
        k += other <= mine;
    }
    write_int(copy, 4, at, 4);
    write_int(copy, at, copied, COUNT);
    return copied;
}

bool exif_from_tiff(const uint8_t *file, size_t size, int orientation, struct codec_buffer *exif, bool *left_out)
{
    struct copy copy = {.to = exif, .most = EXIF_MOST_BYTES};
    bool copied = false;
    size_t head;
    exif->size = 0;
    if (!tiff_open(&copy.from, file, size))
        copy.from.size = HEAD; // no directory
    if (size >= HEAD && append(&copy, HEAD, &head)) {
        memcpy(exif->data, copy.from.big_endian ? "MM" : "II", 2);
        write_int(&copy, 2, 42, 2);
        copied = merge_directories(&copy, 0, 0, orientation) > 0;
    }
    *left_out = copy.left_out;
    return copied;
}

bool exif_into_tiff(const uint8_t *exif, size_t size, struct codec_buffer *file)
{
    struct copy copy = {.to = file, .most = file->size + EXIF_MOST_BYTES};
    struct tiff own;
    size_t first;
    if (!tiff_open(&copy.from, exif, size) || !tiff_open(&own, file->data, file->size) ||
        own.big_endian != copy.from.big_endian)
        return false;
    const int count = directory(&own, first_directory(&own), &first);
    merge_directories(&copy, first, (size_t)count, 1);
    return !copy.left_out;
}

// ---- XMP (ISO 16684-1): RDF as XML, in which a property is an attribute or an element

enum { XMP_NAME = 64, XMP_PREFIXES = 32 };
enum xmp_change {
    XMP_ORIENTATION,
    XMP_WIDTH,
    XMP_HEIGHT,
    XMP_SRGB,
    XMP_EXCHANGE,
    XMP_REMOVE,
    XMP_REMOVE_SRGB,
    XMP_PLACE
};

#define XMP_CAMERA "http://ns.google.com/photos/1.0/camera/"
#define XMP_EXIF "http://ns.adobe.com/exif/1.0/"
#define XMP_TIFF "http://ns.adobe.com/tiff/1.0/"
#define XMP_PHOTOSHOP "http://ns.adobe.com/photoshop/1.0/"
#define XMP_IPTC "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
#define XMP_IPTC_MORE "http://iptc.org/std/Iptc4xmpExt/2008-02-29/"

static const struct xmp_property {
    const char *space, *name; // a name with a final * is the begin of several
    enum xmp_change change;
} xmp_properties[] = {
    {XMP_TIFF, "Orientation", XMP_ORIENTATION},
    {XMP_TIFF, "ImageWidth", XMP_WIDTH},
    {XMP_TIFF, "ImageLength", XMP_HEIGHT},
    {XMP_EXIF, "PixelXDimension", XMP_WIDTH},
    {XMP_EXIF, "PixelYDimension", XMP_HEIGHT},
    {XMP_EXIF, "ColorSpace", XMP_SRGB},
    {XMP_PHOTOSHOP, "ICCProfile", XMP_REMOVE_SRGB},
    {XMP_EXIF, "GPS*", XMP_PLACE},
    {XMP_PHOTOSHOP, "City", XMP_PLACE},
    {XMP_PHOTOSHOP, "State", XMP_PLACE},
    {XMP_PHOTOSHOP, "Country", XMP_PLACE},
    {XMP_IPTC, "Location", XMP_PLACE},
    {XMP_IPTC, "CountryCode", XMP_PLACE},
    {XMP_IPTC_MORE, "Location*", XMP_PLACE},
    {XMP_TIFF, "XResolution", XMP_EXCHANGE},
    {XMP_TIFF, "YResolution", XMP_EXCHANGE},
    {XMP_EXIF, "FocalPlaneXResolution", XMP_EXCHANGE},
    {XMP_EXIF, "FocalPlaneYResolution", XMP_EXCHANGE},
    {"http://ns.adobe.com/xap/1.0/", "Thumbnails", XMP_REMOVE},
    {"http://ns.adobe.com/xmp/note/", "HasExtendedXMP", XMP_REMOVE},
    {"http://ns.adobe.com/hdr-gain-map/1.0/", "Version", XMP_REMOVE},
    {"http://ns.google.com/photos/1.0/container/", "Directory", XMP_REMOVE},
    {XMP_CAMERA, "MotionPhoto", XMP_REMOVE},
    {XMP_CAMERA, "MicroVideo", XMP_REMOVE},
    {XMP_CAMERA, "MicroVideoOffset", XMP_REMOVE},
};
enum { XMP_PROPERTIES = sizeof(xmp_properties) / sizeof(*xmp_properties) };

struct xmp {
    const char *text, *end;
    struct {
        char name[XMP_NAME];
        const char *space; // of a row of xmp_properties
    } prefix[XMP_PREFIXES];
    int prefixes;
};

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at))
        at++;
    return at;
}

// Returns the place of a letter; `end` if there is none.
static const char *find_letter(const char *at, const char *end, char letter)
{
    const char *found = at < end ? memchr(at, letter, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

// Sets `value` to the text between the quotes of an attribute whose name ends at `at`. Returns the place after
// the closing quote; NULL: the attribute has no text.
static const char *attribute_value(const char *at, const char *end, struct codec_bytes *value)
{
    at = skip_space(at, end);
    if (at == end || *at != '=')
        return NULL;
    at = skip_space(at + 1, end);
    if (at == end || (*at != '"' && *at != '\''))
        return NULL;
    const char *last = find_letter(at + 1, end, *at);
    *value = (struct codec_bytes){(const uint8_t *)at + 1, (size_t)(last - at - 1)};
    return last == end ? NULL : last + 1;
}

// Returns the length of the name of an attribute, element or prefix; 0: it is too long, or the text ends first.
static size_t name_length(const char *name, const char *end)
{
    size_t length = 0;
    while (name + length < end && length < XMP_NAME && !strchr("=/<>\"' \t\r\n", name[length]))
        length++;
    return name + length < end && length < XMP_NAME ? length : 0;
}

// Collects the prefixes of the namespaces in the table.
static void find_prefixes(struct xmp *xmp)
{
    static const char word[] = "xmlns:";
    const char *at = xmp->text;
    while (xmp->prefixes < XMP_PREFIXES && (at = memmem(at, (size_t)(xmp->end - at), word, sizeof(word) - 1))) {
        const char *name = at + sizeof(word) - 1;
        struct codec_bytes uri;
        const size_t length = name_length(name, xmp->end);
        at = name;
        const char *space = NULL;
        if (length > 0 && attribute_value(name + length, xmp->end, &uri))
            for (int i = 0; i < XMP_PROPERTIES; i++)
                if (uri.size == strlen(xmp_properties[i].space) &&
                    memcmp(uri.data, xmp_properties[i].space, uri.size) == 0)
                    space = xmp_properties[i].space;
        bool known = !space;
        for (int i = 0; i < xmp->prefixes; i++)
            known |= strlen(xmp->prefix[i].name) == length && memcmp(xmp->prefix[i].name, name, length) == 0;
        if (known)
            continue;
        snprintf(xmp->prefix[xmp->prefixes].name, XMP_NAME, "%.*s", (int)length, name);
        xmp->prefix[xmp->prefixes++].space = space;
    }
}

// Returns the property whose prefix ends at the colon, and sets *start to the prefix. NULL: none.
static const struct xmp_property *property_at(const struct xmp *xmp, const char *colon, const char **start)
{
    for (int p = 0; p < xmp->prefixes; p++) {
        const size_t length = strlen(xmp->prefix[p].name);
        if ((size_t)(colon - xmp->text) <= length || memcmp(colon - length, xmp->prefix[p].name, length) != 0)
            continue;
        *start = colon - length;
        const char before = (*start)[-1];
        for (int i = 0; i < XMP_PROPERTIES && (before == '<' || before == '/' || isspace((unsigned char)before)); i++) {
            const struct xmp_property *property = &xmp_properties[i];
            const size_t size = strlen(property->name), found = name_length(colon + 1, xmp->end);
            const bool begin = property->name[size - 1] == '*' && found >= size;
            if (strcmp(property->space, xmp->prefix[p].space) == 0 && (begin || found == size) &&
                memcmp(colon + 1, property->name, begin ? size - 1 : size) == 0)
                return property;
        }
    }
    return NULL;
}

// Returns the place of the '>' of a tag; `end`: there is none before the next tag.
static const char *tag_end(const char *at, const char *end)
{
    while (at < end && *at != '>' && *at != '<')
        at++;
    return at < end && *at == '>' ? at : end;
}

// Sets `value` to the text of the element whose name ends at `at`, or of its first inner element. Returns the place
// after the text, or (`whole`) after the element; NULL: the element is damaged.
static const char *element_value(const char *name, const char *at, const char *end, bool whole,
                                 struct codec_bytes *value)
{
    const char *open = tag_end(at, end), *text;
    *value = (struct codec_bytes){0};
    if (open == end)
        return NULL;
    if (open[-1] == '/')
        return open + 1;
    if (whole) {
        char tail[2 * XMP_NAME + 4];
        const int length = snprintf(tail, sizeof(tail), "</%.*s", (int)(at - name), name);
        const char *close = memmem(open, (size_t)(end - open), tail, (size_t)length);
        return close ? find_letter(close, end - 1, '>') + 1 : NULL;
    }
    for (text = skip_space(open + 1, end); end - text > 1 && text[0] == '<' && text[1] != '/';) {
        open = tag_end(text + 1, end);
        text = skip_space(open < end ? open + 1 : end, end);
    }
    const char *last = find_letter(text, end, '<'), *next = last;
    if (end - next < 2 || (next[1] != '/' && next[1] != '!'))
        return NULL;
    while (last > text && isspace((unsigned char)last[-1]))
        last--;
    *value = (struct codec_bytes){(const uint8_t *)text, (size_t)(last - text)};
    return next;
}

// Writes the new value of a property. Returns false if it keeps its value.
static bool new_value(const struct xmp_property *property, const struct metadata_target *target, char text[16])
{
    const int values[] = {[XMP_ORIENTATION] = target->orientation,
                          [XMP_WIDTH] = target->width,
                          [XMP_HEIGHT] = target->height,
                          [XMP_SRGB] = target->srgb};
    if (property->change > XMP_SRGB || values[property->change] <= 0)
        return false;
    snprintf(text, 16, "%d", values[property->change]);
    return true;
}

// Appends the text from *copied up to the property at `start`, whose name ends at `at`, and the changed property. Moves
// *copied to the end of the property. Returns false if there is no memory.
static bool change_property(const struct xmp *xmp, const struct xmp_property *property, const char *start,
                            const char *at, const struct metadata_target *target, struct codec_buffer *to,
                            const char **copied)
{
    char text[16];
    struct codec_bytes value = {0};
    const char *from = *copied, *letter = strstr(property->name, "XRes"), *end;
    if (property->change == XMP_EXCHANGE) { // its name becomes that of the other one
        const char *changed = at - strlen(letter ? letter : strstr(property->name, "YRes"));
        if (!target->turned)
            return true;
        *copied = changed + 1;
        return codec_buffer_append(to, from, (size_t)(changed - from)) &&
               codec_buffer_append(to, letter ? "Y" : "X", 1);
    }
    const bool removed = property->change == XMP_REMOVE || (property->change == XMP_REMOVE_SRGB && target->srgb) ||
                         (property->change == XMP_PLACE && target->no_place);
    const bool element = start[-1] == '<';
    if (start[-1] == '/' || (!removed && !new_value(property, target, text)))
        return true;
    end = element ? element_value(start, at, xmp->end, removed, &value) : attribute_value(at, xmp->end, &value);
    if (!end && element) { // damaged: the rest stays, because a search in it could take very long
        *copied = xmp->end;
        return codec_buffer_append(to, from, (size_t)(xmp->end - from));
    }
    if (end && removed) {
        *copied = end;
        return codec_buffer_append(to, from, (size_t)(start - 1 - from));
    }
    if (!end || !value.data)
        return true;
    *copied = (const char *)value.data + value.size;
    return codec_buffer_append(to, from, (size_t)((const char *)value.data - from)) &&
           codec_buffer_append(to, text, strlen(text));
}

bool xmp_settle(struct codec_bytes bytes, const struct metadata_target *target, struct codec_buffer *settled)
{
    const char *text = (const char *)bytes.data;
    struct xmp xmp = {.text = text, .end = text + bytes.size};
    const char *copied = text, *start;
    bool ok = true;
    settled->size = 0;
    find_prefixes(&xmp);
    for (const char *at = text; ok && (at = find_letter(at, xmp.end, ':')) < xmp.end; at = at > copied ? at : copied) {
        const struct xmp_property *property = property_at(&xmp, at, &start);
        at++;
        if (property)
            ok = change_property(&xmp, property, start, at + name_length(at, xmp.end), target, settled, &copied);
    }
    return ok && codec_buffer_append(settled, copied, (size_t)(xmp.end - copied));
}

// ---- Photoshop's blocks

enum { BLOCK_SIGNATURE = 4, NAME_AT = 6, IPTC_MARKER = 0x1c };
static const char block_signature[] = "8BIM";

struct codec_bytes photoshop_find(struct codec_bytes blocks, unsigned number)
{
    const uint8_t *data = blocks.data;
    for (size_t at = 0; blocks.size - at > NAME_AT && memcmp(data + at, block_signature, BLOCK_SIGNATURE) == 0;) {
        const unsigned found = number_big(data + at + 4, 2);
        const size_t length_at = at + NAME_AT + (data[at + NAME_AT] + 2u) / 2 * 2; // behind a name of even size
        if (blocks.size < 4 || length_at > blocks.size - 4)
            break;
        const uint8_t *length = data + length_at;
        const size_t size = number_big(length, 4), left = blocks.size - length_at - 4;
        if (size > left)
            break;
        if (found == number && size > 0)
            return (struct codec_bytes){length + 4, size};
        at = length_at + 4 + (size + size % 2 < left ? size + size % 2 : left);
    }
    return (struct codec_bytes){0};
}

struct codec_bytes photoshop_iptc(struct codec_bytes bytes)
{
    if (bytes.size > 0 && bytes.data[0] == IPTC_MARKER)
        return bytes;
    return photoshop_find(bytes, PHOTOSHOP_IPTC);
}

bool photoshop_append(struct codec_buffer *buffer, unsigned number, struct codec_bytes bytes)
{
    uint8_t head[8] = {0}; // number, empty name, size
    number_put_big(head, 2, number);
    number_put_big(head + 4, 4, bytes.size);
    return codec_buffer_append(buffer, block_signature, BLOCK_SIGNATURE) &&
           codec_buffer_append(buffer, head, sizeof(head)) && codec_buffer_append(buffer, bytes.data, bytes.size) &&
           codec_buffer_append(buffer, "", bytes.size % 2);
}

// ---- IPTC data

bool iptc_without_place(struct codec_bytes iptc, struct codec_buffer *rest)
{
    enum { HEAD_BYTES = 5, LONG_LENGTH = 0x80 };
    static const uint8_t places[] = {26, 27, 90, 92, 95, 100, 101};
    const uint8_t *at = iptc.data;
    rest->size = 0;
    for (size_t left = iptc.size, size; left >= HEAD_BYTES && at[0] == IPTC_MARKER && !(at[3] & LONG_LENGTH);
         at += size, left -= size) {
        size = HEAD_BYTES + (size_t)number_big(at + 3, 2);
        size = size < left ? size : left;
        if (!(at[1] == 2 && memchr(places, at[2], sizeof(places))) && !codec_buffer_append(rest, at, size))
            return false;
    }
    return true;
}
