// test_file.c: files are read up to a limit, and written completely or not at all; changes of a directory's files
#include "base/file.h"

#include "close_error.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char directory[64], path[80];

static int count_files(void)
{
    DIR *dir = opendir(directory);
    int count = -2; // . and ..
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void check_content(const char *want)
{
    size_t size = 0;
    char *data = file_read(path, 1 << 20, &size);
    CHECK_TEXT(data, want);
    CHECK_NUMBER(size, strlen(want));
    free(data);
}

static void test_read(void)
{
    size_t size = 0;
    char *data = calloc(1, 200000);
    for (size_t i = 0; i < 200000; i++)
        data[i] = (char)(i * 7 % 251);
    CHECK(file_write_atomic(path, data, 200000));
    char *back = file_read(path, 200000, &size);
    CHECK_NUMBER(size, 200000);
    CHECK(back && memcmp(back, data, 200000) == 0 && back[200000] == '\0');
    free(back);
    errno = 0;
    CHECK(!file_read(path, 199999, &size));
    CHECK_NUMBER(errno, EFBIG);
    errno = 0;
    CHECK(!file_read("/dev/zero", 1 << 20, &size)); // endless
    CHECK_NUMBER(errno, EINVAL);
    errno = 0;
    CHECK(!file_read(directory, 100, &size));
    CHECK_NUMBER(errno, EISDIR);
    errno = 0;
    CHECK(!file_read("/nowhere/at/all", 100, &size));
    CHECK_NUMBER(errno, ENOENT);
    CHECK(file_write_atomic(path, "", 0));
    check_content("");
    free(data);
}

static void test_write(void)
{
    CHECK(file_write_atomic(path, "old", 3));
    check_content("old");
    CHECK(file_write_atomic(path, "newer", 5));
    check_content("newer");
    CHECK_NUMBER(count_files(), 1);
    errno = 0;
    CHECK(!file_write_atomic("/nowhere/file", "x", 1));
    CHECK_NUMBER(errno, ENOENT);
    char endless[5000];
    memset(endless, 'a', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    errno = 0;
    CHECK(!file_write_atomic(endless, "x", 1));
    CHECK_NUMBER(errno, ENAMETOOLONG);
}

static mode_t mode_of(const char *name)
{
    struct stat status = {0};
    CHECK(stat(name, &status) == 0);
    return status.st_mode & 0777;
}

// A new file has the rights that the umask allows; a file that replaces another has no more rights than the old one.
static void test_rights(void)
{
    static const mode_t masks[] = {0, 022, 027, 077}, modes[] = {0600, 0640, 0644, 0666, 0777};
    for (size_t m = 0; m < sizeof(masks) / sizeof(*masks); m++) {
        const mode_t mask = umask(masks[m]);
        unlink(path);
        CHECK(file_write_atomic(path, "x", 1));
        CHECK_NUMBER(mode_of(path), 0666 & ~masks[m]);
        for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
            CHECK(chmod(path, modes[i]) == 0 && file_write_atomic(path, "x", 1));
            CHECK_NUMBER(mode_of(path), modes[i] & 0666 & ~masks[m]);
        }
        CHECK(umask(mask) == masks[m]); // unchanged
    }
}

static struct {
    ino_t inode; // of the file that was synced last
    off_t size;  // its size at that time
    int renames; // of files that were not synced, or not with all their bytes
    int calls;
    bool masked;  // umask was called
    bool refuses; // fsync fails
} seen;

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_renameat(int from_at, const char *from, int to_at, const char *to);
int __wrap_renameat(int from_at, const char *from, int to_at, const char *to);
mode_t __real_umask(mode_t mask);
mode_t __wrap_umask(mode_t mask);

int __wrap_fsync(int fd)
{
    struct stat status;
    if (seen.refuses) {
        errno = ENOSPC;
        return -1;
    }
    if (fstat(fd, &status) == 0) {
        seen.inode = status.st_ino;
        seen.size = status.st_size;
    }
    return __real_fsync(fd);
}

int __wrap_renameat(int from_at, const char *from, int to_at, const char *to)
{
    struct stat status = {0};
    seen.calls++;
    if (fstatat(from_at, from, &status, 0) != 0 || status.st_ino != seen.inode || status.st_size != seen.size)
        seen.renames++;
    return __real_renameat(from_at, from, to_at, to);
}

mode_t __wrap_umask(mode_t mask)
{
    seen.masked = true;
    return __real_umask(mask);
}

// A file gets its name when its bytes are on the disk. The umask, which belongs to all threads, is left alone.
static void test_order(void)
{
    memset(&seen, 0, sizeof(seen));
    CHECK(file_write_atomic(path, "bytes", 5) && file_write_atomic(path, "more bytes", 10));
    CHECK_NUMBER(seen.calls, 2);
    CHECK_NUMBER(seen.renames, 0);
    CHECK(!seen.masked);
}

static void test_text(void)
{
    static const struct {
        const char *bytes, *want;
    } rows[] = {{"\xef\xbb\xbfwords", "words"},
                {"words\xef\xbb\xbf", "words\xef\xbb\xbf"},
                {"\xef\xbb", "\xef\xbb"},
                {"\xef\xbb\xbf", ""},
                {"", ""}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK(file_write_atomic(path, rows[i].bytes, strlen(rows[i].bytes)));
        char *text = file_read_text(path, 100);
        CHECK_TEXT(text, rows[i].want);
        free(text);
    }
    CHECK(!file_read_text("/nowhere/at/all", 100));
}

static void check_writable(const char *where, bool atomic, int error)
{
    errno = 0;
    const bool writable = file_writable(where, atomic);
    check_that(&unit, writable == (error == 0) && (writable || errno == error), "writable (%s) %.80s: %s",
               atomic ? "atomic" : "in place", where, strerror(errno));
}

// As the user `nobody`, because root ignores permissions; in a child process.
static void check_as_nobody(void)
{
    check_that(&unit, setgid(65534) == 0 && setuid(65534) == 0, "there is a user with few rights");
    char other[96];
    snprintf(other, sizeof(other), "%s/other", directory);
    check_writable(other, true, EACCES); // the directory cannot be written
    check_writable(other, false, EACCES);
    check_writable(path, true, EACCES); // the file can be written, but not replaced
    check_writable(path, false, 0);
    snprintf(other, sizeof(other), "%s/mine", directory);
    check_writable(other, true, EACCES); // the file cannot be written either
    check_writable(other, false, EACCES);
}

// A file without write permission is not replaced, although the directory's permissions would allow it.
static void check_protected_as_nobody(void)
{
    char other[96];
    snprintf(other, sizeof(other), "%s/mine", directory);
    errno = 0;
    check_that(&unit, setgid(65534) == 0 && setuid(65534) == 0, "there is a user with few rights");
    check_that(&unit, !file_write_atomic(other, "y", 1) && errno == EACCES, "protected: %s", strerror(errno));
    check_that(&unit, file_write_atomic(path, "y", 1), "writable: %s", strerror(errno));
}

static void check_in_child(void (*checks)(void))
{
    const pid_t child = fork();
    if (child == 0) {
        unit.failed = 0;
        checks();
        _exit(unit.failed > 0);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void test_writable(void)
{
    char name[400], where[500];
    memset(name, 'n', 256);
    name[256] = '\0';
    for (int atomic = 0; atomic < 2; atomic++) {
        snprintf(where, sizeof(where), "%s/new", directory);
        check_writable(where, atomic, 0);
        CHECK(access(where, F_OK) != 0); // the file was not created
        check_writable(path, atomic, 0);
        check_content("x");
        check_writable("/dev/null", atomic, 0);
        check_writable("", atomic, ENOENT);
        check_writable("/nowhere/file", atomic, ENOENT);
        check_writable("/proc/file", atomic, ENOENT);
        check_writable(directory, atomic, EISDIR);
        snprintf(where, sizeof(where), "%s/new/", directory);
        check_writable(where, atomic, EISDIR);
        snprintf(where, sizeof(where), "%s/below", path);
        check_writable(where, atomic, ENOTDIR);
        snprintf(where, sizeof(where), "%s/%s", directory, name);
        check_writable(where, atomic, ENAMETOOLONG);
        where[strlen(where) - 1] = '\0';
        check_writable(where, atomic, 0); // 255 bytes are the longest name
    }
    CHECK_NUMBER(count_files(), 1);
    if (geteuid() != 0)
        return;
    snprintf(where, sizeof(where), "%s/mine", directory);
    CHECK(file_write_atomic(where, "x", 1) && chmod(where, 0644) == 0 && chmod(path, 0666) == 0 &&
          chmod(directory, 0755) == 0);
    check_in_child(check_as_nobody);
    CHECK(chmod(directory, 0777) == 0);
    check_in_child(check_protected_as_nobody);
    unlink(where);
}

// A write that fails half way, as on a full disk: the old bytes stay, and no temporary file.
static void test_full(void)
{
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 1000;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(file_write_atomic(path, "old", 3));
    char data[2000] = {1};
    setrlimit(RLIMIT_FSIZE, &small);
    errno = 0;
    const bool written = file_write_atomic(path, data, sizeof(data));
    const int error = errno;
    setrlimit(RLIMIT_FSIZE, &old); // standard error may be a file too
    CHECK(!written);
    CHECK_NUMBER(error, EFBIG);
    check_content("old");
    CHECK_NUMBER(count_files(), 1);
}

// Network file systems report lost data, for instance a quota, only when the file is closed.
static void test_close(void)
{
    CHECK(file_write_atomic(path, "old", 3));
    close_error = EDQUOT;
    const bool written = file_write_atomic(path, "new", 3);
    const int error = errno;
    const bool device_written = file_write_atomic("/dev/null", "new", 3);
    const int device_error = errno;
    const bool full_written = file_write_atomic("/dev/full", "new", 3);
    const int full_error = errno;
    close_error = 0;
    CHECK(!written && !device_written && !full_written);
    CHECK_NUMBER(error, EDQUOT);
    CHECK_NUMBER(device_error, EDQUOT);
    CHECK_NUMBER(full_error, ENOSPC); // the first error
    check_content("old");
    CHECK_NUMBER(count_files(), 1);
}

// Links stay links. Pipes and devices are not replaced. Two spellings of a path name one file.
static void test_kinds(void)
{
    char link[96], pipe[96], spelled[112];
    snprintf(link, sizeof(link), "%s/link", directory);
    snprintf(pipe, sizeof(pipe), "%s/pipe", directory);
    snprintf(spelled, sizeof(spelled), "%s/./file", directory);
    CHECK(file_write_atomic(path, "one", 3));
    CHECK(symlink("file", link) == 0 && mkfifo(pipe, 0600) == 0);
    CHECK(file_write_atomic(link, "two", 3));
    check_content("two");
    struct stat status;
    CHECK(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    size_t size;
    errno = 0;
    CHECK(!file_read(pipe, 100, &size) && errno == EINVAL); // without waiting for a writer
    errno = 0;
    CHECK(!file_write_atomic("/dev/full", "x", 1) && errno == ENOSPC);
    CHECK(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
    CHECK(!file_write_atomic(directory, "x", 1) && errno == EISDIR);
    CHECK(file_same(path, link) && file_same(path, spelled) && !file_same(path, pipe));
    CHECK(!file_same("/dev/null", "/dev/null"));
    unlink(path);
    CHECK(file_same(path, spelled) && !file_same(path, pipe) && !file_same(path, directory));
    CHECK(file_same(path, link) && file_writable(link, true) && file_writable(link, false)); // a dangling link
    CHECK(file_write_atomic(link, "new", 3) && lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    check_content("new");
    unlink(link);
    CHECK(symlink("nowhere/file", link) == 0);
    CHECK(!file_writable(link, true) && !file_writable(link, false) && !file_write_atomic(link, "x", 1));
    CHECK(lstat(link, &status) == 0 && S_ISLNK(status.st_mode));
    unlink(link);
    CHECK(symlink("link", link) == 0); // to itself
    errno = 0;
    CHECK(!file_writable(link, true) && errno == ELOOP && !file_write_atomic(link, "x", 1) && errno == ELOOP);
    unlink(link);
    unlink(pipe);
}

// A draft replaces the file at its end, and only then.
static void test_draft(void)
{
    struct file_draft draft;
    CHECK(file_write_atomic(path, "old", 3) && chmod(path, 0600) == 0);
    for (int keep = 0; keep < 2; keep++) {
        struct stat status;
        const int fd = file_draft_begin(&draft, path);
        CHECK(fstat(fd, &status) == 0 && (status.st_mode & 0777) == 0600);
        CHECK(write(fd, "new", 3) == 3);
        check_content("old");
        if (keep)
            CHECK(file_draft_end(&draft));
        else
            file_draft_cancel(&draft, false);
        close(fd);
        check_content(keep ? "new" : "old");
        CHECK(access(draft.temporary, F_OK) != 0);
    }
    int fd = file_draft_begin(&draft, path);
    CHECK(close(fd) == 0 && unlink(draft.temporary) == 0);
    CHECK(!file_draft_end(&draft) && errno == ENOENT); // another program has removed it
    check_content("new");
    CHECK(file_draft_begin(&draft, "/dev/null") < 0);
    CHECK_NUMBER(errno, ESPIPE);
}

// Two drafts do not replace the same file, and no draft replaces a file that another program has put there.
static void test_drafts(void)
{
    struct file_draft draft, other;
    int fd = file_draft_begin(&draft, path);
    CHECK(fd >= 0 && close(fd) == 0);
    CHECK(file_draft_begin(&other, path) < 0 && errno == EWOULDBLOCK);
    CHECK(file_write_atomic(path, "theirs", 6));
    CHECK(!file_draft_end(&draft) && errno == EEXIST);
    check_content("theirs");
    CHECK(unlink(draft.temporary) == 0);
    CHECK((fd = file_draft_begin(&draft, path)) >= 0 && close(fd) == 0); // the lock has ended
    CHECK(unlink(path) == 0 && file_draft_end(&draft));
    check_content("");
}

// A claimed name is that of a file that existed, or of a new one. Other files stay.
static void test_claim(void)
{
    char name[80], other[80];
    struct claim claim;
    struct captured captured;
    snprintf(name, sizeof(name), "%s/new.tar", directory);
    snprintf(other, sizeof(other), "%s/new-2.tar", directory);
    for (int there = 0; there < 4; there++) {
        const bool theirs = there >= 2;
        unlink(other);
        if (there == 1 || there == 2)
            CHECK(file_write_atomic(name, "old", 3));
        CHECK(claim_take(&claim, name));
        if (theirs)
            CHECK(file_write_atomic(name, "theirs", 6));
        capture_stderr(&captured);
        CHECK(claim_write(&claim, "new", 3) && claim_write(&claim, "newer", 5));
        CHECK_TEXT(claim.path, theirs ? other : name);
        const int lines = captured_lines(&captured);
        CHECK_NUMBER(lines, theirs);
        size_t size;
        char *text = file_read(claim.path, 100, &size);
        CHECK_TEXT(text, "newer");
        free(text);
        CHECK((access(other, F_OK) == 0) == theirs);
        text = file_read(name, 100, &size);
        CHECK_TEXT(text, theirs ? "theirs" : "newer");
        free(text);
        unlink(name);
    }
    const struct file_id theirs = file_id(other);
    CHECK(theirs.inode != 0 && file_id(name).inode == 0 && file_id("/dev/null").inode == 0);
    CHECK(file_write_atomic(name, "x", 1));
    CHECK(!file_remove(name, theirs) && !file_remove(name, (struct file_id){0}) && access(name, F_OK) == 0);
    CHECK(file_remove(other, theirs) && file_remove(name, file_id(name)));

    // A link without a target gets one; a name without a suffix and a hidden file get a number, too.
    CHECK(symlink(other, name) == 0);
    CHECK(claim_take(&claim, name) && claim_write(&claim, "x", 1));
    CHECK_TEXT(claim.path, name);
    CHECK(unlink(name) == 0 && unlink(other) == 0);
    static const char *const names[][2] = {{"a.b/plain", "a.b/plain-2"}, {"a.b/.hidden", "a.b/.hidden-2"}};
    snprintf(name, sizeof(name), "%s/a.b", directory);
    CHECK(mkdir(name, 0777) == 0);
    for (int i = 0; i < 2; i++) {
        char want[80], got[PATH_MAX];
        snprintf(other, sizeof(other), "%s/%s", directory, names[i][0]);
        snprintf(want, sizeof(want), "%s/%s", directory, names[i][1]);
        const int fd = file_create_after(got, other);
        CHECK(fd >= 0 && close(fd) == 0);
        CHECK_TEXT(got, want);
        CHECK(unlink(got) == 0);
    }
    CHECK(rmdir(name) == 0);
    snprintf(name, sizeof(name), "%s/nowhere/x", directory);
    CHECK(!claim_take(&claim, name) && !claim_write(&claim, "x", 1) && errno == ENOENT);
}

// No second run opens an output that grows, whether the file is new or a draft.
static void test_growing(void)
{
    struct growing new = {0}, draft = {0}, second = {0};
    struct claim claim;
    int fd, other, drafted = -1;
    static const char taken[] = "another run writes it; name another file";
    unlink(path);
    CHECK(claim_take(&claim, path) && claim_make(&claim, &fd) && fd >= 0);
    CHECK(!growing_open(&new, path, &fd) && !new.drafted);
    other = open(path, O_WRONLY | O_CLOEXEC);
    CHECK_TEXT(growing_open(&second, path, &other), taken);
    close(other);
    close(fd);
    CHECK(growing_close(&new, path, true, true) && access(path, F_OK) == 0);
    CHECK(!growing_open(&draft, path, &drafted) && draft.drafted && drafted >= 0);
    other = -1;
    CHECK_TEXT(growing_open(&second, path, &other), taken);
    CHECK(write(drafted, "grown", 5) == 5 && close(drafted) == 0);
    check_content("");
    CHECK(growing_close(&draft, path, true, true));
    check_content("grown");
    CHECK(!growing_open(&new, "/dev/null", &other) && other < 0 && growing_close(&new, "/dev/null", true, true));
}

// A write that fails leaves no new file.
static void test_claim_failed(void)
{
    char name[80];
    struct claim claim;
    snprintf(name, sizeof(name), "%s/failed", directory);
    CHECK(claim_take(&claim, name));
    seen.refuses = true;
    CHECK(!claim_write(&claim, "x", 1) && errno == ENOSPC);
    seen.refuses = false;
    CHECK(access(name, F_OK) != 0);
}

static bool take_event(void *context, const struct file_event *event)
{
    char *text = context;
    const size_t used = strlen(text);
    snprintf(text + used, 128 - used, "%s%s%s ", event->name ? event->name : "", event->written ? "+" : "-",
             event->lost ? "lost" : "");
    return event->written;
}

static bool is_a(const char *name, const void *context)
{
    return strcmp(name, context) == 0;
}

// Files that are written, moved in and deleted are events, directories inside are none.
static void test_watch(void)
{
    char a[96], b[96], inner[96], outer[96], text[128] = "";
    const int watch = file_watch_open(directory);
    snprintf(a, sizeof(a), "%s/a", directory);
    snprintf(b, sizeof(b), "%s/b", directory);
    snprintf(inner, sizeof(inner), "%s/inner", directory);
    snprintf(outer, sizeof(outer), "%s-outer", directory);
    CHECK(watch > 0 && !file_watch_take(watch, take_event, text));
    CHECK(close(open(a, O_WRONLY | O_CREAT, 0600)) == 0 && rename(a, b) == 0);
    CHECK(mkdir(outer, 0700) == 0 && rename(outer, inner) == 0 && rmdir(inner) == 0);
    CHECK(file_watch_take(watch, take_event, text));
    CHECK_TEXT(text, "a+ b+ ");
    CHECK(unlink(b) == 0);
    text[0] = '\0';
    CHECK(!file_watch_take(watch, take_event, text));
    CHECK_TEXT(text, "b- ");
    CHECK(close(open(a, O_WRONLY | O_CREAT, 0600)) == 0 && !file_watch_any(watch, is_a, "b"));
    CHECK(unlink(a) == 0 && file_watch_any(watch, is_a, "a") && !file_watch_any(watch, is_a, "a"));
    close(watch);
}

// If the kernel has dropped events, any file may have changed.
static void test_watch_lost(void)
{
    const struct inotify_event lost = {.wd = -1, .mask = IN_Q_OVERFLOW};
    char text[128] = "";
    int ends[2];
    CHECK(pipe2(ends, O_NONBLOCK) == 0);
    CHECK(write(ends[1], &lost, sizeof(lost)) == sizeof(lost));
    CHECK(!file_watch_take(ends[0], take_event, text));
    CHECK_TEXT(text, "-lost ");
    CHECK(write(ends[1], &lost, sizeof(lost)) == sizeof(lost) && file_watch_any(ends[0], is_a, "a"));
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    unit_directory(directory);
    test_watch();
    test_watch_lost();
    snprintf(path, sizeof(path), "%s/file", directory);
    test_read();
    test_text();
    test_write();
    test_rights();
    test_order();
    CHECK(file_write_atomic(path, "x", 1));
    test_writable();
    test_full();
    test_close();
    test_kinds();
    test_draft();
    test_drafts();
    test_claim();
    test_claim_failed();
    test_growing();
    unlink(path);
    CHECK(rmdir(directory) == 0); // no file is left behind
    return check_end(&unit);
}
