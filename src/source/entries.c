// entries.c: the paths of a list of image files
#include "source/entries.h"

#include "base/file.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LIST_BYTES_MAX = 64 << 20 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Compares runs of digits as numbers of any length, and all other characters by bytes.
int entries_compare_names(const char *a, const char *b)
{
    const char *const whole_a = a, *const whole_b = b;
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b)
                return (unsigned char)*a - (unsigned char)*b;
            a++;
            b++;
            continue;
        }
        a += strspn(a, "0");
        b += strspn(b, "0");
        const size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
        if (digits_a != digits_b)
            return digits_a < digits_b ? -1 : 1;
        const int order = memcmp(a, b, digits_a);
        if (order != 0)
            return order;
        a += digits_a;
        b += digits_b;
    }
    if (*a || *b)
        return *a ? 1 : -1;
    return strcmp(whole_a, whole_b); // "1" before "01" or after it, but always the same
}

static int compare_entries(const void *a, const void *b)
{
    return entries_compare_names(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

// Makes room for `more` entries. Returns false if out of memory.
static bool make_room(struct entries *entries, int more)
{
    int room = entries->room ? entries->room : 64;
    while (room < entries->count + more)
        room *= 2;
    struct entry *larger =
        room == entries->room ? entries->entry : realloc(entries->entry, (size_t)room * sizeof(*larger));
    if (!larger)
        return false;
    entries->entry = larger;
    entries->room = room;
    return true;
}

// Takes ownership of `path`, which may be NULL. Returns false if out of memory.
static bool add(struct entries *entries, char *path, int64_t changed_ns)
{
    if (!path || !make_room(entries, 1)) {
        free(path);
        return false;
    }
    entries->entry[entries->count++] = (struct entry){.path = path, .changed_ns = changed_ns};
    return true;
}

// Returns true for a visible regular file, or a link to one.
static bool is_candidate(DIR *directory, const struct dirent *found, struct stat *status)
{
    return found->d_name[0] != '.' && fstatat(dirfd(directory), found->d_name, status, 0) == 0 &&
           S_ISREG(status->st_mode);
}

bool entries_from_directory(struct entries *entries, const char *path, bool (*wanted)(const char *name))
{
    DIR *directory = opendir(path);
    if (!directory) {
        const char *hint = errno == EACCES ? "; its owner can run: chmod a+rx " : "";
        log_error("cannot read directory %s: %s%s%s", path, strerror(errno), hint, hint[0] ? path : "");
        return false;
    }
    const size_t length = strlen(path);
    const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
    bool ok = true;
    const struct dirent *found;
    while (ok && (found = readdir(directory))) {
        struct stat status;
        char *full = NULL;
        if (wanted(found->d_name) && is_candidate(directory, found, &status))
            ok = asprintf(&full, "%s%s%s", path, slash, found->d_name) > 0 &&
                 add(entries, full, status.st_mtim.tv_sec * (int64_t)1000000000 + status.st_mtim.tv_nsec);
    }
    closedir(directory);
    if (!ok)
        log_error("cannot list directory %s: out of memory", path);
    else if (entries->count > 0)
        qsort(entries->entry, (size_t)entries->count, sizeof(*entries->entry), compare_entries);
    return ok;
}

bool entries_from_lines(struct entries *entries, const char *text)
{
    bool ok = true;
    while (ok && *text) {
        const size_t length = strcspn(text, "\n"), name = length - (length > 0 && text[length - 1] == '\r');
        ok = name == 0 || add(entries, strndup(text, name), 0);
        text += length + (text[length] == '\n');
    }
    if (!ok)
        log_error("cannot read the list of images: out of memory");
    return ok;
}

bool entries_from_file(struct entries *entries, const char *path)
{
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) { // the data of a device may have no end
        log_error("cannot read the list %s: it is not a regular file", path);
        return false;
    }
    char *text = file_read_text(path, LIST_BYTES_MAX);
    if (!text) {
        log_error("cannot read the list %s: %s", path, strerror(errno));
        return false;
    }
    const bool ok = entries_from_lines(entries, text);
    free(text);
    return ok;
}

bool entries_renew(struct entries *entries, struct entries *newer, struct entries *gone)
{
    if (!make_room(gone, entries->count)) {
        log_error("cannot read the list of images again: out of memory");
        return false;
    }
    struct entry *old = entries->entry, *const end = old + entries->count;
    for (int i = 0; i < newer->count; i++) {
        struct entry *entry = &newer->entry[i];
        while (old < end && compare_entries(old, entry) < 0)
            gone->entry[gone->count++] = *old++;
        if (old == end || compare_entries(old, entry) != 0)
            continue;
        entry->bad = old->bad && old->changed_ns == entry->changed_ns;
        free(entry->path);
        entry->path = old++->path;
    }
    while (old < end)
        gone->entry[gone->count++] = *old++;
    free(entries->entry);
    *entries = *newer;
    *newer = (struct entries){0};
    return true;
}

void entries_free(struct entries *entries)
{
    for (int i = 0; i < entries->count; i++)
        free(entries->entry[i].path);
    free(entries->entry);
    *entries = (struct entries){0};
}
