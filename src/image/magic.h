// magic.h: what kind of picture file some bytes are
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum magic {
    MAGIC_NONE,
    MAGIC_PNG,
    MAGIC_JPEG,
    MAGIC_GIF,
    MAGIC_BMP,
    MAGIC_PSD,
    MAGIC_HDR, // Radiance: known so that it can be refused by name
    MAGIC_TGA, // has no magic number: a guess from the plausibility of its head, made last
};

enum { MAGIC_BYTES = 32 }; // enough of a file's start to tell

enum magic magic_find(const uint8_t *data, size_t size);

// Whether every Huffman table of a JPEG file holds at most the 256 values there can be (ITU-T T.81 B.2.4.2). Versions
// of stb_image before 2.28 don't check that and write past the table (nothings/stb issue 1289).
bool magic_jpeg_tables_ok(const uint8_t *data, size_t size);
