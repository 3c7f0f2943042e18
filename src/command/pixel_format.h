// pixel_format.h: the value of --pixel-format
#pragma once

#include "source/source.h"

// Sets the setup's pixel format from its name. "mjpeg" asks a camera for compressed frames; NULL allows every format.
// Returns false if there is no such format (logged).
bool pixel_format_take(const char *name, struct source_setup *setup);

// Writes the names of all formats for messages: "rgba, nv12, ..., and mjpeg (cameras only)".
enum { PIXEL_FORMAT_LIST = 256 };
void pixel_format_list(char text[PIXEL_FORMAT_LIST]);
