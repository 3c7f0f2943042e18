// remap.h: the file of the filter `remap`, a PGM image of places
#pragma once

#include "filter/file_resource.h"

#include <stddef.h>

// Makes the values, row by row, from the bytes of a file; sets width and height, which is even. `made` is zeroed.
void place_read(const char *bytes, size_t size, struct file_resource *made);
