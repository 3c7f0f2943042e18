// stream.c: reads a file, named pipe or standard input with a time-out
#include "source/stream.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 }; // the most that an ordinary user may set: writer and reader take fewer turns

bool stream_open(struct stream *stream, const char *path)
{
    *stream = (struct stream){.fd = -1};
    const bool standard = strcmp(path, "-") == 0;
    stream->name = strdup(standard ? "standard input" : path);
    if (!stream->name) {
        log_error("cannot read %s: out of memory", path);
        return false;
    }
    // Non-blocking, so that a named pipe without a writer opens at once.
    stream->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    // process_guard_streams replaces a closed standard input by a descriptor that can only be written.
    const bool closed =
        stream->fd < 0 ? standard && errno == EBADF : (fcntl(stream->fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    struct stat status;
    if (closed || stream->fd < 0 || fstat(stream->fd, &status) != 0) {
        log_error("cannot read %s: %s", stream->name,
                  closed ? "it is closed; redirect it from a file or a program" : strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode) || isatty(stream->fd)) {
        log_error("cannot read frames from %s: it is a %s", stream->name,
                  S_ISDIR(status.st_mode) ? "directory; name a file"
                                          : "terminal; redirect it from a file or a program");
        return false;
    }
    stream->regular = S_ISREG(status.st_mode);
    if (stream->regular) {
        stream->size = status.st_size;
        stream->offset = lseek(stream->fd, 0, SEEK_CUR);
        posix_fadvise(stream->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(status.st_mode)) {
        fcntl(stream->fd, F_SETPIPE_SZ, PIPE_BYTES); // speeds up; may be refused
    }
    return true;
}

bool stream_from_pipe(struct stream *stream, int pipe, const char *name)
{
    *stream = (struct stream){.fd = pipe, .name = strdup(name)};
    if (stream->name)
        return true;
    log_error("cannot read %s: out of memory", name);
    return false;
}

void stream_close(struct stream *stream)
{
    if (!stream->name)
        return;
    if (stream->fd >= 0)
        close(stream->fd);
    free(stream->name);
    *stream = (struct stream){0};
}

// Waits until a read would not block, at most until the deadline.
static enum stream_status wait_readable(struct stream *stream, int64_t deadline_ns)
{
    enum { NS_PER_MS = 1000000 };
    if (stream->regular)
        return STREAM_OK;
    const int64_t left_ms = (deadline_ns - clock_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
    struct pollfd ready = {.fd = stream->fd, .events = POLLIN};
    const int count = poll(&ready, 1, left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);
    if (count < 0 && errno != EINTR) {
        log_error("cannot poll %s: %s", stream->name, strerror(errno));
        return STREAM_FAILED;
    }
    return count > 0 ? STREAM_OK : STREAM_TIMEOUT;
}

// Reads the bytes that are available, at least one.
static enum stream_status read_some(struct stream *stream, void *to, size_t size, size_t *got, int64_t deadline_ns)
{
    for (;;) {
        const enum stream_status status = wait_readable(stream, deadline_ns);
        if (status != STREAM_OK)
            return status;
        const ssize_t count = read(stream->fd, to, size);
        if (count > 0) {
            *got = (size_t)count;
            return STREAM_OK;
        }
        if (count == 0)
            return STREAM_END;
        if (errno == EINTR)
            return STREAM_TIMEOUT;
        if (errno != EAGAIN) {
            log_error("cannot read %s: %s", stream->name, strerror(errno));
            return STREAM_FAILED;
        }
    }
}

enum stream_status stream_read(struct stream *stream, void *to, size_t size, size_t *filled, int64_t deadline_ns)
{
    while (*filled < size) {
        size_t count = stream->ahead_end - stream->ahead_begin;
        if (count > 0) {
            if (count > size - *filled)
                count = size - *filled;
            memcpy((uint8_t *)to + *filled, stream->ahead + stream->ahead_begin, count);
            stream->ahead_begin += count;
        } else {
            const enum stream_status status =
                read_some(stream, (uint8_t *)to + *filled, size - *filled, &count, deadline_ns);
            if (status != STREAM_OK)
                return status;
        }
        *filled += count;
        stream->offset += (off_t)count;
    }
    return STREAM_OK;
}

enum stream_status stream_line(struct stream *stream, char *line, size_t limit, size_t *length, int64_t deadline_ns)
{
    for (;;) {
        const uint8_t *begin = stream->ahead + stream->ahead_begin;
        const size_t count = stream->ahead_end - stream->ahead_begin;
        const uint8_t *newline = memchr(begin, '\n', count);
        *length = newline ? (size_t)(newline - begin) : count;
        if (*length > limit)
            return STREAM_LONG;
        if (newline) {
            memcpy(line, begin, *length);
            line[*length] = '\0';
            stream->ahead_begin += *length + 1;
            stream->offset += (off_t)*length + 1;
            return STREAM_OK;
        }
        memmove(stream->ahead, begin, count);
        stream->ahead_begin = 0;
        stream->ahead_end = count;
        size_t got;
        const enum stream_status status =
            read_some(stream, stream->ahead + count, sizeof(stream->ahead) - count, &got, deadline_ns);
        if (status != STREAM_OK)
            return status;
        stream->ahead_end += got;
    }
}

bool stream_seek(struct stream *stream, off_t offset)
{
    stream->ahead_begin = stream->ahead_end = 0;
    stream->offset = offset;
    if (lseek(stream->fd, offset, SEEK_SET) == offset)
        return true;
    log_error("cannot loop %s: %s", stream->name, strerror(errno));
    return false;
}
