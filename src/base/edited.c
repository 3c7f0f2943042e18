// edited.c: notices edited files of directories, by inotify
#include "base/edited.h"

#include <errno.h>
#include <sys/inotify.h>
#include <unistd.h>

bool edited_add(int descriptor, const char *directory)
{
    // Editors either write a file in place or move a new one over it.
    return inotify_add_watch(descriptor, directory, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE) >= 0;
}

int edited_open(const char *directory)
{
    const int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (descriptor < 0 || !directory || edited_add(descriptor, directory))
        return descriptor;
    const int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

bool edited_any(int descriptor, bool (*wanted)(const char *name, const void *context), const void *context)
{
    bool any = false;
    char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t size;
    while (descriptor > 0 && (size = read(descriptor, events, sizeof(events))) > 0) {
        for (char *at = events; at < events + size;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            any = any || (event->mask & IN_Q_OVERFLOW) || (event->len > 0 && wanted(event->name, context));
            at += sizeof(*event) + event->len;
        }
    }
    return any;
}
