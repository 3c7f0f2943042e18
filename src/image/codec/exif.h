// exif.h: the little that is read and changed in EXIF data (TIFF 6.0; CIPA DC-008, EXIF 2.32)
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct codec_buffer;

// The orientation it gives, 1..8; 1 where it gives none or is damaged.
int exif_orientation(const uint8_t *data, size_t size);

// Brings a copy in step with pixels that have been changed: the orientation becomes this one, where there is one and
// this is not 0; the thumbnail, which shows what the picture was before, is taken out. Returns the size that is left.
size_t exif_settle(uint8_t *data, size_t size, int orientation);

// EXIF data are a TIFF file without a picture. These two carry what is said of a picture from one to the other: maker,
// model, times, authors, resolution and the like, with EXIF's own directory and GPS's. What is damaged is left out, and
// what makes it more than EXIF_MOST_BYTES.
enum { EXIF_MOST_BYTES = 1 << 20 };

// The EXIF data of a TIFF file, in place of what was in the buffer, with that orientation (1..8) where it is not 1.
// False where there is nothing to say, or no memory. Also of a BigTIFF file; what other files have no type for is left
// out. *left_out: something was.
bool exif_from_tiff(const uint8_t *file, size_t size, int orientation, struct codec_buffer *exif, bool *left_out);

// Adds EXIF data to a TIFF file in the same byte order ("II" or "MM"), but for what the file says itself, such as its
// orientation. False where something was left out; the file is whole in any case.
bool exif_into_tiff(const uint8_t *exif, size_t size, struct codec_buffer *file);
