// claim.h: the name of an output file from the start of a run to its end. If another program creates a file of this
// name during the run, or replaces the file, the run does not replace that file, but writes its output under another
// name. One thread at a time.
#pragma once

#include "base/file.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct claim {
    char path[PATH_MAX]; // of the output; claim_make may change it; "": no output
    bool missing;        // the file did not exist at claim_take, and claim_make has not created it yet
    struct file_id own;  // the file that this run may replace; zero: any
};

// Fills in the claim. Creates no file. False with errno set: the file cannot be written.
bool claim_take(struct claim *claim, const char *path);
// Creates the file if it was missing. If another program has created or replaced it meanwhile (logged), uses the first
// free name of NAME-2.SUFFIX, NAME-3.SUFFIX, ... *file: the descriptor of the file that it created, for writing, which
// the caller closes; later the name may be that of another file. -1: no file was missing. False with errno set.
bool claim_make(struct claim *claim, int *file);
// Calls claim_make, then writes the new file, or replaces the older one as file_write_atomic does. False with errno
// set; a file that it created is removed.
bool claim_write(struct claim *claim, const void *data, size_t size);

// An output that grows during the run: the file that the run has created, or a draft that replaces the file at the end.
struct growing {
    bool drafted;
    struct file_draft draft;
};
// Opens the output `name`. *file: the descriptor of claim_make, which stays open also on failure; -1: becomes that of a
// draft, or stays -1 for a pipe or a device, which the caller opens. Locks the file against other runs. Returns NULL,
// or why the file cannot be written.
const char *growing_open(struct growing *growing, const char *name, int *file);
// Call after the descriptor is closed. A `complete` draft replaces the file. If that fails, it keeps its own name. The
// same if it is not complete; without `keep` it is then removed. Logs where it is. Returns false if a complete one
// cannot be renamed; true if another program has replaced the file.
bool growing_close(struct growing *growing, const char *name, bool complete, bool keep);
