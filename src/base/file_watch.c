// file_watch.c: see file_watch.h
#include "base/file_watch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <unistd.h>

int file_watch_add(int watch, const char *directory)
{
    // Editors either write a file in place or move a new one over it.
    return inotify_add_watch(watch, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR);
}

int file_watch_open(const char *directory)
{
    const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0 || !directory || file_watch_add(watch, directory) >= 0)
        return watch;
    const int error = errno;
    close(watch);
    errno = error;
    return -1;
}

bool file_watch_take(int watch, bool (*take)(void *context, const struct file_event *event), void *context)
{
    bool any = false;
    char events[16384] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size;
    while (watch > 0 && (size = read(watch, events, sizeof(events))) > 0) {
        for (char *at = events; at < events + size;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            const bool lost = event->mask & IN_Q_OVERFLOW, removed = event->mask & IN_IGNORED;
            const struct file_event taken = {.directory = event->wd,
                                             .name = event->len > 0 ? event->name : NULL,
                                             .written = event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO),
                                             .lost = lost};
            if ((taken.name && !(event->mask & IN_ISDIR)) || lost || removed)
                any = take(context, &taken) || any;
            at += sizeof(*event) + event->len;
        }
    }
    return any;
}

struct wanted {
    bool (*is)(const char *name, const void *context);
    const void *context;
};

static bool is_wanted(void *context, const struct file_event *event)
{
    const struct wanted *wanted = context;
    return event->lost || (event->name && wanted->is(event->name, wanted->context));
}

bool file_watch_any(int watch, bool (*wanted)(const char *name, const void *context), const void *context)
{
    return file_watch_take(watch, is_wanted, &(struct wanted){wanted, context});
}
