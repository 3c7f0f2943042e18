// batch.h: the state of one run of the batch command, and the functions that its files share
#pragma once

#include "base/options.h"
#include "command/batch/budget.h"
#include "command/batch/directories.h"
#include "command/batch/queue.h"
#include "command/batch/record.h"
#include "command/batch/work.h"
#include "command/command.h"

struct batch_options {
    const char *filters, *output, *files_from, *device, *memory, *format, *shard, *report, *kernels;
    bool null, recursive, overwrite, skip_existing, skip_newer, json, dry_run, fail_fast;
    int path;                  // enum batch_path
    int metadata, orientation; // 0: keep, apply (the defaults); 1: strip, keep
    int jobs;                  // 0: one per CPU
    int subsampling, quality, compression, megapixels;
    int log_level; // -1: not given
};

enum batch_path { BATCH_AUTO, BATCH_CPU, BATCH_OPENCL };

struct batch {
    struct batch_options options;
    struct chain chain;
    char filters[CHAIN_TEXT]; // the chain as text
    char *job;                // text of all options that decide the bytes of the outputs
    struct naming naming;
    struct shard shard;
    struct inputs inputs;
    struct tasks tasks;
    struct directories directories;
    struct work_rules rules;
    struct fleet fleet;
    struct budget budget;
    struct queue queue;
    struct record_run run;
    struct record *record; // NULL: the run has no report
    struct totals totals;
    enum path_kind kind; // path that runs the filters
    char why[120];       // why `auto` chose it; "" if it did not measure
    int threads;         // threads of one cpu path
    int64_t start_ns;
};

// options.c
extern const struct option_list batch_list;
// Parses the arguments. Returns false if there is nothing to run; *code is then the exit code.
bool batch_parse(struct batch *batch, int argc, char **argv, struct command_operands *operands, int *code);

// guard.c: checks that the report overwrites no input, no output, no list of inputs and no file that is not a report.
// Opens files only for reading. Returns false if it would (logged).
bool batch_check_report(const struct batch *batch);

// Selects the OpenCL devices that the user wants. Returns false if there is none (logged). `-p auto` without -d and
// --kernels can do without a device: then it returns true and leaves the fleet empty.
bool batch_open_fleet(struct batch *batch);

// choose.c: batch_measures returns true if `-p auto` has enough files to measure. If so, batch_choose measures both
// paths with the first file that it can decode, and sets `why`. It returns the path to use; cpu without a measurement.
bool batch_measures(const struct batch *batch);
enum path_kind batch_choose(struct batch *batch);

// limit.c: reduces the number of jobs and of waiting outcomes if the process may open few files. Returns false if the
// limit is too low for one job (logged).
bool batch_fit_limit(struct batch *batch);

// worker.c: a thread that processes one file after the other
struct worker;
// Starts the thread. `member` is the fleet's device that it uses; -1: the cpu path. Returns NULL on failure (logged).
struct worker *worker_start(struct batch *batch, int number, int member);
// Waits until the thread ends and frees the worker. Returns true if it lost its device and could not replace it. Takes
// NULL.
bool worker_join(struct worker *worker);

// commit.c: runs on the main thread until all workers have finished. Syncs and renames the outputs, and writes the
// report. Returns the signal that ended the run early, or 0.
int batch_commit_all(struct batch *batch);

// progress.c: one line on the terminal, which is updated in place. Call on the main thread.
struct progress {
    bool shown;
    int64_t next_ns; // time of the next update
};
void progress_show(struct progress *progress, const struct totals *totals, size_t files, int64_t start_ns);
void progress_clear(struct progress *progress);
