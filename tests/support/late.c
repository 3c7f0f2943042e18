// late.c: events at the last moment of a run; linked into the program with --wrap
// - LATE_SIGNAL: a batch gets this signal after its summary
// - LATE_NUMBER: a batch gets SIGINT while it syncs the output with this number; LATE_STOP: SIGSTOP instead
// - LATE_FILE: this file appears while an output is synced; LATE_TO: as a link to this path
// - LATE_SYNC: the error of every sync
// - LATE_HOLD: no sync of a file begins while this file exists
// - LATE_OLD: no file system supports a rename that does not replace
// - LATE_CLEAN: the first file to be locked is removed just before, as another run's clean-up would do
// Prints an error if a file is renamed before it is synced, or is not locked, and if a directory is not synced.
#include "batch/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYNCED_MOST = 256, DIRECTORIES_MOST = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of `late`: a view saves screenshots on several threads
static struct {
    ino_t synced[SYNCED_MOST];
    int count;
    ino_t renamed[DIRECTORIES_MOST]; // directories with a rename since their last sync
    int directories;
    bool come;    // LATE_FILE was created
    bool cleaned; // LATE_CLEAN was done
} late;

bool __real_batch_report_close(struct batch_report *report, const struct totals *totals, double seconds, int signal);
bool __wrap_batch_report_close(struct batch_report *report, const struct totals *totals, double seconds, int signal);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);

bool __wrap_batch_report_close(struct batch_report *report, const struct totals *totals, double seconds, int signal)
{
    const char *number = getenv("LATE_SIGNAL");
    if (late.directories > 0)
        fprintf(stderr, "a directory was not synced\n");
    if (number)
        raise(atoi(number));
    return __real_batch_report_close(report, totals, seconds, signal);
}

static void come_into_being(const char *path, const char *to)
{
    unlink(path);
    FILE *file = to ? NULL : fopen(path, "wx");
    if (to ? symlink(to, path) != 0 : !file || fputs("another's", file) < 0 || fclose(file) != 0)
        perror(path);
}

// Another run would remove an unlocked temporary file as a leftover.
static void check_locked(int fd)
{
    char path[64], name[PATH_MAX] = "";
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof(name) - 1) < 0 || !strstr(name, ".monocle-batch-"))
        return;
    const int again = open(path, O_RDONLY | O_CLOEXEC);
    if (again >= 0 && flock(again, LOCK_EX | LOCK_NB) == 0)
        fprintf(stderr, "a file was synced that is not locked\n");
    close(again);
}

// Returns false if the sync fails.
static bool begin_sync(const struct stat *status)
{
    const char *path = getenv("LATE_FILE"), *error = getenv("LATE_SYNC"), *number = getenv("LATE_NUMBER");
    const bool directory = S_ISDIR(status->st_mode);
    if (path && !late.come)
        come_into_being(path, getenv("LATE_TO"));
    late.come = true;
    for (int i = 0; directory && i < late.directories; i++) {
        if (late.renamed[i] == status->st_ino)
            late.renamed[i--] = late.renamed[--late.directories];
    }
    if (!directory && error) {
        errno = atoi(error);
        return false;
    }
    if (!directory && late.count < SYNCED_MOST) {
        late.synced[late.count++] = status->st_ino;
        if (number && late.count == atoi(number))
            raise(getenv("LATE_STOP") ? SIGSTOP : SIGINT);
    }
    return true;
}

int __wrap_fsync(int fd)
{
    struct stat status = {0};
    const bool directory = fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
    for (const char *hold = getenv("LATE_HOLD"); hold && !directory && access(hold, F_OK) == 0;)
        usleep(5000);
    if (!directory)
        check_locked(fd);
    pthread_mutex_lock(&lock);
    const bool ok = begin_sync(&status);
    pthread_mutex_unlock(&lock);
    return ok ? __real_fsync(fd) : -1;
}

static void check_synced(const char *path)
{
    struct stat status = {0};
    bool synced = false;
    stat(path, &status);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < late.count; i++)
        synced |= late.synced[i] == status.st_ino;
    pthread_mutex_unlock(&lock);
    if (!synced)
        fprintf(stderr, "%s was renamed unsynced\n", path);
}

static int take_renamed(const char *to, int result)
{
    char path[PATH_MAX];
    struct stat status;
    bool known = false;
    const char *slash = strrchr(to, '/');
    snprintf(path, sizeof(path), "%.*s", slash ? (int)(slash - to) + 1 : 1, slash ? to : ".");
    if (result != 0 || stat(path, &status) != 0)
        return result;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < late.directories; i++)
        known |= late.renamed[i] == status.st_ino;
    if (!known && late.directories < DIRECTORIES_MOST)
        late.renamed[late.directories++] = status.st_ino;
    pthread_mutex_unlock(&lock);
    return result;
}

int __wrap_flock(int fd, int operation)
{
    char path[64], name[PATH_MAX] = "";
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (getenv("LATE_CLEAN") && !late.cleaned && readlink(path, name, sizeof(name) - 1) > 0 &&
        strstr(name, ".monocle-batch-")) {
        late.cleaned = true;
        unlink(name);
    }
    return __real_flock(fd, operation);
}

int __wrap_rename(const char *from, const char *to)
{
    check_synced(from);
    return take_renamed(to, __real_rename(from, to));
}

int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (getenv("LATE_OLD")) {
        errno = EINVAL;
        return -1;
    }
    check_synced(from);
    return take_renamed(to, __real_renameat2(from_at, from, to_at, to, flags));
}
