// shard.h: divides a batch into parts by file names alone, so that machines need not communicate
#pragma once

#include <stdbool.h>

struct shard {
    int index, count; // 0 to count - 1; a count of 1 means all files
};

// Parses "K/N", with K from 1, or "N". For "N", the index is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX modulo N:
// tasks may count from 0 or from 1, and a repeated task gets the same files. Returns false on failure (logged).
bool shard_parse(struct shard *shard, const char *text);
// Returns true if the shard has the file. Hashes the name (XXH3, 64 bits, modulo the count), so a new file moves no
// other file to another shard.
bool shard_has(const struct shard *shard, const char *relative);
