// inspect.h: queries drivers in child processes, so that a driver that crashes or hangs does not end the command
#pragma once

#include <limits.h>
#include <stdbool.h>

struct json_t;

// ---- the parent ----

enum { INSPECT_WHY = 320 };

// What a child can inspect, and its argument.
#define INSPECT_OPENCL "opencl"   // "": the list of OpenCL devices
#define INSPECT_DRIVER "driver"   // a library: loads this OpenCL driver alone and lists its devices
#define INSPECT_DEVICE "device"   // a device's number in the list: its facts, image formats and sharing modes
#define INSPECT_GL "gl"           // "": opens each kind of GL context, with a hidden window and without one
#define INSPECT_CAMERAS "cameras" // "": opens the camera nodes

// Runs `monocle inspect WHAT ARGUMENT` in a child process with time limits. Returns the members of the JSON objects
// that the child wrote, as one object, which the caller releases. If the child crashed or was too slow, the object has
// the members that it wrote before, and `why` has the reason; otherwise `why` is "". NULL if out of memory.
struct json_t *inspect(const char *what, const char *argument, char why[INSPECT_WHY]);

// ---- OpenCL drivers ----

enum { DRIVERS_MAX = 32 };

struct driver {
    char file[PATH_MAX]; // the file that names it, such as /etc/OpenCL/vendors/pocl.icd; or the variable
    char library[256];   // "": the file is empty or cannot be read
};

// Lists the drivers as the OpenCL loader does: OCL_ICD_VENDORS, or the directory `vendors`, and OCL_ICD_FILENAMES.
// Returns their number.
int drivers_list(const char *vendors, struct driver drivers[DRIVERS_MAX]);
// Makes the OpenCL loader of this process and its children load only these drivers, until drivers_restore. Call both on
// the main thread, because they set variables of the environment. False if no temporary directory can be made.
struct drivers_choice {
    char path[256];            // temporary directory; "": none
    int count;                 // of its files
    char *vendors, *libraries; // values of the variables before; NULL: unset
};
bool drivers_use(struct drivers_choice *choice, const struct driver *drivers, int count);
void drivers_restore(struct drivers_choice *choice);

// Lists the OpenCL devices as {"devices": [...], "why": "the reason if there is none"}. A driver that crashes or hangs
// when it lists its devices is not used, and `warn` gets one line; release `choice` with drivers_restore after the last
// child. `vendors`: as in drivers_list.
struct json_t *inspect_opencl(const char *vendors, struct drivers_choice *choice,
                              void (*warn)(void *context, const struct driver *driver, const char *why), void *context);

// ---- the child ----

// Writes what the device of this number can do: one JSON object per line, the reliable facts first.
void inspect_device(int number);
// Writes the GL contexts, by name: without a window ("headless"), and of windows ("GLX", "EGL", "ES").
void inspect_gl(void);
struct json_t *inspect_device_list(void);  // {"devices": [...], "why": "..."}
void inspect_write(struct json_t *object); // writes it to the parent as one line, and releases it
