// gl_program.h: compiled shaders, shared by all chains of a path
#pragma once

#include "image/image.h"
#include "path/compose.h"

#include <stdbool.h>

// Finds programs by their text, so that a new value of a parameter needs no compiler.
struct gl_programs {
    struct gl_program *newest; // a list
    int unused;
    struct image_shape input; // of the path's frames
};

// All functions need the builder context (compute/gl_context.h), which one thread has at a time.
void gl_programs_finish(struct gl_programs *programs);

// Returns the program of a fragment shader, compiled or found; the caller returns it with gl_program_put. Takes over
// `text`, which was composed as `parts`. NULL on failure: *error as in path_open.
const struct gl_program *gl_program_get(struct gl_programs *programs, char *text, bool es, const struct composer *parts,
                                        char **error);
void gl_program_put(struct gl_programs *programs, const struct gl_program *program); // accepts NULL
// Uses the program, with a few arguments as uniforms (NULL: they are in a texture).
void gl_program_use(const struct gl_program *program, const int32_t *numbers, int count);
