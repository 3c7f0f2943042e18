// photoshop.h: image resource blocks of Photoshop, in PSD, JPEG and TIFF files (Adobe Photoshop File Formats
// Specification, "Image Resources Section")
#pragma once

#include "image/codec/codec.h"

enum {
    PHOTOSHOP_RESOLUTION = 0x03ed,
    PHOTOSHOP_IPTC = 0x0404,
    PHOTOSHOP_ICC = 0x040f,
    PHOTOSHOP_EXIF = 0x0422,
    PHOTOSHOP_XMP = 0x0424,
};

// Returns the data of the first block with this number, borrowed from `blocks`; no data if there is none.
struct codec_bytes photoshop_find(struct codec_bytes blocks, unsigned number);

// Returns the IPTC data, borrowed from `bytes`: those in the blocks, or all bytes if they are IPTC data, not blocks.
struct codec_bytes photoshop_iptc(struct codec_bytes bytes);

// Appends a block. Returns false if there is no memory.
bool photoshop_append(struct codec_buffer *buffer, unsigned number, struct codec_bytes bytes);
