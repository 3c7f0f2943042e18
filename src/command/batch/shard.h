// shard.h: one of several parts of a batch, chosen by names alone, so that machines need not talk to each other
#pragma once

#include <stdbool.h>

struct shard {
    int index, count; // 0..count-1; a count of 1 is everything
};

// "K/N" with K from 1, or "N": then K is SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX modulo N, so that it does not
// matter whether tasks count from 0 or from 1, and one that is run again alone finds the same files. False on failure
// (logged).
bool shard_parse(struct shard *shard, const char *text);
// By a hash of the name (XXH3, 64 bits, modulo the count): adding a file moves no other.
bool shard_has(const struct shard *shard, const char *relative);
