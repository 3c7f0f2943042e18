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

// What the last run of a shard says of itself.
struct merge_shard {
    size_t files;      // it is to have
    char *start, *end; // its lines, JSON, without newline; NULL: there is none
};

// Zeroed is empty.
struct merge {
    struct merge_row *row;
    size_t count, room;
    struct names names; // of the rows' keys
    struct merge_shard *shard;
    int shards;    // N; 0: not known yet
    int unstarted; // reports that do not begin with a run's start: of what, nobody knows
    size_t torn;   // lines that are no JSON: of runs that were killed
    size_t twice;  // files that more than one shard has done
    bool unlike;   // reports of different numbers of shards
};

// The member of a line that a merged report ends with: how many of those it is made of are `unstarted`.
#define MERGE_UNSTARTED "reports_without_start"

// Adds a report. Of a file's lines the last one counts, but done stays done where another run skipped it or found the
// output there. Warns of a report that does not begin with a run's start. False on failure (logged).
bool merge_add(struct merge *merge, const char *path);
void merge_sort(struct merge *merge); // rows by shard and input
void merge_free(struct merge *merge);
