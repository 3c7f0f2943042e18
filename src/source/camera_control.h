// camera_control.h: the controls of a camera (brightness, exposure, focus, ...) by name
#pragma once

#include "source/camera_device.h"
#include "source/cameras.h"
#include "source/source.h"

// Sets controls by name to a number, "true", "false", "on", "off" or the name of a menu item. If a control does not
// exist or refuses its value, it restores the controls that it has set and returns false; `why` has the message, and
// reports a control that could not be restored.
bool camera_control_set(const struct camera_device *device, const struct source_setting *settings, int count,
                        char why[CAMERA_WHY]);
// As source_controls.
int camera_control_list(const struct camera_device *device, struct source_control control[SOURCE_CONTROLS]);
// As source_set_control. `set` receives the control that was set and its value; id 0: none was set.
_Static_assert((int)SOURCE_SET_WHY == (int)CAMERA_WHY, "they share messages");
bool camera_control_assign(const struct camera_device *device, const char *setting, struct v4l2_control *set,
                           char why[SOURCE_SET_WHY]);
// As source_print_controls. `text` is as in camera_find.
bool camera_control_print(const char *text, FILE *out, bool settings);
