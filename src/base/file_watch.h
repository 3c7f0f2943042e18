// file_watch.h: notices files of directories that are written, moved in or deleted (inotify)
#pragma once

#include <stdbool.h>

// Watches a directory (NULL: none yet). Returns a descriptor above 0, which does not block and which the caller closes;
// -1 with errno set on failure.
int file_watch_open(const char *directory);
// Watches one more directory. Returns its number, or -1 with errno set.
int file_watch_add(int watch, const char *directory);

struct file_event {
    int directory;    // its number
    const char *name; // of the file in it; NULL: the directory itself was removed, or `lost`
    bool written;     // written or moved in; false: deleted
    bool lost;        // too many events arrived at once, and some are missing; `directory` is -1
};
// Calls `take` for each event that has arrived, and returns true if `take` did for one of them. Descriptor 0 or -1:
// returns false.
bool file_watch_take(int watch, bool (*take)(void *context, const struct file_event *event), void *context);
// Returns true if events have arrived, and `wanted` is true for the name of one; or if some are missing.
bool file_watch_any(int watch, bool (*wanted)(const char *name, const void *context), const void *context);
