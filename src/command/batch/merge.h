// merge.h: combines the reports of several runs and shards
#pragma once

#include "command/batch/names.h"
#include "command/batch/outcome.h"

struct merge_row {
    char *key;  // names of input and output
    char *line; // the file's line of JSON, without newline
    enum status status;
    enum fault fault;
    int shard;   // 1 to N; 0: the line belongs to no known run
    size_t work; // number of the work of the last run with a line of this file; 0: no known run
    bool stale;  // `work` is not the work of the shard's last run
};

// The work of one or more runs of a shard: one job on a set of files. Runs with the same work continue each other.
struct merge_work {
    char *key;
    char *start;        // start line of the last of these runs, JSON, without newline
    int shard;          // 1 to N
    size_t files, told; // files to process; files that have a line
};

struct merge_shard {
    size_t work; // number of the work of its last run; 0: the shard has no run
    char *end;   // end line of that run, JSON, without newline; NULL: the run did not finish
};

// Initialise with zeros.
struct merge {
    struct merge_row *row;
    size_t count, room;
    struct names names;      // keys of the rows
    struct merge_work *work; // work number n is work[n - 1]
    size_t works;
    struct names work_names; // keys of the works
    struct merge_shard *shard;
    int shards;    // N; 0: unknown yet
    int unstarted; // reports without a start line
    size_t torn;   // incomplete lines: not a JSON object, or a file without status
    size_t twice;  // how often two shards did the same file
    bool unlike;   // the reports have different numbers of shards
};

// Member of the last line of a merged report: the number of its reports without a start line.
#define MERGE_UNSTARTED "reports_without_start"

// Adds a report. The last line of a file counts, but a file that is done stays done if a later run skips it or finds
// its output. Warns about a report without a start line. Returns false on failure (logged).
bool merge_add(struct merge *merge, const char *path);
// Sorts the rows by shard, and within a shard by work and key, with the last run's work at the end. Counts the files of
// each work that have a line.
void merge_sort(struct merge *merge);
void merge_free(struct merge *merge);
