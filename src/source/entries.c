// entries.c: the paths of a list of image files
#include "source/entries.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
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

// Takes ownership of the entry's path.
static void add(struct entries *entries, struct entry entry)
{
    entries->entry = xgrow(entries->entry, (size_t)entries->count, sizeof(*entries->entry));
    entries->entry[entries->count++] = entry;
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
    const struct dirent *found;
    while ((found = readdir(directory))) {
        struct stat status;
        if (wanted(found->d_name) && is_candidate(directory, found, &status))
            add(entries, (struct entry){.path = xprintf("%s%s%s", path, slash, found->d_name),
                                        .changed_ns = status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec});
    }
    closedir(directory);
    if (entries->count > 0)
        qsort(entries->entry, (size_t)entries->count, sizeof(*entries->entry), compare_entries);
    return true;
}

void entries_from_lines(struct entries *entries, const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n"), name = length - (length > 0 && text[length - 1] == '\r');
        if (name > 0)
            add(entries, (struct entry){.path = xstrndup(text, name)});
        text += length + (text[length] == '\n');
    }
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
    entries_from_lines(entries, text);
    free(text);
    return true;
}

void entries_renew(struct entries *entries, struct entries *newer, struct entries *gone)
{
    struct entry *old = entries->entry, *const end = old + entries->count;
    for (int i = 0; i < newer->count; i++) {
        struct entry *entry = &newer->entry[i];
        while (old < end && compare_entries(old, entry) < 0)
            add(gone, *old++);
        if (old == end || compare_entries(old, entry) != 0)
            continue;
        entry->bad = old->bad && old->changed_ns == entry->changed_ns;
        entry->warned = old->warned && old->changed_ns == entry->changed_ns;
        free(entry->path);
        entry->path = old++->path;
    }
    while (old < end)
        add(gone, *old++);
    free(entries->entry);
    *entries = *newer;
    *newer = (struct entries){0};
}

void entries_free(struct entries *entries)
{
    for (int i = 0; i < entries->count; i++)
        free(entries->entry[i].path);
    free(entries->entry);
    *entries = (struct entries){0};
}
