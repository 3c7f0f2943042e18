// outcome.c: what became of one file
#include "command/batch/outcome.h"

#include <stdarg.h>
#include <stdio.h>

static const char *const status_names[STATUSES] = {"done", "skipped", "failed"};
static const char *const step_names[STEPS] = {"read", "decode", "filter", "encode", "write"};

const char *status_name(enum status status)
{
    return status_names[status];
}

const char *step_name(enum step step)
{
    return step_names[step];
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
