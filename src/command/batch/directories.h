// directories.h: the directories of the outputs, each listed once
#pragma once

#include "command/batch/names.h"
#include "command/batch/tasks.h"

#include <stdatomic.h>

struct directory {
    char *path;       // ends with a slash; "" is the working directory
    char *nearest;    // the directory or, if it is missing, its nearest existing parent; must be writable
    atomic_int error; // errno value of a failure to make a file there; 0: none so far
};

// Initialise with zeros.
struct directories {
    struct directory *row;
    size_t count;
    struct names told; // values of `nearest` whose errors were logged
};

// Lists the directory of every task's output, and checks whether a file can be created there. The tasks point into the
// rows. Returns false if out of memory (logged).
bool directories_make(struct directories *directories, struct tasks *tasks);
// Logs why no file can be created in the directory, once for all directories with the same `nearest`. Call on one
// thread only.
void directories_tell(struct directories *directories, const struct directory *directory);
// Removes the temporary files that killed runs left in the directories.
void directories_clean(const struct directories *directories);
void directories_free(struct directories *directories);
