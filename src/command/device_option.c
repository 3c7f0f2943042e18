// device_option.c: the option --device (-d) of several commands
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
