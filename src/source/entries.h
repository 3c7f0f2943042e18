// entries.h: the paths of a list of image files
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

struct entry {
    char *path;
    atomic_bool bad; // it cannot be read as an image: set by the thread that reads, read by any thread
};

struct entries {
    struct entry *entry;
    int count, room;
};

// Adds the visible regular files of a directory whose names are wanted, in natural order ("shot2" before "shot10").
// Returns false on failure (logged).
bool entries_from_directory(struct entries *entries, const char *path, bool (*wanted)(const char *name));
// Adds the paths in a text file, one per line, relative to the working directory; skips empty lines. Returns false on
// failure (logged).
bool entries_from_file(struct entries *entries, const char *path);
bool entries_from_lines(struct entries *entries, const char *text); // the same with the lines of a text
void entries_free(struct entries *entries);

int entries_compare_names(const char *a, const char *b); // natural order: negative, 0 or positive
