// camera_control.h: a camera's controls: brightness, exposure, focus, ... by name
#pragma once

#include "source/camera_device.h"
#include "source/camera_find.h"
#include "source/source.h"

#include <stdint.h>

// Sets controls by name to a number, true or false, or the name of a menu item. If a control does not exist or refuses
// its value, it restores the controls that it has set, returns false, and `why` has the message. `why` says so if a
// control could not be restored.
bool camera_control_set(const struct camera_device *device, const struct source_setting *settings, int count,
                        char why[CAMERA_WHY]);
// As source_control. `set` says what was set, id 0 where nothing was.
bool camera_control_move(const struct camera_device *device, int index, int steps, struct source_control *control,
                         struct v4l2_control *set);
// The value of a control by its number (V4L2_CID_...). False where there is none.
bool camera_control_get(const struct camera_device *device, uint32_t id, int *value);
