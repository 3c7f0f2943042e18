// user_rig.c: see user_rig.h
#include "tune/kernel/user_rig.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GUARD_LEAST = 32 << 20, GUARD_MOST = 256 << 20, LAUNCH_ROUNDS = 5 };

// ---- the shared memory ----

static size_t aligned(size_t bytes)
{
    return (bytes + GUARDED_ALIGN - 1) / GUARDED_ALIGN * GUARDED_ALIGN;
}

// Sets the places of the contents.
static void lay_out(struct user_data *data, const struct spec *spec)
{
    data->bytes = aligned(sizeof(*data->sizes));
    for (int i = 0; i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        data->input[i] = data->bytes;
        data->bytes += argument->memory == SPEC_VECTOR ? aligned(argument->bytes) : 0;
        data->reference[i] = data->bytes;
        data->bytes += argument->output ? aligned(argument->bytes) : 0;
    }
}

bool user_data_open(struct user_data *data, struct spec *spec, int fd)
{
    const bool owns = fd < 0;
    struct stat status;
    *data = (struct user_data){.fd = -1};
    lay_out(data, spec);
    data->fd = owns ? memfd_create("monocle", MFD_CLOEXEC) : fd;
    if (data->fd < 0)
        return false;
    // Reserves the memory, so that a later write cannot fail.
    if (owns && (errno = posix_fallocate(data->fd, 0, (off_t)data->bytes)) != 0)
        return false;
    if (fstat(data->fd, &status) != 0)
        return false;
    data->map = mmap(NULL, (size_t)status.st_size, PROT_READ | (owns ? PROT_WRITE : 0), MAP_SHARED, data->fd, 0);
    if (data->map == MAP_FAILED) {
        data->map = NULL;
        return false;
    }
    data->sizes = (struct user_sizes *)data->map;
    for (int i = 0; i < spec->arguments; i++) {
        size_t *bytes = &spec->argument[i].bytes, *largest = &data->sizes->input[i];
        *(owns ? largest : bytes) = owns ? *bytes : *largest;
    }
    lay_out(data, spec);
    return true;
}

void user_data_write(const struct user_data *data, void *to, const void *from, size_t bytes)
{
    mprotect(data->map, data->bytes, PROT_READ | PROT_WRITE);
    memcpy(to, from, bytes);
    mprotect(data->map, data->bytes, PROT_READ);
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

static const size_t origin[3] = {0}; // of an image

static cl_int open_image(struct user_rig *rig, int i, char why[SPEC_WHY])
{
    static const cl_channel_order orders[] = {[1] = CL_R, [2] = CL_RG, [4] = CL_RGBA};
    static const cl_channel_type types[2][3][5] = {
        {[SPEC_SIGNED] = {[1] = CL_SIGNED_INT8, [2] = CL_SIGNED_INT16, [4] = CL_SIGNED_INT32},
         [SPEC_UNSIGNED] = {[1] = CL_UNSIGNED_INT8, [2] = CL_UNSIGNED_INT16, [4] = CL_UNSIGNED_INT32},
         [SPEC_FLOAT] = {[2] = CL_HALF_FLOAT, [4] = CL_FLOAT}},
        {[SPEC_SIGNED] = {[1] = CL_SNORM_INT8, [2] = CL_SNORM_INT16},
         [SPEC_UNSIGNED] = {[1] = CL_UNORM_INT8, [2] = CL_UNORM_INT16}},
    };
    const struct spec_argument *argument = &rig->spec->argument[i];
    const struct spec_type *type = &argument->type;
    const cl_image_format format = {orders[type->lanes], types[type->normalized][type->number][type->bytes]};
    const cl_image_desc shape = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = argument->region[0], .image_height = argument->region[1]};
    cl_int result;
    rig->buffer[i].buffer = clCreateImage(rig->device->context, CL_MEM_READ_WRITE, &format, &shape, NULL, &result);
    // CL_INVALID_OPERATION: also PoCL's result for a type or a size
    if (result == CL_INVALID_OPERATION || result == CL_IMAGE_FORMAT_NOT_SUPPORTED || result == CL_INVALID_IMAGE_SIZE)
        snprintf(why, SPEC_WHY, "the device has no image of %zux%zu pixels of the type of '%.12s'", shape.image_width,
                 shape.image_height, argument->name);
    return result;
}

