// camera_output_node.h: finds out whether a device node can be a virtual camera, and what to do where it can't
#pragma once

#include "source/camera_device.h"

// Opens the node, without waiting for anything. False on failure (logged, with advice); close it all the same.
bool camera_output_node_open(struct camera_device *device, const char *node);
