// limit.c: limits the files in flight to the number that may be open at once
#include "command/batch/batch.h"

#include "base/log.h"

#include <fcntl.h>
#include <sys/resource.h>

enum {
    ENOUGH = 1024,     // for everything at once
    DRIVER_FILES = 40, // that a device's driver may open; it is not opened where few may be
    MAIN_FILES = 2,    // the report, and a directory that is synced
    LEAST = 16,        // what to ask for: one job and some that the process was begun with
};

// How many more files may be opened.
static int files_left(int limit)
{
    int left = 0;
    for (int fd = 0; fd < limit; fd++)
        left += fcntl(fd, F_GETFD) < 0;
    return left;
}

// An output stays open, and locked, until it has its name: those of a group that get theirs, as many that wait, and
// what each job has open.
bool batch_fit_limit(struct batch *batch)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= ENOUGH)
        return true;
    const int limit = (int)files.rlim_cur;
    const bool device = path_kind_info(batch->kind)->needs_device;
    const int each = device ? 2 : 1; // on a device an output is made while the next input is open
    const int taken = MAIN_FILES + (device ? DRIVER_FILES : 0);
    const int left = files_left(limit) - taken, jobs = (left - 2) / each;
    if (left < 2 + each) {
        log_error("the limit of %d open files is too low; raise it to %d or more (ulimit -n)", limit, LEAST + taken);
        return false;
    }
    if (jobs < batch->run.jobs) {
        log_info("the limit of %d open files (ulimit -n) allows %d files in flight, not %d", limit, jobs,
                 batch->run.jobs);
        batch->run.jobs = jobs;
    }
    queue_limit(&batch->queue, (left - each * batch->run.jobs) / 2);
    return true;
}
