// local_socket.c: Unix sockets that only this user can connect to
#include "base/local_socket.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { SHOWN = 120, BACKLOG = 16, LOCK_TRIES = 100, LOCK_NS = 10000000 };

// Writes "PATH: REASON". Returns false.
static bool refuse(const char *path, const char *reason, char why[LOCAL_WHY])
{
    snprintf(why, LOCAL_WHY, "%.*s: %s", SHOWN, path, reason);
    return false;
}

// Opens the directory of `path` and copies the last part of the path to `name`. -1 on failure, with `why` set.
static int open_directory(const char *path, int flags, char name[LOCAL_NAME], char why[LOCAL_WHY])
{
    char directory[4096];
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    const int length = slash && slash != path ? (int)(slash - path) : 1;
    if (snprintf(directory, sizeof(directory), "%.*s", length, slash ? path : ".") >= (int)sizeof(directory) ||
        snprintf(name, LOCAL_NAME, "%s", last) >= LOCAL_NAME) {
        refuse(path, "the name is too long; use at most 80 bytes after the last /", why);
        return -1;
    }
    if (name[0] == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        refuse(path, "this names a directory; add the socket's name", why);
        return -1;
    }
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd < 0)
        refuse(path,
               errno == ELOOP || errno == ENOTDIR ? "its directory is a file or a symbolic link" : strerror(errno),
               why);
    return fd;
}

// The address leads through the open directory, so that a rename of a directory cannot change its meaning, and a long
// path fits.
static struct sockaddr_un address_of(int directory, const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%.*s", directory, LOCAL_NAME - 1, name);
    return address;
}

static bool address_call(int (*call)(int fd, const struct sockaddr *address, socklen_t size), int fd, int directory,
                         const char *name)
{
    const struct sockaddr_un address = address_of(directory, name);
    return call(fd, (const struct sockaddr *)&address, sizeof(address)) == 0;
}

static const char *why_unsafe(const struct stat *status)
{
    if (status->st_uid != geteuid() && status->st_uid != 0)
        return "its directory belongs to another user; choose a directory of your own";
    if (status->st_mode & (S_IWGRP | S_IWOTH) && !(status->st_mode & S_ISVTX))
        return "other users can write its directory; choose another directory, or run chmod go-w on it";
    return NULL;
}

// Removes a socket of this user at which no program listens. Returns NULL, or why the file must stay.
static const char *remove_stale(const struct local_socket *s)
{
    struct stat status;
    if (fstatat(s->directory, s->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? NULL : strerror(errno);
    if (!S_ISSOCK(status.st_mode))
        return "the file exists and is not a socket; choose another name";
    if (status.st_uid != geteuid())
        return "this socket belongs to another user; choose another name";
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return strerror(errno);
    const bool living = address_call(connect, fd, s->directory, s->name) || errno != ECONNREFUSED;
    close(fd);
    if (living)
        return "another program listens at this socket; choose another name";
    return unlinkat(s->directory, s->name, 0) == 0 ? NULL : strerror(errno);
}

// Returns NULL, or the reason of a failure.
static const char *bind_and_listen(struct local_socket *s)
{
    struct stat status;
    const char *unsafe;
    if (fstat(s->directory, &status) != 0)
        return strerror(errno);
    if ((unsafe = why_unsafe(&status)))
        return unsafe;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0 || fchmod(s->fd, 0600) != 0) // the file gets the mode of the socket, so it is never open to others
        return strerror(errno);
    if (!address_call(bind, s->fd, s->directory, s->name)) {
        if (errno != EADDRINUSE)
            return strerror(errno);
        const char *why = remove_stale(s);
        if (why)
            return why;
        if (!address_call(bind, s->fd, s->directory, s->name))
            return strerror(errno);
    }
    if (fstatat(s->directory, s->name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        return strerror(errno);
    s->device = status.st_dev;
    s->inode = status.st_ino;
    return listen(s->fd, BACKLOG) == 0 ? NULL : strerror(errno);
}

bool local_socket_listen(struct local_socket *s, const char *path, char why[LOCAL_WHY])
{
    *s = (struct local_socket){.fd = -1};
    s->directory = open_directory(path, O_NOFOLLOW, s->name, why);
    if (s->directory < 0)
        return false;
    // Two programs that start at the same time must not remove each other's socket. After a second, this one continues
    // without the lock, because any user may lock a shared directory.
    for (int i = 0; i < LOCK_TRIES && flock(s->directory, LOCK_EX | LOCK_NB) != 0; i++)
        clock_sleep_until_ns(clock_now_ns() + LOCK_NS);
    const char *reason = bind_and_listen(s);
    flock(s->directory, LOCK_UN);
    if (!reason)
        return true;
    refuse(path, reason, why);
    local_socket_close(s);
    return false;
}

void local_socket_close(struct local_socket *s)
{
    struct stat status;
    if (s->fd >= 0)
        close(s->fd);
    if (s->inode && fstatat(s->directory, s->name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_dev == s->device &&
        status.st_ino == s->inode)
        unlinkat(s->directory, s->name, 0);
    if (s->directory >= 0)
        close(s->directory);
    *s = (struct local_socket){.fd = -1, .directory = -1};
}

int local_socket_connect(const char *path, char why[LOCAL_WHY])
{
    char name[LOCAL_NAME];
    struct ucred peer;
    socklen_t size = sizeof(peer);
    const int directory = open_directory(path, 0, name, why);
    if (directory < 0)
        return -1;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = fd >= 0 && address_call(connect, fd, directory, name);
    const int error = errno;
    close(directory);
    if (!connected)
        refuse(path, error == ECONNREFUSED ? "no program listens at this socket" : strerror(error), why);
    else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        refuse(path, strerror(errno), why);
    else if (peer.uid != geteuid() && peer.uid != 0 && geteuid() != 0)
        refuse(path, "another user listens at this socket", why);
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
