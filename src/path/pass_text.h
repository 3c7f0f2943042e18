// pass_text.h: a pass as OpenCL text, put together from the kernel files, and the integers that go with it
#pragma once

#include "image/image.h"
#include "path/variants.h"

enum { PASS_ARGUMENTS = 6 + CHAIN_MAX * FILTER_ARGUMENTS };

// The program of a pass as a variant runs it; the caller frees. Depends on the filters and their radius, not on other
// parameters or the picture's size. NULL on failure: *error as in path_open.
char *pass_text(const struct pass *pass, const struct pass_target *target, const struct variant_choice *choice,
                const char *kernel_dir, char **error);

// Whether a pass has work ahead of its stencil: converting, or point filters.
bool pass_works_ahead(const struct pass *pass, enum pixfmt from);

// Writes the arguments of the loader and of every stage; returns how many.
int pass_arguments(const struct pass *pass, const struct image_shape *from, int32_t arguments[PASS_ARGUMENTS]);
