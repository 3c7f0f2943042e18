// pocl.c: checks PoCL's cache directory and makes a temporary one if it cannot be used
#include "compute/pocl.h"

#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { OPEN_FILES = 16 };
enum { ROOM_BYTES = 8 << 20 }; // for many kernels and the compiler's temporary files

// Finds PoCL's cache directory (pocl_cache.c of PoCL 3.1 and later). False: the path is too long.
static bool own_place(char path[PATH_MAX])
{
    const char *chosen = getenv("POCL_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (chosen && *chosen)
        return snprintf(path, PATH_MAX, "%s", chosen) < PATH_MAX;
    const char *base = cache && *cache ? cache : home ? home : "/tmp";
    return snprintf(path, PATH_MAX, "%s%s/pocl/kcache", base, base == home ? "/.cache" : "") < PATH_MAX;
}

// Cuts a path to its part that exists. False with errno set if that cannot be determined.
static bool cut_to_existing(char *path)
{
    struct stat status;
    while (stat(path, &status) != 0) {
        char *slash = strrchr(path, '/');
        if (errno != ENOENT || strcmp(path, ".") == 0)
            return false;
        if (!slash)
            snprintf(path, PATH_MAX, ".");
        else
            slash[slash == path] = '\0';
    }
    return true;
}

// Returns why programs cannot be stored in a directory, which may not exist yet, and run from there; NULL if they can.
static const char *why_unusable(const char *directory)
{
    static const char name[] = "/.monocle-probe"; // no such file exists
    char path[PATH_MAX + sizeof(name)];
    struct statvfs system;
    snprintf(path, PATH_MAX, "%s", directory);
    if (!cut_to_existing(path) || statvfs(path, &system) != 0)
        return strerror(errno);
    if (system.f_flag & ST_NOEXEC)
        return "the file system is mounted noexec";
    if (system.f_blocks > 0 && (uint64_t)system.f_bavail * system.f_frsize < ROOM_BYTES)
        return "the file system is full";
    strcat(path, name);
    return file_writable(path, false) ? NULL : strerror(errno);
}

// Returns why other users could store programs there, which PoCL would run; NULL if they cannot.
static const char *why_unsafe(const char *directory)
{
    char path[PATH_MAX];
    struct stat status;
    snprintf(path, PATH_MAX, "%s", directory);
    return cut_to_existing(path) && stat(path, &status) == 0 ? cache_unsafe(&status) : strerror(errno);
}

// Makes the temporary directory in the first usable place. Sets `path` to "" if no place is usable.
static void make_temporary(char *path, size_t size)
{
    const char *chosen = getenv("TMPDIR");
    const char *const places[] = {chosen ? chosen : "/tmp", "/tmp", "/var/tmp", "/dev/shm"};
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        if (!why_unusable(places[i]) && snprintf(path, size, "%s/monocle-pocl-XXXXXX", places[i]) < (int)size &&
            mkdtemp(path))
            return;
    }
    path[0] = '\0';
}

void pocl_cache_open(struct pocl_cache *cache)
{
    char own[PATH_MAX];
    const char *why;
    *cache = (struct pocl_cache){.path = ""};
    if (!own_place(own) || (!(why = why_unusable(own)) && !(why = why_unsafe(own))))
        return;
    snprintf(cache->why, sizeof(cache->why), "%.180s: %s", own, why);
    make_temporary(cache->path, sizeof(cache->path));
    if (cache->path[0])
        setenv("POCL_CACHE_DIR", cache->path, 1);
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    return remove(path);
}

void pocl_cache_close(struct pocl_cache *cache)
{
    if (!cache->path[0] || rmdir(cache->path) == 0) // empty: PoCL was not used
        return;
    log_warn("PoCL cannot store compiled kernels in %s; it compiles them at every start; set POCL_CACHE_DIR to another "
             "directory",
             cache->why);
    if (nftw(cache->path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS) != 0)
        log_warn("cannot remove the temporary directory %s: %s", cache->path, strerror(errno));
    cache->path[0] = '\0';
}
