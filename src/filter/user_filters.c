// user_filters.c: loads users' filters from directories
#include "filter/user_filters.h"

#include "base/cache.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct registry {
    struct user_filter *filter[USER_FILTERS]; // by name
    int count;
    const char *named; // directory of user_filters_load; borrowed
};
static struct registry registry;

const struct filter *user_filters_at(int index)
{
    return index < registry.count ? &registry.filter[index]->filter : NULL;
}

const char *user_filters_named(void)
{
    return registry.named ? registry.named : "";
}

// Returns the place of a name in the list; *found: it is in the list.
static int find(const char *name, bool *found)
{
    int at = 0;
    while (at < registry.count && strcmp(registry.filter[at]->name, name) < 0)
        at++;
    *found = at < registry.count && strcmp(registry.filter[at]->name, name) == 0;
    return at;
}

static bool is_own(const char *name)
{
    for (int i = 0; filters[i]; i++) {
        if (strcasecmp(filters[i]->name, name) == 0)
            return true;
    }
    return false;
}

// Reads a file. NULL on failure: `error` gets the reason.
static char *read_file(int directory, const char *path, const char *file, size_t *size, char error[USER_ERROR])
{
    const char *unsafe;
    char *text = trusted_read(directory, file, USER_TEXT_MAX, size, &unsafe);
    if (text)
        return text;
    if (unsafe)
        snprintf(error, USER_ERROR, "cannot use the filter %.200s/%.100s: it %s; own it, and run chmod go-w on it",
                 path, file, unsafe);
    else
        snprintf(error, USER_ERROR, "cannot read the filter %.200s/%.100s: %s", path, file,
                 errno == EFBIG    ? "it is larger than 256 KiB"
                 : errno == EINVAL ? "it is not a regular file"
                                   : strerror(errno));
    return NULL;
}

// Takes a file of a directory into the list, where it replaces a file of the same name in an earlier directory. False
// on failure: `error` gets one line.
static bool take_file(int directory, const char *path, const char *file, char error[USER_ERROR])
{
    char name[NAME_MAX + 1], why[USER_ERROR];
    size_t size;
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    const int at = find(name, &found);
    char *text = read_file(directory, path, file, &size, error);
    if (!text)
        return false;
    if (is_own(name) || (!found && registry.count == USER_FILTERS)) {
        snprintf(error, USER_ERROR, "cannot use the filter %.200s/%.100s: %s", path, file,
                 is_own(name) ? "monocle has a filter of this name; rename the file" : "there are too many filters");
        free(text);
        return false;
    }
    struct user_filter *user = user_filter_make(name, text, size, why);
    if (!user) {
        snprintf(error, USER_ERROR, "cannot use the filter %.150s/%.100s: %.200s", path, file, why);
        return false;
    }
    if (found) {
        user_filter_free(registry.filter[at]); // no chain uses it yet
    } else {
        memmove(&registry.filter[at + 1], &registry.filter[at],
                (size_t)(registry.count - at) * sizeof(registry.filter[0]));
        registry.count++;
    }
    registry.filter[at] = user;
    return true;
}

static int is_kernel(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cl") == 0;
}

// Takes the files of a directory in the order of their names. Logs the failures.
static void take_directory(int directory, const char *path)
{
    struct dirent **entries;
    const int count = scandirat(directory, ".", &entries, is_kernel, alphasort);
    for (int i = 0; i < count; i++) {
        char why[USER_ERROR];
        if (!take_file(directory, path, entries[i]->d_name, why))
            log_error("%s", why);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

// False: the directory cannot be used; *unsafe says why, or errno.
static bool add_directory(const char *path, const char **unsafe)
{
    const int directory = trusted_open(path, unsafe);
    if (directory < 0)
        return false;
    take_directory(directory, path);
    close(directory);
    return true;
}

// A directory of the system or of the configuration need not exist.
static void add_standard(const char *path)
{
    const char *unsafe;
    if (!add_directory(path, &unsafe) && unsafe)
        log_warn("cannot use the filters in %s: it %s; own it, and run chmod go-w on it", path, unsafe);
}

bool user_filters_load(const char *directory)
{
    char path[PATH_MAX], filters_path[PATH_MAX];
    const char *unsafe;
    size_t at = 0;
    while (data_system_next(path, &at)) {
        if (snprintf(filters_path, PATH_MAX, "%s/filters", path) < PATH_MAX)
            add_standard(filters_path);
    }
    if (config_path("filters", path))
        add_standard(path);
    if (!directory || !directory[0])
        return true;
    registry.named = directory;
    if (add_directory(directory, &unsafe))
        return true;
    if (unsafe)
        log_error("cannot use the filters in %s: it %s; own it, and run chmod go-w on it", directory, unsafe);
    else
        log_error("cannot use the filters in %s: %s; correct --filters or MONOCLE_FILTERS", directory, strerror(errno));
    return false;
}
