// driver_guard.h: leaves out the OpenCL drivers that crash or hang
#pragma once

#include <stdbool.h>

// An OpenCL driver runs code when the loader loads it, and may crash or never return. Therefore a child process lists
// the devices first. A set of drivers that passed is stored in the cache directory, with the sizes and times of their
// files; later runs start no child until one of them changes. If the child fails, another child asks each driver alone,
// and this process does not load the drivers that fail. A failure that a second run confirms is stored until the next
// boot.
struct driver_guard {
    const char *vendors; // as in drivers_list; NULL: DRIVERS_VENDORS
    bool quiet;          // log nothing; default: one warning for each driver that is left out
    bool again;          // ignore stored failures
    int limit_ms;        // of each child; 0: 20 s
};

// Makes the OpenCL loader of this process and its children load only drivers that work. Only the first call in a
// process has an effect; a call in a child has none. Call on the main thread, because it may set variables of the
// environment. `guard` NULL: the defaults. If no child can be started, all drivers are loaded.
void drivers_guard(const struct driver_guard *guard);
// Makes this process and its children load all drivers. For the child that asks the drivers; on the main thread.
void drivers_guard_skip(void);
// Returns true if drivers are left out.
bool drivers_guard_left_out(void);
