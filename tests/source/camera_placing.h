// camera_placing.h: a camera whose buffers move to other memory
#pragma once

#include "check.h"

#include "source/source.h"

// Tests a camera and closes it. NULL: does nothing.
void camera_placing(struct check *check, struct source *source);
