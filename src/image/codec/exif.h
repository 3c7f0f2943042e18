// exif.h: the little that is read and changed in EXIF data (TIFF 6.0; CIPA DC-008, EXIF 2.32)
#pragma once

#include <stddef.h>
#include <stdint.h>

// The orientation it gives, 1..8; 1 where it gives none or is damaged.
int exif_orientation(const uint8_t *data, size_t size);

// Brings a copy in step with pixels that have been changed: the orientation becomes this one, where there is one and
// this is not 0; the thumbnail, which shows what the picture was before, is taken out. Returns the size that is left.
size_t exif_settle(uint8_t *data, size_t size, int orientation);
