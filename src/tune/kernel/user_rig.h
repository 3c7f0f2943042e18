// user_rig.h: a user's kernels on a device: their arguments, builds and runs
#pragma once

#include "compute/driver_cache.h"
#include "compute/memory.h"
#include "compute/program.h"
#include "path/probe.h"
#include "tune/kernel/spec.h"
#include "tune/space.h"

// The sizes and contents of the vector arguments and of the references, and times, in memory that the children share.
struct user_data {
    int fd; // -1: not open
    size_t bytes;
    char *map;
    struct user_sizes {
        size_t input[SPEC_ARGUMENTS], reference[SPEC_ARGUMENTS], rows[SPEC_ARGUMENTS]; // rows of a reference
        double launch_ms[SPEC_LAUNCHES];                                               // of USER_LAUNCHES
    } * sizes;                                               // of the inputs: the largest ones
    size_t input[SPEC_ARGUMENTS], reference[SPEC_ARGUMENTS]; // offsets
};

// Makes the memory, or maps the memory `fd` of the parent if that is not -1, and sets the sizes of the vectors. The
// content is undefined at first. Returns false on failure (errno). The caller calls user_data_close in any case.
bool user_data_open(struct user_data *data, struct spec *spec, int fd);
// Writes to the memory of the parent, which is otherwise read-only: a kernel on a CPU may write anywhere.
void user_data_write(const struct user_data *data, void *to, const void *from, size_t bytes);
void user_data_close(struct user_data *data);

struct user_rig {
    struct spec *spec; // with the sizes of the configuration in use
    struct device *device;
    const struct user_data *data;
    cl_command_queue queue, second; // with profiling; `second` NULL: no build needs it yet
    bool oclgrind;
    struct guarded buffer[SPEC_ARGUMENTS]; // of each vector argument
    cl_mem start[SPEC_ARGUMENTS];          // its content at the start of a run, if a kernel reads and writes it
    char *content[SPEC_ARGUMENTS];         // the same for the host
    const uint16_t *tuple;                 // of the configuration that the buffers are for; NULL: of none
};

// The end of the process, a child, frees everything.
cl_int user_rig_open(struct user_rig *rig, struct device *device, struct spec *spec, const struct user_data *data);
// Copies the inputs to all buffers that a kernel may write.
cl_int user_rig_reset(const struct user_rig *rig);

// The launches of a configuration.
struct user_build {
    struct user_rig *rig;
    uint16_t tuple[SPACE_PARAMS];
    struct spec_run run;
    cl_kernel *kernel; // of each launch
};

// Makes the buffers for a configuration, and builds its kernels or the reference kernels. After a failure, `why` has
// the reason. The caller calls user_build_close in any case.
cl_int user_build_open(struct user_build *build, struct user_rig *rig, bool reference, const uint16_t *tuple,
                       char why[SPEC_WHY]);
void user_build_close(struct user_build *build);

// Runs the launches `runs` times, 1 to TIMING_RUNS, each time after their inputs are restored. Sets *ms to the average
// time from the start of the first launch to the end of the last one.
cl_int user_build_time(const struct user_build *build, int runs, double *ms);
// Runs the launches one after the other, five times. Sets ms[] to the shortest time of each.
cl_int user_build_launches(const struct user_build *build, double *ms);

// Waits, and copies an argument from the buffer of argument `from`.
cl_int user_rig_read(const struct user_rig *rig, int argument, int from, void *to);
// Waits, and sets *intact to false and `why` if a kernel has written before or after the argument.
cl_int user_rig_check(const struct user_rig *rig, int argument, bool *intact, char why[VERDICT_TEXT]);
// Returns true if this address, of a fault, lies before or after an argument; writes the reason. `what`: "writes".
bool user_rig_fault(const struct user_rig *rig, const void *address, const char *what, char why[VERDICT_TEXT]);

// ---- the child process that runs the kernels ----

enum user_action {
    USER_REFERENCE, // write the references
    USER_VALIDATE,  // compare with them
    USER_BUILD,     // and keep the build
    USER_TIME,      // the actions below are for such a build
    USER_LAUNCHES,
    USER_RELEASE,
};

struct user_request {
    enum user_action action;
    int configuration;
    uint16_t tuple[SPACE_PARAMS]; // USER_REFERENCE, USER_VALIDATE, USER_BUILD
    double for_ms;                // USER_TIME: for about this time
    int runs;                     // USER_TIME: 0, or the number of runs
};

struct user_reply {
    enum probe_status status;
    bool ended; // the child ends now, has ended, or did not reply in time
    double ms;  // of USER_TIME
    char why[VERDICT_TEXT];
};