// Copies the content at the start to a vector argument.
static cl_int write_argument(const struct user_rig *rig, int i)
{
    const struct spec_argument *argument = &rig->spec->argument[i];
    const cl_mem to = rig->buffer[i].buffer;
    if (argument->height)
        return clEnqueueWriteImage(rig->queue, to, CL_TRUE, origin, argument->region, 0, 0, rig->content[i], 0, NULL,
                                   NULL);
    return clEnqueueWriteBuffer(rig->queue, to, CL_TRUE, 0, argument->bytes, rig->content[i], 0, NULL, NULL);
}

// Opens the image or the buffers of a vector argument, between pages without access or, if the device has memory of its
// own, between guards as large as the argument. They are smaller if the device has no room.
static cl_int open_argument(struct user_rig *rig, int i, char why[SPEC_WHY])
{
    const struct spec_argument *argument = &rig->spec->argument[i];
    const size_t bytes = argument->bytes;
    cl_context context = rig->device->context;
    size_t wanted = bytes < GUARD_MOST ? bytes : GUARD_MOST;
    if (wanted < GUARD_LEAST)
        wanted = GUARD_LEAST;
    cl_int result = CL_SUCCESS;
    guarded_close(&rig->buffer[i]);
    memory_release(rig->start[i]);
    rig->start[i] = NULL;
    if (argument->height)
        result = open_image(rig, i, why);
    else if (rig->oclgrind) // which finds accesses out of bounds itself
        rig->buffer[i].buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    else if (!guarded_open_pages(&rig->buffer[i], context, rig->queue, bytes))
        result = guarded_open(&rig->buffer[i], context, rig->queue, bytes, aligned(wanted));
    if (result == CL_SUCCESS)
        result = write_argument(rig, i);
    if (result == CL_SUCCESS && argument->access == SPEC_READ_WRITE)
        rig->start[i] =
            clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, rig->content[i], &result);
    return result;
}

cl_int user_rig_open(struct user_rig *rig, struct device *device, struct spec *spec, const struct user_data *data)
{
    cl_int result;
    *rig = (struct user_rig){.spec = spec, .device = device, .data = data};
    rig->oclgrind = strcmp(device->info.platform_name, "Oclgrind") == 0;
    rig->queue = device_queue(device, true, &result);
    for (int i = 0; i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        rig->content[i] = data->map + data->input[i];
        if (argument->params && argument->in.source && argument->in.fill < SPEC_GENERATOR) // of each configuration
            rig->content[i] = xalloc(argument->bytes);
    }
    return result;
}

// Opens the vectors, except for open ones whose size and content do not depend on the configuration.
static cl_int fit(struct user_rig *rig, const uint16_t *tuple, char why[SPEC_WHY])
{
    struct spec *spec = rig->spec;
    cl_int result = CL_SUCCESS;
    if (rig->tuple == tuple)
        return result;
    why[0] = '\0';
    rig->tuple = NULL;
    if (!spec_size(spec, tuple, why))
        return CL_INVALID_VALUE;
    for (int i = 0; result == CL_SUCCESS && i < spec->arguments; i++) {
        const struct spec_argument *argument = &spec->argument[i];
        if (argument->memory != SPEC_VECTOR || (rig->buffer[i].buffer && !argument->params))
            continue;
        if (rig->content[i] != rig->data->map + rig->data->input[i] &&
            !spec_fill(spec, argument, &argument->in, rig->content[i]))
            return CL_INVALID_VALUE;
        result = open_argument(rig, i, why);
    }
    if (result == CL_SUCCESS)
        rig->tuple = tuple;
    else if (!why[0])
        snprintf(why, SPEC_WHY, "its arguments cannot be stored: %s", compute_result_name(result));
    return result;
}

