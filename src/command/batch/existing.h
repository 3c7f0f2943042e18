// existing.h: what is done about an output that is there already
#pragma once

#include "command/batch/outcome.h"

enum existing_rule {
    EXISTING_REFUSE,    // an error, unless this very job has made it
    EXISTING_OVERWRITE, // it is replaced
    EXISTING_SKIP,      // it is left as it is
    // It is left where it is no older than the input, unless its mark says that another job made it; else replaced.
    EXISTING_SKIP_NEWER,
};

// Files that must not be replaced: all inputs, by what they are, whatever their names.
struct sources {
    struct source_id {
        dev_t device;
        ino_t inode;
    } * row; // sorted
    size_t count;
};

bool sources_make(struct sources *sources, const struct inputs *inputs); // false: no memory (logged)
void sources_free(struct sources *sources);

// Whether the task is to be done: sets the outcome to skipped or failed where not, and `replace` and `mode` where it
// is.
bool existing_allows(enum existing_rule rule, const struct sources *sources, const struct stat *input,
                     const struct output_mark *mark, struct outcome *outcome);
