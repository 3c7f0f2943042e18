// batch_options.h: the options of the batch command
#pragma once

#include "batch/batch.h"
#include "command/command.h"

struct batch_options {
    struct batch_setup setup;
    const char *filters, *look, *output, *memory, *format, *part; // as given; or NULL
    const char *filter_dir;
    bool overwrite, skip_existing, skip_newer, json;
    int log_level; // -1: not given
    char *job;     // setup.job
};

extern const struct option_list batch_list;

// Parses the arguments. Returns false if there is nothing to run; *code is then the exit code. options_finish is needed
// in either case.
bool options_take(struct batch_options *options, int argc, char **argv, struct command_operands *operands, int *code);
void options_finish(struct batch_options *options);
