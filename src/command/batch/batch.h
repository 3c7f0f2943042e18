// batch.h: what the files of the batch command share
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
    int metadata, orientation; // the first of their choices, which keeps things right, or the other
    int jobs;                  // 0: one per CPU
    int subsampling, quality, compression, megapixels;
    int log_level; // -1: not given
};

enum batch_path { BATCH_AUTO, BATCH_CPU, BATCH_OPENCL };

struct batch {
    struct batch_options options;
    struct chain chain;
    char filters[CHAIN_TEXT]; // the chain as text
    char *job;                // what decides the outputs, as text
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
    struct record *record; // NULL: none
    struct totals totals;
    enum path_kind kind; // what the files go through
    char why[120];       // why `auto` chose it; "" if it did not measure
    int threads;         // of a cpu path
    int64_t start_ns;
};

// options.c
extern const struct option_list batch_list;
// False when there is nothing to run; *code is then the exit code.
bool batch_parse(struct batch *batch, int argc, char **argv, struct command_operands *operands, int *code);

// guard.c: whether the report may be written where it is to be: not into an input, the list of them, an output, or what
// is no report. Touches nothing. False where not (logged).
bool batch_check_report(const struct batch *batch);

// Selects the devices that the user wants. Returns false if there is none; logged.
bool batch_open_fleet(struct batch *batch);

// choose.c: whether `-p auto` has enough files to measure; the path that takes less time, with the reason in `why`
bool batch_measures(const struct batch *batch);
enum path_kind batch_choose(struct batch *batch);

// limit.c: makes fewer jobs, and smaller groups of outputs, where few files may be open at once. False where that would
// not do (logged).
bool batch_fit_limit(struct batch *batch);

// worker.c: a thread that takes file after file
struct worker;
// `member` is the fleet's device it uses, -1 for the cpu path. NULL on failure (logged).
struct worker *worker_start(struct batch *batch, int number, int member);
// Waits until it has finished. True where it has lost its device for good. Takes NULL.
bool worker_join(struct worker *worker);

// commit.c: the main thread while workers work: outputs get their names, the report its lines. Returns the signal that
// has ended it early, or 0.
int batch_commit_all(struct batch *batch);

// progress.c: a line on a terminal, which the next one replaces
struct progress {
    bool shown;
    int64_t next_ns; // when it is to be shown again
};
void progress_show(struct progress *progress, const struct totals *totals, size_t files, int64_t start_ns);
void progress_clear(struct progress *progress);
