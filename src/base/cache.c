// cache.c: files kept between runs, in directories that only this user can write, and the user's settings files
#include "base/cache.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// `root`: root may own it too.
static const char *why_unsafe(const struct stat *status, bool root)
{
    if (status->st_uid != geteuid() && !(root && status->st_uid == 0))
        return "belongs to another user";
    return status->st_mode & (S_IWGRP | S_IWOTH) ? "can be written by other users" : NULL;
}

const char *cache_unsafe(const struct stat *status)
{
    return why_unsafe(status, false);
}

// Returns why another user can replace the file, given the directories above it, up to /. NULL: no other user can. The
// owner of / is trusted like root, because root has another id in a user namespace.
static const char *why_unsafe_above(const char *path)
{
    struct stat root, status;
    char above[PATH_MAX];
    const size_t size = (size_t)snprintf(above, sizeof(above), "%s", path);
    if (size >= sizeof(above) || stat("/", &root) != 0)
        return "has a path that cannot be checked";
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = '\0';
        if (!above[0] || stat(above, &status) != 0)
            continue;
        if (status.st_uid != geteuid() && status.st_uid != 0 && status.st_uid != root.st_uid)
            return "is below a directory of another user";
        if (status.st_mode & S_IWOTH && !(status.st_mode & S_ISVTX))
            return "is below a directory that all users can write";
    }
    return NULL;
}

// The same for an open file or directory, whatever links led to it.
static const char *why_unsafe_open(int fd)
{
    char name[32], path[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(name, path, sizeof(path) - 1);
    path[length < 0 ? 0 : length] = '\0';
    return why_unsafe_above(path);
}

const char *cache_remedy(const char *unsafe)
{
    if (strstr(unsafe, "can be written by"))
        return "run chmod go-w on it";
    return strstr(unsafe, "belongs to") ? "change its owner" : "move it to a directory of your own";
}

// Finds the directory that the variable names, or `standard` in the home directory. The specification says to ignore
// relative paths. False: there is none.
static bool find_base(const char *variable, const char *standard, char base[PATH_MAX])
{
    const char *named = getenv(variable), *home = getenv("HOME");
    if (named && named[0] == '/')
        return snprintf(base, PATH_MAX, "%s", named) < PATH_MAX;
    return home && home[0] == '/' && snprintf(base, PATH_MAX, "%s/%s", home, standard) < PATH_MAX;
}

static bool make_directory(const char *path)
{
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// Makes the directories above `path`. The next use of the path reports the error.
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
}

static int open_safe(const char *path, bool root, const char **unsafe)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    *unsafe = NULL;
    if (fd < 0) {
        *unsafe = errno == ENOTDIR || errno == ELOOP ? "is a file or a symbolic link, not a directory" : NULL;
        return -1;
    }
    if (fstat(fd, &status) == 0 && !(*unsafe = why_unsafe(&status, root)) && !(*unsafe = why_unsafe_open(fd)))
        return fd;
    close(fd);
    return -1;
}

static int open_home(const char *variable, const char *standard, char path[PATH_MAX], bool make, const char **unsafe)
{
    char base[PATH_MAX];
    *unsafe = NULL;
    path[0] = '\0';
    if (!find_base(variable, standard, base) || snprintf(path, PATH_MAX, "%s/monocle", base) >= PATH_MAX) {
        path[0] = '\0';
        errno = ENOENT;
        return -1;
    }
    if (make)
        make_parents(path);
    if (make && !make_directory(path))
        return -1;
    return open_safe(path, false, unsafe);
}

int cache_open(char path[PATH_MAX], const char **unsafe)
{
    return open_home("XDG_CACHE_HOME", ".cache", path, true, unsafe);
}

int data_open(char path[PATH_MAX], bool make, const char **unsafe)
{
    return open_home("XDG_DATA_HOME", ".local/share", path, make, unsafe);
}

int state_open(char path[PATH_MAX], bool make, const char **unsafe)
{
    return open_home("XDG_STATE_HOME", ".local/state", path, make, unsafe);
}

bool data_system_next(char path[PATH_MAX], size_t *at)
{
    const char *named = getenv("XDG_DATA_DIRS"), *list = named && named[0] ? named : "/usr/local/share:/usr/share";
    const size_t size = strlen(list);
    while (*at < size) {
        const size_t end = size - *at;
        size_t begin = end;
        while (begin > 0 && list[begin - 1] != ':')
            begin--;
        *at += end - begin + 1;
        if (list[begin] == '/' && snprintf(path, PATH_MAX, "%.*s/monocle", (int)(end - begin), list + begin) < PATH_MAX)
            return true;
    }
    return false;
}

