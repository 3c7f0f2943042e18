// build.h: builds a path, or a chain for an open path, on a thread of its own while other paths run. Call all on one
// thread. Zeroed is idle.
#pragma once

#include "path/path.h"

#include <pthread.h>
#include <stdatomic.h>

struct build {
    // The job.
    struct path_setup setup; // its `chain` is ignored
    struct chain chain;
    struct path *path; // prepare the chain on this path, which must stay open until then; NULL: open a new path

    // The result, after build_take.
    bool ok;
    struct path *opened; // the new path, which the caller closes; NULL if `path` was prepared for path_swap
    char *error;         // why the build failed, which the caller frees; NULL if ok or if it was logged

    pthread_t thread;
    bool running; // the thread must be joined
    atomic_bool done;
};

// Starts the build of `build`, whose job is set; returns at once. The struct must stay in place until build_take.
void build_start(struct build *build);
// Takes the result of a build that was started, once. False if it still runs.
bool build_take(struct build *build);
// Waits for a build that was not taken, and frees its result. A driver's compiler cannot be stopped: if the build takes
// longer than `patience_ms` (-1: no limit), returns false. The struct, its device and its path must then stay as they
// are until the process exits.
bool build_discard(struct build *build, int patience_ms);
