// pass_text.h: generates the OpenCL program of a pass from the kernel files, and its arguments
#pragma once

#include "base/resource.h"
#include "filter/plan.h"
#include "image/image.h"
#include "path/variants.h"

#include <stdio.h>

// ---- composition ----

enum { COMPOSE_FILES = 64, COMPOSE_NAME = 64 };

// Text under construction, and the names of its parts.
struct composer {
    FILE *out;
    bool glsl; // GLSL has no names in #line, so comments have them (gl_explain)
    const char *kernel_dir;
    char part[COMPOSE_FILES][COMPOSE_NAME];
    bool user[COMPOSE_FILES]; // a user's filter, which may have the name of a kernel file
    int parts;
    char why[RESOURCE_WHY]; // the failure; "": none
    char *text;
    size_t bytes;
};

void compose_start(struct composer *c, bool glsl, const char *kernel_dir);
// Begins a part that comes from no file.
void compose_part(struct composer *c, const char *name);
// Appends the kernel files that a file includes, each once, and then the file.
void compose_file(struct composer *c, const char *file);
// Appends the files of these filters, the users' ones with functions that call them.
void compose_stages(struct composer *c, const struct stage *const *stages, int count);
// Appends the files of a pass's filters. `stencil`: the file of its stencil; NULL: that of the filter; "": none, the
// template computes the stencil itself.
void compose_code(struct composer *c, const struct pass *pass, const char *stencil);
// Defines the macros of a pass's filters, size, warp, mirrors and flips. The filters' arguments begin at `offset`.
void compose_macros(struct composer *c, const struct pass *pass, int offset);
// Returns the text; the caller frees it. NULL on failure: *error as in path_open.
char *compose_end(struct composer *c, char **error);

// ---- the program of a pass ----

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
