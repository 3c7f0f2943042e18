// device_option.c: -d of all commands that have it, and of those that may do without a device
#include "command/device_option.h"

#include "base/log.h"

#include <stdlib.h>

bool device_option_unused(const char *device)
{
    if (!device || device == getenv("MONOCLE_DEVICE"))
        return true;
    log_error("-d selects an OpenCL device, but -p cpu does not use one; remove -d or -p cpu");
    return false;
}
