// report.h: the report of a batch (one line of JSON per file), its counts, and the sum of several reports
#pragma once

#include "batch/tasks.h"

#include <stdio.h>

// Sums over one run
struct totals {
    size_t status[STATUSES], fault[FAULTS];
    int64_t step_ns[STEPS];
    uint64_t pixels, input_bytes, output_bytes;
    size_t on_cpu;  // files that the cpu path filtered
    size_t waiting; // skipped files that wait for a filter's file
};

// The description of a run, for its start line and summary
struct batch_run {
    const char *filters, *path; // the chain as text; "cpu" or "opencl"
    const char *path_why;       // why `auto` chose the path; "": it did not measure
    size_t files;               // number of files in this shard
    size_t left_out;            // files that were left out because earlier runs made them
    struct shard shard;
    int jobs;
    uint64_t work; // identifies the job and its files: equal for runs that continue each other
};

// The report of a run. Zeroed: there is none, and the functions do nothing.
struct batch_report {
    const char *path;
    FILE *file;
    bool begun;  // the start line is written
    bool failed; // a line could not be written (logged)
};
struct json_t; // of jansson

// Checks that a report at `path` overwrites no input, no output of any shard, no list of inputs (`files_from`, or NULL)
// and no file that is not a report. Opens files only for reading. Returns false if it would (logged). Without inputs,
// `naming` may be NULL.
bool batch_report_check(const char *path, const char *files_from, const struct inputs *inputs,
                        const struct naming *naming);

// Opens the report, locks it and appends the start line. Keeps the lines of earlier runs. `path` must outlive the
// report. Returns false on failure (logged).
bool batch_report_open(struct batch_report *report, const char *path, const struct batch_run *run);
// Buffers a line.
void batch_report_add(struct batch_report *report, const struct outcome *outcome);
// Writes the buffered lines. Returns false if any line could not be written (logged once).
bool batch_report_flush(struct batch_report *report);
// Writes the end line and closes the report. Returns false if any line could not be written.
bool batch_report_close(struct batch_report *report, const struct totals *totals, double seconds, int signal);

void totals_add(struct totals *totals, const struct outcome *outcome);
size_t totals_left(const struct totals *totals, const struct batch_run *run); // number of files not reached

// Each of these returns a new JSON object.
// The plan for a file, or the reason why it is skipped or fails
struct json_t *batch_report_plan(const struct outcome *outcome, bool planned);
// The summary of a run
struct json_t *batch_report_summary(const struct totals *totals, const struct batch_run *run, double seconds,
                                    int signal);
// The numbers of files by status and, in "errors", by fault
struct json_t *batch_report_counts(const size_t status[STATUSES], const size_t fault[FAULTS]);

// ---- reports of several runs and shards, combined (merge.c); one thread ----

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
// Returns the lines of the failed files, at most `most`, as an array of JSON objects.
struct json_t *merge_failures(const struct merge *merge, size_t most);
// Writes all reports as one. Returns false on failure (logged).
bool merge_write(const struct merge *merge, const char *path);
