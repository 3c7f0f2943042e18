// file.c: reads and writes whole files safely; exclusive output files and drafts
#include "base/file.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MODE = 0666 }; // rights of a new file, before the umask

char *file_read_all(int fd, size_t limit, size_t *size)
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

char *file_take(int fd, size_t limit, size_t *size)
{
    enum { SYSTEM_SIZE = 4096 }; // that files of /sys claim to have
    struct stat status;
    char *data = NULL;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    else if (limit > SYSTEM_SIZE && status.st_size > 0 && (size_t)status.st_size > limit)
        errno = EFBIG;
    else
        data = file_read_all(fd, limit, size);
    const int saved = errno;
    close(fd);
    errno = saved;
    return data;
}

char *file_read(const char *path, size_t limit, size_t *size)
{
    return file_take(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), limit, size); // a pipe must not block
}

char *file_read_text(const char *path, size_t limit)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t size;
    char *text = file_read(path, limit, &size);
    if (text && strncmp(text, mark, sizeof(mark) - 1) == 0)
        memmove(text, text + sizeof(mark) - 1, size - sizeof(mark) + 2);
    return text;
}

const char *file_read_error(void)
{
    return errno == EINVAL ? "it is not a regular file" : strerror(errno);
}

bool file_read_number(const char *path, uint64_t *number)
{
    size_t size;
    char *end, *text = file_read(path, FILE_WORD, &size);
    if (!text)
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    const bool ok = end != text && errno == 0;
    free(text);
    errno = ok ? 0 : EINVAL;
    return ok;
}

void file_read_word(const char *path, char word[FILE_WORD])
{
    size_t size;
    char *text = file_read(path, FILE_WORD - 1, &size);
    snprintf(word, FILE_WORD, "%s", text ? text : "");
    word[strcspn(word, "\n")] = '\0';
    free(text);
}

int file_read_line(FILE *file, char *line, size_t most, size_t *size)
{
    int c;
    for (*size = 0; (c = getc_unlocked(file)) != EOF && c != '\n'; line[(*size)++] = (char)c) {
        if (*size == most)
            return -1;
    }
    line[*size] = '\0';
    return *size > 0 || c != EOF;
}

bool file_write_all(int fd, const void *data, size_t size)
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

bool file_sync(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL;
}

bool file_is_named(int fd)
{
    struct stat status;
    const bool named = fstat(fd, &status) != 0 || status.st_nlink > 0;
    if (!named)
        errno = ENOENT;
    return named;
}

// Closes the file. Returns false with errno set if that fails or `ok` is false.
static bool close_written(int fd, bool ok)
{
    const int saved = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = saved;
    return ok;
}

