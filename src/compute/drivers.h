// drivers.h: the installed OpenCL drivers, and the guard against drivers that crash
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum { DRIVERS_MAX = 32 };
#define DRIVERS_VENDORS "/etc/OpenCL/vendors" // directory of the files that name drivers

struct driver {
    char file[PATH_MAX]; // the file that names it, such as /etc/OpenCL/vendors/pocl.icd; or the variable
    char library[256];   // "": the file is empty or cannot be read
};

// Lists the drivers as the OpenCL loader does: OCL_ICD_VENDORS, or the directory `vendors`, and OCL_ICD_FILENAMES.
// Returns their number.
int drivers_list(const char *vendors, struct driver drivers[DRIVERS_MAX]);
// Writes the shell command that disables the driver.
void driver_repair(const struct driver *driver, char *text, size_t size);

// Makes the OpenCL loader of this process and its children load only these drivers, until drivers_restore. Call both on
// the main thread, because they set variables of the environment. False if no temporary directory can be made.
enum { DRIVERS_DIRECTORY = 256 };
struct drivers_choice {
    char path[DRIVERS_DIRECTORY]; // temporary directory; "": none
    int count;                    // of its files
    char *vendors, *libraries;    // values of the variables before; NULL: unset
};
bool drivers_use(struct drivers_choice *choice, const struct driver *drivers, int count);
void drivers_restore(struct drivers_choice *choice);
// Removes the temporary directories of drivers_use that exist, at the end of the process. A signal handler may call it.
void drivers_remove(void);

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

// PoCL (OpenCL on CPUs) loads kernels from files in its cache directory. If it cannot create them there (the home
// directory is missing, read-only or mounted noexec), it has no device or compiles nothing. On a full file system it
// ends the process. Other users who can write there could make it run their code.
struct pocl_cache {
    char path[128]; // temporary directory; "": PoCL's own is used, or none can be made
    char why[256];  // PoCL's own directory, and its fault
};

// If PoCL's directory (POCL_CACHE_DIR or its default) cannot be used, makes a temporary one and sets POCL_CACHE_DIR to
// it. Call before any thread starts, because setenv is not thread-safe, and before the first use of OpenCL.
void pocl_cache_open(struct pocl_cache *cache);
// Removes the temporary directory. Logs a warning, with advice, if PoCL has used it.
void pocl_cache_close(struct pocl_cache *cache);
