// scratch.h: a directory for the files of one test program
#pragma once

#include "check.h"

#include <stdbool.h>
#include <stddef.h>

struct scratch {
    char dir[256];
    char path[512];       // of the last file named
    struct captured said; // for tests that capture standard error
};

bool scratch_open(struct scratch *scratch);  // returns false (logged) if no directory can be made
void scratch_close(struct scratch *scratch); // removes the directory and its files
// Returns the path of a file in the directory; valid until the next call.
const char *scratch_path(struct scratch *scratch, const char *name);
// Writes a file, or exits the program. Returns its path, as scratch_path does.
const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t size);
