// directories.h: the directories that outputs go to, each once
#pragma once

#include "command/batch/names.h"
#include "command/batch/tasks.h"

#include <stdatomic.h>

struct directory {
    char *path;       // with its slash; "" is the current one
    char *nearest;    // the same or, where that is missing, the nearest above: what has to be writable
    atomic_int error; // errno value: why no file can be made; 0: none is known
};

// Zeroed is empty.
struct directories {
    struct directory *row;
    size_t count;
    struct names told; // the nearest ones whose errors were logged
};

// Finds the directory of every task's output, and whether a file can be made in it. The tasks point into the rows.
// False where there is no memory (logged).
bool directories_make(struct directories *directories, struct tasks *tasks);
// Logs why no file can be made in it, once for all that have the same reason. For one thread.
void directories_tell(struct directories *directories, const struct directory *directory);
// Removes what runs that were killed have left in them.
void directories_clean(const struct directories *directories);
void directories_free(struct directories *directories);
