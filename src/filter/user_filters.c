// user_filters.c: loads users' filters from directories
#include "filter/user_filters.h"

#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/log.h"
#include "base/resource.h"

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
    const char *named;      // directory of user_filters_load; borrowed
    char error[USER_ERROR]; // the first refused file of a filter that was loaded before; "": none
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
static int find(const struct registry *r, const char *name, bool *found)
{
    int at = 0;
    while (at < r->count && strcmp(r->filter[at]->name, name) < 0)
        at++;
    *found = at < r->count && strcmp(r->filter[at]->name, name) == 0;
    return at;
}

static void insert(struct registry *r, int at, struct user_filter *user)
{
    memmove(&r->filter[at + 1], &r->filter[at], (size_t)(r->count - at) * sizeof(r->filter[0]));
    r->filter[at] = user;
    r->count++;
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
        snprintf(error, USER_ERROR, "cannot use the filter %.200s/%.100s: it %s; %s", path, file, unsafe,
                 cache_remedy(unsafe));
    else
        snprintf(error, USER_ERROR, "cannot read the filter %.200s/%.100s: %s", path, file,
                 errno == EFBIG ? "it is larger than 256 KiB" : file_read_error());
    return NULL;
}

// Takes a file of a directory into the list, where it replaces a file of the same name in an earlier directory. False
// on failure: `error` gets one line.
static bool take_file(struct registry *r, int directory, const char *path, const char *file, char error[USER_ERROR])
{
    char name[NAME_MAX + 1], why[USER_ERROR];
    size_t size;
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    const int at = find(r, name, &found);
    char *text = read_file(directory, path, file, &size, error);
    if (!text)
        return false;
    if (is_own(name) || (!found && r->count == USER_FILTERS)) {
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
    if (!found) {
        insert(r, at, user);
        return true;
    }
    user_filter_free(r->filter[at]); // no chain uses it yet
    r->filter[at] = user;
    return true;
}

// Takes the examples, which are in the binary.
static void take_examples(struct registry *r)
{
    static const char prefix[] = "assets/filters/";
    const size_t start = sizeof(prefix) - 1;
    for (const struct resource *file = resources; file->name; file++) {
        char name[NAME_MAX + 1], why[USER_ERROR];
        bool found;
        if (strncmp(file->name, prefix, start) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(strlen(file->name + start) - strlen(".cl")), file->name + start);
        const int at = find(r, name, &found);
        if (found)
            continue; // loaded before, so chains may use it
        char *text = xstrndup((const char *)file->data, file->size);
        struct user_filter *user = user_filter_make(name, text, file->size, why);
        if (user)
            insert(r, at, user);
        else
            log_error("cannot use the example %s: %s", name, why);
    }
}

static int is_kernel(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 3 && strcmp(entry->d_name + length - 3, ".cl") == 0;
}

static bool was_loaded(const char *file)
{
    char name[NAME_MAX + 1];
    bool found;
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(".cl")), file);
    find(&registry, name, &found);
    return found;
}

// Takes the files of a directory in the order of their names. Logs the failures: those of the first load, whose filters
// may not be used, only at the level info.
static void take_directory(struct registry *r, int directory, const char *path)
{
    struct dirent **entries;
    char place[32]; // musl has no scandirat
    snprintf(place, sizeof(place), "/proc/self/fd/%d", directory);
    const int count = scandir(place, &entries, is_kernel, alphasort);
    for (int i = 0; i < count; i++) {
        char why[USER_ERROR];
        if (!take_file(r, directory, path, entries[i]->d_name, why)) {
            const bool edited = r != &registry && was_loaded(entries[i]->d_name);
            log_message(edited ? LOG_ERROR : r == &registry ? LOG_INFO : LOG_WARN, "%s", why);
            if (edited && !r->error[0])
                strcpy(r->error, why);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

// Takes the files of all directories. Only `named` must exist. Returns false if it cannot be used (logged).
static bool take_directories(struct registry *r)
{
    char path[PATH_MAX];
    bool ok = true;
    for (int i = 0; user_filters_directory(i, path); i++) {
        const char *unsafe;
        const bool named = r->named && strcmp(path, r->named) == 0;
        const int directory = trusted_open(path, &unsafe);
        if (directory >= 0) {
            take_directory(r, directory, path);
            close(directory);
        } else if (unsafe) {
            log_message(named ? LOG_ERROR : LOG_WARN, "cannot use the filters in %s: it %s; %s", path, unsafe,
                        cache_remedy(unsafe));
        } else if (named) {
            log_error("cannot use the filters in %s: %s; correct --filters or MONOCLE_FILTERS", path, strerror(errno));
        }
        ok = ok && (directory >= 0 || !named);
    }
    return ok;
}

bool user_filters_directory(int index, char path[PATH_MAX])
{
    char data[PATH_MAX];
    size_t at = 0;
    while (data_system_next(data, &at)) {
        if (snprintf(path, PATH_MAX, "%s/filters", data) < PATH_MAX && index-- == 0)
            return true;
    }
    if (config_path("filters", path) && index-- == 0)
        return true;
    return registry.named && index == 0 && snprintf(path, PATH_MAX, "%s", registry.named) < PATH_MAX;
}

bool user_filters_refused(const char *name, char why[USER_ERROR])
{
    struct registry fresh = {0};
    char path[PATH_MAX], file[NAME_MAX + 1];
    const char *unsafe;
    bool refused = false;
    if (strchr(name, '/') || snprintf(file, sizeof(file), "%s.cl", name) >= (int)sizeof(file))
        return false;
    for (int i = 0; user_filters_directory(i, path); i++) {
        const int directory = trusted_open(path, &unsafe);
        if (directory >= 0 && faccessat(directory, file, F_OK, 0) == 0)
            refused = !take_file(&fresh, directory, path, file, why);
        if (directory >= 0)
            close(directory);
    }
    if (fresh.count > 0)
        user_filter_free(fresh.filter[0]);
    return refused;
}

bool user_filters_load(const char *directory)
{
    registry.named = directory && directory[0] ? directory : NULL;
    take_examples(&registry);
    return take_directories(&registry);
}

// Takes a filter that was loaded again into the list. An equal one stays, because chains use it. Frees `user` if it is
// equal, or if the list is full. Returns true if it replaced another one.
static bool renew(struct user_filter *user)
{
    bool found;
    const int at = find(&registry, user->name, &found);
    if (found && strcmp(registry.filter[at]->text, user->text) != 0) {
        user->older = registry.filter[at];
        registry.filter[at] = user;
        return true;
    }
    if (!found && registry.count < USER_FILTERS)
        insert(&registry, at, user);
    else
        user_filter_free(user);
    return false;
}

bool user_filters_reload(char error[USER_ERROR])
{
    struct registry fresh = {.named = registry.named};
    bool changed = false;
    take_directories(&fresh);
    for (int i = 0; i < fresh.count; i++)
        changed = renew(fresh.filter[i]) || changed;
    strcpy(error, fresh.error);
    return changed;
}
