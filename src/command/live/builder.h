// builder.h: a thread that builds paths and chains while others run. Only the thread that opened the builder may call
// it.
#pragma once

#include "path/path.h"

enum { BUILDER_LANES = 2 };

// A job.
struct build {
    struct path_setup setup; // its `chain` is ignored
    struct chain chain;
    int shows;         // not used by the builder
    struct path *path; // prepare the chain on this path, which must stay open until then; NULL: open a new path
};

struct build_result {
    struct build build; // the job
    bool ok;
    struct path *opened; // the new path, which the caller closes; NULL if build.path was prepared for path_swap
    char *error;         // why the build failed, which the caller frees; NULL if ok or if it was logged
};

struct builder;

struct builder *builder_open(void); // NULL on failure (logged)
// Waits for the running build and discards it; takes NULL. A driver's compiler cannot be stopped: if the build takes
// longer than `patience_ms`, returns false. The builder, its devices and its paths must then stay as they are until the
// process exits.
bool builder_close(struct builder *builder, int patience_ms);

// Starts a build; returns at once. A lane has one build at a time: call this only after builder_take returned true for
// the last one.
void builder_ask(struct builder *builder, int lane, const struct build *build);
// Returns a build's result once. False if the lane has no build, or if the build still runs; `wait` waits for it.
bool builder_take(struct builder *builder, int lane, struct build_result *result, bool wait);
