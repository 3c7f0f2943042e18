// byte_stores.h: a test whether a device stores single bytes
#pragma once

#include "compute/device.h"

// Stores bytes in a small buffer and reads them back; kernels of grey pictures and YUV need that. OpenCL 1.2 guarantees
// it, but layers over other interfaces may lack it. A device passes once; a CPU always passes. On any thread. False:
// *error is one line or the compiler's log, which the caller frees (NULL: out of memory).
bool byte_stores_work(struct device *device, char **error);
