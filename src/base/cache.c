// cache.c: files kept between runs, in a directory that only this user can write
#include "base/cache.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *cache_unsafe(const struct stat *status)
{
    if (status->st_uid != geteuid())
        return "belongs to another user";
    return status->st_mode & (S_IWGRP | S_IWOTH) ? "can be written by other users" : NULL;
}

// Finds $XDG_CACHE_HOME or ~/.cache. The specification says to ignore relative paths. False: there is none.
static bool find_base(char base[PATH_MAX])
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return snprintf(base, PATH_MAX, "%s", cache) < PATH_MAX;
    return home && home[0] == '/' && snprintf(base, PATH_MAX, "%s/.cache", home) < PATH_MAX;
}

static bool make_directory(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

int cache_open(char path[PATH_MAX], const char **unsafe)
{
    char base[PATH_MAX];
    struct stat status;
    *unsafe = NULL;
    if (!find_base(base) || !make_directory(base) || snprintf(path, PATH_MAX, "%s/monocle", base) >= PATH_MAX ||
        !make_directory(path))
        return -1;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        *unsafe = errno == ENOTDIR || errno == ELOOP ? "is a file or a symbolic link, not a directory" : NULL;
        return -1;
    }
    if (fstat(fd, &status) == 0 && !(*unsafe = cache_unsafe(&status)))
        return fd;
    close(fd);
    return -1;
}

char *cache_read(int directory, const char *name, size_t limit, size_t *size)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); // a pipe must not block
    struct stat status;
    char *data = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0) {
        if (S_ISREG(status.st_mode) && !cache_unsafe(&status))
            data = file_read_all(fd, limit, size);
        else
            errno = EPERM;
    }
    const int saved = errno;
    close(fd);
    errno = saved;
    return data;
}

bool cache_write(int directory, const char *name, const void *data, size_t size)
{
    return file_replace(directory, name, 0600, false, data, size);
}
