// output.c: writes a file completely or not at all
#include "batch/output.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// Renames a file; EEXIST if `to` exists. EINVAL or ENOSYS: the file system or the kernel cannot do this.
static int rename_unless_exists(const char *from, const char *to)
{
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

#define TEMPORARY ".monocle-batch-"
#define ATTRIBUTE "user.monocle.done"

enum { ATTEMPTS = 100, DIGITS = 16, LEFTOVER_S = 24 * 60 * 60 };

struct output_mark output_mark_make(const char *job, const char *relative, const struct stat *input)
{
    struct output_mark mark = {""};
    char *text = xprintf("%s\n%s\n%lld %lld.%09ld", job, relative, (long long)input->st_size,
                         (long long)input->st_mtim.tv_sec, input->st_mtim.tv_nsec);
    hash_128_text(text, strlen(text), mark.text);
    free(text);
    return mark;
}

// Formats the attribute: the mark, and the file's size and time.
static int mark_text(char text[128], const struct output_mark *mark, const struct stat *status)
{
    return snprintf(text, 128, "%s %lld %lld.%09ld", mark->text, (long long)status->st_size,
                    (long long)status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
}

bool output_is_made(const char *path, const struct output_mark *mark)
{
    char has[128], wanted[128];
    struct output_mark any = {""};
    struct stat status;
    const ssize_t size = stat(path, &status) == 0 ? getxattr(path, ATTRIBUTE, has, sizeof(has)) : -1;
    if (size < HASH_TEXT || (mark && !mark->text[0]))
        return false;
    memcpy(any.text, has, HASH_TEXT - 1);
    return mark_text(wanted, mark ? mark : &any, &status) == size && memcmp(has, wanted, (size_t)size) == 0;
}

// Returns the errno value that prevents a new file in the directory, which is the first `length` bytes of the path; 0
// if there is none.
static int directory_error(const char *path, size_t length)
{
    // "/." fails for a regular file.
    char *directory = length > 0 ? xprintf("%.*s/.", (int)length, path) : xstrdup("./.");
    const int error = access(directory, W_OK | X_OK) == 0 ? 0 : errno;
    free(directory);
    return error;
}

// Returns the length of the parent directory; `length` itself if there is no parent.
static size_t above(const char *path, size_t length)
{
    while (length > 1 && path[length - 1] == '/')
        length--;
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

bool output_possible(const char *path, size_t *length)
{
    size_t at = (size_t)(file_base(path) - path), up;
    int error = directory_error(path, at);
    while (error == ENOENT && (up = above(path, at)) < at)
        error = directory_error(path, at = up);
    // On a read-only file system, go up to its topmost directory.
    while (error == EROFS && (up = above(path, at)) < at && directory_error(path, up) == EROFS)
        at = up;
    *length = at;
    errno = error;
    return error == 0;
}

// Creates the file and locks it. Returns -1 on failure and sets errno: EAGAIN if another run's output_clean_directory
// removed the file before it was locked.
static int open_locked(const char *path, mode_t mode)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    struct stat status;
    if (fd < 0)
        return -1;
    (void)flock(fd, LOCK_EX); // without locks, output_clean_directory goes by the file's age
    if (fstat(fd, &status) == 0 && status.st_nlink > 0)
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

// If the file's group is not `group`, reduces the group's rights to those of others.
static bool limit_group(int fd, gid_t group)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return false;
    const mode_t mode = status.st_mode & 0777;
    return status.st_gid == group || fchmod(fd, (mode & ~070u) | (mode & (mode << 3) & 070)) == 0;
}

static void forget(struct output *output)
{
    const int error = errno;
    if (output->fd >= 0)
        close(output->fd);
    free(output->temporary);
    *output = (struct output){.fd = -1};
    errno = error;
}

void output_abandon(struct output *output)
{
    const int error = errno;
    if (output->temporary)
        unlink(output->temporary);
    errno = error;
    forget(output);
}

bool output_begin(struct output *output, char *path, mode_t mode, gid_t group)
{
    bool made = false; // the directory
    *output = (struct output){.fd = -1, .path = path};
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return false;
        output->temporary = xprintf("%.*s" TEMPORARY "%0*llx", (int)(size_t)(file_base(path) - path), path, DIGITS,
                                    (unsigned long long)random);
        output->fd = open_locked(output->temporary, mode);
        if (output->fd >= 0 && limit_group(output->fd, group))
            return true;
        const bool again = output->fd < 0 && (errno == EEXIST || errno == EAGAIN);
        const bool missing = output->fd < 0 && errno == ENOENT && !made;
        (output->fd < 0 ? forget : output_abandon)(output);
        output->path = path;
        if (!again && !(missing && (made = file_make_directories(path))))
            return false;
    }
    return false;
}

bool output_write(struct output *output, const void *data, size_t size, const struct output_mark *mark)
{
    struct stat status;
    char text[128];
    output->mark = *mark;
    if (!file_write_all(output->fd, data, size) || fstat(output->fd, &status) != 0)
        return false;
    // If the attribute cannot be set, later runs treat the file as unmarked.
    if (mark->text[0])
        (void)fsetxattr(output->fd, ATTRIBUTE, text, (size_t)mark_text(text, mark, &status), 0);
    (void)sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE); // a hint only; output_sync waits for the disk
    return true;
}

bool output_sync(struct output *output)
{
    return file_sync(output->fd);
}

static bool rename_new(const char *from, const char *to)
{
    struct stat status;
    if (rename_unless_exists(from, to) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (lstat(to, &status) == 0) { // for file systems without RENAME_NOREPLACE; not atomic
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

// Replaces only regular files, not links or devices.
static bool rename_over(const char *from, const char *to)
{
    struct stat status;
    if (lstat(to, &status) == 0 && !S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

bool output_commit(struct output *output, bool replace)
{
    const bool ok = (replace ? rename_over : rename_new)(output->temporary, output->path);
    (ok ? forget : output_abandon)(output);
    return ok;
}

bool output_sync_directory(const char *path)
{
    const size_t length = (size_t)(file_base(path) - path);
    char *directory = length > 0 ? xprintf("%.*s", (int)length, path) : xstrdup(".");
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    const bool ok = fd >= 0 && file_sync(fd);
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

// Removes a temporary file that no run has locked. Without locks, it removes a file that is older than LEFTOVER_S.
static void clean_file(int directory, const char *name)
{
    const int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return;
    const bool unlocked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    const bool old = fstat(fd, &status) == 0 && time(NULL) - status.st_mtime > LEFTOVER_S;
    if (unlocked || (errno != EWOULDBLOCK && old))
        unlinkat(directory, name, 0);
    close(fd);
}

static bool is_temporary(const char *name)
{
    const char *number = name + sizeof(TEMPORARY) - 1;
    return strncmp(name, TEMPORARY, sizeof(TEMPORARY) - 1) == 0 && strlen(number) == DIGITS &&
           strspn(number, "0123456789abcdef") == DIGITS;
}

void output_clean_directory(const char *directory)
{
    DIR *dir = opendir(*directory ? directory : ".");
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (is_temporary(entry->d_name))
            clean_file(dirfd(dir), entry->d_name);
    }
    closedir(dir);
}
