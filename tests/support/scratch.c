// scratch.c: a directory of a test's own files, and what the code under test wrote to standard error
#include "scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scratch_open(struct scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    *scratch = (struct scratch){.real_stderr = -1, .catcher = -1};
    snprintf(scratch->dir, sizeof(scratch->dir), "%s/monocle-test.XXXXXX", base ? base : "/tmp");
    if (mkdtemp(scratch->dir))
        return true;
    perror(scratch->dir);
    return false;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

void scratch_close(struct scratch *scratch)
{
    nftw(scratch->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof(scratch->path), "%s/%s", scratch->dir, name);
    return scratch->path;
}

const char *scratch_write(struct scratch *scratch, const char *name, const void *data, size_t size)
{
    const char *path = scratch_path(scratch, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}

void scratch_catch(struct scratch *scratch)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/.stderr", scratch->dir);
    fflush(stderr);
    // Well above 0..2, which a test may have closed.
    const int catcher = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    scratch->catcher = fcntl(catcher, F_DUPFD_CLOEXEC, 10);
    close(catcher);
    scratch->real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    dup2(scratch->catcher, STDERR_FILENO);
}

int scratch_caught(struct scratch *scratch)
{
    fflush(stderr);
    dup2(scratch->real_stderr, STDERR_FILENO);
    close(scratch->real_stderr);
    const ssize_t got = pread(scratch->catcher, scratch->said, sizeof(scratch->said) - 1, 0);
    close(scratch->catcher);
    scratch->said[got > 0 ? got : 0] = '\0';
    int lines = 0;
    for (const char *at = scratch->said; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}
