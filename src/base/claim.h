// claim.h: the name of an output file from the start of a run to its end. The run does not replace a file that another
// program made meanwhile: its file then gets another name.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct claim {
    char path[PATH_MAX]; // where the run writes; "": nowhere
    bool missing;        // there is no file yet
};

// Takes the name if the file can be written, as file_writable says. False with errno set.
bool claim_take(struct claim *claim, const char *path, bool atomic);
// Creates the file if it was missing; under the first free name of NAME-2.SUFFIX, NAME-3.SUFFIX, ... if another program
// has made one (logged). False with errno set.
bool claim_make(struct claim *claim);
// Does the same, then writes the file as file_write_atomic. False with errno set.
bool claim_write(struct claim *claim, const void *data, size_t size);
