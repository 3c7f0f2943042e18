// png_profile.c: metadata in text chunks of PNG files
#include "image/codec/png_profile.h"

#include "image/codec/codec_kind.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool png_is_profile(struct codec_bytes chunk)
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
    return letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

bool png_profile_read(struct codec_buffer *buffer, struct codec_bytes *text)
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
        if (digit >= 0 && high >= 0)
            buffer->data[buffer->size++] = (uint8_t)(high << 4 | digit);
        high = digit < 0 ? high : high < 0 ? digit : -1;
    }
    *text = (struct codec_bytes){buffer->data, buffer->size};
    return buffer->size == size;
}

bool png_profile_write(struct codec_buffer *text, const char *name, struct codec_bytes bytes)
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