cl_int user_rig_reset(const struct user_rig *rig)
{
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < rig->spec->arguments; i++) {
        const struct spec_argument *argument = &rig->spec->argument[i];
        if (argument->memory == SPEC_VECTOR && argument->access != SPEC_READ_ONLY)
            result = write_argument(rig, i);
    }
    return result;
}

cl_int user_rig_read(const struct user_rig *rig, int argument, int from, void *to)
{
    const struct spec_argument *of = &rig->spec->argument[argument];
    const cl_mem memory = rig->buffer[from].buffer;
    if (of->height)
        return clEnqueueReadImage(rig->queue, memory, CL_TRUE, origin, of->region, 0, 0, to, 0, NULL, NULL);
    return clEnqueueReadBuffer(rig->queue, memory, CL_TRUE, 0, of->bytes, to, 0, NULL, NULL);
}

static void print_outside(const struct user_rig *rig, int i, const char *what, int64_t outside, char *why)
{
    const struct spec_argument *argument = &rig->spec->argument[i];
    snprintf(why, VERDICT_TEXT, "it %s out of bounds: byte %lld of '%.16s' (%zu bytes)", what, (long long)outside,
             argument->name, argument->bytes);
}

cl_int user_rig_check(const struct user_rig *rig, int argument, bool *intact, char why[VERDICT_TEXT])
{
    int64_t outside;
    const cl_int result = guarded_check(&rig->buffer[argument], rig->queue, &outside);
    *intact = outside == 0;
    if (!*intact)
        print_outside(rig, argument, "writes", outside, why);
    return result;
}

bool user_rig_fault(const struct user_rig *rig, const void *address, const char *what, char why[VERDICT_TEXT])
{
    for (int i = 0; i < SPEC_ARGUMENTS; i++) {
        const int64_t outside = guarded_fault(&rig->buffer[i], address);
        if (outside == 0)
            continue;
        print_outside(rig, i, what, outside, why);
        return true;
    }
    return false;
}

// ---- the kernels ----

static cl_int set_scalar(cl_kernel kernel, cl_uint at, const struct spec *spec, const struct spec_argument *argument,
                         double number)
{
    char bytes[8 * SPEC_LANES];
    struct spec_content content = argument->in;
    content.value[0] = number;
    if (!spec_fill(spec, argument, &content, bytes))
        return CL_INVALID_VALUE;
    return clSetKernelArg(kernel, at, argument->bytes, bytes);
}

static cl_int set_arguments(const struct user_rig *rig, cl_kernel kernel, const struct spec_launch *launch,
                            char why[SPEC_WHY])
{
    const struct spec_kernel *of = launch->kernel;
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < of->arguments; i++) {
        const struct spec_argument *argument = &rig->spec->argument[of->argument[i]];
        const union spec_given *given = &launch->given[i];
        if (argument->memory == SPEC_SCALAR)
            result = set_scalar(kernel, (cl_uint)i, rig->spec, argument, given->number);
        else if (argument->memory == SPEC_VECTOR)
            result = clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &rig->buffer[given->vector].buffer);
        else
            result = clSetKernelArg(kernel, (cl_uint)i, given->bytes, NULL);
        if (result != CL_SUCCESS && why)
            snprintf(why, SPEC_WHY, "cannot set argument '%.30s': %s", argument->name, compute_result_name(result));
    }
    return result;
}

