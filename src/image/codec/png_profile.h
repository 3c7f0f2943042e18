// png_profile.h: metadata in text chunks of PNG files, as ImageMagick and ExifTool write them: a line with a name, the
// size, and the bytes as hexadecimal digits, in lines
#pragma once

#include "image/codec/codec.h"

// Returns true for the data of a text chunk with EXIF, XMP or IPTC data.
bool png_is_profile(struct codec_bytes chunk);

// Unpacks the text into the buffer, and sets *text to the result. The text may be in the buffer itself. Returns false
// if it is damaged, or there is no memory.
bool png_profile_read(struct codec_buffer *buffer, struct codec_bytes *text);

// Appends bytes as text. Returns false if there is no memory.
bool png_profile_write(struct codec_buffer *text, const char *name, struct codec_bytes bytes);
