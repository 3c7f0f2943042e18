// trace.c: writes spans as a Chrome trace; each span overwrites the closing bracket of the one before
#include "base/trace.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRACKS_MAX = 256, TEXT_MAX = 160, QUOTED_BYTES = TEXT_MAX * 6 + 3, EVENT_BYTES = QUOTED_BYTES + 256 };

static const char closing[] = "\n]\n";

struct trace {
    pthread_mutex_t lock;
    int fd;
    char *path;
    off_t end;               // start of the line with the closing bracket
    int error;               // errno of the first failed write
    uint64_t lost;           // events not written
    char *track[TRACKS_MAX]; // its index + 1 is the track's number in the file
    int tracks;
    bool empty; // no event yet, so the next one needs no comma
};

// Writes the text as a JSON string with its quotes, cut at TEXT_MAX bytes; "?" if it is not UTF-8.
static void quote(const char *text, char quoted[QUOTED_BYTES])
{
    size_t length = strnlen(text, TEXT_MAX + 1);
    if (length > TEXT_MAX) {
        length = TEXT_MAX;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) // not inside a character
            length--;
    }
    json_t *string = json_stringn(text, length);
    char *dump = string ? json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII) : NULL;
    snprintf(quoted, QUOTED_BYTES, "%s", dump ? dump : "\"?\"");
    free(dump);
    json_decref(string);
}

static bool write_at(int fd, const char *data, size_t size, off_t at)
{
    while (size > 0) {
        const ssize_t put = pwrite(fd, data, size, at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        data += put;
        size -= (size_t)put;
        at += put;
    }
    return true;
}

// Appends one event and the closing bracket in one write. The lock is held.
static void add_event(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_event(struct trace *t, const char *format, ...)
{
    char event[EVENT_BYTES];
    const char *comma = t->empty ? "[\n" : ",\n";
    va_list arguments;
    va_start(arguments, format);
    memcpy(event, comma, 2);
    const int length = 2 + vsnprintf(event + 2, sizeof(event) - 2 - sizeof(closing), format, arguments);
    va_end(arguments);
    memcpy(event + length, closing, sizeof(closing));
    if (t->error || !write_at(t->fd, event, (size_t)length + sizeof(closing) - 1, t->end)) {
        if (!t->error)
            t->error = errno;
        t->lost++;
        // Undoes a partial write. If that fails too, the file stays as it is, and trace_close reports it.
        if (!t->empty && write_at(t->fd, closing, sizeof(closing) - 1, t->end) &&
            ftruncate(t->fd, t->end + (off_t)sizeof(closing) - 1) != 0)
            t->error = errno;
        return;
    }
    t->end += length;
    t->empty = false;
}

struct trace *trace_open(const char *path, int file)
{
    struct trace *t = xalloc(sizeof(*t));
    t->path = xstrdup(path);
    pthread_mutex_init(&t->lock, NULL);
    t->empty = true;
    struct stat status;
    const bool ours = file < 0 && lstat(path, &status) != 0;
    t->fd = file >= 0 ? file : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (t->fd < 0) {
        log_error("cannot write the trace to %s: %s", path, strerror(errno));
        goto fail;
    }
    add_event(t, "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"monocle\"}}");
    if (t->error) {
        log_error("cannot write the trace to %s: %s", path,
                  t->error == ESPIPE ? "it is not a regular file; name a regular file" : strerror(t->error));
        t->lost = 0;
        if (ours)
            unlink(path);
        goto fail;
    }
    return t;
fail:
    trace_close(t);
    return NULL;
}

bool trace_close(struct trace *t)
{
    if (!t)
        return true;
    bool ok = t->fd < 0 || file_sync(t->fd);
    ok = (t->fd < 0 || close(t->fd) == 0) && ok;
    if (!ok && !t->error) {
        t->error = errno;
        t->lost++;
    }
    ok = t->lost == 0;
    if (!ok)
        log_error("the trace %s is incomplete: %s", t->path, strerror(t->error));
    for (int i = 0; i < t->tracks; i++)
        free(t->track[i]);
    pthread_mutex_destroy(&t->lock);
    free(t->path);
    free(t);
    return ok;
}

// Returns the track's number. Writes the name of a new track to the file. The lock is held.
static int track_number(struct trace *t, const char *track)
{
    for (int i = 0; i < t->tracks; i++) {
        if (strcmp(t->track[i], track) == 0)
            return i + 1;
    }
    if (t->tracks == TRACKS_MAX)
        return 0; // the track of the process
    t->track[t->tracks++] = xstrdup(track);
    char name[QUOTED_BYTES];
    quote(track, name);
    add_event(t, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":%s}}", t->tracks,
              name);
    return t->tracks;
}

void trace_span(struct trace *t, const char *track, const char *name, int64_t start_ns, int64_t end_ns, uint64_t frame)
{
    if (!t)
        return;
    char quoted[QUOTED_BYTES];
    quote(name, quoted);
    const int64_t length_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    pthread_mutex_lock(&t->lock);
    const int number = track_number(t, track);
    // Microseconds with three decimals, made of integers, so that the locale does not matter.
    add_event(t,
              "{\"name\":%s,\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%" PRId64 ".%03d,\"dur\":%" PRId64
              ".%03d,\"args\":{\"frame\":%" PRIu64 "}}",
              quoted, number, start_ns / 1000, (int)(start_ns % 1000), length_ns / 1000, (int)(length_ns % 1000),
              frame);
    pthread_mutex_unlock(&t->lock);
}
