// program.c: OpenCL programs built, and kept compiled on disk, and their kernels
#include "compute/program.h"

#include "base/cache.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/resource.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// An entry: a head, the key, the binary. The key is everything the binary depends on, so that two keys of one hash are
// told apart.
static const char magic[8] = "MONOCL1";
enum { ENTRY_MAX_BYTES = 64 << 20 };

struct entry_head {
    char magic[8];
    uint64_t key_bytes, binary_bytes, binary_hash;
};

struct key {
    char *text; // device, driver, options and program text; NULL where there is no memory
    size_t bytes;
    int directory; // of the cache; -1 where nothing is kept
    char name[32]; // of the entry
};

char *program_key(const struct device *device, const char *text, const char *options, size_t *bytes)
{
    const struct device_info *info = &device->info;
    char *key = NULL;
    FILE *out = open_memstream(&key, bytes);
    if (!out)
        return NULL;
    fprintf(out, "%s\n%s\n%s\n%s\n%s\n%s\n%s", info->platform_name, info->name, info->vendor, info->version,
            info->driver, options, text);
    fclose(out);
    return key;
}

static void key_init(struct key *key, const struct device *device, const char *text, const char *options)
{
    char path[PATH_MAX];
    const char *unsafe;
    *key = (struct key){.directory = -1};
    key->text = program_key(device, text, options, &key->bytes);
    if (!key->text)
        return;
    snprintf(key->name, sizeof(key->name), "%016llx.clbin", (unsigned long long)hash_64(key->text, key->bytes));
    key->directory = cache_open(path, &unsafe);
}

static void key_finish(struct key *key)
{
    free(key->text);
    if (key->directory >= 0)
        close(key->directory);
}

static struct entry_head head_of(const struct key *key, const void *binary, size_t bytes)
{
    struct entry_head head = {.key_bytes = key->bytes, .binary_bytes = bytes, .binary_hash = hash_64(binary, bytes)};
    memcpy(head.magic, magic, sizeof(magic));
    return head;
}

// The binary within an entry's bytes; NULL if they are damaged or another key's.
static const unsigned char *entry_binary(const char *data, size_t size, const struct key *key, size_t *binary_bytes)
{
    const char *kept_key = data + sizeof(struct entry_head), *binary = kept_key + key->bytes;
    if (size <= sizeof(struct entry_head) + key->bytes)
        return NULL;
    *binary_bytes = size - sizeof(struct entry_head) - key->bytes;
    const struct entry_head head = head_of(key, binary, *binary_bytes);
    if (memcmp(data, &head, sizeof(head)) != 0 || memcmp(kept_key, key->text, key->bytes) != 0)
        return NULL;
    return (const unsigned char *)binary;
}

static cl_program program_load(struct device *device, const struct key *key, const char *options)
{
    size_t size;
    if (key->directory < 0)
        return NULL;
    char *data = cache_read(key->directory, key->name, ENTRY_MAX_BYTES, &size);
    if (!data && errno != ENOENT)
        log_info("cannot read the compiled program %s: %m; compiling it again", key->name);
    if (!data)
        return NULL;
    cl_program program = NULL;
    size_t bytes;
    const unsigned char *binary = entry_binary(data, size, key, &bytes);
    if (binary) {
        cl_int status, result;
        program = clCreateProgramWithBinary(device->context, 1, &device->info.id, &bytes, &binary, &status, &result);
        if (program && clBuildProgram(program, 1, &device->info.id, options, NULL, NULL) != CL_SUCCESS) {
            clReleaseProgram(program);
            program = NULL;
        }
    }
    if (!program)
        log_info("the compiled program %s is damaged or from another driver; compiling it again", key->name);
    free(data);
    return program;
}

static void program_keep(cl_program program, const struct key *key)
{
    size_t bytes = 0;
    if (key->directory < 0 ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return;
    const size_t before = sizeof(struct entry_head) + key->bytes;
    unsigned char *entry = malloc(before + bytes);
    if (!entry)
        return;
    unsigned char *binary = entry + before;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) == CL_SUCCESS) {
        const struct entry_head head = head_of(key, binary, bytes);
        memcpy(entry, &head, sizeof(head));
        memcpy(entry + sizeof(head), key->text, key->bytes);
        if (!cache_write(key->directory, key->name, entry, before + bytes))
            log_info("cannot store the compiled program %s: %m", key->name);
    }
    free(entry);
}

