// file_resource.h: numbers that filters make from files (docs/architecture.md)
#pragma once

#include <stdbool.h>
#include <stddef.h>
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

// ---- files of the filter lut: .cube tables of Adobe and DaVinci Resolve (lut.c) ----

resource_maker cube_file; // the same as cube_read for a file of at most 64 MiB, or a Hald picture

enum { CUBE_SIDE_MAX = 128, CUBE_LINE_MAX = 65536 }; // entries on a side of a 3D table, and of a 1D table

// Makes the arguments of kernels/lut.cl, which the caller frees. NULL: the text is refused; `why` names the line.
int32_t *cube_read(const char *text, int *count, char why[FILTER_WHY]);

// ---- the file of the filter remap: a PGM image of places (remap.c) ----

// Makes the values, row by row, from the bytes of a file; sets width and height, which is even. `made` is zeroed.
void place_read(const char *bytes, size_t size, struct file_resource *made);
