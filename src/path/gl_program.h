// gl_program.h: compiled shaders, shared by all gl paths of a context
#pragma once

#include "base/gl_handles.h"
#include "image/image.h"
#include "path/pass_text.h"

#include <stdbool.h>
#include <stdint.h>

// ---- text of the shaders ----

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

// ---- programs ----

struct gl_program;

// Returns the program of a fragment shader, compiled or found by its text, so that a new value of a parameter needs no
// compiler. The context keeps it until it closes. Needs the builder (compute/gl_context.h), which one thread has at a
// time. Takes over `text`. NULL on failure: *error as in path_open.
struct gl_program *gl_program_get(struct gl_context *context, char *text, bool es, char **error);
// Returns true at the first call for this program.
bool gl_program_is_new(struct gl_program *program);
// Uses the program for an input of this shape, with a few arguments as uniforms (NULL: they are in a texture). Uniforms
// belong to the program, so only the first context may do this. Exception: a new program.
void gl_program_use(const struct gl_program *program, const struct image_shape *input, const int32_t *numbers,
                    int count);
