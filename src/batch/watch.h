// watch.h: waits for new image files in directories
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { WATCH_DIRECTORIES = 256 };

struct watch {
    int fd;
    int directories; // still watched
    struct watch_directory {
        int id; // of inotify; -1: removed
        const char *path;
    } directory[WATCH_DIRECTORIES];
    char **name; // the files of the last watch_wait; the watch owns them
    int names, room;
};

// Starts to watch directories; the paths are borrowed. Returns false on failure (logged). watch_close is needed in
// either case.
bool watch_open(struct watch *watch, const char *const *path, int count);
void watch_close(struct watch *watch);
// Waits until visible image files have been written or moved into the directories, and lists those that arrived
// together. Returns false if a signal arrives, no directory is left, or on failure (both
// logged); `*failed` is then true, except for a signal.
bool watch_wait(struct watch *watch, bool *failed);
