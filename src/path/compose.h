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
// Appends the files of a pass's filters. `stencil`: the file of its stencil; NULL: that of the filter; "": none, the
// template computes the stencil itself.
void compose_code(struct composer *c, const struct pass *pass, const char *stencil);
// Defines the macros of a pass's filters, size, warp, mirrors and flips. The filters' arguments begin at `offset`.
void compose_macros(struct composer *c, const struct pass *pass, int offset);
// Returns the text; the caller frees it. NULL on failure: *error as in path_open.
char *compose_end(struct composer *c, char **error);
