// resource.h: files embedded in the binary (kernels, shaders, assets), and the directory that overrides the kernels
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct resource {
    const char *name; // "kernels/blur.cl"
    const unsigned char *data;
    size_t size;
};

// All embedded files, sorted by name; a row with a NULL name ends the table. Generated at build time.
extern const struct resource resources[];

const struct resource *resource_find(const char *name); // NULL: there is none

// Returns the text of kernel `file` ("blur.cl"): from `override_dir` if that is not NULL and has the file, else the
// embedded one. NUL-terminated; the caller frees. NULL on failure, with the reason in `why`.
enum { RESOURCE_WHY = 256 };
char *resource_kernel(const char *file, const char *override_dir, char why[RESOURCE_WHY]);

// Returns true if the directory has a file that replaces an embedded kernel, or if `dir` is NULL or "". False is
// logged.
bool resource_check_kernels(const char *dir);

// A line of a file whose text became a part of a program.
struct text_place {
    char file[64];
    long line;
};

// Finds the file and line that line `number` (from 1) of a program's text comes from, by its lines `#line 3 "file"` or
// `//#line 3 "file"`. False before the first of them.
bool text_place(const char *text, long number, struct text_place *place);
