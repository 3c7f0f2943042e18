// claim.c: see claim.h
#include "base/claim.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool claim_take(struct claim *claim, const char *path, bool atomic)
{
    struct stat status;
    if (snprintf(claim->path, sizeof(claim->path), "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    claim->missing = stat(path, &status) != 0;
    return file_writable(path, atomic);
}

bool claim_make(struct claim *claim, int *file)
{
    char wanted[PATH_MAX];
    *file = -1;
    if (!claim->missing)
        return true;
    memcpy(wanted, claim->path, sizeof(wanted));
    if ((*file = file_create(claim->path)) < 0)
        return false;
    claim->missing = false;
    if (strcmp(claim->path, wanted) != 0)
        log_warn("another program has made %s during the run; monocle writes %s", wanted, claim->path);
    return true;
}

bool claim_write(struct claim *claim, const void *data, size_t size)
{
    int file;
    if (!claim_make(claim, &file))
        return false;
    if (file < 0)
        return file_write_atomic(claim->path, data, size);
    const struct file_id own = file_id_open(file);
    const bool written = file_write_all(file, data, size) && fsync(file) == 0;
    int error = errno;
    if (close(file) == 0 && written)
        return true;
    error = written ? errno : error;
    file_remove(claim->path, own);
    errno = error;
    return false;
}
