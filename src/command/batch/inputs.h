// inputs.h: the files that a batch is about, found before anything is done
#pragma once

#include "command/batch/fault.h"

#include <stdbool.h>
#include <stddef.h>

struct input {
    char *path;       // where to read it
    char *name;       // the path as all spellings of it have it; may be the path itself
    char *relative;   // its name below the directory it was found in: "2026/a.jpg"; borrowed from `path`
    enum fault fault; // what finding it came to
    int error;        // the errno value behind the fault
};

// Zeroed is empty.
struct inputs {
    struct input *row;
    size_t count, room;
    size_t made;        // number of outputs of earlier runs that were left out
    size_t directories; // number of subdirectories that were not searched
};

struct inputs_setup {
    const char *const *operand; // files and directories
    int operands;
    bool recursive;         // into directories of directories, symbolic links too
    const char *files_from; // a file of names, one a line, which may end in CR LF; "-" is standard input; NULL: none
    bool null;              // ... each ended by a NUL
    const char *outputs;    // the directory that the outputs go to; NULL: none
};

// Gathers the inputs in the order of the operands; the files of a directory are sorted by name. A directory yields the
// files with an image extension, without hidden files. A named file is an input whatever its name. The walk does not
// enter the directory of the outputs; if that directory is itself an operand, outputs of earlier runs are left out. A
// file named twice, in any spelling, is one input. Unreadable directories, symbolic-link loops and files of formats
// that this build lacks become inputs with a fault. Returns false on failure, which is logged: the list of names cannot
// be read or has too long names, or out of memory.
bool inputs_gather(struct inputs *inputs, const struct inputs_setup *setup);
void inputs_free(struct inputs *inputs);
