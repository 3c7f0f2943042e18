// cache.c: files kept between runs, in directories that only this user can write, and the user's settings files
#include "base/cache.h"

#include "base/file.h"

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

// Returns why another user can put another file at this path; NULL: none can. `at` gets the directory. `itself`: the
// path is a directory, whose entries matter, too. Group members may write the directories, because a file of theirs is
// refused by its owner. The owner of / can do everything; in a user namespace it is not root.
static const char *why_replaceable(char at[PATH_MAX], bool itself)
{
    struct stat status, top = {0};
    stat("/", &top);
    for (bool cut = !itself; strcmp(at, "/") != 0; cut = true) {
        char *slash = strrchr(at, '/');
        if (!slash)
            break;
        if (cut)
            slash[slash == at] = '\0';
        const bool found = lstat(at, &status) == 0;
        if (found && status.st_uid != geteuid() && status.st_uid != 0 && status.st_uid != top.st_uid)
            return "belongs to another user";
        if (found && S_ISDIR(status.st_mode) && status.st_mode & S_IWOTH && !(status.st_mode & S_ISVTX))
            return "can be written by other users";
    }
    return NULL;
}

const char *path_unsafe(const char *path, char where[PATH_MAX])
{
    struct stat status;
    snprintf(where, PATH_MAX, "%s", path);
    const char *why = why_replaceable(where, false);
    if (why)
        return why;
    // Without its links. A path that does not exist may lie below a link.
    char *real, *slash;
    bool exists = true;
    snprintf(where, PATH_MAX, "%s", path);
    while (!(real = realpath(where, NULL)) && (slash = strrchr(where, '/')) && slash != where) {
        *slash = '\0';
        exists = false;
    }
    snprintf(where, PATH_MAX, "%s", real ? real : "/");
    free(real);
    why = why_replaceable(where, !exists);
    if (!why && exists && stat(path, &status) == 0) {
        snprintf(where, PATH_MAX, "%s", path);
        why = why_unsafe(&status, true);
    }
    return why;
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
    if (fstat(fd, &status) == 0 && !(*unsafe = why_unsafe(&status, root)))
        return fd;
    close(fd);
    return -1;
}

int cache_open(char path[PATH_MAX], const char **unsafe)
{
    char base[PATH_MAX];
    *unsafe = NULL;
    if (!find_base("XDG_CACHE_HOME", ".cache", base) || !make_directory(base) ||
        snprintf(path, PATH_MAX, "%s/monocle", base) >= PATH_MAX || !make_directory(path))
        return -1;
    return open_safe(path, false, unsafe);
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

int data_system_open(const char *path, const char **unsafe)
{
    return open_safe(path, true, unsafe);
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
    char *data = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0) {
        if (S_ISREG(status.st_mode) && !why_unsafe(&status, true))
            data = file_read_all(fd, limit, size);
        else
            errno = EPERM;
    }
    const int saved = errno;
    close(fd);
    errno = saved;
    return data;
}

// Checks an open file or directory, and closes it if other users can write it.
static int trust(int fd, const char **unsafe)
{
    struct stat status;
    *unsafe = NULL;
    if (fd < 0 || (fstat(fd, &status) == 0 && !(*unsafe = why_unsafe(&status, true))))
        return fd;
    close(fd);
    return -1;
}

int trusted_open(const char *path, const char **unsafe)
{
    return trust(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), unsafe);
}

char *trusted_read(int directory, const char *name, size_t limit, size_t *size, const char **unsafe)
{
    const int fd = trust(openat(directory, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), unsafe);
    struct stat status;
    char *data = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        errno = EINVAL;
    else
        data = file_read_all(fd, limit, size);
    const int saved = errno;
    close(fd);
    errno = saved;
    return data;
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

char *config_read(const char *name, size_t limit, char path[PATH_MAX])
{
    char where[PATH_MAX];
    struct stat status;
    if (!config_path(name, path) || stat(path, &status) != 0)
        return NULL;
    if (!path_unsafe(path, where))
        return file_read_text(path, limit);
    errno = EPERM;
    return NULL;
}

void config_explain(const char *path, int error, size_t limit, char why[CONFIG_WHY])
{
    char where[PATH_MAX];
    const char *unsafe = error == EPERM ? path_unsafe(path, where) : NULL;
    if (error == EFBIG)
        snprintf(why, CONFIG_WHY, "the file has more than %zu bytes", limit);
    else if (!unsafe)
        snprintf(why, CONFIG_WHY, "%s", strerror(error));
    else if (strstr(unsafe, "other users"))
        snprintf(why, CONFIG_WHY, "%s %s; run: chmod go-w %s", where, unsafe, where);
    else
        snprintf(why, CONFIG_WHY, "%s %s; set XDG_CONFIG_HOME to a directory of your own", where, unsafe);
}

bool config_append(const char *name, size_t limit, const char *line)
{
    char path[PATH_MAX], where[PATH_MAX], *old = config_read(name, limit, path);
    if (!old && (errno != ENOENT || !path[0]))
        return false;
    if (!old && path_unsafe(path, where)) {
        errno = EPERM;
        return false;
    }
    if (!old) {
        make_parents(path);
        const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return false;
        close(fd);
    }
    const size_t size = old ? strlen(old) : 0, more = strlen(line);
    char *text = malloc(size + more + 2);
    bool ok = text != NULL;
    if (ok) {
        memcpy(text, old ? old : "", size);
        const size_t gap = size > 0 && text[size - 1] != '\n';
        text[size] = '\n';
        memcpy(text + size + gap, line, more);
        text[size + gap + more] = '\n';
        ok = file_write_atomic(path, text, size + gap + more + 1);
    }
    const int saved = errno;
    free(text);
    free(old);
    errno = saved;
    return ok;
}
