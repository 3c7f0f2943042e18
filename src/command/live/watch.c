// watch.c: watches the kernel directory with inotify
#include "command/live/watch.h"

#include "base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

struct watch {
    int fd;
};

struct watch *watch_open(const char *directory)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch) {
        log_error("cannot watch %s: out of memory", directory);
        return NULL;
    }
    watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    // Editors either write the file in place or move a new one over it.
    if (watch->fd < 0 || inotify_add_watch(watch->fd, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE) < 0) {
        log_error("cannot watch %s for edited kernels: %s", directory, strerror(errno));
        watch_close(watch);
        return NULL;
    }
    return watch;
}

void watch_close(struct watch *watch)
{
    if (!watch)
        return;
    if (watch->fd >= 0)
        close(watch->fd);
    free(watch);
}

static bool is_kernel(const char *name)
{
    const size_t length = strlen(name);
    return name[0] != '.' && length > 3 && strcmp(name + length - 3, ".cl") == 0;
}

bool watch_changed(struct watch *watch)
{
    if (!watch)
        return false;
    bool changed = false;
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size;
    while ((size = read(watch->fd, events, sizeof(events))) > 0) {
        for (char *at = events; at < events + size;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            changed = changed || (event->mask & IN_Q_OVERFLOW) || (event->len > 0 && is_kernel(event->name));
            at += sizeof(*event) + event->len;
        }
    }
    return changed;
}
