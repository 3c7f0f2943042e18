// pass_text.h: generates the OpenCL program and the shaders of a pass from the kernel files, and its arguments
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

// ---- the shaders of the gl path ----

// A step draws a pass; a large blur needs two: the sums of rows, then the sums of these.
enum gl_part { PART_WHOLE, PART_ACROSS, PART_DOWN };

// The texels of a texture.
enum gl_texels {
    TEXELS_GREY,      // R8UI
    TEXELS_RGBA,      // RGBA8UI
    TEXELS_GREY_SUMS, // R16UI
    TEXELS_RGBA_SUMS, // RGBA16UI
    TEXELS_SHOWN,     // RGBA8: the chain's output
    TEXELS_KINDS,
};

struct gl_step {
    const struct pass *pass;
    enum gl_part part;
    bool first;                   // it reads a frame
    enum gl_texels reads, writes; // `reads` is unused in the first step
    int numbers;                  // arguments of its filters
    bool few;                     // they are uniforms
};

enum {
    GL_STEPS = 2 * PLAN_PASSES,
    GL_FEW_NUMBERS = 128, // arguments that are uniforms; more are in a texture
};

// Plans a chain for an input of this shape. Returns the number of steps, which point into the plan.
int gl_plan(struct plan *plan, const struct chain *chain, const struct image_shape *input,
            struct gl_step steps[GL_STEPS]);

// Returns the shader of a step; the caller frees it. Its text depends on the filters and their radius, not on other
// parameters or the picture's size. NULL on failure: *error as in path_open.
char *gl_text(const struct gl_step *step, enum pixfmt format, bool es, const char *kernel_dir, char **error);

// Returns a compiler's log with files and their lines instead of lines of the shader: "gray.cl:3: ..."; the caller
// frees it. Never NULL.
char *gl_explain(const char *shader, const char *log);
