// test_file.c: files read within a limit and written whole or not at all
#include "base/file.h"

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
    struct stat status;
    const mode_t mask = umask(027);
    CHECK(file_write_atomic(path, "x", 1) && stat(path, &status) == 0);
    umask(mask);
    CHECK_NUMBER(status.st_mode & 0777, 0640);
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

// A write that fails half way, as on a full disk: the old bytes stay, nothing else is left.
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

static void test_cache_dir(void)
{
    char cache[200], want[200];
    struct stat status;
    setenv("XDG_CACHE_HOME", directory, 1);
    CHECK(file_cache_dir(cache, sizeof(cache)));
    snprintf(want, sizeof(want), "%s/monocle", directory);
    CHECK_TEXT(cache, want);
    CHECK(stat(cache, &status) == 0 && (status.st_mode & 0777) == 0700);
    CHECK(file_cache_dir(cache, sizeof(cache))); // there already
    CHECK(!file_cache_dir(cache, 10));
    rmdir(want);
    setenv("XDG_CACHE_HOME", "relative", 1); // to be ignored, says the XDG base directory specification
    setenv("HOME", directory, 1);
    CHECK(file_cache_dir(cache, sizeof(cache)));
    snprintf(want, sizeof(want), "%s/.cache/monocle", directory);
    CHECK_TEXT(cache, want);
    rmdir(want);
    snprintf(want, sizeof(want), "%s/.cache", directory);
    rmdir(want);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    CHECK(!file_cache_dir(cache, sizeof(cache)));
}

// What a path names is kept: links stay links, pipes and devices what they are, and two spellings are one file.
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
    CHECK(!file_read(pipe, 100, &size) && errno == EINVAL); // and doesn't wait for a writer
    errno = 0;
    CHECK(!file_write_atomic("/dev/full", "x", 1) && errno == ENOSPC);
    CHECK(stat("/dev/full", &status) == 0 && S_ISCHR(status.st_mode));
    CHECK(!file_write_atomic(directory, "x", 1) && errno == EISDIR);
    CHECK(file_same(path, link) && file_same(path, spelled) && !file_same(path, pipe));
    CHECK(!file_same("/dev/null", "/dev/null"));
    unlink(path);
    CHECK(file_same(path, spelled) && !file_same(path, pipe) && !file_same(path, directory));
    unlink(link);
    unlink(pipe);
}

int main(void)
{
    unit_directory(directory);
    snprintf(path, sizeof(path), "%s/file", directory);
    test_read();
    test_write();
    test_full();
    test_cache_dir();
    test_kinds();
    unlink(path);
    CHECK(rmdir(directory) == 0); // nothing was left behind
    return check_end(&unit);
}
