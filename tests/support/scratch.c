// scratch.c: a directory for the files of one test program
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scratch_open(struct scratch *scratch)
{
    const char *base = getenv("TMPDIR");
    *scratch = (struct scratch){0};
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
