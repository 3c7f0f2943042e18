// entries.h: the paths of a list of image files
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct entry {
    char *path;
    int64_t changed_ns; // when the file was last changed, on the clock of the file system; 0: unknown
    atomic_bool bad;    // it cannot be read as an image: set by the thread that reads, read by any thread
    bool warned;        // its colours were the subject of a warning
};

struct entries {
    struct entry *entry;
    int count;
};

// Adds the visible regular files of a directory whose names are wanted, in natural order ("shot2" before "shot10").
// Returns false on failure (logged).
bool entries_from_directory(struct entries *entries, const char *path, bool (*wanted)(const char *name));
// Adds the paths in a text file, one per line, relative to the working directory; skips empty lines. Returns false on
// failure (logged).
bool entries_from_file(struct entries *entries, const char *path);
void entries_from_lines(struct entries *entries, const char *text); // the same with the lines of a text
// Replaces the entries of a directory by those of a newer reading, which becomes empty. An entry in both keeps its
// `path` pointer, and `bad` and `warned` if its file has not changed. Moves removed entries to `gone`, because their
// paths may be in use.
void entries_renew(struct entries *entries, struct entries *newer, struct entries *gone);
void entries_free(struct entries *entries);

int entries_compare_names(const char *a, const char *b); // natural order: negative, 0 or positive
