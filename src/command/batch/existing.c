// existing.c: decides about an output that exists already
#include "command/batch/existing.h"

#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct source_id *one = a, *other = b;
    if (one->device != other->device)
        return one->device < other->device ? -1 : 1;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

bool sources_make(struct sources *sources, const struct inputs *inputs)
{
    struct stat status;
    *sources = (struct sources){.row = malloc((inputs->count + 1) * sizeof(*sources->row))};
    if (!sources->row) {
        log_error("out of memory for the list of files; name fewer files at a time");
        return false;
    }
    for (size_t i = 0; i < inputs->count; i++) {
        if (stat(inputs->row[i].path, &status) == 0)
            sources->row[sources->count++] = (struct source_id){status.st_dev, status.st_ino};
    }
    qsort(sources->row, sources->count, sizeof(*sources->row), compare);
    return true;
}

void sources_free(struct sources *sources)
{
    free(sources->row);
    *sources = (struct sources){0};
}

static bool is_source(const struct sources *sources, const struct stat *status)
{
    const struct source_id id = {status->st_dev, status->st_ino};
    return sources->count > 0 && bsearch(&id, sources->row, sources->count, sizeof(id), compare);
}

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

static bool skip(struct outcome *outcome, const char *why)
{
    outcome->status = STATUS_SKIPPED;
    snprintf(outcome->why, sizeof(outcome->why), "%s", why);
    return false;
}

// Returns the permissions of an output: the owner reads and writes; the group and others get no more rights than for
// the file `like`.
static mode_t rights_like(mode_t like)
{
    return (like & 0066) | 0600;
}

bool existing_allows(enum existing_rule rule, const struct sources *sources, const struct stat *input,
                     const struct output_mark *mark, struct outcome *outcome)
{
    const char *path = outcome->task->output;
    struct stat status;
    outcome->mode = rights_like(input->st_mode);
    outcome->group = input->st_gid;
    if (lstat(path, &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return true;
        return outcome_fail(outcome, fault_of_writing(errno), "cannot write %s: %s", path, strerror(errno));
    }
    if (!S_ISREG(status.st_mode))
        return outcome_fail(outcome, FAULT_EXISTS, "%s exists and is not a regular file", path);
    if (rule == EXISTING_SKIP)
        return skip(outcome, "the output exists");
    if ((rule == EXISTING_REFUSE || rule == EXISTING_SKIP_NEWER) && output_is_marked(path, mark))
        return skip(outcome, "already done");
    if (rule == EXISTING_SKIP_NEWER && !is_newer(input, &status) && !output_is_made(path)) // replaces an output of
                                                                                           // another job
        return skip(outcome, "the output is newer");
    if (is_source(sources, &status) || (status.st_dev == input->st_dev && status.st_ino == input->st_ino))
        return outcome_fail(outcome, FAULT_SOURCE,
                            "the output %s is also an input; name another directory for the outputs", path);
    if (rule == EXISTING_REFUSE)
        return outcome_fail(outcome, FAULT_EXISTS,
                            "%s exists; add --overwrite to replace it or --skip-existing to skip it", path);
    outcome->replace = true;
    outcome->mode &= rights_like(status.st_mode);
    return true;
}
