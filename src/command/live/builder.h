// builder.h: a thread that builds paths and programs beside the running ones
#pragma once

#include "path/path.h"

enum { BUILDER_LANES = 2 };

// What shall be built.
struct build {
    struct path_setup setup; // its `chain` is ignored
    struct chain chain;
    int shows;         // the asker's
    struct path *path; // prepare the chain on this path, which nobody may close meanwhile; NULL: open a new one
};

struct build_result {
    struct build build; // as asked for
    bool ok;
    struct path *opened; // the new path, the taker's; NULL when one was prepared: path_swap puts it to work
    char *error;         // why not, free it; NULL when ok or when it was logged
};

struct builder;

struct builder *builder_open(void); // NULL on failure (logged)
// Discards what is being built; takes NULL. False where that takes longer than `patience_ms`, since no driver can be
// made to stop compiling: the builder and all it works with must then be left alone until the process ends.
bool builder_close(struct builder *builder, int patience_ms);

// One build at a time for each lane: ask only after the last one was taken.
void builder_ask(struct builder *builder, int lane, const struct build *build);
// The result, once; false while it is not ready or nothing was asked for. `wait` waits for what was asked for.
bool builder_take(struct builder *builder, int lane, struct build_result *result, bool wait);
