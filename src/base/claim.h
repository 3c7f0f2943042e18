// claim.h: the name of an output file from the start of a run to its end. If another program creates a file of this
// name during the run, the run does not replace that file, but writes its output under another name. One thread at a
// time.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct claim {
    char path[PATH_MAX]; // of the output; claim_make may change it; "": no output
    bool missing;        // the file did not exist at claim_take, and claim_make has not created it yet
};

// Fills in the claim. Creates no file. `atomic`: as in file_writable. False with errno set: the file cannot be written.
bool claim_take(struct claim *claim, const char *path, bool atomic);
// Creates the file if it was missing. If another program has created it meanwhile (logged), uses the first free name of
// NAME-2.SUFFIX, NAME-3.SUFFIX, ... *file: the descriptor of the file that it created, for writing, which the caller
// closes; later the name may be that of another file. -1: no file was missing. False with errno set.
bool claim_make(struct claim *claim, int *file);
// Calls claim_make, then writes the new file, or replaces the older one as file_write_atomic does. False with errno
// set; a file that it created is removed.
bool claim_write(struct claim *claim, const void *data, size_t size);
