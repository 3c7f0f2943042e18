// merge.h: combines the reports of several runs and shards. One thread.
#pragma once

#include "batch/record.h"

// Member of the summary, and of the last line of a merged report: the number of its reports without a start line.
#define MERGE_UNSTARTED "reports_without_start"

struct merge;

struct merge_sum {
    size_t status[STATUSES], fault[FAULTS];
    size_t files;
    size_t missing;                 // files without a line
    int shards;                     // of the batch
    int shards_missing, shards_cut; // shards without a report; shards whose last run did not finish
    int unstarted;                  // reports without a start line
    size_t twice;                   // how often two shards did the same file
    size_t torn;                    // incomplete lines: not a JSON object, or a file without status
};

// Reads the reports; "-" is standard input. Returns NULL on failure (logged); otherwise the caller calls merge_close.
struct merge *merge_open(const char *const *paths, int count);
void merge_close(struct merge *merge); // accepts NULL
struct merge_sum merge_sum(const struct merge *merge);
// Returns what the shard (0 to shards - 1) lacks, such as "did not finish"; NULL: nothing.
const char *merge_shard_fault(const struct merge *merge, int shard);
// Writes all reports as one. Returns false on failure (logged).
bool merge_write(const struct merge *merge, const char *path);