int cache_open_named(const char *path, bool make, const char **unsafe)
{
    *unsafe = NULL;
    return make && !make_directory(path) ? -1 : open_safe(path, true, unsafe);
}

char *cache_read(int directory, const char *name, size_t limit, size_t *size)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); // a pipe must not block
    struct stat status;
    if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || why_unsafe(&status, true))) {
        close(fd);
        errno = EPERM;
        return NULL;
    }
    return file_take(fd, limit, size);
}

// Checks an open file or directory, and closes it if other users can write it.
static int trust(int fd, const char **unsafe)
{
    struct stat status;
    *unsafe = NULL;
    if (fd < 0 ||
        (fstat(fd, &status) == 0 && !(*unsafe = why_unsafe(&status, true)) && !(*unsafe = why_unsafe_open(fd))))
        return fd;
    close(fd);
    return -1;
}

// The same, also for the directories that the path names: a link in one of them may lead anywhere.
static int trust_path(int fd, const char *path, const char **unsafe)
{
    if (trust(fd, unsafe) < 0)
        return -1;
    if (!(*unsafe = why_unsafe_above(path)))
        return fd;
    close(fd);
    return -1;
}

int trusted_open(const char *path, const char **unsafe)
{
    return trust_path(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, unsafe);
}

char *trusted_read(int directory, const char *name, size_t limit, size_t *size, const char **unsafe)
{
    return file_take(trust(openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), unsafe), limit, size);
}

bool cache_write(int directory, const char *name, const void *data, size_t size)
{
    return file_replace(directory, name, 0600, false, data, size);
}

bool config_path(const char *name, char path[PATH_MAX])
{
    char base[PATH_MAX];
    if (find_base("XDG_CONFIG_HOME", ".config", base) &&
        snprintf(path, PATH_MAX, "%s/monocle/%s", base, name) < PATH_MAX)
        return true;
    path[0] = '\0';
    errno = ENOENT;
    return false;
}

char *config_read(const char *name, size_t limit, char path[PATH_MAX], const char **unsafe)
{
    *unsafe = NULL;
    if (!config_path(name, path))
        return NULL;
    const int fd = trust_path(open(path, O_PATH | O_CLOEXEC), path, unsafe);
    if (fd >= 0) {
        close(fd);
        return file_read_text(path, limit);
    }
    errno = *unsafe ? EPERM : errno;
    return NULL;
}

void config_explain(const char *path, const char *unsafe, size_t limit, char why[CONFIG_WHY])
{
    if (unsafe && strstr(unsafe, "can be written by"))
        snprintf(why, CONFIG_WHY, "the file %s; run: chmod go-w %s", unsafe, path);
    else if (unsafe)
        snprintf(why, CONFIG_WHY, "the file %s; %s", unsafe, cache_remedy(unsafe));
    else if (errno == EFBIG)
        snprintf(why, CONFIG_WHY, "the file has more than %zu bytes", limit);
    else
        snprintf(why, CONFIG_WHY, "%s", file_read_error());
}

// Makes an empty file, with the directories above it. False with errno set.
static bool make_settings(char *path)
{
    char above[PATH_MAX + 1], real[PATH_MAX];
    make_parents(path);
    snprintf(above, sizeof(above), "%.*s", (int)(strrchr(path, '/') - path), path);
    if (!realpath(above, real))
        return false;
    snprintf(above, sizeof(above), "%s/", real);
    if (why_unsafe_above(path) || why_unsafe_above(above)) {
        errno = EPERM;
        return false;
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && close(fd) == 0;
}

bool config_append(const char *name, size_t limit, const char *line)
{
    char path[PATH_MAX];
    const char *unsafe;
    char *old = config_read(name, limit, path, &unsafe);
    if (!old && errno != ENOENT)
        return false;
    if (!old && (!path[0] || !make_settings(path)))
        return false;
    const size_t size = old ? strlen(old) : 0;
    const bool open = size > 0 && old[size - 1] != '\n'; // the last line has no end
    char *text = xprintf("%s%s%s\n", text_or(old, ""), text_if(open, "\n"), line);
    const bool ok = file_write_atomic(path, text, strlen(text));
    const int saved = errno;
    free(text);
    free(old);
    errno = saved;
    return ok;
}
