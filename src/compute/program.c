// program.c: builds OpenCL programs and keeps compiled programs on disk
#include "compute/program.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/resource.h"
#include "compute/device.h"
#include "compute/driver_cache.h"
#include "compute/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *program_key(const struct device *device, const char *text, const char *options, size_t *bytes)
{
    const struct device_info *info = &device->info;
    char *key = NULL;
    FILE *out = xmemstream(&key, bytes);
    fprintf(out, "%s\n%s\n%s\n%s\n%s\n%s\n%s", info->platform_name, info->name, info->vendor, info->version,
            info->driver, options, text);
    xmemclose(out);
    return key;
}

// Returns the stored program; NULL if there is none, or the driver rejects it.
static cl_program program_load(struct device *device, const struct cache_entry *kept, const char *options)
{
    size_t bytes;
    cl_int status, result;
    unsigned char *data = cache_entry_read(kept, &bytes);
    const unsigned char *binary = data;
    if (!data)
        return NULL;
    cl_program program =
        clCreateProgramWithBinary(device->context, 1, &device->info.id, &bytes, &binary, &status, &result);
    if (program && compute_build(program, device->info.id, options) != CL_SUCCESS) {
        clReleaseProgram(program);
        program = NULL;
    }
    if (!program)
        log_info("the driver rejects the compiled program %s; compiling it again", kept->name);
    free(data);
    return program;
}

static void program_keep(cl_program program, const struct cache_entry *kept)
{
    size_t bytes = 0;
    if (kept->directory < 0 || // checked first, because PoCL compiles the kernels once more to return the binary
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return;
    unsigned char *binary = xmalloc(bytes);
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) == CL_SUCCESS)
        cache_entry_write(kept, binary, bytes);
    free(binary);
}

// ---- the compiler's messages ----

char *build_log_places(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    char *out = NULL;
    size_t bytes;
    FILE *stream = xmemstream(&out, &bytes);
    while (*log) {
        char *end;
        struct text_place place;
        const bool marked = strncmp(log, mark, sizeof(mark) - 1) == 0;
        const long number = marked ? strtol(log + sizeof(mark) - 1, &end, 10) : 0;
        if (number > 0 && text_place(text, number, &place)) {
            fprintf(stream, "%s:%ld", place.file, place.line);
            log = end;
        } else {
            fputc(*log++, stream);
        }
    }
    xmemclose(stream);
    return out;
}

char *program_log(const struct device *device, cl_program program, const char *source, cl_int result)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = xmalloc(size + 128);
    const int head = snprintf(text, 128, "cannot compile the kernels for '%.60s' (%s):\n", device->info.name,
                              compute_result_name(result));
    text[head] = '\0';
    if (size > 0)
        clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, size, text + head, NULL);
    char *placed = build_log_places(text, source);
    free(text);
    return placed;
}

// ---- programs in memory ----

void programs_init(struct programs *programs)
{
    *programs = (struct programs){.added = 0};
    pthread_mutex_init(&programs->lock, NULL);
}

static void drop(struct built_program *built)
{
    if (built->program)
        clReleaseProgram(built->program);
    free(built->key);
    *built = (struct built_program){0};
}

void programs_forget(struct programs *programs)
{
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < PROGRAMS_KEPT; i++)
        drop(&programs->built[i]);
    pthread_mutex_unlock(&programs->lock);
}

void programs_finish(struct programs *programs)
{
    programs_forget(programs);
    pthread_mutex_destroy(&programs->lock);
}

// Returns the program of a key, retained for the caller. NULL: there is none.
static cl_program programs_find(struct programs *programs, const char *key, size_t key_bytes)
{
    cl_program found = NULL;
    pthread_mutex_lock(&programs->lock);
    for (int i = 0; i < PROGRAMS_KEPT && !found; i++) {
        const struct built_program *built = &programs->built[i];
        if (built->program && built->key_bytes == key_bytes && memcmp(built->key, key, key_bytes) == 0)
            found = built->program;
    }
    if (found)
        clRetainProgram(found);
    pthread_mutex_unlock(&programs->lock);
    return found;
}

// Takes over the key and retains the program.
static void programs_add(struct programs *programs, char *key, size_t key_bytes, cl_program program)
{
    pthread_mutex_lock(&programs->lock);
    struct built_program *built = &programs->built[programs->added++ % PROGRAMS_KEPT];
    drop(built);
    clRetainProgram(program);
    *built = (struct built_program){key, key_bytes, program};
    pthread_mutex_unlock(&programs->lock);
}

// ---- build ----

// Loads or compiles a program, which the caller releases even after a failure.
static cl_int load_or_compile(struct device *device, const char *text, const char *options, const char *key,
                              size_t key_bytes, cl_program *program, char **error)
{
    struct cache_entry kept;
    cache_entry_open(&kept, "clbin", key, key_bytes);
    cl_int result = CL_SUCCESS;
    *program = program_load(device, &kept, options);
    if (!*program) {
        *program = clCreateProgramWithSource(device->context, 1, &text, NULL, &result);
        if (*program)
            result = compute_build(*program, device->info.id, options);
        if (result == CL_SUCCESS)
            program_keep(*program, &kept);
        else
            *error = *program ? program_log(device, *program, text, result) : xstrdup(compute_result_name(result));
    }
    cache_entry_close(&kept);
    return result;
}

// Adds the option for NV_ARCH, and returns the program's key.
static char *complete_key(const struct device *device, const char *text, const char *options, char all_options[256],
                          size_t *bytes)
{
    snprintf(all_options, 256, "%s -DNV_ARCH=%d", options, device->info.nv_arch);
    return program_key(device, text, all_options, bytes);
}

