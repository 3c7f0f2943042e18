// shader.h: GL programs from the embedded shader files
#pragma once

#include <stdbool.h>

// Returns the program of shaders/NAME.vert and shaders/NAME.frag for the current context (GL 3.3 core or ES 3.0); the
// caller deletes it. 0 on failure (logged with the compiler's message).
unsigned shader_build(const char *name);

// Returns true if desktop GL draws on the CPU (Mesa's llvmpipe). To copy pixels is then much faster than to draw them.
bool shader_on_cpu(void);
