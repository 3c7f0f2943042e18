// record.h: the report of a batch (one line of JSON per file), and its counts
#pragma once

#include "batch/tasks.h"

#include <stdio.h>

// Sums over one run
struct totals {
    size_t status[STATUSES], fault[FAULTS];
    int64_t step_ns[STEPS];
    uint64_t pixels, input_bytes, output_bytes;
    size_t on_cpu; // files that the cpu path filtered
};

// The description of a run, for its start line and summary
struct record_run {
    const char *filters, *path; // the chain as text; "cpu" or "opencl"
    const char *path_why;       // why `auto` chose the path; "": it did not measure
    size_t files;               // number of files in this shard
    size_t left_out;            // files that were left out because earlier runs made them
    struct shard shard;
    int jobs;
    uint64_t work; // identifies the job and its files: equal for runs that continue each other
};

// The report of a run. Zeroed: there is none, and the functions do nothing.
struct record {
    const char *path;
    FILE *file;
    bool begun;  // the start line is written
    bool failed; // a line could not be written (logged)
};
struct json_t; // of jansson

// Checks that a report at `path` overwrites no input, no output of any shard, no list of inputs (`files_from`, or NULL)
// and no file that is not a report. Opens files only for reading. Returns false if it would (logged).
bool record_check(const char *path, const char *files_from, const struct inputs *inputs, const struct naming *naming);

// Opens the report, locks it and appends the start line. Keeps the lines of earlier runs. `path` must outlive the
// report. Returns false on failure (logged).
bool record_open(struct record *record, const char *path, const struct record_run *run);
// Buffers a line.
void record_add(struct record *record, const struct outcome *outcome);
// Writes the buffered lines. Returns false if any line could not be written (logged once).
bool record_flush(struct record *record);
// Writes the end line and closes the report. Returns false if any line could not be written.
bool record_close(struct record *record, const struct totals *totals, double seconds, int signal);

void totals_add(struct totals *totals, const struct outcome *outcome);
size_t totals_left(const struct totals *totals, const struct record_run *run); // number of files not reached

// Each of these returns a new JSON object.
// The plan for a file, or the reason why it is skipped or fails
struct json_t *record_plan(const struct outcome *outcome, bool planned);
// The summary of a run
struct json_t *record_summary(const struct totals *totals, const struct record_run *run, double seconds, int signal);
// The numbers of files by status and, in "errors", by fault
struct json_t *record_counts(const size_t status[STATUSES], const size_t fault[FAULTS]);
