// user_rig.c: see user_rig.h
#include "tune/kernel/user_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GUARD_VALUE = 0xA5, GUARD_LEAST = 1 << 20, GUARD_MOST = 256 << 20 };
enum { ALIGN_BYTES = 4096 }; // a multiple of every device's alignment of sub-buffers

// ---- the shared memory ----

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

bool user_data_open(struct user_data *data, const struct spec *spec, int owner, int fd)
{
    char path[64];
    *data = (struct user_data){.fd = -1};
    for (int i = 0; i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        data->input[i] = data->bytes;
        data->bytes += argument->memory == SPEC_VECTOR ? aligned(argument->bytes) : 0;
        data->reference[i] = data->bytes;
        data->bytes += argument->output ? aligned(argument->bytes) : 0;
    }
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", owner, fd);
    data->fd = owner ? open(path, O_RDWR | O_CLOEXEC) : memfd_create("monocle", MFD_CLOEXEC);
    if (data->fd < 0)
        return false;
    // Reserves the memory, so that a later write cannot fail.
    if (!owner && (errno = posix_fallocate(data->fd, 0, (off_t)data->bytes)) != 0)
        return false;
    data->map = mmap(NULL, data->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, data->fd, 0);
    if (data->map != MAP_FAILED)
        return true;
    data->map = NULL;
    return false;
}

void user_data_close(struct user_data *data)
{
    if (data->map)
        munmap(data->map, data->bytes);
    if (data->fd >= 0)
        close(data->fd);
    *data = (struct user_data){.fd = -1};
}

// ---- the arguments ----

// Allocates a vector argument with its guards: each as large as the argument, or smaller if the device has no room.
static cl_int open_guarded(struct user_rig *rig, int i)
{
    const size_t bytes = rig->spec->argument[i].bytes;
    size_t guard = aligned(bytes < GUARD_LEAST ? GUARD_LEAST : bytes > GUARD_MOST ? GUARD_MOST : bytes);
    const cl_uchar value = GUARD_VALUE;
    cl_int result;
    for (;; guard = guard / 4 > ALIGN_BYTES ? aligned(guard / 4) : ALIGN_BYTES) {
        rig->guard[i] = guard;
        rig->guarded[i] = clCreateBuffer(rig->device->context, CL_MEM_READ_WRITE, bytes + 2 * guard, NULL, &result);
        if (result == CL_SUCCESS)
            result = clEnqueueFillBuffer(rig->queue, rig->guarded[i], &value, 1, 0, bytes + 2 * guard, 0, NULL, NULL);
        if (result == CL_SUCCESS || guard == ALIGN_BYTES)
            return result;
        memory_release(rig->guarded[i]);
        rig->guarded[i] = NULL;
    }
}

// Opens the buffers of a vector argument.
static cl_int open_argument(struct user_rig *rig, int i, const void *content)
{
    const struct spec_argument *argument = &rig->spec->argument[i];
    cl_int result = open_guarded(rig, i);
    const cl_buffer_region inner = {rig->guard[i], argument->bytes};
    if (result == CL_SUCCESS)
        result = clEnqueueWriteBuffer(rig->queue, rig->guarded[i], CL_TRUE, inner.origin, inner.size, content, 0, NULL,
                                      NULL);
    if (result == CL_SUCCESS)
        rig->buffer[i] = clCreateSubBuffer(rig->guarded[i], 0, CL_BUFFER_CREATE_TYPE_REGION, &inner, &result);
    if (result == CL_SUCCESS && argument->access == SPEC_READ_WRITE)
        rig->start[i] = clCreateBuffer(rig->device->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, inner.size,
                                       (void *)content, &result);
    return result;
}

cl_int user_rig_open(struct user_rig *rig, struct device *device, const struct spec *spec, const struct user_data *data)
{
    cl_int result;
    *rig = (struct user_rig){.spec = spec, .device = device};
    rig->queue = device_queue(device, true, &result);
    for (int i = 0; result == CL_SUCCESS && i < spec->arguments; i++) {
        if (spec->argument[i].memory == SPEC_VECTOR)
            result = open_argument(rig, i, data->map + data->input[i]);
    }
    return result;
}

cl_int user_rig_read(const struct user_rig *rig, int argument, void *to)
{
    return clEnqueueReadBuffer(rig->queue, rig->buffer[argument], CL_TRUE, 0, rig->spec->argument[argument].bytes, to,
                               0, NULL, NULL);
}

cl_int user_rig_check(const struct user_rig *rig, int argument, bool *intact)
{
    const size_t bytes = rig->spec->argument[argument].bytes, guard = rig->guard[argument];
    cl_uchar *read = malloc(guard);
    cl_int result = read ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (int side = 0; result == CL_SUCCESS && side < 2; side++) {
        const size_t at = side == 0 ? 0 : guard + bytes;
        result = clEnqueueReadBuffer(rig->queue, rig->guarded[argument], CL_TRUE, at, guard, read, 0, NULL, NULL);
        // All bytes are equal if each one is equal to the next.
        if (result == CL_SUCCESS)
            *intact = *intact && read[0] == GUARD_VALUE && memcmp(read, read + 1, guard - 1) == 0;
    }
    free(read);
    return result;
}

// ---- the kernels ----

