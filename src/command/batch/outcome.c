// outcome.c: the result of one file
#include "command/batch/outcome.h"

#include "base/log.h"
#include "command/batch/directories.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

bool outcome_fail_directory(struct outcome *outcome, int error)
{
    struct directory *directory = outcome->task->directory;
    directory->error = error;
    outcome->of_directory = true;
    return outcome_fail(outcome, fault_of_writing(error), "cannot write to %s: %s", directory->nearest,
                        strerror(error));
}

void outcome_tell(const struct outcome *outcome)
{
    char name[PATH_MAX], why[FAULT_WHY]; // escaped: without newlines
    log_escape(name, sizeof(name), outcome->task->input->path);
    log_escape(why, sizeof(why), outcome->why);
    if (outcome->fault == FAULT_FULL)
        log_error("%s: %s; the run stops: free some space and run the same command again", name, why);
    else if (outcome->status == STATUS_FAILED)
        log_error("%s: %s", name, why);
    else if (outcome->status == STATUS_SKIPPED)
        log_info("%s: skipped: %s", name, why);
    else if (why[0])
        log_warn("%s: %s", name, why);
}
