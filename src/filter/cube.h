// cube.h: reads look-up tables of colours in Adobe's and DaVinci Resolve's format .cube
#pragma once

#include "filter/file_resource.h"

enum { CUBE_SIDE_MAX = 128, CUBE_LINE_MAX = 65536 }; // entries on a side of a 3D table, and of a 1D table

resource_maker cube_read; // makes the arguments of kernels/lut.cl; `why` names the line
