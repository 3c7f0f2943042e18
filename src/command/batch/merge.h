// merge.h: the reports of several runs, and of several shards, as one
#pragma once

#include "command/batch/names.h"
#include "command/batch/outcome.h"

struct merge_row {
    char *key;  // input and output
    char *line; // JSON, without newline
    enum status status;
    enum fault fault;
    int shard; // 1..N
};

struct merge_shard {
    size_t files;     // it is to have
    bool seen, ended; // its last run has
};

// Zeroed is empty.
struct merge {
    struct merge_row *row;
    size_t count, room;
    struct names names; // of the rows' keys
    struct merge_shard *shard;
    int shards;   // N; 0: not known yet
    size_t torn;  // lines that are no JSON: of runs that were killed
    size_t twice; // files that more than one shard has done
    bool unlike;  // reports of different numbers of shards
};

// Adds a report. Of a file's lines the last one counts, but done stays done where a later run skipped it. False on
// failure (logged).
bool merge_add(struct merge *merge, const char *path);
void merge_sort(struct merge *merge); // rows by input
void merge_free(struct merge *merge);
