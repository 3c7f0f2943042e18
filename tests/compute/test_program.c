// test_program.c: compiled programs on disk: the driver gets only an undamaged entry of the same program; also those in
// memory
#include "compute/program.h"

#include "base/hash.h"
#include "scratch.h"
#include "unit.h"

#include <dirent.h>
#include <sys/stat.h>

static const char text[] = "kernel void store(global int *to) { *to = 1; }";
static const char options[] = "-cl-std=CL1.2";

static struct device *device;
static char directory[512], entry[800]; // the cache, and the program's file there
static int compiled, loaded;            // programs made from text, from binaries

cl_program __real_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                            const size_t *lengths, cl_int *result);
cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                            const size_t *lengths, cl_int *result);
cl_program __real_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                            cl_int *result);
cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                            cl_int *result);

cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint count, const char **strings,
                                            const size_t *lengths, cl_int *result)
{
    compiled++;
    return __real_clCreateProgramWithSource(context, count, strings, lengths, result);
}

cl_program __wrap_clCreateProgramWithBinary(cl_context context, cl_uint count, const cl_device_id *devices,
                                            const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                            cl_int *result)
{
    loaded++;
    return __real_clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, result);
}

static void build_again(const char *program_text, const char *program_options)
{
    char *error;
    compiled = loaded = 0;
    const cl_int result = program_kernels(device, program_text, program_options, NULL, 0, NULL, &error);
    check_that(&unit, result == CL_SUCCESS, "not built: %s", error ? error : "");
    free(error);
}

// Builds in a device that has no program in memory.
static void build(const char *program_text, const char *program_options)
{
    programs_forget(device->programs);
    build_again(program_text, program_options);
}

// Checks whether the program is loaded from its entry or compiled from its text.
static void check_built(const char *what, bool from_entry)
{
    build(text, options);
    check_that(&unit, loaded == from_entry && compiled == !from_entry, "%s: loaded %d, compiled %d", what, loaded,
               compiled);
}

// Finds the file of the cache other than `known`. Returns false unless there is exactly one.
static bool find_entry(const char *known, char found[800])
{
    DIR *dir = opendir(directory);
    int count = 0;
    for (const struct dirent *at; dir && (at = readdir(dir));) {
        char path[800];
        snprintf(path, sizeof(path), "%s/%s", directory, at->d_name);
        if (at->d_name[0] != '.' && strcmp(path, known) != 0 && ++count)
            strcpy(found, path);
    }
    if (dir)
        closedir(dir);
    return count == 1;
}

