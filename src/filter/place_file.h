// place_file.h: the file of the filter `remap`, a PGM image of places
#pragma once

#include "filter/file_resource.h"

#include <stddef.h>

resource_maker place_file; // the values, row by row; sets width and height, which is even
// The same for the bytes of a file. `made` is zeroed.
void place_read(const char *bytes, size_t size, struct file_resource *made);
