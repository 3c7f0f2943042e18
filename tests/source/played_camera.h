// played_camera.h: takes frames of the camera that driver.h plays
#pragma once

#include "check.h"
#include "source/source.h"

#include <stdbool.h>

// Takes a frame and returns it. Checks and returns that one arrives.
bool camera_passes(struct check *check, struct source *source, const char *after);
// Closes the source, which may be NULL, and ends the driver.
void camera_close_played(struct source *source);
