// camera_output_node.h: opens the device node of a virtual camera
#pragma once

#include "source/camera_device.h"

// Opens the node without blocking. Returns false on failure (logged, with advice). camera_device_close takes the device
// in either case.
bool camera_output_node_open(struct camera_device *device, const char *node);
