// outcome.h: the result of one file
#pragma once

#include "command/batch/output.h"
#include "command/batch/tasks.h"

#include <stdint.h>

enum status { STATUS_DONE, STATUS_SKIPPED, STATUS_FAILED, STATUSES };
enum step { STEP_READ, STEP_DECODE, STEP_FILTER, STEP_ENCODE, STEP_WRITE, STEPS };

const char *status_name(enum status status); // "done"
const char *step_name(enum step step);       // "decode"

struct outcome {
    struct outcome *next; // next in the queue
    const struct task *task;
    enum status status;
    enum fault fault;
    char why[FAULT_WHY]; // why it failed or was skipped; if done: a warning, or ""
    int64_t step_ns[STEPS];
    const char *device; // name of the device that ran the filters, "cpu" for the cpu path; NULL: none did
    int device_number;  // number in `monocle devices`; -1: the cpu path
    int width, height;  // size of the output, in pixels; 0: unknown
    size_t input_bytes, output_bytes;
    char hash[HASH_TEXT]; // hash of the output if the run writes a report, else ""
    struct output output; // file to sync and rename
    bool replace;         // replace the existing file
    mode_t mode;          // permissions of the output, before the umask
    gid_t group;          // group of the input, for which the permissions of `mode` are meant
    bool of_directory;    // every file in the output's directory fails for the same reason
};

// Sets the outcome to failed. `why` is half a sentence: "the file is truncated". Always returns false.
bool outcome_fail(struct outcome *outcome, enum fault fault, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
// Does the same if no file can be created in the output's directory, and stores the error for later tasks. Always
// returns false. On any thread.
bool outcome_fail_directory(struct outcome *outcome, int error);
// Logs a failure, the reason for skipping, or a warning, in one line.
void outcome_tell(const struct outcome *outcome);
