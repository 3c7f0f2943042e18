// photoshop.c: image resource blocks of Photoshop
#include "image/codec/photoshop.h"

#include "image/codec/codec_kind.h"

#include <string.h>

enum { SIGNATURE = 4, NAME_AT = 6, IPTC_MARKER = 0x1c };
static const char signature[] = "8BIM";

struct codec_bytes photoshop_find(struct codec_bytes blocks, unsigned number)
{
    const uint8_t *data = blocks.data;
    for (size_t at = 0; blocks.size - at > NAME_AT && memcmp(data + at, signature, SIGNATURE) == 0;) {
        const unsigned found = (unsigned)data[at + 4] << 8 | data[at + 5];
        const size_t length_at = at + NAME_AT + (data[at + NAME_AT] + 2u) / 2 * 2; // behind a name of even size
        if (blocks.size < 4 || length_at > blocks.size - 4)
            break;
        const uint8_t *length = data + length_at;
        const size_t size = (size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 | length[3];
        const size_t left = blocks.size - length_at - 4;
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
    const uint8_t head[] = {(uint8_t)(number >> 8),
                            (uint8_t)number,
                            0,
                            0, // an empty name
                            (uint8_t)(bytes.size >> 24),
                            (uint8_t)(bytes.size >> 16),
                            (uint8_t)(bytes.size >> 8),
                            (uint8_t)bytes.size};
    return codec_buffer_append(buffer, signature, SIGNATURE) && codec_buffer_append(buffer, head, sizeof(head)) &&
           codec_buffer_append(buffer, bytes.data, bytes.size) && codec_buffer_append(buffer, "", bytes.size % 2);
}
