// device_option.h: -d of all commands that have it, and of those that may do without a device
#pragma once

#include "base/options.h"

// The option's row. `more_help` and `more_choices` are text that stands behind what all commands take, "" for none.
#define DEVICE_OPTION(member_offset, more_help, more_choices)                                                          \
    {                                                                                                                  \
        .name = "device", .letter = 'd', .type = OPTION_TEXT, .value = "DEVICE", .offset = (member_offset),            \
        .help = "OpenCL device: number, type or part of the name from `monocle devices`; default: 0" more_help,        \
        .environment = "MONOCLE_DEVICE", .choices = "gpu|cpu|accelerator" more_choices,                                \
    }

// Where the cpu path does it all: whether `device`, the value of -d, is none that the user gave. The environment may
// name one for those commands that use it. False where the user did (logged).
bool device_option_unused(const char *device);
