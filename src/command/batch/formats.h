// formats.h: formats of image files by the ends of their names
#pragma once

#include "image/codec/codec.h"

// By the end of a file's name, any case; NULL where it says no format.
const struct codec_info *format_of_file(const char *path);
// The library that the file's format needs and this build lacks; NULL: none is missing.
const char *format_missing_library(const char *path);
enum codec_format format_number(const struct codec_info *info);
// Where the extension of a file's name begins, with its dot; at the end where there is none.
const char *format_extension(const char *path);
