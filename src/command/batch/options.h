// options.h: the options of the batch command
#pragma once

#include "command/batch/tasks.h"
#include "command/command.h"
#include "filter/chain.h"

enum batch_path { BATCH_AUTO, BATCH_CPU, BATCH_OPENCL, BATCH_GL };
enum batch_subsampling { SUBSAMPLING_KEEP, SUBSAMPLING_420, SUBSAMPLING_422, SUBSAMPLING_444 };

struct batch_options {
    const char *filters, *look, *output, *files_from, *device, *memory, *format, *part, *report,
        *kernels; // as given; or NULL
    const char *filter_dir;
    const char *capture;
    bool null, recursive, overwrite, skip_existing, skip_newer, json, dry_run, fail_fast, watch, no_sync;
    int path;                             // enum batch_path
    int strip_metadata, keep_orientation; // 0 or 1
    int jobs;                             // 0: one per CPU
    int subsampling;                      // enum batch_subsampling
    int quality, compression;             // 0: not given
    int megapixels;                       // 0: no limit
    int log_level;                        // -1: not given
    // Made from the above:
    struct chain chain;
    char chain_text[CHAIN_TEXT];
    struct naming naming; // of the outputs
    struct shard shard;
    enum existing_rule existing;
    uint64_t memory_bytes; // limit for all images in flight
    char *job;             // text of all options that decide the bytes of the outputs
};

extern const struct option_list batch_list;

// Parses the arguments. Returns false if there is nothing to run; *code is then the exit code. options_finish is needed
// in either case.
bool options_take(struct batch_options *options, int argc, char **argv, struct command_operands *operands, int *code);
void options_finish(struct batch_options *options);
