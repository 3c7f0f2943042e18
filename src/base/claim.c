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

bool claim_make(struct claim *claim)
{
    char wanted[PATH_MAX];
    if (!claim->missing)
        return true;
    memcpy(wanted, claim->path, sizeof(wanted));
    if (!file_create(claim->path))
        return false;
    claim->missing = false;
    if (strcmp(claim->path, wanted) != 0)
        log_warn("another program has made %s during the run; monocle writes %s", wanted, claim->path);
    return true;
}

bool claim_write(struct claim *claim, const void *data, size_t size)
{
    const bool made = claim->missing;
    if (!claim_make(claim))
        return false;
    if (file_write_atomic(claim->path, data, size))
        return true;
    const int error = errno;
    if (made)
        unlink(claim->path);
    errno = error;
    return false;
}
