// misled.c: linked into the program with --wrap: every device is taken for a GPU, so that variants fit, and its driver
// misbehaves in the children that probe them
//
//   TEST_DRIVER     the driver's version
//   TEST_MISBEHAVE  crash, leave, hang, loop or refuse: while the child builds a program; wrong, fail: when it runs a
//   kernel TEST_LIMIT_MS   time limit of a child; its processor time is then not limited TEST_CHILDREN   file that gets
//   a line with the process id of each child
#include "base/child.h"
#include "compute/device.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool in_child;

static bool misbehaves(const char *how)
{
    const char *wanted = getenv("TEST_MISBEHAVE");
    return in_child && wanted && strcmp(wanted, how) == 0;
}

enum child_end __real_child_run(const char *program, char *const arguments[], int limit_ms, int *value);
enum child_end __wrap_child_run(const char *program, char *const arguments[], int limit_ms, int *value);
void __real_child_begin(int parent, size_t bytes, int seconds);
void __wrap_child_begin(int parent, size_t bytes, int seconds);
int __real_device_list(struct device_info devices[DEVICE_MAX], const char **why);
int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why);
cl_int __real_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data);
cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event);

enum child_end __wrap_child_run(const char *program, char *const arguments[], int limit_ms, int *value)
{
    const char *limit = getenv("TEST_LIMIT_MS");
    return __real_child_run(program, arguments, limit && *limit ? atoi(limit) : limit_ms, value);
}

void __wrap_child_begin(int parent, size_t bytes, int seconds)
{
    const char *path = getenv("TEST_CHILDREN"), *limit = getenv("TEST_LIMIT_MS");
    FILE *file = path ? fopen(path, "a") : NULL;
    __real_child_begin(parent, bytes, limit && *limit ? 1000 : seconds);
    in_child = true;
    if (file) {
        fprintf(file, "%d\n", (int)getpid());
        fclose(file);
    }
}

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    const int count = __real_device_list(devices, why);
    const char *driver = getenv("TEST_DRIVER");
    for (int i = 0; i < count; i++) {
        devices[i].type = CL_DEVICE_TYPE_GPU;
        if (driver)
            snprintf(devices[i].driver, sizeof(devices[i].driver), "%s", driver);
    }
    return count;
}

cl_int __wrap_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *done)(cl_program program, void *data), void *data)
{
    if (misbehaves("crash"))
        signal(SIGSEGV, SIG_DFL), raise(SIGSEGV);
    if (misbehaves("leave"))
        _exit(0);
    while (misbehaves("hang"))
        pause();
    while (misbehaves("loop"))
        ;
    if (misbehaves("refuse"))
        return CL_BUILD_PROGRAM_FAILURE;
    return __real_clBuildProgram(program, count, devices, options, done, data);
}

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset,
                                     const size_t *size, const size_t *local, cl_uint events, const cl_event *after,
                                     cl_event *event)
{
    if (misbehaves("fail"))
        return CL_OUT_OF_RESOURCES;
    // The first work-group alone: small pictures are right.
    return __real_clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, misbehaves("wrong") ? local : size, local,
                                         events, after, event);
}
