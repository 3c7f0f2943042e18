// record.h: the record of a batch: a line of JSON for every file, and a summary
#pragma once

#include "command/batch/outcome.h"

// Counted over a run.
struct totals {
    size_t status[STATUSES], fault[FAULTS];
    int64_t step_ns[STEPS];
    uint64_t pixels, input_bytes, output_bytes;
};

// What a run is about.
struct record_run {
    const char *filters, *path; // chain text; "cpu", "opencl"
    const char *path_why;       // why that path was chosen; "" or NULL: the user named it
    size_t files;               // of this shard
    size_t left_out;            // of the directories' files, since earlier runs have made them
    struct shard shard;
    int jobs;
    uint64_t work; // equal for runs that are to do the same
};

// How a report begins.
#define RECORD_BEGINS "{\"start\":"

struct record;

// Appends to the file: what earlier runs recorded stays. NULL on failure (logged).
struct record *record_open(const char *path, const struct record_run *run);
// Adds lines; they reach the file with record_flush. False once writing has failed (logged once).
bool record_add(struct record *record, const struct outcome *outcome);
bool record_flush(struct record *record);
// A line on standard output of what is planned for a file, or of why nothing is.
void record_print_plan(const struct outcome *outcome, bool planned);
// Adds the run's last line. Takes NULL. False where something did not reach the file.
bool record_close(struct record *record, const struct totals *totals, double seconds, int signal);

void totals_add(struct totals *totals, const struct outcome *outcome);
// One line on standard output, as JSON or for people.
void totals_print(const struct totals *totals, const struct record_run *run, double seconds, int signal, bool json);
