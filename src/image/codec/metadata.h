// metadata.h: EXIF data, also of TIFF files (TIFF 6.0; CIPA DC-008, EXIF 2.32), XMP data, and Photoshop's blocks
#pragma once

#include "image/codec/codec.h"

// Returns the orientation, 1 to 8; 1 if there is none or the data are damaged.
int exif_orientation(const uint8_t *data, size_t size);

// Returns NULL if the data are a TIFF structure whose entries are in the data; otherwise the fault, as a text. Sets
// *usable to false if no entry can be read.
const char *exif_fault(const uint8_t *data, size_t size, bool *usable);

// The picture that metadata are written with.
struct metadata_target {
    int width, height;
    int orientation; // 1 to 8; 0: that of the metadata
    bool turned;     // rows and columns of the described picture have been exchanged
    bool srgb;       // its colours have become sRGB
    bool no_place;   // leave out where it was taken
};

// Adapts EXIF data to the target: orientation, sizes and colour space, if they have such entries, and for a turned
// picture the resolutions. Removes the thumbnail; removes the subject's place if the picture has another size or was
// turned. Returns the remaining size.
size_t exif_settle(uint8_t *data, size_t size, const struct metadata_target *target);

// The same for XMP data in UTF-8, whose changed copy goes into `settled`. Also removes properties that refer to parts
// which no output has: thumbnails, extended XMP, gain maps and the video of a motion photo. Returns false if there is
// no memory.
bool xmp_settle(struct codec_bytes xmp, const struct metadata_target *target, struct codec_buffer *settled);

// Copies IPTC data without the places: 2:26, 2:27, 2:90 to 2:101 but the headline (IPTC-IIM 4.2, chapter 6). Returns
// false if there is no memory.
bool iptc_without_place(struct codec_bytes iptc, struct codec_buffer *rest);

// Reads the resolution in pixels per inch, across and down. Returns false if there is none, or if it has no unit.
bool exif_density(const uint8_t *data, size_t size, double density[2]);

// Makes EXIF data that have only this resolution.
enum { EXIF_DENSITY_BYTES = 66 };
void exif_from_density(const double density[2], uint8_t exif[EXIF_DENSITY_BYTES]);

// Returns the bytes of an entry of the first directory of a TIFF file, in the file's byte order; they are borrowed from
// `data`. No bytes if there is no such entry.
struct codec_bytes exif_value(const uint8_t *data, size_t size, uint32_t tag);

// Copies a text of the first directory or of EXIF's own, without its final NUL; "": there is none.
void exif_text(struct codec_bytes exif, uint32_t tag, char *text, size_t size);

// EXIF data are a TIFF file without an image. The next two functions copy the entries that describe an image: maker,
// model, times, authors, resolution and the like, with the EXIF and GPS directories. Damaged entries and those beyond
// EXIF_MOST_BYTES are left out.
enum { EXIF_MOST_BYTES = 1 << 20 };

// Replaces *exif by the EXIF data of a TIFF file. The entries of a BigTIFF file are not read. Adds this orientation (1
// to 8) unless it is 1. Sets *left_out to true if entries were left out, else to false. Returns false if there is
// nothing to write, or no memory.
bool exif_from_tiff(const uint8_t *file, size_t size, int orientation, struct codec_buffer *exif, bool *left_out);

// Adds EXIF data to a TIFF file of the same byte order. Tags that the file has itself, such as the orientation, stay.
// Returns false if entries were left out; the file is complete in any case.
bool exif_into_tiff(const uint8_t *exif, size_t size, struct codec_buffer *file);

// Image resource blocks of Photoshop, in PSD, JPEG and TIFF files (Adobe Photoshop File Formats Specification, "Image
// Resources Section")
enum {
    PHOTOSHOP_RESOLUTION = 0x03ed,
    PHOTOSHOP_IPTC = 0x0404,
    PHOTOSHOP_ICC = 0x040f,
    PHOTOSHOP_VERSION = 0x0421,
    PHOTOSHOP_EXIF = 0x0422,
    PHOTOSHOP_XMP = 0x0424,
};

// Returns the data of the first block with this number, borrowed from `blocks`; no data if there is none.
struct codec_bytes photoshop_find(struct codec_bytes blocks, unsigned number);

// Returns the IPTC data, borrowed from `bytes`: those in the blocks, or all bytes if they are IPTC data, not blocks.
struct codec_bytes photoshop_iptc(struct codec_bytes bytes);

// Appends a block. Returns false if there is no memory.
bool photoshop_append(struct codec_buffer *buffer, unsigned number, struct codec_bytes bytes);
