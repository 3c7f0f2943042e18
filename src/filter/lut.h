// lut.h: reads look-up tables of colours in Adobe's and DaVinci Resolve's format .cube
#pragma once

#include "filter/file_resource.h"

resource_maker cube_file; // the same as cube_read for a file of at most 64 MiB, or a Hald picture

enum { CUBE_SIDE_MAX = 128, CUBE_LINE_MAX = 65536 }; // entries on a side of a 3D table, and of a 1D table

// Makes the arguments of kernels/lut.cl, which the caller frees. NULL: the text is refused; `why` names the line.
int32_t *cube_read(const char *text, int *count, char why[FILTER_WHY]);
