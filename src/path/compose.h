// compose.h: assembles the program of a pass from kernel files and macros, as OpenCL C or GLSL
#pragma once

#include "base/resource.h"
#include "filter/plan.h"

#include <stdio.h>

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

// False: out of memory. *error as in path_open.
bool compose_start(struct composer *c, bool glsl, const char *kernel_dir, char **error);
// Begins a part that comes from no file.
void compose_part(struct composer *c, const char *name);
// Appends the kernel files that a file includes, each once, and then the file.
void compose_file(struct composer *c, const char *file);
// Appends the files of these filters, the users' ones with functions that call them.
void compose_stages(struct composer *c, const struct stage *const *stages, int count);
// Defines a macro that applies point filters in order. The arguments of the first filter begin at `offset`. Returns the
// end of the last filter's arguments.
int compose_points(struct composer *c, const char *macro, const struct stage *const *stages, int count, int offset);
// Defines the macros of a pass's stencil. Otherwise as compose_points.
int compose_stencil(struct composer *c, const struct stage *stage, int offset);
// Defines the macros of a filter that gets its previous output. Otherwise as compose_points.
int compose_last(struct composer *c, const struct stage *stage, int offset);
// Defines the macros of a pass's size, warp, mirrors and flips. The arguments of the warp begin at `offset`.
void compose_geometry(struct composer *c, const struct pass *pass, int offset);
// Returns the text; the caller frees it. NULL on failure: *error as in path_open.
char *compose_end(struct composer *c, char **error);