// Keeps the first error of a compiler's log, without the file's path.
static void take_log(char *log, char why[SPEC_WHY])
{
    static const char word[] = "error:";
    const char *reason = log ? strstr(log, word) : NULL;
    if (reason)
        reason += strlen(word);
    else if (log && (reason = strstr(log, "error")))
        while (reason > log && reason[-1] != '\n')
            reason--;
    if (!reason)
        reason = log ? log : "the driver names no reason";
    reason += strspn(reason, " ");
    const char *slash = memrchr(reason, '/', strcspn(reason, " \n"));
    reason = slash ? slash + 1 : reason;
    snprintf(why, SPEC_WHY, "%.*s", (int)strcspn(reason, "\n"), reason);
    free(log);
}

// Returns false if an argument is of another kind than its description says. True: also if the device does not report
// the kind.
static bool check_kind(cl_kernel kernel, int number, const struct spec_argument *argument, char why[SPEC_WHY])
{
    static const char *const kinds[] = {[SPEC_VECTOR] = "Vector", [SPEC_SCALAR] = "Scalar", [SPEC_LOCAL] = "Local"};
    const char *const own = argument->height ? "Image" : kinds[argument->memory];
    cl_kernel_arg_address_qualifier place;
    char type[64];
    if (clGetKernelArgInfo(kernel, (cl_uint)number, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof(place), &place, NULL) !=
            0 ||
        clGetKernelArgInfo(kernel, (cl_uint)number, CL_KERNEL_ARG_TYPE_NAME, sizeof(type), type, NULL) != 0)
        return true;
    enum spec_memory memory = SPEC_VECTOR;
    if (place == CL_KERNEL_ARG_ADDRESS_LOCAL)
        memory = SPEC_LOCAL;
    else if (place == CL_KERNEL_ARG_ADDRESS_PRIVATE)
        memory = SPEC_SCALAR;
    const char *use = kinds[memory];
    if (strncmp(type, "image", 5) == 0 && isdigit((unsigned char)type[5]) && !strchr(type, '*'))
        use = strcmp(type, "image2d_t") == 0 ? "Image" : "image2d_t";
    else if (strcmp(type, "sampler_t") == 0)
        use = "a constant there";
    if (strcmp(use, own) == 0)
        return true;
    snprintf(why, SPEC_WHY, "Arguments[%d] '%.12s' is %s, but %.16s in the kernel: use %s", number, argument->name, own,
             type, use);
    return false;
}

// PoCL ends the process if a kernel needs more local memory than the device has.
static cl_int check_local_memory(const struct user_rig *rig, cl_kernel kernel, char why[SPEC_WHY])
{
    const cl_device_id device = rig->device->info.id;
    cl_ulong used = 0, most = 0;
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof(used), &used, NULL);
    clGetDeviceInfo(device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(most), &most, NULL);
    if (used <= most)
        return CL_SUCCESS;
    snprintf(why, SPEC_WHY, "it needs %llu bytes of local memory; the device has %llu", (unsigned long long)used,
             (unsigned long long)most);
    return CL_OUT_OF_RESOURCES;
}

// Builds the kernel of a launch, unless an earlier one has the same program.
static cl_int open_kernel(struct user_build *build, int number, char why[SPEC_WHY])
{
    const struct spec_launch *launch = &build->run.launch[number];
    const char *const name = launch->kernel->name;
    cl_uint wanted = 0;
    for (int i = number - 1; i >= 0; i--) {
        const struct spec_launch *other = &build->run.launch[i];
        if (other->kernel != launch->kernel ||
            strcmp(other->macros ? other->macros : "", launch->macros ? launch->macros : "") != 0)
            continue;
        build->kernel[number] = build->kernel[i];
        return clRetainKernel(build->kernel[i]);
    }
    char *error = NULL, *text = spec_program(build->rig->spec, launch, build->tuple), options[SPEC_OPTIONS + 24];
    snprintf(options, sizeof(options), "%s -cl-kernel-arg-info", launch->kernel->options);
    const cl_int result = program_kernels(build->rig->device, text, options, &name, 1, &build->kernel[number], &error);
    free(text);
    if (result != CL_SUCCESS) {
        take_log(error, why);
        if (result == CL_INVALID_KERNEL_NAME)
            snprintf(why, SPEC_WHY, "KernelFile has no kernel %.40s", name);
        if (result == CL_INVALID_BUILD_OPTIONS)
            snprintf(why, SPEC_WHY, "the compiler refuses CompilerOptions '%.30s'", launch->kernel->options);
        return result;
    }
    clGetKernelInfo(build->kernel[number], CL_KERNEL_NUM_ARGS, sizeof(wanted), &wanted, NULL);
    if ((int)wanted != launch->kernel->arguments) {
        snprintf(why, SPEC_WHY, "kernel %.30s has %u arguments, not %d", name, wanted, launch->kernel->arguments);
        return CL_INVALID_KERNEL_ARGS;
    }
    for (int i = 0; i < launch->kernel->arguments; i++) {
        if (!check_kind(build->kernel[number], i, &build->rig->spec->argument[launch->kernel->argument[i]], why))
            return CL_INVALID_KERNEL_ARGS;
    }
    const cl_int set = set_arguments(build->rig, build->kernel[number], launch, why);
    return set == CL_SUCCESS ? check_local_memory(build->rig, build->kernel[number], why) : set;
}

