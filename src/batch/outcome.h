// outcome.h: the result of one file, and the reasons why a file can fail
#pragma once

#include "batch/output.h"
#include "image/codec/codec.h"

#include <limits.h>

enum file_status { STATUS_DONE, STATUS_SKIPPED, STATUS_FAILED, STATUSES };
enum step { STEP_READ, STEP_DECODE, STEP_FILTER, STEP_ENCODE, STEP_WRITE, STEPS };

enum fault {
    FAULT_NONE,
    FAULT_MISSING,     // the input does not exist
    FAULT_READ,        // the input cannot be read
    FAULT_LOOP,        // the path is a symbolic-link loop
    FAULT_FORMAT,      // the input is not an image
    FAULT_UNSUPPORTED, // the image has an unsupported format
    FAULT_DAMAGED,     // the input is truncated or damaged
    FAULT_LIMIT,       // the file or the image exceeds a size limit
    FAULT_CLASH,       // another input has the same output
    FAULT_EXISTS,      // the output exists already
    FAULT_SOURCE,      // the output is an input
    FAULT_WRITE,       // the output cannot be written
    FAULT_FULL,        // the disk or the quota is full
    FAULT_MEMORY,      // out of memory
    FAULT_DEVICE,      // the filters failed
    FAULTS
};

enum { FAULT_WHY = 2 * PATH_MAX + CODEC_WHY }; // room for two names and a codec's message

struct task;

struct outcome {
    struct outcome *next; // next in the queue
    const struct task *task;
    enum file_status status;
    enum fault fault;
    char why[FAULT_WHY]; // why it failed or was skipped; if done: a warning, or ""
    int64_t step_ns[STEPS];
    const char *device;    // name of the device that ran the filters, "cpu" for the cpu path; NULL: none did
    struct json_t *passes; // how the device ran the filters, as passes_json; NULL: unknown
    int device_number;     // number in `monocle devices`; -1: the cpu path
    bool on_cpu;           // the cpu path ran the filters
    int width, height;     // size of the input after its rotation upright, in pixels; 0: unknown
    size_t input_bytes, output_bytes;
    char hash[HASH_TEXT]; // hash of the output if the run writes a report, else ""
    struct output output; // file to sync and rename
    bool replace;
    mode_t mode;       // permissions of the output, before the umask
    gid_t group;       // group of the input, for which the permissions of `mode` are meant
    bool of_directory; // every file in the output's directory fails for the same reason
};

extern const char *const status_names[STATUSES]; // "done"
extern const char *const step_names[STEPS];      // "decode"
extern const char *const fault_names[FAULTS];    // "damaged"; NULL for FAULT_NONE

// Each returns the fault for an errno value of a read or a write, or for an error of a codec.
enum fault fault_of_reading(int error);
enum fault fault_of_writing(int error);
enum fault fault_of_codec(enum codec_fault fault);

// Sets the outcome to failed. `why` is half a sentence: "the file is truncated". Always returns false.
bool outcome_fail(struct outcome *outcome, enum fault fault, const char *why, ...)
    __attribute__((format(printf, 3, 4)));
// Sets the outcome to skipped. Always returns false.
bool outcome_skip(struct outcome *outcome, const char *why);
