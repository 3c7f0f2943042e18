// moving.c: see moving.h (GIF89a; PNG specification, third edition, 11.3.6; JPEG: ITU-T T.81, annex B; multi-picture
// format: CIPA DC-007)
#include "source/video_info.h"

#include "base/number.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool skip(FILE *file, size_t bytes)
{
    uint8_t piece[4096];
    while (bytes > 0) {
        const size_t got = fread(piece, 1, bytes < sizeof(piece) ? bytes : sizeof(piece), file);
        if (got == 0)
            return false;
        bytes -= got;
    }
    return true;
}

// Skips the colour table that the flags announce.
static bool skip_colours(FILE *file, uint8_t flags)
{
    return !(flags & 0x80) || skip(file, (size_t)3 << ((flags & 7) + 1));
}

static bool skip_blocks(FILE *file)
{
    int size;
    while ((size = getc_unlocked(file)) > 0) {
        if (!skip(file, (size_t)size))
            return false;
    }
    return size == 0;
}

static bool gif_has_two(FILE *file)
{
    uint8_t head[13], picture[9];
    int count = 0;
    if (fread(head, 1, sizeof(head), file) != sizeof(head) || !skip_colours(file, head[10]))
        return false;
    for (;;) {
        switch (getc_unlocked(file)) {
        case 0: // some writers leave a byte too much
            break;
        case '!':
            if (getc_unlocked(file) == EOF || !skip_blocks(file))
                return false;
            break;
        case ',':
            if (++count == 2)
                return true;
            if (fread(picture, 1, sizeof(picture), file) != sizeof(picture) || !skip_colours(file, picture[8]) ||
                getc_unlocked(file) == EOF || !skip_blocks(file))
                return false;
            break;
        default:
            return false;
        }
    }
}

// The chunk that gives the number of frames precedes the pixels.
static bool png_has_two(FILE *file)
{
    enum { SIGNATURE = 8, CHECKSUM = 4 };
    uint8_t head[8], count[4];
    if (!skip(file, SIGNATURE))
        return false;
    while (fread(head, 1, sizeof(head), file) == sizeof(head) && memcmp(head + 4, "IDAT", 4) != 0) {
        if (memcmp(head + 4, "acTL", 4) == 0)
            return fread(count, 1, sizeof(count), file) == sizeof(count) && number_big(count, 4) > 1;
        if (!skip(file, (size_t)number_big(head, 4) + CHECKSUM))
            return false;
    }
    return false;
}

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, APP2 = 0xe2 };

// Returns the next marker, behind any bytes of a scan; EOF: there is none.
static int next_marker(FILE *file)
{
    int c = getc_unlocked(file);
    for (;;) {
        while (c != 0xff && c != EOF)
            c = getc_unlocked(file);
        while (c == 0xff)
            c = getc_unlocked(file);
        const bool inside = c == 0 || (c >= 0xd0 && c <= 0xd7); // an escaped byte, or RST
        if (!inside)
            return c;
    }
}

// Reads the rest of a JPEG after its SOI, and the SOI of the next JPEG. Returns false if there is no next one, or if
// the JPEG has MPF pictures.
static bool read_jpeg(FILE *file, bool to_next, int *size)
{
    *size = -1;
    for (int marker; (marker = next_marker(file)) != EOF;) {
        uint8_t head[6] = {0}, part[5];
        if (marker == SOI)
            return to_next;
        if (marker == EOI)
            continue;
        if (fread(head, 1, 2, file) != 2)
            return false;
        size_t rest = number_big(head, 2);
        if (rest < 2)
            return false;
        rest -= 2;
        const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
        if ((frame || marker == APP2) && rest >= sizeof(part)) {
            if (fread(part, 1, sizeof(part), file) != sizeof(part))
                return false;
            rest -= sizeof(part);
            if (marker == APP2 && memcmp(part, "MPF", 4) == 0)
                return false;
            if (frame)
                *size = (int)number_big(part + 1, 4);
            if (frame && !to_next)
                return true;
        }
        if (!skip(file, rest))
            return false;
    }
    return false;
}

static bool jpeg_has_two(FILE *file)
{
    int one, two;
    return getc_unlocked(file) == 0xff && getc_unlocked(file) == SOI && read_jpeg(file, true, &one) &&
           read_jpeg(file, false, &two) && one == two && one != -1;
}

static bool look(const char *path, bool (*has_two)(FILE *file))
{
    FILE *file = fopen(path, "re");
    const bool found = file && has_two(file);
    if (file)
        fclose(file);
    return found;
}

bool moving_gif(const char *path)
{
    return look(path, gif_has_two);
}

bool moving_png(const char *path)
{
    return look(path, png_has_two);
}

bool moving_jpeg(const char *path)
{
    return look(path, jpeg_has_two);
}
