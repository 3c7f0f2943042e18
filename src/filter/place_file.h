// place_file.h: the file of the filter `remap`, a PGM image of places
#pragma once

#include "filter/file_resource.h"

resource_maker place_file; // the values, row by row; sets width and height, which is even
