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
    bool inside;        // columns away from the sides have a kernel of their own
    bool sums;          // a work-group walks down a strip with the sums of its columns
};

// A work-item's block, and the largest work-groups of blocks: rows of 32 work-items fill a warp's memory transactions,
// 4 of them share a stencil's neighbours; more leave registers unused where blocks need many.
enum { PASS_WINDOW_RADIUS = 4, PASS_BLOCK_WIDTH = 4, PASS_GROUP_WIDTH = 32, PASS_GROUP_HEIGHT = 4 };
// Work-items of a strip of pass_sums.cl, the outermost of which make nothing, and the rows it walks down.
enum { PASS_SUMS_ITEMS = PASS_GROUP_WIDTH * PASS_GROUP_HEIGHT, PASS_SUMS_ROWS = 16 };
// Local memory that a pass may take: of the largest block and radius there are (opencl_build.c).
enum { PASS_TILE_BYTES = 24 << 10 };

// The program of a pass; the caller frees. Depends on the filters and their radius, not on other parameters or the
// picture's size. NULL on failure: *error as in path_open.
char *pass_text(const struct pass *pass, const struct pass_target *target, const char *kernel_dir, char **error);

// Writes the arguments of the loader and of every stage; returns how many.
int pass_arguments(const struct pass *pass, const struct image_shape *from, int32_t arguments[PASS_ARGUMENTS]);
