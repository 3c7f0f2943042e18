// shader.h: GL programs from the embedded shader files
#pragma once

#include <stdbool.h>

// Program of shaders/NAME.vert and shaders/NAME.frag; the caller deletes it. 0 on failure (logged with the compiler's
// words). Behind the version line the files are the same for GL 3.3 core and ES 3.0.
unsigned shader_build(const char *name, bool es);

// Whether desktop GL draws on the CPU (Mesa's llvmpipe): copying pixels then costs a fraction of drawing them.
bool shader_on_cpu(void);
