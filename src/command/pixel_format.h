// pixel_format.h: the pixel format that a user names for a source
#pragma once

#include "source/source.h"

// Sets what the name asks of a source: a format of ours, "mjpeg" of cameras; NULL: anything. False where there is none
// of that name (logged).
bool pixel_format_take(const char *name, struct source_setup *setup);

// All there are, for people: "rgba, nv12, ..., and mjpeg of cameras".
enum { PIXEL_FORMAT_LIST = 256 };
void pixel_format_list(char text[PIXEL_FORMAT_LIST]);