// Returns true if two launches use the same buffer, and one of them may write to it.
static bool share_buffer(const struct spec *spec, const struct spec_launch *a, const struct spec_launch *b)
{
    for (int i = 0; i < a->kernel->arguments * b->kernel->arguments; i++) {
        const int of = i % a->kernel->arguments, other = i / a->kernel->arguments, vector = a->given[of].vector;
        if (spec->argument[a->kernel->argument[of]].memory == SPEC_VECTOR &&
            spec->argument[b->kernel->argument[other]].memory == SPEC_VECTOR && b->given[other].vector == vector &&
            spec->argument[vector].access != SPEC_READ_ONLY)
            return true;
    }
    return false;
}

// Decides whether a launch waits for the other queue.
static void order_launch(const struct user_build *build, int number)
{
    struct spec_launch *launch = &build->run.launch[number];
    const struct device *device = build->rig->device;
    bool ordered = false;
    for (int i = number - 1; i >= 0 && !ordered && !launch->waits; i--) {
        const struct spec_launch *before = &build->run.launch[i];
        const bool same = before->queue == launch->queue;
        ordered = same && before->waits; // so this one is after all that are before it
        launch->waits = !same && ((device->takes_turns && strcmp(before->kernel->name, launch->kernel->name) == 0) ||
                                  share_buffer(build->rig->spec, before, launch));
    }
}

cl_int user_build_open(struct user_build *build, struct user_rig *rig, bool reference, const uint16_t *tuple,
                       char why[SPEC_WHY])
{
    *build = (struct user_build){.rig = rig};
    memcpy(build->tuple, tuple, sizeof(*tuple) * (size_t)rig->spec->space.params);
    if (!spec_run_open(&build->run, rig->spec, reference, tuple, why))
        return CL_INVALID_GLOBAL_WORK_SIZE;
    build->kernel = xcalloc((size_t)build->run.launches, sizeof(*build->kernel));
    cl_int result = fit(rig, build->tuple, why);
    if (result == CL_SUCCESS && build->run.queues && !rig->second)
        rig->second = device_queue(rig->device, true, &result);
    for (int i = 0; result == CL_SUCCESS && i < build->run.launches; i++) {
        if (build->run.queues)
            order_launch(build, i);
        result = open_kernel(build, i, why);
    }
    return result;
}

void user_build_close(struct user_build *build)
{
    for (int i = 0; build->kernel && i < build->run.launches; i++) {
        if (build->kernel[i])
            clReleaseKernel(build->kernel[i]);
    }
    free(build->kernel);
    spec_run_close(&build->run);
    if (build->rig && build->rig->tuple == build->tuple)
        build->rig->tuple = NULL;
    *build = (struct user_build){.rig = NULL};
}

