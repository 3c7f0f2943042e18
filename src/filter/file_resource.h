// file_resource.h: the numbers that a filter makes from a file, as a resource (docs/architecture.md)
#pragma once

#include <stdint.h>

enum { RESOURCE_WHY = 128 };

// Makes numbers, which the caller frees, from the text of a file. NULL: the file is refused; `why` then gets one line.
typedef int32_t *resource_maker(const char *text, int *count, char why[RESOURCE_WHY]);

struct file_resource {
    const int32_t *numbers; // NULL: the file cannot be read, or it is refused
    int count;
    char why[RESOURCE_WHY];
};

// Returns the numbers of a file of at most 64 MiB. They are made at the first call, and again after a change of the
// file. All results stay valid and constant until the program ends, because chains are copied. On any thread. NULL: out
// of memory.
const struct file_resource *file_resource(const char *path, resource_maker *make);
