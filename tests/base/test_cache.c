// test_cache.c: the cache directory and its entries are used only if no other user can have written them
#include "base/cache.h"
#include "base/file.h"

#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>

enum { NOBODY = 65534 };

static char home[64], path[PATH_MAX];
static const char *unsafe;

static int open_again(int directory)
{
    close(directory);
    return cache_open(path, &unsafe);
}

static int count_files(int directory)
{
    DIR *dir = fdopendir(openat(directory, ".", O_RDONLY | O_DIRECTORY));
    int count = -2; // . and ..
    while (dir && readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void test_place(void)
{
    char want[200];
    struct stat status;
    setenv("XDG_CACHE_HOME", home, 1);
    int directory = cache_open(path, &unsafe);
    CHECK(directory >= 0 && !unsafe);
    snprintf(want, sizeof(want), "%s/monocle", home);
    CHECK_TEXT(path, want);
    CHECK(lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & 0777) == 0700);
    directory = open_again(directory); // it exists already
    CHECK(directory >= 0 && close(directory) == 0);
    rmdir(want);
    setenv("HOME", home, 1);
    for (int unset = 0; unset < 2; unset++) {
        setenv("XDG_CACHE_HOME", "relative", 1);
        if (unset)
            unsetenv("XDG_CACHE_HOME");
        directory = cache_open(path, &unsafe);
        snprintf(want, sizeof(want), "%s/.cache/monocle", home);
        CHECK_TEXT(path, want);
        CHECK(directory >= 0 && close(directory) == 0);
    }
    rmdir(want);
    snprintf(want, sizeof(want), "%s/.cache", home);
    rmdir(want);
    static const char *const homes[] = {NULL, "", "relative", "/proc/nowhere", "/dev/null"};
    for (size_t i = 0; i < sizeof(homes) / sizeof(*homes); i++) {
        unsetenv("HOME");
        if (homes[i])
            setenv("HOME", homes[i], 1);
        check_that(&unit, cache_open(path, &unsafe) < 0 && !unsafe, "there is no cache below %s", homes[i]);
    }
}

static void check_unsafe(const char *why)
{
    CHECK(cache_open(path, &unsafe) < 0);
    CHECK_HAS(unsafe, why);
}

// A directory that another user made or can write is not used.
static void test_directory(void)
{
    char place[80], other[80];
    setenv("XDG_CACHE_HOME", home, 1);
    snprintf(place, sizeof(place), "%s/monocle", home);
    snprintf(other, sizeof(other), "%s/other", home);
    CHECK(mkdir(place, 0700) == 0);
    static const int modes[] = {0720, 0702, 0777, 01777};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        CHECK(chmod(place, (mode_t)modes[i]) == 0);
        check_unsafe("can be written by other users");
    }
    CHECK(chmod(place, 0755) == 0);
    const int directory = cache_open(path, &unsafe);
    CHECK(directory >= 0 && close(directory) == 0);
    if (geteuid() == 0) {
        CHECK(chown(place, NOBODY, 0) == 0 && chmod(place, 0700) == 0);
        check_unsafe("belongs to another user");
        CHECK(chown(place, 0, NOBODY) == 0);
        CHECK(close(cache_open(path, &unsafe)) == 0); // the group can read it
    }
    CHECK(rename(place, other) == 0 && symlink(other, place) == 0);
    check_unsafe("symbolic link");
    CHECK(unlink(place) == 0 && file_write_atomic(place, "x", 1));
    check_unsafe("not a directory");
    CHECK(unlink(place) == 0 && rmdir(other) == 0);
}

static void check_entry(int directory, const char *want, int error)
{
    size_t size = 0;
    errno = 0;
    char *data = cache_read(directory, "entry", 100, &size);
    check_that(&unit, data ? want && size == strlen(want) && strcmp(data, want) == 0 : !want && errno == error,
               "the entry is '%s' (%s), not '%s'", data ? data : "(none)", strerror(errno), want ? want : "(none)");
    free(data);
}

