// device_option.h: the option --device (-d) of several commands
#pragma once

#include "base/options.h"

// The option's row. `more_help` and `more_choices` are string literals that are appended to the common texts; "" for
// none.
#define DEVICE_OPTION(member_offset, more_help, more_choices)                                                          \
    {                                                                                                                  \
        .name = "device", .letter = 'd', .type = OPTION_TEXT, .value = "DEVICE", .offset = (member_offset),            \
        .help = "OpenCL device: number, type or part of the name from `monocle devices`; default: 0" more_help,        \
        .environment = "MONOCLE_DEVICE", .choices = "gpu|cpu|accelerator" more_choices,                                \
    }

// For the cpu path, which needs no device: returns false (logged) if the user gave -d on the command line. `device` is
// the option's value. The variable MONOCLE_DEVICE is allowed.
bool device_option_unused(const char *device);
