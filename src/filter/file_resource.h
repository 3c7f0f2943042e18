// file_resource.h: numbers that filters make from files (docs/architecture.md)
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { FILTER_WHY = 128 };

struct file_resource {
    int32_t *numbers; // NULL: the file cannot be read, or it is refused
    int count;
    int width, height; // of a picture (picture.h)
    char why[FILTER_WHY];
};

// Sets the numbers, which free() frees, or `why` to one line.
typedef void resource_maker(const char *path, struct file_resource *made);

// Returns the numbers of a file. They are made at the first call, and again after a change of the file. They stay
// constant until file_resource_put; then a few stay in memory for the next call. On any thread. Never NULL.
const struct file_resource *file_resource_get(const char *path, resource_maker *make);
// The same; if the file is refused now, its latest numbers, with which a view continues.
const struct file_resource *file_resource_latest(const char *path, resource_maker *make);
void file_resource_keep(const struct file_resource *resource); // for another file_resource_put; accepts NULL
void file_resource_put(const struct file_resource *resource);  // accepts NULL
