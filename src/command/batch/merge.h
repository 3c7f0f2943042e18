// merge.h: the reports of several runs, and of several shards, as one
#pragma once

#include "command/batch/names.h"
#include "command/batch/outcome.h"

struct merge_row {
    char *key;  // input and output
    char *line; // JSON, without newline
    enum status status;
    enum fault fault;
    int shard;   // 1..N; 0: of no known run
    size_t work; // number of what the last run that told of it was to do; 0: of no known run
    bool stale;  // which is not what the last run of the shard was to do
};

// What runs of a shard were to do: a job on certain files.
struct merge_work {
    char *key;
    char *start;        // the line with which the last of these runs began, JSON, without newline
    int shard;          // 1..N
    size_t files, told; // the files it is about; those of them that lines tell of
};

struct merge_shard {
    size_t work; // number of what its last run was to do; 0: it has none
    char *end;   // that run's last line, JSON, without newline; NULL: there is none
};

// Zeroed is empty.
struct merge {
    struct merge_row *row;
    size_t count, room;
    struct names names;      // of the rows' keys
    struct merge_work *work; // in order of number, from 1
    size_t works;
    struct names work_names; // their keys
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
// Sorts rows by shard and input, those behind others that tell of what the shard's last run was to do, and counts them.
void merge_sort(struct merge *merge);
void merge_free(struct merge *merge);
