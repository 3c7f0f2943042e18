// drivers.h: finds the OpenCL drivers that the loader would load, and makes it load only some of them
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
