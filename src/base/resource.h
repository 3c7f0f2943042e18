// resource.h: the files embedded in the binary (kernels, shaders, font), and the directory that overrides them
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct resource {
    const char *name; // "kernels/blur.cl"
    const unsigned char *data;
    size_t size;
};

// All embedded files, sorted by name, ended by a row with a NULL name. Generated at build.
extern const struct resource resources[];

const struct resource *resource_find(const char *name); // NULL when there is none

// Text of kernel `file` ("blur.cl"): from `override_dir` when that is not NULL and holds the file, else the embedded
// one. NUL-terminated; the caller frees. NULL on failure, with the reason in `why`.
enum { RESOURCE_WHY = 256 };
char *resource_kernel(const char *file, const char *override_dir, char why[RESOURCE_WHY]);

// Returns true if the directory has a file that replaces an embedded kernel, or if `dir` is NULL or "". False is
// logged.
bool resource_check_kernels(const char *dir);
