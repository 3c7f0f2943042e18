// device_option.h: -d of the commands that may do without a device
#pragma once

#include <stdbool.h>

// Where the cpu path does it all: whether `device`, the value of -d, is none that the user gave. The environment may
// name one for those commands that use it. False where the user did (logged).
bool device_option_unused(const char *device);
