// sharing.h: finds out whether OpenCL can write a GL texture, by trying it (GL thread only)
#pragma once

#include "compute/device.h"

// Makes a small texture, acquires it, writes it from OpenCL, releases it, and compares what GL then reads. Sets
// device->sharing_why; on true sharing works.
bool sharing_probe(struct device *device);
