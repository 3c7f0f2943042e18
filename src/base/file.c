// file.c: whole files read and written safely
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Reads until the end or the limit; a pipe or /dev/stdin works too.
static char *read_all(int fd, size_t limit, size_t *size)
{
    char *data = NULL;
    size_t used = 0, room = 0;
    for (;;) {
        if (used == room) {
            room = room ? room * 2 : 65536;
            char *larger = realloc(data, room + 1);
            if (!larger)
                break;
            data = larger;
        }
        const ssize_t got = read(fd, data + used, room - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        if (got == 0) {
            data[used] = '\0';
            *size = used;
            return data;
        }
        used += (size_t)got;
        if (used > limit) {
            errno = EFBIG;
            break;
        }
    }
    const int saved = errno;
    free(data);
    errno = saved;
    return NULL;
}

char *file_read(const char *path, size_t limit, size_t *size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *data = read_all(fd, limit, size);
    const int saved = errno;
    close(fd);
    errno = saved;
    return data;
}

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        const ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

bool file_write_atomic(const char *path, const void *data, size_t size)
{
    char temporary[4096];
    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return false;
    }
    const int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    const mode_t mask = umask(0);
    umask(mask);
    bool ok = fchmod(fd, 0666 & ~mask) == 0 && write_all(fd, data, size) && fsync(fd) == 0;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    if (ok && rename(temporary, path) != 0) {
        ok = false;
        saved = errno;
    }
    if (!ok) {
        unlink(temporary);
        errno = saved;
    }
    return ok;
}

static bool make_directory(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool file_cache_dir(char *path, size_t size)
{
    const char *base = getenv("XDG_CACHE_HOME");
    int length;
    if (base && base[0] == '/') {
        length = snprintf(path, size, "%s", base);
    } else {
        const char *home = getenv("HOME");
        if (!home || home[0] != '/')
            return false;
        length = snprintf(path, size, "%s/.cache", home);
    }
    if (length < 0 || (size_t)length + sizeof("/monocle") > size || !make_directory(path))
        return false;
    strcpy(path + length, "/monocle");
    return make_directory(path);
}
