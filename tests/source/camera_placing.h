// camera_placing.h: a camera whose buffers move to other memory
#pragma once

#include "check.h"

#include "source/source.h"

// Closes the source, which is a camera; NULL: nothing is tested.
void camera_placing(struct check *check, struct source *source);