// Copies the contents at the start of a run to the vectors that kernels read and write.
static cl_int restore(const struct user_rig *rig)
{
    cl_int result = CL_SUCCESS;
    for (int i = 0; result == CL_SUCCESS && i < rig->spec->arguments; i++) {
        const struct spec_argument *argument = &rig->spec->argument[i];
        const cl_mem from = rig->start[i], to = rig->buffer[i].buffer;
        if (from && argument->height)
            result = clEnqueueCopyBufferToImage(rig->queue, from, to, 0, origin, argument->region, 0, NULL, NULL);
        else if (from)
            result = clEnqueueCopyBuffer(rig->queue, from, to, 0, 0, argument->bytes, 0, NULL, NULL);
    }
    return result;
}

// The later commands of the queue `to` wait for the earlier ones of `from`.
static cl_int join_queues(cl_command_queue from, cl_command_queue to)
{
    cl_event event;
    cl_int result = clEnqueueMarkerWithWaitList(from, 0, NULL, &event);
    if (result != CL_SUCCESS)
        return result;
    result = clFlush(from);
    if (result == CL_SUCCESS)
        result = clEnqueueBarrierWithWaitList(to, 1, &event, NULL);
    clReleaseEvent(event);
    return result;
}

static cl_int enqueue_launch(const struct user_build *build, int number, cl_command_queue queue,
                             struct device_span *span)
{
    const struct spec_launch *launch = &build->run.launch[number];
    cl_event event;
    cl_int result = set_arguments(build->rig, build->kernel[number], launch, NULL);
    if (result == CL_SUCCESS)
        result = clEnqueueNDRangeKernel(queue, build->kernel[number], 3, NULL, launch->global, launch->local, 0, NULL,
                                        &event);
    if (result == CL_SUCCESS)
        span_add(span, event);
    return result;
}

// Runs of a build, or of one of its launches.
struct series {
    const struct user_build *build;
    int launch; // -1: all, after the contents are restored
};

static cl_int enqueue(void *context, int number, struct device_span *span)
{
    (void)number;
    const struct series *series = context;
    const struct user_build *build = series->build;
    const cl_command_queue queue[] = {build->rig->queue, build->rig->second};
    if (series->launch >= 0)
        return enqueue_launch(build, series->launch, queue[0], span);
    cl_int result = restore(build->rig);
    if (result == CL_SUCCESS && build->run.queues)
        result = join_queues(queue[0], queue[1]);
    for (int i = 0; result == CL_SUCCESS && i < build->run.launches; i++) {
        const int of = build->run.launch[i].queue;
        if (build->run.launch[i].waits)
            result = join_queues(queue[!of], queue[of]);
        if (result == CL_SUCCESS)
            result = enqueue_launch(build, i, queue[of], &span[of]);
    }
    if (result == CL_SUCCESS && build->run.queues)
        result = join_queues(queue[1], queue[0]);
    return result;
}

static cl_int run(const struct user_build *build, int launch, int runs, double *ms)
{
    struct timing timing = {0};
    const cl_int result = timing_try(build->rig->queue, runs, enqueue, &(struct series){build, launch}, &timing);
    *ms = timing.device_ms;
    return result;
}

cl_int user_build_time(const struct user_build *build, int runs, double *ms)
{
    char why[SPEC_WHY];
    const cl_int result = fit(build->rig, build->tuple, why);
    return result == CL_SUCCESS ? run(build, -1, runs, ms) : result;
}

cl_int user_build_launches(const struct user_build *build, double *ms)
{
    char why[SPEC_WHY];
    double once;
    cl_int result = fit(build->rig, build->tuple, why);
    for (int round = 0; result == CL_SUCCESS && round < LAUNCH_ROUNDS; round++) {
        result = restore(build->rig);
        for (int i = 0; result == CL_SUCCESS && i < build->run.launches; i++) {
            result = run(build, i, 1, &once);
            ms[i] = round == 0 || once < ms[i] ? once : ms[i];
        }
    }
    return result;
}
