// gl_text.h: the steps of a plan in GL, and the fragment shader of each
#pragma once

#include "image/image.h"
#include "path/compose.h"

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
