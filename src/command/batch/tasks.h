// tasks.h: the tasks of a batch: each input with its output
#pragma once

#include "command/batch/inputs.h"
#include "command/batch/naming.h"
#include "command/batch/shard.h"

#include <stdint.h>

struct directory;

struct task {
    const struct input *input;
    char *output;
    struct directory *directory; // directory of the output; NULL: there is no output
    const struct input *rival;   // FAULT_CLASH: another input that has the same output
    enum fault fault;
};

// Initialise with zeros.
struct tasks {
    struct task *row; // tasks of this shard only
    size_t count;
};

// Names the outputs of all inputs, marks inputs that share an output with FAULT_CLASH, and keeps the tasks of the
// shard. The inputs must outlive the tasks. Returns false on failure (logged).
bool tasks_make(struct tasks *tasks, const struct inputs *inputs, const struct naming *naming,
                const struct shard *shard);
uint64_t tasks_hash(const struct tasks *tasks); // hash of all input and output names, independent of their order
void tasks_free(struct tasks *tasks);
