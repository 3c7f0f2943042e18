// inspect.h: queries drivers in child processes, so that a driver that crashes or hangs does not end the command
#pragma once

#include <stdbool.h>

struct json_t;

// ---- the parent ----

enum { INSPECT_WHY = 320 };

// What a child can inspect, and its argument.
#define INSPECT_OPENCL "opencl"   // "": the list of OpenCL devices
#define INSPECT_DRIVER "driver"   // a library: loads this OpenCL driver alone and lists its devices
#define INSPECT_DEVICE "device"   // a device's number in the list: its sharing modes
#define INSPECT_GL "gl"           // "": opens each kind of GL context, with a hidden window and without one
#define INSPECT_CAMERAS "cameras" // "": opens the camera nodes

// Runs `monocle inspect WHAT ARGUMENT` in a child process with time limits. Returns the members of the JSON objects
// that the child wrote, as one object, which the caller releases. If the child crashed or was too slow, the object has
// the members that it wrote before, and `why` has the reason; otherwise `why` is "".
struct json_t *inspect(const char *what, const char *argument, char why[INSPECT_WHY]);

// ---- the child ----

enum { INSPECT_WORDS = 4 };
// Answers in the child; `argv` has INSPECT_WORDS words. Returns the exit status.
int inspect_answer(char *const *argv);

// ---- doctor: which parts of monocle work here, and how to repair the others (doctor.c) ----

enum finding_level {
    FINDING_OK,
    FINDING_WARNING, // monocle runs, but slower or without an optional part
    FINDING_PROBLEM, // an installed part does not work, or no OpenCL device works
    FINDING_LEVELS
};

struct finding {
    enum finding_level level;
    const char *check, *text; // name of the check; one line
    const char *fix;          // the command that repairs it; NULL: none
};

// Runs all checks, which takes seconds to minutes, and calls `found` for each finding. Drivers run in child processes.
// `root`: all system directories are below it; "": the real ones. Main thread.
void doctor_run(const char *root, void (*found)(void *context, const struct finding *finding), void *context);
