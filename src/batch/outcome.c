// outcome.c: the result of one file
#include "batch/outcome.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

const char *const status_names[STATUSES] = {"done", "skipped", "failed"};
const char *const step_names[STEPS] = {"read", "decode", "filter", "encode", "write"};
const char *const fault_names[FAULTS] = {
    [FAULT_MISSING] = "missing",
    [FAULT_READ] = "read",
    [FAULT_LOOP] = "loop",
    [FAULT_FORMAT] = "format",
    [FAULT_UNSUPPORTED] = "unsupported",
    [FAULT_DAMAGED] = "damaged",
    [FAULT_LIMIT] = "limit",
    [FAULT_CLASH] = "clash",
    [FAULT_EXISTS] = "exists",
    [FAULT_SOURCE] = "source",
    [FAULT_WRITE] = "write",
    [FAULT_FULL] = "full",
    [FAULT_MEMORY] = "memory",
    [FAULT_DEVICE] = "device",
};

enum fault fault_of_reading(int error)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return FAULT_MISSING;
    case ELOOP:
        return FAULT_LOOP;
    case ENOMEM:
        return FAULT_MEMORY;
    default:
        return FAULT_READ;
    }
}

enum fault fault_of_writing(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
        return FAULT_FULL;
    case EFBIG:
        return FAULT_LIMIT;
    case ENOMEM:
        return FAULT_MEMORY;
    case EEXIST:
        return FAULT_EXISTS;
    default:
        return FAULT_WRITE;
    }
}

enum fault fault_of_codec(enum codec_fault fault)
{
    static const enum fault faults[] = {
        [CODEC_NOT_A_PICTURE] = FAULT_FORMAT,    [CODEC_DAMAGED] = FAULT_DAMAGED,  [CODEC_TOO_LARGE] = FAULT_LIMIT,
        [CODEC_UNSUPPORTED] = FAULT_UNSUPPORTED, [CODEC_NO_MEMORY] = FAULT_MEMORY,
    };
    return faults[fault];
}

bool outcome_fail(struct outcome *outcome, enum fault fault, const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(outcome->why, sizeof(outcome->why), why, arguments);
    va_end(arguments);
    outcome->status = STATUS_FAILED;
    outcome->fault = fault;
    return false;
}

bool outcome_skip(struct outcome *outcome, const char *why)
{
    snprintf(outcome->why, sizeof(outcome->why), "%s", why);
    outcome->status = STATUS_SKIPPED;
    return false;
}
