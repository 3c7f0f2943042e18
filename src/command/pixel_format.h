// pixel_format.h: the pixel format that a user names for a source
#pragma once

#include "source/source.h"

// Sets what the name asks of a source: a format of ours, "mjpeg" of cameras; NULL: anything. False where there is none
// of that name (logged).
bool pixel_format_take(const char *name, struct source_setup *setup);
