// outcome.h: what became of one file
#pragma once

#include "command/batch/output.h"
#include "command/batch/tasks.h"

#include <stdint.h>

enum status { STATUS_DONE, STATUS_SKIPPED, STATUS_FAILED, STATUSES };
enum step { STEP_READ, STEP_DECODE, STEP_FILTER, STEP_ENCODE, STEP_WRITE, STEPS };

const char *status_name(enum status status); // "done"
const char *step_name(enum step step);       // "decode"

struct outcome {
    struct outcome *next; // in the queue of those to be committed
    const struct task *task;
    enum status status;
    enum fault fault;
    char why[FAULT_WHY]; // of a failure or of skipping; what was left out
    int64_t step_ns[STEPS];
    const char *device; // that ran the filters, "cpu" for the cpu path; NULL where none did
    int device_number;  // as `monocle devices` counts; -1: the cpu path
    int width, height;  // of the picture; 0: not known
    size_t input_bytes, output_bytes;
    char hash[HASH_TEXT]; // of the output, where a report is written; else ""
    struct output output; // to be committed
    bool replace;         // over an existing file
    mode_t mode;          // rights of the output, before the umask
    gid_t group;          // of the input: the group that the rights are meant for
    bool of_directory;    // the failure is that of every file in the output's directory
};

// Makes it a failure. `why` is half a sentence: "the file is cut short". Always false.
bool outcome_fail(struct outcome *outcome, enum fault fault, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
// The same where no file can be made in the output's directory, which later tasks learn from this. Always false.
bool outcome_fail_directory(struct outcome *outcome, int error);
// Logs what there is to tell of it, in one line whatever its names are.
void outcome_tell(const struct outcome *outcome);