static cl_int set_scalar(cl_kernel kernel, cl_uint at, const struct spec *spec, const struct spec_argument *argument)
{
    char bytes[8 * SPEC_LANES];
    if (!spec_fill(spec, argument, &argument->in, bytes))
        return CL_INVALID_VALUE;
    return clSetKernelArg(kernel, at, argument->bytes, bytes);
}

static cl_int set_arguments(const struct user_build *build, int number, const uint16_t *tuple, char why[SPEC_WHY])
{
    const struct spec_kernel *of = &build->of[number];
    const struct user_rig *rig = build->rig;
    cl_kernel kernel = build->kernel[number];
    cl_int result = CL_SUCCESS;
    cl_uint wanted = 0;
    clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(wanted), &wanted, NULL);
    if ((int)wanted != of->arguments) {
        snprintf(why, SPEC_WHY, "kernel %.30s has %u arguments, not %d", of->name, wanted, of->arguments);
        return CL_INVALID_KERNEL_ARGS;
    }
    for (int i = 0; result == CL_SUCCESS && i < of->arguments; i++) {
        const struct spec_argument *argument = &rig->spec->argument[of->argument[i]];
        size_t bytes;
        if (argument->memory == SPEC_SCALAR)
            result = set_scalar(kernel, (cl_uint)i, rig->spec, argument);
        else if (argument->memory == SPEC_VECTOR)
            result = clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &rig->buffer[of->argument[i]]);
        else if (spec_local_bytes(rig->spec, argument, tuple, &bytes, why))
            result = clSetKernelArg(kernel, (cl_uint)i, bytes, NULL);
        else
            return CL_INVALID_KERNEL_ARGS;
        if (result != CL_SUCCESS)
            snprintf(why, SPEC_WHY, "cannot set argument '%.30s': %s", argument->name, compute_result_name(result));
    }
    return result;
}

// Keeps the first line with an error of a compiler's log.
static void take_log(char *log, char why[SPEC_WHY])
{
    const char *line = log ? strstr(log, "error") : NULL;
    while (line && line > log && line[-1] != '\n')
        line--;
    line = line ? line : log ? log : "out of memory";
    snprintf(why, SPEC_WHY, "%.*s", (int)strcspn(line, "\n"), line);
    free(log);
}

cl_int user_build_open(struct user_build *build, const struct user_rig *rig, bool reference, const uint16_t *tuple,
                       char why[SPEC_WHY])
{
    const struct spec *spec = rig->spec;
    const bool own = reference && spec->references > 0;
    *build = (struct user_build){
        rig, own ? spec->reference : spec->kernel, own ? spec->references : spec->kernels, {NULL}, {{{0}, {0}}}};
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < build->kernels; i++) {
        const struct spec_kernel *of = &build->of[i];
        const char *const name = of->name;
        char *error = NULL, *text = spec_program(spec, of, tuple);
        if (!spec_launch(spec, of, tuple, &build->launch[i], why)) {
            free(text);
            return CL_INVALID_GLOBAL_WORK_SIZE;
        }
        result = text ? program_kernels(rig->device, text, of->options, &name, 1, &build->kernel[i], &error)
                      : CL_OUT_OF_HOST_MEMORY;
        free(text);
        if (result != CL_SUCCESS)
            take_log(error, why);
        else
            result = set_arguments(build, i, tuple, why);
    }
    return result;
}

void user_build_close(struct user_build *build)
{
    for (int i = 0; i < build->kernels; i++) {
        if (build->kernel[i])
            clReleaseKernel(build->kernel[i]);
    }
    build->kernels = 0;
}

cl_int user_build_enqueue(const struct user_build *build, cl_event event[SPEC_KERNELS])
{
    const struct user_rig *rig = build->rig;
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < rig->spec->arguments; i++) {
        if (rig->start[i])
            result = clEnqueueCopyBuffer(rig->queue, rig->start[i], rig->buffer[i], 0, 0, rig->spec->argument[i].bytes,
                                         0, NULL, NULL);
    }
    for (int i = 0; result == CL_SUCCESS && i < build->kernels; i++) {
        const struct spec_launch *launch = &build->launch[i];
        result = clEnqueueNDRangeKernel(rig->queue, build->kernel[i], 3, NULL, launch->global, launch->local, 0, NULL,
                                        &event[i]);
    }
    return result;
}

cl_int user_build_time(const struct user_build *build, int runs, double *ms)
{
    cl_event event[TIMING_RUNS][SPEC_KERNELS] = {{NULL}};
    cl_int result = CL_SUCCESS;
    double ns = 0;
    for (int i = 0; result == CL_SUCCESS && i < runs; i++)
        result = user_build_enqueue(build, event[i]);
    const cl_int finished = clFinish(build->rig->queue);
    result = result == CL_SUCCESS ? finished : result;
    for (int i = 0; i < runs; i++) {
        for (int k = 0; k < build->kernels; k++) {
            cl_int status = CL_COMPLETE;
            if (!event[i][k])
                continue;
            clGetEventInfo(event[i][k], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL);
            result = status < 0 ? status : result;
            ns += (double)(event_stamp(event[i][k], CL_PROFILING_COMMAND_END) -
                           event_stamp(event[i][k], CL_PROFILING_COMMAND_START));
            event_release(&event[i][k]);
        }
    }
    *ms = ns / 1e6 / runs;
    return result;
}
