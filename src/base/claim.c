// claim.c: see claim.h
#include "base/claim.h"

#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool claim_take(struct claim *claim, const char *path)
{
    struct stat status;
    if (snprintf(claim->path, sizeof(claim->path), "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    claim->missing = stat(path, &status) != 0;
    claim->own = file_id(path);
    return file_writable(path, true);
}

bool claim_make(struct claim *claim, int *file)
{
    char wanted[PATH_MAX];
    *file = -1;
    if (!claim->missing && (claim->own.inode == 0 || file_id_same(file_id(claim->path), claim->own)))
        return true;
    memcpy(wanted, claim->path, sizeof(wanted));
    if ((*file = file_create(claim->path)) < 0)
        return false;
    claim->missing = false;
    claim->own = file_id_open(*file);
    if (strcmp(claim->path, wanted) != 0)
        log_warn("another program has made %s during the run; monocle writes %s", wanted, claim->path);
    return true;
}

bool claim_write(struct claim *claim, const void *data, size_t size)
{
    int file;
    if (!claim_make(claim, &file))
        return false;
    if (file < 0) {
        const bool replaced = file_write_atomic(claim->path, data, size);
        claim->own = replaced ? file_id(claim->path) : claim->own;
        return replaced;
    }
    const bool written = file_write_all(file, data, size) && fsync(file) == 0;
    int error = errno;
    if (close(file) == 0 && written)
        return true;
    error = written ? errno : error;
    file_remove(claim->path, claim->own);
    errno = error;
    return false;
}

const char *growing_open(struct growing *growing, const char *name, int *file)
{
    bool ok;
    if (*file >= 0) {
        ok = file_lock(*file);
    } else {
        *file = file_draft_begin(&growing->draft, name);
        growing->drafted = *file >= 0;
        ok = growing->drafted || errno == ESPIPE;
    }
    return ok ? NULL : errno == EWOULDBLOCK ? "another run writes it; name another file" : strerror(errno);
}

bool growing_close(struct growing *growing, const char *name, bool complete, bool keep)
{
    struct file_draft *draft = &growing->draft;
    if (!growing->drafted)
        return true;
    growing->drafted = false;
    if (!complete) {
        file_draft_cancel(draft, keep);
        if (keep)
            log_warn("%s is unchanged; the incomplete file is %s", name, draft->temporary);
        return true;
    }
    if (file_draft_end(draft))
        return true;
    const bool replaced = errno == EEXIST;
    if (replaced)
        log_warn("another program has replaced %s during the run; monocle has written %s", name, draft->temporary);
    else
        log_error("cannot replace %s: %s; the new file is %s", name, strerror(errno), draft->temporary);
    return replaced;
}