// ---- the compiler's messages ----

struct place {
    char file[64];
    long line;
};

// Where line `number` of the text, from 1, came from. False ahead of the first directive.
static bool find_place(const char *text, long number, struct place *place)
{
    struct place at = {.file = ""};
    for (long n = 1; n < number && *text; n++) {
        if (sscanf(text, "#line %ld \"%63[^\"]\"", &at.line, at.file) < 1) // a name may be left out
            at.line++;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *place = at;
    return at.file[0] != '\0';
}

char *build_log_places(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    char *out = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&out, &bytes);
    if (!stream)
        return NULL;
    while (*log) {
        char *end;
        struct place place;
        const bool marked = strncmp(log, mark, sizeof(mark) - 1) == 0;
        const long number = marked ? strtol(log + sizeof(mark) - 1, &end, 10) : 0;
        if (number > 0 && find_place(text, number, &place)) {
            fprintf(stream, "%s:%ld", place.file, place.line);
            log = end;
        } else {
            fputc(*log++, stream);
        }
    }
    return fclose(stream) == 0 ? out : NULL;
}

static char *build_log(struct device *device, cl_program program, const char *source, cl_int result)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = malloc(size + 128);
    if (!text)
        return NULL;
    const int head = snprintf(text, 128, "cannot compile the kernels for '%.60s' (%s):\n", device->info.name,
                              compute_result_name(result));
    text[head] = '\0';
    if (size > 0)
        clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, size, text + head, NULL);
    char *placed = build_log_places(text, source);
    free(text);
    return placed;
}

// ---- build ----

cl_program program_build(struct device *device, const char *text, const char *options, char **error)
{
    char all_options[256];
    snprintf(all_options, sizeof(all_options), "%s -DNV_ARCH=%d", options, device->info.nv_arch);
    struct key key;
    key_init(&key, device, text, all_options);
    *error = NULL;
    cl_program program = program_load(device, &key, all_options);
    if (!program) {
        cl_int result;
        program = clCreateProgramWithSource(device->context, 1, &text, NULL, &result);
        if (program)
            result = clBuildProgram(program, 1, &device->info.id, all_options, NULL, NULL);
        if (program && result == CL_SUCCESS) {
            program_keep(program, &key);
        } else {
            *error = program ? build_log(device, program, text, result) : strdup(compute_result_name(result));
            if (program)
                clReleaseProgram(program);
            program = NULL;
        }
    }
    key_finish(&key);
    return program;
}

void program_check_cache(void)
{
    char path[PATH_MAX];
    const char *unsafe;
    const int directory = cache_open(path, &unsafe);
    if (directory >= 0)
        close(directory);
    else if (unsafe)
        log_warn("cannot store compiled kernels: %s %s; set XDG_CACHE_HOME to a directory of your "
                 "own",
                 path, unsafe);
}

// ---- kernels ----

bool program_kernels(struct device *device, const char *text, const char *options, const char *const *names, int count,
                     cl_kernel *kernels, char **error)
{
    cl_program program = program_build(device, text, options, error);
    cl_int result = program ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
    for (int i = 0; result == CL_SUCCESS && i < count && names[i]; i++) {
        kernels[i] = clCreateKernel(program, names[i], &result);
        if (result != CL_SUCCESS) {
            char doing[64], why[256];
            snprintf(doing, sizeof(doing), "create kernel %s", names[i]);
            compute_describe(why, sizeof(why), result, doing);
            *error = strdup(why);
        }
    }
    if (program)
        clReleaseProgram(program); // its kernels hold it
    return result == CL_SUCCESS;
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
        *error = strdup(why);
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
                  struct span *span)
{
    cl_event event;
    cl_int result = CL_SUCCESS;
    for (cl_uint i = 0; result == CL_SUCCESS && i < count; i++)
        result = clSetKernelArg(kernel, i, arguments[i].bytes, arguments[i].value);
    if (result == CL_SUCCESS)
        result =
            clEnqueueNDRangeKernel(queue, kernel, 2, offset, size, local, after ? 1 : 0, after ? &after : NULL, &event);
    if (result == CL_SUCCESS)
        span_add(span, event);
    return result;
}
