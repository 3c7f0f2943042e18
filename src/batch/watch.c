// watch.c: waits for new image files in directories, by inotify
#include "batch/watch.h"

#include "base/log.h"
#include "base/process.h"
#include "batch/names.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum {
    SETTLE_MS = 100,  // files that arrive at most this long after another are filtered together
    NAMES_MAX = 1000, // ... but at most about this number
};

bool watch_open(struct watch *watch, const char *const *path, int count)
{
    *watch = (struct watch){.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (count > WATCH_DIRECTORIES) {
        log_error("--watch can watch %d directories, but %d are given", WATCH_DIRECTORIES, count);
        return false;
    }
    for (int i = 0; i < count; i++) {
        const int id = inotify_add_watch(watch->fd, path[i], IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR);
        if (id < 0) {
            log_error("cannot watch %s: %s", path[i], strerror(errno));
            return false;
        }
        watch->directory[watch->directories++] = (struct watch_directory){id, path[i]};
    }
    return true;
}

static void forget_names(struct watch *watch)
{
    for (int i = 0; i < watch->names; i++)
        free(watch->name[i]);
    watch->names = 0;
}

void watch_close(struct watch *watch)
{
    forget_names(watch);
    free(watch->name);
    close(watch->fd);
}

static bool add_name(struct watch *watch, const char *directory, const char *name)
{
    char *path;
    enum codec_format format;
    if (name[0] == '.' || !name_format(name, &format))
        return true;
    if (watch->names == watch->room) {
        const int room = 2 * watch->room + 16;
        char **grown = realloc(watch->name, (size_t)room * sizeof(*grown));
        if (!grown)
            return false;
        watch->name = grown;
        watch->room = room;
    }
    const char *slash = directory[strlen(directory) - 1] == '/' ? "" : "/";
    if (asprintf(&path, "%s%s%s", directory, slash, name) < 0)
        return false;
    watch->name[watch->names++] = path;
    return true;
}

static bool take_event(struct watch *watch, const struct inotify_event *event)
{
    if (event->mask & IN_Q_OVERFLOW)
        log_warn("too many files arrived at once, and some were missed; run the command again to filter them");
    for (int i = 0; i < WATCH_DIRECTORIES && watch->directory[i].path; i++) {
        struct watch_directory *directory = &watch->directory[i];
        if (directory->id != event->wd)
            continue;
        if (event->len > 0 && !(event->mask & IN_ISDIR) && !add_name(watch, directory->path, event->name))
            return false;
        if (event->mask & IN_IGNORED) {
            log_error("the directory %s was removed; monocle no longer watches it", directory->path);
            directory->id = -1;
            watch->directories--;
        }
    }
    return true;
}

// Takes all events that have arrived. Returns false if out of memory.
static bool take_events(struct watch *watch)
{
    _Alignas(struct inotify_event) char buffer[16384];
    ssize_t got;
    while (watch->names < NAMES_MAX && (got = read(watch->fd, buffer, sizeof(buffer))) > 0) {
        for (const char *at = buffer; at < buffer + got;) {
            const struct inotify_event *event = (const void *)at;
            if (!take_event(watch, event))
                return false;
            at += sizeof(*event) + event->len;
        }
    }
    return true;
}

bool watch_wait(struct watch *watch, bool *failed)
{
    *failed = false;
    forget_names(watch);
    while (!process_interrupted() && watch->directories > 0) {
        struct pollfd ready = {.fd = watch->fd, .events = POLLIN};
        const int count = poll(&ready, 1, watch->names > 0 ? SETTLE_MS : -1);
        if (watch->names > 0 && (count == 0 || watch->names >= NAMES_MAX))
            return true;
        if (count > 0 && !take_events(watch)) {
            log_error("out of memory for the names of new files");
            break;
        }
    }
    *failed = !process_interrupted();
    return false;
}
