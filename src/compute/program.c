// program.c: OpenCL programs built, and kept compiled on disk
#include "compute/program.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "compute/build_log.h"

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
    uint64_t key_bytes, binary_bytes;
    uint64_t binary_hash;
};

struct key {
    char *text; // device, driver, options and program text; NULL where there is no memory
    size_t bytes;
    char path[4096]; // of the entry; "" where nothing is kept
};

static void key_init(struct key *key, const struct device *device, const char *text, const char *options)
{
    const struct device_info *info = &device->info;
    *key = (struct key){0};
    FILE *out = open_memstream(&key->text, &key->bytes);
    if (!out)
        return;
    fprintf(out, "%s\n%s\n%s\n%s\n%s\n%s\n%s", info->platform_name, info->name, info->vendor, info->version,
            info->driver, options, text);
    fclose(out);
    char dir[4000];
    if (key->text && file_cache_dir(dir, sizeof(dir)))
        snprintf(key->path, sizeof(key->path), "%s/%016llx.clbin", dir,
                 (unsigned long long)hash_64(key->text, key->bytes));
}

static void key_finish(struct key *key)
{
    free(key->text);
}

// The binary within an entry's bytes; NULL where they are damaged or another key's.
static const unsigned char *entry_binary(const char *data, size_t size, const struct key *key, size_t *binary_bytes)
{
    struct entry_head head;
    if (size < sizeof(head))
        return NULL;
    memcpy(&head, data, sizeof(head));
    const char *kept_key = data + sizeof(head), *binary = kept_key + key->bytes;
    if (memcmp(head.magic, magic, sizeof(magic)) != 0 || head.key_bytes != key->bytes || head.binary_bytes == 0 ||
        head.binary_bytes > ENTRY_MAX_BYTES || size != sizeof(head) + head.key_bytes + head.binary_bytes ||
        memcmp(kept_key, key->text, key->bytes) != 0 || head.binary_hash != hash_64(binary, head.binary_bytes))
        return NULL;
    *binary_bytes = head.binary_bytes;
    return (const unsigned char *)binary;
}

static cl_program program_load(struct device *device, const struct key *key, const char *options)
{
    size_t size;
    char *data = key->path[0] ? file_read(key->path, ENTRY_MAX_BYTES, &size) : NULL;
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
        log_info("the compiled program %s is damaged or of another driver: building it anew", key->path);
    free(data);
    return program;
}

static void program_keep(cl_program program, const struct key *key)
{
    size_t bytes = 0;
    if (!key->path[0] ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL) != CL_SUCCESS || bytes == 0)
        return;
    struct entry_head head = {.key_bytes = key->bytes, .binary_bytes = bytes};
    memcpy(head.magic, magic, sizeof(magic));
    unsigned char *entry = malloc(sizeof(head) + key->bytes + bytes);
    if (!entry)
        return;
    unsigned char *binary = entry + sizeof(head) + key->bytes;
    if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL) == CL_SUCCESS) {
        head.binary_hash = hash_64(binary, bytes);
        memcpy(entry, &head, sizeof(head));
        memcpy(entry + sizeof(head), key->text, key->bytes);
        if (!file_replace(key->path, entry, sizeof(head) + key->bytes + bytes))
            log_info("cannot keep the compiled program %s: %m", key->path);
    }
    free(entry);
}

static char *build_log(struct device *device, cl_program program, const char *source, cl_int result)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = malloc(size + 128);
    if (!text)
        return NULL;
    const int head = snprintf(text, 128, "the kernels do not compile on '%.60s' (%s):\n", device->info.name,
                              compute_result_name(result));
    text[head] = '\0';
    if (size > 0)
        clGetProgramBuildInfo(program, device->info.id, CL_PROGRAM_BUILD_LOG, size, text + head, NULL);
    char *placed = build_log_places(text, source);
    free(text);
    return placed;
}

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
