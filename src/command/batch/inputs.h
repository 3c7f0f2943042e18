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
    size_t made;        // files of directories that are left out, since earlier runs have made them
    size_t directories; // in directories, that were not descended into
};

struct inputs_setup {
    const char *const *operand; // files and directories
    int operands;
    bool recursive;         // into directories of directories, symbolic links too
    const char *files_from; // a file of names, one a line, which may end in CR LF; "-" is standard input; NULL: none
    bool null;              // ... each ended by a NUL
    const char *outputs;    // the directory that the outputs go to; NULL: none
};

// In the order given, directories' files by name. From directories come files whose name says picture and does not
// begin with a dot; what else is named is taken as it is. The directory of the outputs is not descended into; where it
// is named itself, the files in it that earlier runs have made are left out. A name given twice counts once, however it
// is spelled: the first time. Directories that cannot be read, links in circles and directories' files of formats that
// this build lacks become inputs with a fault. False on failure (logged): a list that cannot be read or has names too
// long, no memory.
bool inputs_gather(struct inputs *inputs, const struct inputs_setup *setup);
void inputs_free(struct inputs *inputs);
