// existing.h: decides about an output that exists already
#pragma once

#include "command/batch/outcome.h"

enum existing_rule {
    EXISTING_REFUSE,    // the task fails, or is skipped if an earlier run of the same job made the output
    EXISTING_OVERWRITE, // replace the output
    EXISTING_SKIP,      // skip the task
    // Skip the task if the same job made the output. Also skip it if the output is not older than the input, unless
    // another job made the output. Otherwise replace the output.
    EXISTING_SKIP_NEWER,
};

// The identities of all inputs. An output must not replace one of these files, whatever its name is.
struct sources {
    struct source_id {
        dev_t device;
        ino_t inode;
    } * row; // sorted by device and inode
    size_t count;
};

bool sources_make(struct sources *sources, const struct inputs *inputs); // returns false if out of memory (logged)
void sources_free(struct sources *sources);

// Decides whether to process the task. If so, returns true and sets `replace`, `mode` and `group` of the outcome.
// Otherwise returns false, and the outcome is skipped or failed.
bool existing_allows(enum existing_rule rule, const struct sources *sources, const struct stat *input,
                     const struct output_mark *mark, struct outcome *outcome);
