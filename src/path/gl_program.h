// gl_program.h: compiled shaders, shared by all gl paths of a context
#pragma once

#include "base/gl_handles.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

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
