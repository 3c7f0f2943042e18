// limit.c: limits the files in flight if the process may open few files
#include "command/batch/batch.h"

#include "base/log.h"

#include <fcntl.h>
#include <sys/resource.h>

enum {
    ENOUGH = 1024,     // enough for every batch
    DRIVER_FILES = 40, // that a device's driver may open
    MAIN_FILES = 2,    // the report, and a directory during its sync
    LEAST = 16,        // advice for the user: one job, and files that the process inherits
};

// Returns the number of files that the process can still open.
static int files_left(int limit)
{
    int left = 0;
    for (int fd = 0; fd < limit; fd++)
        left += fcntl(fd, F_GETFD) < 0;
    return left;
}

// An output stays open and locked until it is renamed. Open at the same time are the outputs of the group that is being
// committed, as many waiting outputs, and the files of each job.
bool batch_fit_limit(struct batch *batch)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= ENOUGH)
        return true;
    const int limit = (int)files.rlim_cur;
    const bool device = path_kind_info(batch->kind)->needs_device;
    const int each = device ? 2 : 1; // on a device, the job writes an output while the next input is open
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
