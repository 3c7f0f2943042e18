// formats.h: formats of image files by their file name extensions
#pragma once

#include "image/codec/codec.h"

// Returns the format of the file name's extension, in upper or lower case; NULL for an unknown extension.
const struct codec_info *format_of_file(const char *path);
// Returns the library that the file's format needs and this build lacks; NULL if none is missing.
const char *format_missing_library(const char *path);
enum codec_format format_number(const struct codec_info *info);
// Returns the extension within the file name, with its dot; the end of the name if there is none.
const char *format_extension(const char *path);