bool program_is_kept(const struct device *device, const char *text, const char *options)
{
    char all_options[256];
    size_t key_bytes, bytes;
    struct cache_entry kept;
    char *key = complete_key(device, text, options, all_options, &key_bytes);
    cache_entry_open(&kept, "clbin", key, key_bytes);
    void *data = cache_entry_read(&kept, &bytes);
    cache_entry_close(&kept);
    free(key);
    free(data);
    return data != NULL;
}

// As load_or_compile, but takes the program from memory if it is there.
static cl_int build(struct device *device, const char *text, const char *options, cl_program *program, char **error)
{
    char all_options[256];
    size_t key_bytes;
    char *key = complete_key(device, text, options, all_options, &key_bytes);
    cl_int result = CL_SUCCESS;
    *error = NULL;
    *program = programs_find(device->programs, key, key_bytes);
    if (!*program) {
        result = load_or_compile(device, text, all_options, key, key_bytes, program, error);
        if (result == CL_SUCCESS) {
            programs_add(device->programs, key, key_bytes, *program);
            return result;
        }
    }
    free(key);
    return result;
}

// ---- kernels ----

cl_int program_kernels(struct device *device, const char *text, const char *options, const char *const *names,
                       int count, cl_kernel *kernels, char **error)
{
    cl_program program;
    cl_int result = build(device, text, options, &program, error);
    for (int i = 0; result == CL_SUCCESS && i < count && names[i]; i++) {
        kernels[i] = clCreateKernel(program, names[i], &result);
        if (result != CL_SUCCESS) {
            char doing[64], why[256];
            snprintf(doing, sizeof(doing), "create kernel %s", names[i]);
            compute_describe(why, sizeof(why), result, doing);
            *error = xstrdup(why);
        }
    }
    if (program)
        clReleaseProgram(program); // its kernels retain it
    return result;
}

cl_kernel program_file_kernel(struct device *device, const char *file, const char *options, const char *name,
                              char **error)
{
    char why[RESOURCE_WHY];
    cl_kernel kernel = NULL;
    char *text = resource_kernel(file, device->kernel_dir, why);
    if (text)
        program_kernels(device, text, options, &name, 1, &kernel, error);
    else
        *error = xstrdup(why);
    free(text);
    return kernel;
}

size_t kernel_group_limit(const struct device_info *info, cl_kernel kernel)
{
    const size_t most = info->max_work_group > 0 ? info->max_work_group : 1;
    size_t own;
    const cl_int result =
        clGetKernelWorkGroupInfo(kernel, info->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof(own), &own, NULL);
    return result == CL_SUCCESS && own > 0 && own < most ? own : most;
}

cl_int kernel_run(cl_kernel kernel, cl_command_queue queue, const struct kernel_argument *arguments, cl_uint count,
                  const size_t offset[2], const size_t size[2], const size_t local[2], cl_event after,
                  struct device_span *span)
{
    cl_event event;
    cl_int result = CL_SUCCESS;
    for (cl_uint i = 0; result == CL_SUCCESS && i < count; i++)
        result = clSetKernelArg(kernel, i, arguments[i].bytes, arguments[i].value);
    if (result == CL_SUCCESS)
        result =
            clEnqueueNDRangeKernel(queue, kernel, 2, offset, size, local, after != NULL, after ? &after : NULL, &event);
    if (result == CL_SUCCESS)
        span_add(span, event);
    return result;
}

// ---- a test whether a device stores bytes ----

enum { BYTES = 67, BEFORE = 0xa5 };

// Runs the kernel on a buffer of these bytes.
static cl_int run(struct device *device, cl_kernel kernel, uint8_t bytes[BYTES])
{
    cl_int result;
    cl_command_queue queue = device_queue(device, false, &result);
    cl_mem buffer = NULL;
    struct device_span span = {0};
    if (result == CL_SUCCESS)
        buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, bytes, &result);
    if (result == CL_SUCCESS)
        result = kernel_run(kernel, queue, &(struct kernel_argument){sizeof(buffer), &buffer}, 1, (size_t[2]){0, 0},
                            (size_t[2]){BYTES, 1}, (size_t[2]){1, 1}, NULL, &span);
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, bytes, 0, NULL, NULL);
    span_release(&span);
    memory_release(buffer);
    if (queue)
        clReleaseCommandQueue(queue);
    return result;
}

bool byte_stores_work(struct device *device, char **error)
{
    uint8_t got[BYTES], want[BYTES];
    *error = NULL;
    if (device->info.type & CL_DEVICE_TYPE_CPU || device->stores_bytes)
        return true;
    cl_kernel kernel = program_file_kernel(device, "byte_stores.cl", "-cl-std=CL1.2", "store_bytes", error);
    if (!kernel)
        return false;
    for (int i = 0; i < BYTES; i++) {
        got[i] = BEFORE;
        want[i] = i % 3 == 1 ? BEFORE : (uint8_t)(i * 7 + 3);
    }
    const cl_int result = run(device, kernel, got);
    clReleaseKernel(kernel);
    char text[256] = "";
    if (result != CL_SUCCESS)
        compute_describe(text, sizeof(text), result, "test whether the device stores bytes");
    else if (memcmp(got, want, BYTES) != 0)
        snprintf(text, sizeof(text), "the device does not store single bytes, which kernels need; use -p gl or -p cpu");
    else
        device->stores_bytes = true;
    if (text[0])
        *error = xstrdup(text);
    return device->stores_bytes;
}
