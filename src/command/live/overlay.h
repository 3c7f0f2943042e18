// overlay.h: writes the overlay's lines, stages and message
#pragma once

#include "command/live/status.h"
#include "screen/overlay.h"

// The overlay must have its `keys`.
void overlay_fill(struct overlay *overlay, const struct status *status);
