// batch.h: filters many image files: finds them, runs the workers, commits their outputs, writes the report
//
// Call it on the main thread. It logs errors; a caller prints all other output in its hooks, which run on this thread.
#pragma once

#include "base/process.h"
#include "batch/report.h"
#include "filter/chain.h"

enum batch_path { BATCH_AUTO, BATCH_CPU, BATCH_OPENCL, BATCH_GL };
enum batch_subsampling { SUBSAMPLING_KEEP, SUBSAMPLING_420, SUBSAMPLING_422, SUBSAMPLING_444 };

enum batch_metadata { METADATA_KEEP, METADATA_STRIP, METADATA_NO_LOCATION };

// How the outputs are encoded.
struct batch_encoding {
    int metadata;             // enum batch_metadata
    int keep_orientation;     // 0 or 1
    int keep_color;           // 0: convert to sRGB, 1: keep
    int subsampling;          // enum batch_subsampling
    int quality, compression; // 0: not given
};

// The texts are borrowed; NULL: not given.
struct batch_setup {
    const char *files_from, *device, *report, *kernels;
    bool null, recursive, dry_run, fail_fast, watch, no_sync;
    int path; // enum batch_path
    int jobs; // 0: one per CPU
    struct batch_encoding encoding;
    int megapixels; // 0: no limit
    struct chain chain;
    char chain_text[CHAIN_TEXT];
    struct naming naming; // of the outputs
    struct shard shard;
    enum existing_rule existing;
    uint64_t memory_bytes; // limit for all images in flight
    const char *job;       // text of all options that decide the bytes of the outputs
};

struct batch_hooks {
    void *context;
    // A file of the plan, with `dry_run`; `planned` false: it is skipped or fails. Also a file that is done, with
    // `watch`.
    void (*file)(void *context, const struct outcome *outcome, bool planned);
    // The plan ends; `left_out` files are outputs of earlier runs.
    void (*plan_end)(void *context, size_t left_out);
    // At least 10 times a second: the counts so far.
    void (*progress)(void *context, const struct totals *totals, size_t files, int64_t start_ns);
    // All workers have ended. `signal`: the signal that ended the run early, or 0.
    void (*end)(void *context, const struct totals *totals, const struct batch_run *run, double seconds, int signal);
    // With `watch`: all files are filtered, and the run waits for more.
    void (*waiting)(void *context);
};

// Filters these files and directories and, with `watch`, the files that arrive later, until a signal. Returns the exit
// code.
int batch_run(const struct batch_setup *setup, const struct batch_hooks *hooks, const char *const *operand,
              int operands);