// Makes a temporary file in the directory of `path` (relative to `directory`), with the rights `mode` minus the umask.
// Returns its descriptor, or -1 with errno set.
static int make_temporary(int directory, const char *path, mode_t mode, char temporary[PATH_MAX])
{
    enum { ATTEMPTS = 100 };
    const char *slash = strrchr(path, '/');
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t random;
        if (getrandom(&random, sizeof(random), 0) != sizeof(random))
            return -1;
        if (snprintf(temporary, PATH_MAX, "%.*s.monocle-%016" PRIx64, slash ? (int)(slash - path) + 1 : 0, path,
                     random) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

bool file_replace(int directory, const char *path, mode_t mode, bool sync, const void *data, size_t size)
{
    char temporary[PATH_MAX];
    const int fd = make_temporary(directory, path, mode, temporary);
    if (fd < 0)
        return false;
    const bool written = file_write_all(fd, data, size) && (!sync || file_sync(fd));
    if (close_written(fd, written) && renameat(directory, temporary, directory, path) == 0)
        return true;
    const int saved = errno;
    unlinkat(directory, temporary, 0);
    errno = saved;
    return false;
}

// Follows symbolic links to the file that a write to `path` changes or creates. False with errno set.
static bool follow_links(const char *path, char target[PATH_MAX])
{
    enum { LINKS_MAX = 40 }; // the kernel's limit
    char link[PATH_MAX];
    struct stat status;
    if (stat(path, &status) != 0 && errno != ENOENT)
        return false; // such as another user's link in /tmp, which the kernel does not follow
    if (snprintf(target, PATH_MAX, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int i = 0; i <= LINKS_MAX; i++) {
        const ssize_t length = readlink(target, link, sizeof(link) - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT; // not a link, or missing
        link[length] = '\0';
        const char *slash = strrchr(target, '/');
        const size_t kept = link[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
        if (kept + (size_t)length >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        strcpy(target + kept, link);
    }
    errno = ELOOP;
    return false;
}

// Finds the file that file_write_atomic replaces or creates, and its rights. False with errno set; ESPIPE: it is a
// device or a pipe.
static bool find_target(const char *path, char target[PATH_MAX], mode_t *mode)
{
    struct stat status;
    *mode = FILE_MODE;
    if (stat(path, &status) != 0)
        return follow_links(path, target);
    if (!S_ISREG(status.st_mode)) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : ESPIPE;
        return false;
    }
    *mode = status.st_mode & FILE_MODE;
    return access(path, W_OK) == 0 && follow_links(path, target);
}

bool file_write_atomic(const char *path, const void *data, size_t size)
{
    char target[PATH_MAX];
    mode_t mode;
    if (find_target(path, target, &mode))
        return file_replace(AT_FDCWD, target, mode, true, data, size);
    const int fd = errno == ESPIPE ? open(path, O_WRONLY | O_CLOEXEC) : -1;
    return fd >= 0 && close_written(fd, file_write_all(fd, data, size));
}

bool file_make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

int file_create_numbered(char name[PATH_MAX], const char *stem, int first, int digits, const char *suffix)
{
    for (int i = first; i < FILE_NUMBERS; i++) {
        if (snprintf(name, PATH_MAX, "%s-%0*d%s", stem, digits, i, suffix) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int file_create_after(char name[PATH_MAX], const char *path)
{
    char stem[PATH_MAX], suffix[PATH_MAX] = "";
    snprintf(stem, sizeof(stem), "%s", path);
    char *dot = strrchr(stem, '.'), *slash = strrchr(stem, '/');
    if (dot && dot > stem && (!slash || dot > slash + 1)) {
        snprintf(suffix, sizeof(suffix), "%s", dot);
        *dot = '\0';
    }
    return file_create_numbered(name, stem, 2, 1, suffix);
}

int file_create(char path[PATH_MAX])
{
    char target[PATH_MAX], wanted[PATH_MAX];
    if (!follow_links(path, target))
        return -1;
    const int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
    if (fd >= 0 || errno != EEXIST)
        return fd;
    snprintf(wanted, sizeof(wanted), "%s", path);
    return file_create_after(path, wanted);
}

static struct file_id id_of(const struct stat *status)
{
    return S_ISREG(status->st_mode) ? (struct file_id){status->st_dev, status->st_ino} : (struct file_id){0};
}

struct file_id file_id(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? id_of(&status) : (struct file_id){0};
}

struct file_id file_id_open(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? id_of(&status) : (struct file_id){0};
}

static bool file_id_same(struct file_id a, struct file_id b)
{
    return a.device == b.device && a.inode == b.inode;
}

bool file_remove(const char *path, struct file_id id)
{
    return id.inode != 0 && file_id_same(file_id(path), id) && unlink(path) == 0;
}

// Locks an open file until its last descriptor is closed. False with errno EWOULDBLOCK: somebody else has locked it.
// Some file systems have no locks; then true.
static bool file_lock(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

int file_draft_begin(struct file_draft *draft, const char *path)
{
    mode_t mode;
    int fd = -1;
    if (!find_target(path, draft->target, &mode))
        return -1;
    draft->locked = open(draft->target, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if ((draft->locked >= 0 ? file_lock(draft->locked) : errno == ENOENT) &&
        (fd = file_create_after(draft->temporary, draft->target)) >= 0) {
        draft->own = file_id_open(fd);
        draft->replaced = file_id_open(draft->locked);
        if (fchmod(fd, mode) == 0)
            return fd;
    }
    const int saved = errno;
    if (fd >= 0) {
        close(fd);
        file_remove(draft->temporary, draft->own);
    }
    if (draft->locked >= 0)
        close(draft->locked);
    errno = saved;
    return -1;
}

bool file_draft_end(struct file_draft *draft)
{
    const bool ours = file_id_same(file_id(draft->temporary), draft->own);
    const bool old = access(draft->target, F_OK) != 0 || file_id_same(file_id(draft->target), draft->replaced);
    errno = ours ? EEXIST : ENOENT;
    const bool ok = ours && old && rename(draft->temporary, draft->target) == 0;
    const int saved = errno;
    file_draft_cancel(draft, true);
    errno = saved;
    return ok;
}

void file_draft_cancel(struct file_draft *draft, bool keep)
{
    if (!keep)
        file_remove(draft->temporary, draft->own);
    if (draft->locked >= 0)
        close(draft->locked);
    draft->locked = -1;
}

// Returns true if a new file can be made in the directory of `path`, by trying it.
static bool can_make(const char *path)
{
    char temporary[PATH_MAX];
    const int fd = make_temporary(AT_FDCWD, path, FILE_MODE, temporary);
    if (fd < 0)
        return false;
    close(fd);
    unlink(temporary);
    return true;
}

bool file_writable(const char *path, bool atomic)
{
    struct stat status;
    char target[PATH_MAX];
    const size_t length = strlen(path);
    if (stat(path, &status) != 0) {
        if (errno == ENOENT && length > 0 && path[length - 1] == '/')
            errno = EISDIR;
        return errno == ENOENT && length > 0 && follow_links(path, target) && can_make(target);
    }
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        return false;
    }
    if (access(path, W_OK) != 0)
        return false;
    return !atomic || !S_ISREG(status.st_mode) || (follow_links(path, target) && can_make(target));
}

const char *file_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void file_directory(const char *path, char directory[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        path = ".";
    snprintf(directory, PATH_MAX, "%.*s", slash && slash > path ? (int)(slash - path) : 1, path);
}

bool file_path(const char *name, const char *directory, char *path, size_t size)
{
    char working[PATH_MAX];
    const char *home = getenv("HOME");
    if (name[0] == '/')
        return (size_t)snprintf(path, size, "%s", name) < size;
    if (strncmp(name, "~/", 2) == 0 && home)
        return (size_t)snprintf(path, size, "%s/%s", home, name + 2) < size;
    directory = directory ? directory : getcwd(working, sizeof(working));
    return directory && (size_t)snprintf(path, size, "%s/%s", directory, name) < size;
}

// Reads the status of the directory of a file, which need not exist.
static bool stat_directory(const char *path, struct stat *status)
{
    char directory[PATH_MAX];
    file_directory(path, directory);
    return stat(directory, status) == 0;
}

bool file_same(const char *a, const char *b)
{
    struct stat one, two;
    const bool exists = stat(a, &one) == 0;
    if (exists != (stat(b, &two) == 0))
        return false;
    if (exists)
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino && !S_ISCHR(one.st_mode);
    char first[PATH_MAX], second[PATH_MAX];
    return follow_links(a, first) && follow_links(b, second) && stat_directory(first, &one) &&
           stat_directory(second, &two) && one.st_dev == two.st_dev && one.st_ino == two.st_ino &&
           strcmp(file_base(first), file_base(second)) == 0;
}

bool file_is_open(const char *path, int fd)
{
    struct stat named, open;
    return stat(path, &named) == 0 && fstat(fd, &open) == 0 && !S_ISCHR(named.st_mode) && named.st_dev == open.st_dev &&
           named.st_ino == open.st_ino;
}

// ---- outputs of a run ----

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
    if (close_written(file, file_write_all(file, data, size) && file_sync(file)))
        return true;
    const int error = errno;
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
    if (ok)
        return NULL;
    return errno == EWOULDBLOCK ? "another run writes it; name another file" : strerror(errno);
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

// ---- edited files ----

int file_watch_add(int watch, const char *directory)
{
    // Editors either write a file in place or move a new one over it.
    return inotify_add_watch(watch, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR);
}

int file_watch_open(const char *directory)
{
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0 || !directory || file_watch_add(watch, directory) >= 0)
        return watch;
    const int error = errno;
    close(watch);
    errno = error;
    return -1;
}

bool file_watch_take(int watch, bool (*take)(void *context, const struct file_event *event), void *context)
{
    bool any = false;
    char events[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size;
    while (watch > 0 && (size = read(watch, events, sizeof(events))) > 0) {
        for (char *at = events; at < events + size;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            const bool lost = event->mask & IN_Q_OVERFLOW, removed = event->mask & IN_IGNORED;
            const struct file_event taken = {.directory = event->wd,
                                             .name = event->len > 0 ? event->name : NULL,
                                             .written = event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO),
                                             .lost = lost};
            if ((taken.name && !(event->mask & IN_ISDIR)) || lost || removed)
                any = take(context, &taken) || any;
            at += sizeof(*event) + event->len;
        }
    }
    return any;
}

struct wanted {
    bool (*is)(const char *name, const void *context);
    const void *context;
};

static bool is_wanted(void *context, const struct file_event *event)
{
    const struct wanted *wanted = context;
    return event->lost || (event->name && wanted->is(event->name, wanted->context));
}

bool file_watch_any(int watch, bool (*wanted)(const char *name, const void *context), const void *context)
{
    return file_watch_take(watch, is_wanted, &(struct wanted){wanted, context});
}
