// jpeg_markers.c: ICC profile, EXIF and XMP data in the markers of a JPEG file
#include "image/codec/jpeg.h"

#include <string.h>

enum { SOI = 0xd8, SOS = 0xda, APP1 = 0xe1, APP2 = 0xe2, FILL = 0xff };
enum { PARTS_MAX = 255, PART_HEAD = 14 }; // of a profile: "ICC_PROFILE", NUL, number, count

// Parts of a profile by their numbers (ICC.1:2010, annex B.4).
struct parts {
    struct codec_bytes part[PARTS_MAX + 1];
    int count;
};

// What follows the name; nothing where the segment begins otherwise.
static struct codec_bytes behind(struct codec_bytes segment, const char *name, size_t name_bytes)
{
    if (segment.size <= name_bytes || memcmp(segment.data, name, name_bytes) != 0)
        return (struct codec_bytes){0};
    return (struct codec_bytes){segment.data + name_bytes, segment.size - name_bytes};
}

static void take_part(struct parts *parts, struct codec_bytes segment)
{
    if (!behind(segment, "ICC_PROFILE", 12).data || segment.size <= PART_HEAD)
        return;
    const int number = segment.data[12]; // from 1
    parts->count = segment.data[13];
    if (number > 0)
        parts->part[number] = (struct codec_bytes){segment.data + PART_HEAD, segment.size - PART_HEAD};
}

// A profile of one part, as most are, stays where it lies. One that lacks a part is none, and *whole is then false.
static struct codec_bytes join(const struct parts *parts, struct codec_buffer *profile, bool *whole)
{
    size_t size = 0;
    *whole = true;
    for (int i = 1; i <= parts->count; i++) {
        *whole = *whole && parts->part[i].data;
        size += parts->part[i].size;
    }
    if (*whole && parts->count <= 1)
        return parts->part[parts->count];
    *whole = *whole && codec_buffer_room(profile, size);
    if (!*whole)
        return (struct codec_bytes){0};
    profile->size = 0;
    for (int i = 1; i <= parts->count; i++) {
        memcpy(profile->data + profile->size, parts->part[i].data, parts->part[i].size);
        profile->size += parts->part[i].size;
    }
    return (struct codec_bytes){profile->data, size};
}

void jpeg_markers(const uint8_t *data, size_t size, struct codec_buffer *profile, struct codec_metadata *metadata)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/", more_xmp[] = "http://ns.adobe.com/xmp/extension/";
    struct parts parts = {0};
    size_t at = 2; // behind SOI
    bool whole;
    while (at + 4 <= size && data[at] == 0xff && data[at + 1] != SOS) {
        const int code = data[at + 1];
        if (code == FILL) {
            at++;
            continue;
        }
        const size_t length = (size_t)data[at + 2] << 8 | data[at + 3]; // counts itself
        if (length < 2 || length > size - at - 2)
            break;
        const struct codec_bytes segment = {data + at + 4, length - 2};
        if (code == APP1 && !metadata->exif.data)
            metadata->exif = behind(segment, "Exif\0", 6);
        if (code == APP1 && !metadata->xmp.data)
            metadata->xmp = behind(segment, xmp, sizeof(xmp));
        if (code == APP1 && behind(segment, more_xmp, sizeof(more_xmp)).data)
            metadata->left_out = "its XMP data beyond the first 64 KiB are left out";
        if (code == APP2)
            take_part(&parts, segment);
        at += 2 + length;
    }
    metadata->icc = join(&parts, profile, &whole);
    if (!whole)
        metadata->left_out = "its colour profile is damaged and is left out";
}
