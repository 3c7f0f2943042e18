// scratch.h: a directory of a test's own files, and what the code under test wrote to standard error
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct scratch {
    char dir[256];
    char path[512];  // of the last file named
    char said[4096]; // what was caught by scratch_caught
    int real_stderr, catcher;
};

bool scratch_open(struct scratch *scratch);  // false (explained) where no directory can be made
void scratch_close(struct scratch *scratch); // removes the directory and all in it
const char *scratch_path(struct scratch *scratch, const char *name);
const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t size);

// Between the two, standard error is caught; the second returns how many lines came and keeps them in `said`.
void scratch_catch(struct scratch *scratch);
int scratch_caught(struct scratch *scratch);
