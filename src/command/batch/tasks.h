// tasks.h: what is to be done: inputs with the outputs they go to
#pragma once

#include "command/batch/inputs.h"
#include "command/batch/naming.h"
#include "command/batch/shard.h"

#include <stdint.h>

struct directory;

struct task {
    const struct input *input;
    char *output;
    struct directory *directory; // of the output; NULL: there is no output
    const struct input *rival;   // FAULT_CLASH: another input that has the same output
    enum fault fault;
};

// Zeroed is empty.
struct tasks {
    struct task *row; // of this shard alone
    size_t count;
};

// Names the outputs of all inputs, finds those that have the same, and keeps the shard's. The inputs must outlive the
// tasks. False on failure (logged).
bool tasks_make(struct tasks *tasks, const struct inputs *inputs, const struct naming *naming,
                const struct shard *shard);
uint64_t tasks_hash(const struct tasks *tasks); // of the names of inputs and outputs
void tasks_free(struct tasks *tasks);
