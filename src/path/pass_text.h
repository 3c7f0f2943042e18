// pass_text.h: a pass as OpenCL text, put together from the kernel files, and the integers that go with it
#pragma once

#include "filter/plan.h"
#include "image/image.h"

enum { PASS_ARGUMENTS = 6 + CHAIN_MAX * FILTER_ARGUMENTS };

// How a pass is turned into kernels.
struct pass_target {
    enum pixfmt format; // of the pictures it reads
    bool to_image;      // writes an image, not a buffer
    int block_rows;     // rows a work-item makes of a block 4 pixels wide; 0: no blocks
    bool sums;          // a work-group walks down a strip with the sums of its columns
    bool lines;         // a work-item makes a part of some rows, line by line; for passes that pass_lines_fit
    bool rows;          // a work-item makes a row, filter by filter; for passes that pass_rows_fit
    bool wide;          // YUV or RGB is converted in vectors, with `lines` or `rows`; for passes that pass_wide_fits
};

// A work-item's block, and the largest work-groups of blocks: rows of 32 work-items fill a warp's memory transactions,
// 4 of them share a stencil's neighbours; more leave registers unused where blocks need many.
enum { PASS_BLOCK_WIDTH = 4, PASS_GROUP_WIDTH = 32, PASS_GROUP_HEIGHT = 4 };
// That part, by measurement: up to 300 kB of private memory. So many for each processor that none waits long for the
// others, but no lower than that the rows it reads besides its own are few.
enum { PASS_LINES_WIDTH = 2048, PASS_LINES_ROWS_MIN = 32, PASS_LINES_PARTS = 6 };
// Work-items of a strip of pass_sums.cl, the outermost of which make nothing, and the rows it walks down.
enum { PASS_SUMS_ITEMS = PASS_GROUP_WIDTH * PASS_GROUP_HEIGHT, PASS_SUMS_ROWS = 16 };
// Local memory that a pass may take: of the largest block and radius there are (opencl_build.c).
enum { PASS_TILE_BYTES = 24 << 10 };

// Whether kernels/wide.cl serves a pass that has no stencil or is made line by line: YUV or RGB becomes RGBA there.
// What filters make of grey compilers know to be grey, which they do not see in words.
bool pass_wide_fits(const struct pass *pass, enum pixfmt from);

// Whether a pass has no stencil and is better made by rows than by pixels: kernels/wide.cl serves it, or a filter's
// kernel makes lines.
bool pass_rows_fit(const struct pass *pass, enum pixfmt from);

// The program of a pass; the caller frees. Depends on the filters and their radius, not on other parameters or the
// picture's size. NULL on failure: *error as in path_open.
char *pass_text(const struct pass *pass, const struct pass_target *target, const char *kernel_dir, char **error);

// Writes the arguments of the loader and of every stage; returns how many.
int pass_arguments(const struct pass *pass, const struct image_shape *from, int32_t arguments[PASS_ARGUMENTS]);