// An entry that another user made or can write is not read, and is replaced by a new one.
static void test_entry(void)
{
    struct stat status;
    char large[101];
    memset(large, 'l', sizeof(large));
    const int directory = cache_open(path, &unsafe);
    CHECK(directory >= 0);
    check_entry(directory, NULL, ENOENT);
    const mode_t mask = umask(0);
    CHECK(cache_write(directory, "entry", "one", 3));
    umask(mask);
    CHECK(fstatat(directory, "entry", &status, 0) == 0 && (status.st_mode & 07777) == 0600);
    check_entry(directory, "one", 0);
    static const int modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        CHECK(fchmodat(directory, "entry", (mode_t)modes[i], 0) == 0);
        check_entry(directory, NULL, EPERM);
    }
    CHECK(fchmodat(directory, "entry", 0644, 0) == 0);
    check_entry(directory, "one", 0);
    if (geteuid() == 0) {
        CHECK(fchownat(directory, "entry", NOBODY, 0, 0) == 0);
        check_entry(directory, NULL, EPERM);
    }
    CHECK(cache_write(directory, "entry", "two", 3));
    check_entry(directory, "two", 0);
    CHECK(renameat(directory, "entry", directory, "kept") == 0 && symlinkat("kept", directory, "entry") == 0);
    check_entry(directory, NULL, ELOOP);
    CHECK(cache_write(directory, "entry", "new", 3));
    check_entry(directory, "new", 0);
    CHECK(fstatat(directory, "kept", &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_size == 3); // not written through
    CHECK(unlinkat(directory, "entry", 0) == 0 && mkfifoat(directory, "entry", 0600) == 0);
    check_entry(directory, NULL, EPERM);
    CHECK(unlinkat(directory, "entry", 0) == 0 && mkdirat(directory, "entry", 0700) == 0);
    check_entry(directory, NULL, EPERM);
    CHECK(!cache_write(directory, "entry", "x", 1));
    CHECK_NUMBER(count_files(directory), 2); // no temporary file
    CHECK(unlinkat(directory, "entry", AT_REMOVEDIR) == 0 && cache_write(directory, "entry", large, sizeof(large)));
    check_entry(directory, NULL, EFBIG);
    CHECK(unlinkat(directory, "entry", 0) == 0 && unlinkat(directory, "kept", 0) == 0);
    CHECK(close(directory) == 0 && rmdir(path) == 0);
}

static void check_path(const char *file, const char *want, const char *place)
{
    char where[PATH_MAX], at[PATH_MAX];
    const char *why = path_unsafe(file, where);
    snprintf(at, sizeof(at), "%s%s", home, place);
    check_that(&unit, want ? why && strstr(why, want) && strcmp(where, at) == 0 : !why, "%s: %s %s, not %s %s", file,
               why ? where : "", why ? why : "is safe", want ? at : "", want ? want : "safe");
}

// A settings file is used only if no other user can have written it or put it there, through no directory or link.
static void test_config(void)
{
    char base[100], directory[120], file[160], link[100], got[PATH_MAX], why[CONFIG_WHY];
    snprintf(base, sizeof(base), "%s/config", home);
    snprintf(directory, sizeof(directory), "%s/monocle", base);
    snprintf(file, sizeof(file), "%s/looks", directory);
    snprintf(link, sizeof(link), "%s/link", home);
    setenv("XDG_CONFIG_HOME", base, 1);
    CHECK(config_append("looks", 100, "a = gray"));
    char *text = config_read("looks", 100, got);
    CHECK_TEXT(text, "a = gray\n");
    free(text);
    check_path(file, NULL, "");
    CHECK(chmod(file, 0620) == 0);
    check_path(file, "can be written by other users", "/config/monocle/looks");
    CHECK(chmod(file, 0600) == 0 && chmod(directory, 0775) == 0);
    check_path(file, NULL, ""); // the group of a user has the same name
    CHECK(chmod(directory, 0777) == 0);
    check_path(file, "can be written by other users", "/config/monocle");
    CHECK(chmod(directory, 01777) == 0);
    check_path(file, NULL, ""); // as /tmp
    CHECK(chmod(directory, 0700) == 0 && symlink(base, link) == 0);
    if (geteuid() == 0) {
        CHECK(chown(base, NOBODY, 0) == 0);
        check_path(file, "belongs to another user", "/config");
        CHECK(!config_read("looks", 100, got) && errno == EPERM);
        config_explain(got, errno, 100, why);
        CHECK_HAS(why, "/config belongs to another user; set XDG_CONFIG_HOME to a directory of your own");
        CHECK(unlink(file) == 0 && rmdir(directory) == 0);
        CHECK(!config_append("looks", 100, "a = gray") && errno == EPERM && access(directory, F_OK) != 0);
        setenv("XDG_CONFIG_HOME", link, 1); // a link of this user to the directory of another one
        CHECK(!config_append("looks", 100, "a = gray") && errno == EPERM && access(directory, F_OK) != 0);
        CHECK(chown(base, 0, 0) == 0 && lchown(link, NOBODY, 0) == 0);
        CHECK(!config_append("looks", 100, "a = gray") && errno == EPERM && access(directory, F_OK) != 0);
    }
    unlink(file);
    rmdir(directory);
    CHECK(unlink(link) == 0 && rmdir(base) == 0);
}

int main(void)
{
    unit_directory(home);
    test_place();
    test_directory();
    test_entry();
    test_config();
    CHECK(rmdir(home) == 0); // no file is left behind
    return check_end(&unit);
}
