// program.h: builds OpenCL programs from text, keeps compiled programs on disk, and opens and runs kernels
#pragma once

#include "compute/device.h"
#include "compute/timing.h"

enum { PROGRAMS_KEPT = 16 };

struct built_program {
    char *key;
    size_t key_bytes;
    cl_program program;
};

// The latest programs of one open device: a path for another frame size needs the same ones. On any thread.
struct programs {
    pthread_mutex_t lock;
    struct built_program built[PROGRAMS_KEPT];
    unsigned added; // so far; the next one replaces the oldest
};

void programs_init(struct programs *programs);
void programs_finish(struct programs *programs);
void programs_forget(struct programs *programs); // releases all

// Builds `text` for the device, unless it is in memory from an earlier call, and defines the macro NV_ARCH as
// device->info.nv_arch. Stores the compiled program in the cache directory under its program_key; rebuilds an entry
// that is damaged or that the driver rejects. Then opens the kernels with these names: `count`, or up to a NULL; the
// caller releases them, even after a failure. Safe on any thread. Failure: `*error` is then the compiler's log or one
// line, which the caller frees; no error is logged. CL_BUILD_PROGRAM_FAILURE: the compiler
// refuses the text.
cl_int program_kernels(struct device *device, const char *text, const char *options, const char *const *names,
                       int count, cl_kernel *kernels, char **error);
// Returns true if the cache directory has the program that program_kernels compiled from this text.
bool program_is_kept(const struct device *device, const char *text, const char *options);
// Returns a line that names the device and the result of a build, then the compiler's log. The caller frees it. NULL if
// there is no memory.
char *program_log(const struct device *device, cl_program program, const char *text, cl_int result);
// Builds a kernel file, such as "copy.cl", and opens its kernel `name`, which the caller releases. NULL on failure:
// *error as in program_kernels.
cl_kernel program_file_kernel(struct device *device, const char *file, const char *options, const char *name,
                              char **error);

// Returns the largest work-group that the device and the kernel allow.
size_t kernel_group_limit(const struct device_info *info, cl_kernel kernel);

struct kernel_argument {
    size_t bytes;
    const void *value;
};
// Sets the arguments and enqueues a two-dimensional NDRange after the event `after` of another queue (NULL: at once).
// Adds its event to the span. Queues keep the order, and NVIDIA's driver (580.159) can crash in clEnqueueNDRangeKernel
// if the event is of the same queue.
cl_int kernel_run(cl_kernel kernel, cl_command_queue queue, const struct kernel_argument *arguments, cl_uint count,
                  const size_t offset[2], const size_t size[2], const size_t local[2], cl_event after,
                  struct device_span *span);

// Returns everything that a built program depends on: the device, its driver, the options and the text. The caller
// frees it. NULL if there is no memory.
char *program_key(const struct device *device, const char *text, const char *options, size_t *bytes);

// NVIDIA's compiler ignores #line and counts the lines of the whole text: "<kernel>:51:15". Replaces each such place by
// the file and line that the text's #line directives give it: "sharpen.cl:5:15". The caller frees the result. NULL if
// there is no memory.
char *build_log_places(const char *log, const char *text);
