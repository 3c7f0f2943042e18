// entries.h: the paths of a list of image files
#pragma once

#include <stdbool.h>

struct entry {
    char *path;
    bool meant; // it should be an image: a list names it, or it has an image file's extension
    bool bad;   // it could not be used
};

struct entries {
    struct entry *entry;
    int count, room;
};

// The visible regular files of a directory, in natural order ("shot2" before "shot10"). False on failure (logged).
bool entries_from_directory(struct entries *entries, const char *path);
// One path per line, relative to the working directory; empty lines are skipped. False on failure (logged).
bool entries_from_file(struct entries *entries, const char *path);
void entries_free(struct entries *entries);

int entries_compare_names(const char *a, const char *b); // natural order: <0, 0, >0