static void write_entry(const void *data, size_t size)
{
    FILE *file = fopen(entry, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

// An entry with these bytes is not used.
static void check_refused(const char *what, const void *data, size_t size)
{
    write_entry(data, size);
    check_built(what, false);
}

static char *read_file(const char *path, size_t *size)
{
    static char data[1 << 20];
    FILE *file = fopen(path, "rb");
    *size = file ? fread(data, 1, sizeof(data), file) : 0;
    if (file)
        fclose(file);
    char *copy = malloc(*size + 1);
    memcpy(copy, data, *size);
    return copy;
}

static void test_damaged(void)
{
    enum { HEAD = 32 }; // magic, key bytes, binary bytes, hash
    size_t size;
    uint64_t key_bytes, binary_bytes;
    char *good = read_file(entry, &size);
    if (!CHECK(size > HEAD + sizeof(text)))
        exit(1);
    memcpy(&key_bytes, good + 8, 8);
    memcpy(&binary_bytes, good + 16, 8);
    CHECK(size == HEAD + key_bytes + binary_bytes);
    const struct {
        const char *what;
        size_t at;
    } flips[] = {{"magic", 0}, {"size of the key", 8},        {"size of the binary", 16},
                 {"hash", 24}, {"key", HEAD + key_bytes - 1}, {"binary", size - 1}};
    for (size_t i = 0; i < sizeof(flips) / sizeof(*flips); i++) {
        good[flips[i].at] ^= 1;
        check_refused(flips[i].what, good, size);
        good[flips[i].at] ^= 1;
    }
    const size_t lengths[] = {0, HEAD - 1, HEAD + key_bytes, size - 1};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
        check_refused("cut short", good, lengths[i]);
    good = realloc(good, size + 1);
    good[size] = 0;
    check_refused("too long", good, size + 1);
    check_built("the new entry", true);
    const uint64_t empty_hash = hash_64("", 0); // a valid head of an empty binary
    memset(good + 16, 0, 8);
    memcpy(good + 24, &empty_hash, 8);
    check_refused("an empty binary", good, HEAD + key_bytes);
    free(good);
}

// Entries of other programs with this entry's name, as if their hashes were equal, are not used.
static void test_other_key(void)
{
    static const char same_length[] = "kernel void store(global int *to) { *to = 2; }";
    static const char *const texts[] = {same_length, "kernel void other(global int *to) { *to = 1; }\n", text};
    const char *const other_options[] = {options, options, "-cl-std=CL1.2 -DX"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        char other[800] = "";
        size_t size;
        build(texts[i], other_options[i]);
        CHECK(compiled == 1 && loaded == 0 && find_entry(entry, other));
        char *data = read_file(other, &size);
        check_refused("another program's entry", data, size);
        free(data);
        unlink(other);
    }
}

// The same bytes, in a file that another user could have written.
static void test_unsafe(void)
{
    char kept[820];
    struct stat status;
    CHECK(stat(entry, &status) == 0 && (status.st_mode & 07777) == 0600);
    CHECK(chmod(entry, 0620) == 0);
    check_built("an entry that others can write", false);
    check_built("the new entry", true);
    snprintf(kept, sizeof(kept), "%s.kept", entry);
    CHECK(rename(entry, kept) == 0 && symlink(kept, entry) == 0);
    check_built("a link to an entry", false);
    check_built("the new entry", true);
    unlink(kept);
    CHECK(chmod(directory, 0770) == 0);
    check_built("a directory that others can write", false);
    check_built("a directory that others can write", false);
    CHECK(chmod(directory, 0700) == 0);
    if (geteuid() == 0) {
        CHECK(chown(entry, 65534, 0) == 0);
        check_built("another user's entry", false);
        check_built("the new entry", true);
        CHECK(chown(directory, 65534, 0) == 0);
        check_built("another user's directory", false);
        CHECK(chown(directory, 0, 0) == 0);
    }
    check_built("safe again", true);
    snprintf(kept, sizeof(kept), "%s.kept", directory);
    CHECK(rename(directory, kept) == 0 && symlink(kept, directory) == 0);
    check_built("a link to the directory", false);
    CHECK(unlink(directory) == 0 && rename(kept, directory) == 0);
}

// The latest programs are taken from memory. The cache directory is unusable, because PoCL compiles to store a program.
static void test_memory(void)
{
    CHECK(chmod(directory, 0770) == 0);
    build(text, options);
    for (int i = 1; i < PROGRAMS_KEPT; i++) {
        char others[64];
        snprintf(others, sizeof(others), "%s -DNUMBER=%d", options, i);
        build_again(text, others);
        CHECK_NUMBER(compiled + loaded, 1);
    }
    build_again(text, options);
    CHECK_NUMBER(compiled + loaded, 0);
    build_again(text, "-cl-std=CL1.2 -DNUMBER=1000"); // replaces the oldest
    build_again(text, options);
    CHECK_NUMBER(compiled + loaded, 1);
    CHECK(chmod(directory, 0700) == 0);
}

// Only the listing of devices logs that there is no cache, once.
static void test_warning(void)
{
    struct device_info devices[DEVICE_MAX];
    struct captured said;
    const char *why;
    capture_stderr(&said);
    device_list(devices, &why);
    CHECK_TEXT(captured_stderr(&said), "");
    CHECK(chmod(directory, 0777) == 0);
    capture_stderr(&said);
    device_list(devices, &why);
    build(text, options);
    const char *line = captured_stderr(&said);
    CHECK_HAS(line, directory);
    CHECK_HAS(line, "can be written by other users; set XDG_CACHE_HOME");
    CHECK(strchr(line, '\n') && strchr(line, '\n')[1] == '\0');
    CHECK(chmod(directory, 0700) == 0);
}

int main(void)
{
    struct device_info devices[DEVICE_MAX];
    struct scratch scratch;
    const char *why;
    if (!scratch_open(&scratch))
        return 1;
    setenv("XDG_CACHE_HOME", scratch.dir, 1);
    setenv("POCL_CACHE_DIR", scratch_path(&scratch, "pocl"), 1);
    snprintf(directory, sizeof(directory), "%s", scratch_path(&scratch, "monocle"));
    if (device_list(devices, &why) == 0) {
        fprintf(stderr, "skipped: no OpenCL device: %s\n", why);
        scratch_close(&scratch);
        return CHECK_SKIP;
    }
    device = device_open(&devices[0], NULL, NULL);
    if (CHECK(device != NULL)) {
        check_built("the first time", false);
        CHECK(find_entry("", entry));
        check_built("the second time", true);
        test_damaged();
        test_other_key();
        test_unsafe();
        test_memory();
        test_warning();
    }
    device_close(device);
    scratch_close(&scratch);
    return check_end(&unit);
}
