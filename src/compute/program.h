// program.h: OpenCL programs from text, with compiled ones kept on disk, and their kernels
#pragma once

#include "compute/device.h"
#include "compute/timing.h"

// Builds `text` for the device, with NV_ARCH defined as struct device_info has it. Compiled binaries are kept in the
// cache directory under a key made of text, options, device and driver; an entry that is damaged, foreign or refused by
// the driver is rebuilt and replaced. Safe on any thread. NULL on failure: `*error` is then the compiler's log, which
// the caller frees, and nothing is logged.
cl_program program_build(struct device *device, const char *text, const char *options, char **error);

// Builds `text` and opens its kernels with these names, at most `count`, ended by NULL. False on failure: as
// program_build; the caller releases the kernels that are open.
bool program_kernels(struct device *device, const char *text, const char *options, const char *const *names, int count,
                     cl_kernel *kernels, char **error);
// Builds a kernel file, such as "copy.cl", and opens its kernel `name`. The caller releases it. NULL on failure: as
// program_build.
cl_kernel program_file_kernel(struct device *device, const char *file, const char *options, const char *name,
                              char **error);

// Returns the largest work-group that the device and the kernel allow.
size_t kernel_group_limit(const struct device_info *info, cl_kernel kernel);

struct kernel_argument {
    size_t bytes;
    const void *value;
};
// Sets the arguments and enqueues work-items in two dimensions, after the event `after` (NULL: at once). Adds the event
// to the span.
cl_int kernel_run(cl_kernel kernel, cl_command_queue queue, const struct kernel_argument *arguments, cl_uint count,
                  const size_t offset[2], const size_t size[2], const size_t local[2], cl_event after,
                  struct span *span);

// Returns everything that a built program depends on: the device, its driver, the options and the text. The caller
// frees it. NULL if there is no memory.
char *program_key(const struct device *device, const char *text, const char *options, size_t *bytes);

// NVIDIA's compiler ignores #line and counts the lines of the whole text: "<kernel>:51:15". Replaces each such place by
// the file and line that the text's #line directives give it: "sharpen.cl:5:15". The caller frees the result. NULL if
// there is no memory.
char *build_log_places(const char *log, const char *text);
