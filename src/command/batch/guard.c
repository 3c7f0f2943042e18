// guard.c: checks that the report overwrites no other file
#include "command/batch/batch.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct guard {
    const char *path; // path of the report
    bool exists;
    struct stat status, directory; // of the report, if it exists, and of its directory
};

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool stat_directory(const char *path, struct stat *status)
{
    char *directory = NULL;
    const int size = (int)(base_name(path) - path);
    if (asprintf(&directory, "%.*s", size ? size : 1, size ? path : ".") < 0)
        return false;
    const bool ok = stat(directory, status) == 0;
    free(directory);
    return ok;
}

// Returns true if both paths lead to the same file. If the report does not exist yet, compares the names in the same
// directory.
static bool would_be(const struct guard *guard, const char *path)
{
    struct stat status;
    if (guard->exists)
        return stat(path, &status) == 0 && is_same(&guard->status, &status);
    return strcmp(base_name(guard->path), base_name(path)) == 0 &&
           (strcmp(guard->path, path) == 0 || (stat_directory(path, &status) && is_same(&guard->directory, &status)));
}

static bool is_list(const struct guard *guard, const char *list)
{
    struct stat status;
    if (!list)
        return false;
    if (strcmp(list, "-") == 0)
        return guard->exists && fstat(STDIN_FILENO, &status) == 0 && is_same(&guard->status, &status);
    return would_be(guard, list);
}

static bool refuse(const struct guard *guard, const char *why)
{
    log_error("cannot write the report to %s: it %s; name another file", guard->path, why);
    return false;
}

// An existing file must be empty or a report.
static bool check_content(const struct guard *guard)
{
    static const char begins[] = RECORD_BEGINS;
    char has[sizeof(begins)] = "";
    const int fd = open(guard->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    const ssize_t size = fd < 0 ? -1 : read(fd, has, sizeof(begins) - 1);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (size < 0) {
        log_error("cannot read the existing report %s: %s", guard->path, strerror(error));
        return false;
    }
    return size == 0 || strcmp(has, begins) == 0 || refuse(guard, "exists and is not a report");
}

// Checks the outputs of all shards, because another machine may be processing them.
static bool is_output(const struct guard *guard, const struct batch *batch)
{
    bool found = false;
    for (size_t i = 0; i < batch->inputs.count && !found; i++) {
        const struct input *input = &batch->inputs.row[i];
        char *output = input->fault == FAULT_NONE ? naming_output(&batch->naming, input, i + 1) : NULL;
        found = output && would_be(guard, output);
        free(output);
    }
    return found;
}

bool batch_check_report(const struct batch *batch)
{
    struct guard guard = {.path = batch->options.report};
    if (strcmp(guard.path, "-") == 0)
        return refuse(&guard, "is standard output, which has the summary");
    guard.exists = stat(guard.path, &guard.status) == 0;
    if (!guard.exists && lstat(guard.path, &guard.status) == 0)
        return refuse(&guard, "is a dangling symbolic link");
    if (guard.exists && !S_ISREG(guard.status.st_mode))
        return refuse(&guard, "is not a regular file");
    if (!stat_directory(guard.path, &guard.directory))
        guard.directory = (struct stat){0}; // record_open logs the error
    if (is_list(&guard, batch->options.files_from))
        return refuse(&guard, "is also the list of --files-from");
    for (size_t i = 0; i < batch->inputs.count; i++) {
        if (would_be(&guard, batch->inputs.row[i].path))
            return refuse(&guard, "is also an input");
    }
    if (is_output(&guard, batch))
        return refuse(&guard, "is also an output");
    return !guard.exists || check_content(&guard);
}
