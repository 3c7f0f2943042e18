// pass_text.h: generates the OpenCL program of a pass from the kernel files, and its arguments
#pragma once

#include "image/image.h"
#include "path/variants.h"

enum { YUV_ARGUMENTS = 6 };

// Returns the program of a pass for a variant; the caller frees it. It depends on the filters, their radius, and
// whether a warp moves whole pixels, with the variant `local` also on the number of arguments; not on other parameters
// or the picture's size. NULL on failure: *error as in
// path_open.
char *pass_text(const struct pass *pass, const struct pass_target *target, const struct variant_choice *choice,
                const char *kernel_dir, char **error);

// Returns the compiler's options for a variant on a device; a static text.
const char *pass_options(const struct variant_choice *choice, const struct device_info *device);

// Returns true if a pass converts or filters before its stencil. `from` is the format that it reads.
bool pass_prepares_input(const struct pass *pass, enum pixfmt from);

// Returns the count of the arguments of the loader and of every stage.
int pass_argument_count(const struct pass *pass, const struct pass_target *target);
// A stage some of whose arguments depend on the frame, and where its arguments begin among those of the pass.
struct pass_follower {
    const struct stage *stage;
    int at;
};
// Fills in the followers of a pass. Returns their number.
int pass_followers(const struct pass *pass, const struct pass_target *target,
                   struct pass_follower followers[CHAIN_MAX]);
bool pass_has_users(const struct pass *pass); // returns true if one of its filters is a user's
void pass_arguments(const struct pass *pass, const struct pass_target *target, int32_t *arguments); // writes them
