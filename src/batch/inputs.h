// inputs.h: finds the input files of a batch, and waits for new ones
#pragma once

#include "batch/outcome.h"

#include <stdbool.h>
#include <stddef.h>

struct input {
    char *path;
    char *relative;   // the part of `path` below the operand's directory: "2026/a.jpg"
    enum fault fault; // why it cannot be processed; FAULT_NONE if nothing is wrong so far
    int error;        // errno value behind the fault
};

// Initialise with zeros.
struct inputs {
    struct input *row;
    size_t count;
    size_t made;        // outputs of earlier runs that were left out
    size_t directories; // subdirectories that were not searched
    // Images left out: their extension is of a format that monocle cannot read.
    char **foreign;
    size_t foreigns;
};

struct inputs_setup {
    const char *const *operand; // files and directories
    int operands;
    bool recursive;         // search subdirectories, through symbolic links too
    const char *files_from; // list of names, one per line, with LF or CR LF; "-" is standard input; NULL: none
    bool null;              // ... a NUL byte ends each name
    const char *outputs;    // directory of the outputs; NULL: none
};

// Gathers the inputs in the order of the operands, and sorts the files of a directory by name. From a directory, it
// takes the visible files with an image extension. It takes every file that an operand or the list names. It does not
// enter the directory of the outputs; if that directory is itself an operand, it leaves out the outputs of earlier
// runs. A file named twice, in any spelling, is one input. Unreadable directories, symbolic-link loops and files of
// formats that this build lacks become inputs with a fault. Returns false on failure (logged): too many
// files, or a list that cannot be read or has too long names.
bool inputs_gather(struct inputs *inputs, const struct inputs_setup *setup);
void inputs_free(struct inputs *inputs);

enum { WATCH_DIRECTORIES = 256 };

struct watch {
    int fd;
    int directories; // still watched
    struct watch_directory {
        int id; // of file_watch; -1: removed
        const char *path;
    } directory[WATCH_DIRECTORIES];
    char **name; // the files of the last watch_wait; the watch owns them
    int names;
};

// Starts to watch directories; the paths are borrowed. Returns false on failure (logged). watch_close is needed in
// either case.
bool watch_open(struct watch *watch, const char *const *path, int count);
void watch_close(struct watch *watch);
// Waits until visible image files have been written or moved into the directories, and lists those that arrived
// together: none after `most_ms` (-1: without limit). Returns false if a signal arrives, no directory is left, or on
// failure (both logged); `*failed` is then true, except for a signal.
bool watch_wait(struct watch *watch, int most_ms, bool *failed);
void watch_add(struct watch *watch, const char *path); // adds a file to the list, once
