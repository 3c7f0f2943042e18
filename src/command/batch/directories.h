// directories.h: the directories that outputs go to, each once
#pragma once

#include "command/batch/names.h"
#include "command/batch/tasks.h"

#include <stdatomic.h>

struct directory {
    char *path;       // with its slash; "" is the current one
    char *nearest;    // the directory or, if it is missing, its nearest existing parent; must be writable
    atomic_int error; // errno value of a failure to make a file there; 0: none so far
};

// Zeroed is empty.
struct directories {
    struct directory *row;
    size_t count;
    struct names told; // the nearest ones whose errors were logged
};

// Finds the directory of every task's output, and whether a file can be made in it. The tasks point into the rows.
// Returns false if out of memory; logged.
bool directories_make(struct directories *directories, struct tasks *tasks);
// Logs why no file can be made in the directory; once for all directories with the same cause. For one thread.
void directories_tell(struct directories *directories, const struct directory *directory);
// Removes the temporary files that killed runs left in the directories.
void directories_clean(const struct directories *directories);
void directories_free(struct directories *directories);
