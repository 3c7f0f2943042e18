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
    char *directory[USER_DIRECTORIES];
    int directories;
    const char *named; // borrowed; one of them
};
static struct registry registry;

const struct filter *user_filters_at(int index)
{
    return index < registry.count ? &registry.filter[index]->filter : NULL;
}

const char *user_filters_directory(int index)
{
    return index < registry.directories ? registry.directory[index] : NULL;
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

// Takes one file of directory `number` into the list. Returns true if the list has changed. `error` is as in
// user_filters_reload.
static bool take_file(int directory, int number, const char *file, char error[USER_ERROR])
{
    const char *path = registry.directory[number];
    char name[NAME_MAX + 1], why[USER_ERROR];
    size_t size;
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    const int at = find(name, &found);
    if (found && registry.filter[at]->directory > number) // a later directory replaces this file
        return false;
    char *text = read_file(directory, path, file, &size, error);
    if (!text)
        return false;
    if (found && strcmp(registry.filter[at]->text, text) == 0) {
        free(text);
        return false;
    }
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
    user->directory = number;
    if (found) {
        user->older = registry.filter[at]; // chains may use it
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

// Takes the files of directory `number` in the order of their names. Returns true if the list has changed. `error` gets
// the last failure; with `logs`, all are logged.
static bool take_directory(int directory, int number, bool logs, char error[USER_ERROR])
{
    struct dirent **entries;
    const int count = scandirat(directory, ".", &entries, is_kernel, alphasort);
    bool changed = false;
    for (int i = 0; i < count; i++) {
        char why[USER_ERROR] = "";
        changed = take_file(directory, number, entries[i]->d_name, why) || changed;
        if (why[0] && logs)
            log_error("%s", why);
        if (why[0])
            strcpy(error, why);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return changed;
}

// Takes the files of a directory and notes it. False: it cannot be used; *unsafe says why, or errno.
static bool add_directory(const char *path, const char **unsafe)
{
    char error[USER_ERROR];
    const int directory = trusted_open(path, unsafe);
    char *copy = directory >= 0 && registry.directories < USER_DIRECTORIES ? strdup(path) : NULL;
    if (copy) {
        registry.directory[registry.directories] = copy;
        take_directory(directory, registry.directories++, true, error);
    }
    if (directory >= 0)
        close(directory);
    return copy;
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

bool user_filters_reload(char error[USER_ERROR])
{
    bool changed = false;
    error[0] = '\0';
    for (int i = 0; i < registry.directories; i++) {
        const char *unsafe;
        const int directory = trusted_open(registry.directory[i], &unsafe);
        if (directory < 0)
            continue;
        changed = take_directory(directory, i, false, error) || changed;
        close(directory);
    }
    return changed;
}
