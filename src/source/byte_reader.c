// byte_reader.c: reads a file, named pipe or standard input with a time-out
#include "source/byte_reader.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 }; // the most that an ordinary user may set: writer and reader take fewer turns

bool byte_reader_open(struct byte_reader *reader, const char *path)
{
    *reader = (struct byte_reader){.fd = -1};
    const bool standard = strcmp(path, "-") == 0;
    reader->name = xstrdup(standard ? "standard input" : path);
    // Non-blocking, so that a named pipe without a writer opens at once.
    reader->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    // process_guard_streams replaces a closed standard input by a descriptor that can only be written.
    const bool closed =
        reader->fd < 0 ? standard && errno == EBADF : (fcntl(reader->fd, F_GETFL) & O_ACCMODE) == O_WRONLY;
    struct stat status;
    if (closed || reader->fd < 0 || fstat(reader->fd, &status) != 0) {
        log_error("cannot read %s: %s", reader->name,
                  closed ? "it is closed; redirect it from a file or a program" : strerror(errno));
        return false;
    }
    if (S_ISDIR(status.st_mode) || isatty(reader->fd)) {
        log_error("cannot read frames from %s: it is a %s", reader->name,
                  S_ISDIR(status.st_mode) ? "directory; name a file"
                                          : "terminal; redirect it from a file or a program");
        return false;
    }
    reader->regular = S_ISREG(status.st_mode);
    if (reader->regular) {
        reader->size = status.st_size;
        reader->offset = lseek(reader->fd, 0, SEEK_CUR);
        posix_fadvise(reader->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    } else if (S_ISFIFO(status.st_mode)) {
        fcntl(reader->fd, F_SETPIPE_SZ, PIPE_BYTES); // speeds up; may be refused
    }
    return true;
}

void byte_reader_from_pipe(struct byte_reader *reader, int pipe, const char *name)
{
    *reader = (struct byte_reader){.fd = pipe, .name = xstrdup(name)};
}

void byte_reader_close(struct byte_reader *reader)
{
    if (!reader->name)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->name);
    *reader = (struct byte_reader){0};
}

// Waits until a read would not block, at most until the deadline.
static enum byte_reader_status wait_readable(struct byte_reader *reader, int64_t deadline_ns)
{
    if (reader->regular)
        return READER_OK;
    struct pollfd ready = {.fd = reader->fd, .events = POLLIN};
    const int count = poll(&ready, 1, clock_ms_until(deadline_ns));
    if (count < 0 && errno != EINTR) {
        log_error("cannot poll %s: %s", reader->name, strerror(errno));
        return READER_FAILED;
    }
    return count > 0 ? READER_OK : READER_TIMEOUT;
}

// Reads the bytes that are available, at least one.
static enum byte_reader_status read_some(struct byte_reader *reader, void *to, size_t size, size_t *got,
                                         int64_t deadline_ns)
{
    for (;;) {
        const enum byte_reader_status status = wait_readable(reader, deadline_ns);
        if (status != READER_OK)
            return status;
        const ssize_t count = read(reader->fd, to, size);
        if (count > 0) {
            *got = (size_t)count;
            return READER_OK;
        }
        if (count == 0)
            return READER_END;
        if (errno == EINTR)
            return READER_TIMEOUT;
        if (errno != EAGAIN) {
            log_error("cannot read %s: %s", reader->name, strerror(errno));
            return READER_FAILED;
        }
    }
}

enum byte_reader_status byte_reader_read(struct byte_reader *reader, void *to, size_t size, size_t *filled,
                                         int64_t deadline_ns)
{
    while (*filled < size) {
        size_t count = reader->ahead_end - reader->ahead_begin;
        if (count > 0) {
            if (count > size - *filled)
                count = size - *filled;
            memcpy((uint8_t *)to + *filled, reader->ahead + reader->ahead_begin, count);
            reader->ahead_begin += count;
        } else {
            const enum byte_reader_status status =
                read_some(reader, (uint8_t *)to + *filled, size - *filled, &count, deadline_ns);
            if (status != READER_OK)
                return status;
        }
        *filled += count;
        reader->offset += (off_t)count;
    }
    return READER_OK;
}

enum byte_reader_status byte_reader_line(struct byte_reader *reader, char *line, size_t limit, size_t *length,
                                         int64_t deadline_ns)
{
    for (;;) {
        const uint8_t *begin = reader->ahead + reader->ahead_begin;
        const size_t count = reader->ahead_end - reader->ahead_begin;
        const uint8_t *newline = memchr(begin, '\n', count);
        *length = newline ? (size_t)(newline - begin) : count;
        if (*length > limit)
            return READER_LONG;
        if (newline) {
            memcpy(line, begin, *length);
            line[*length] = '\0';
            reader->ahead_begin += *length + 1;
            reader->offset += (off_t)*length + 1;
            return READER_OK;
        }
        memmove(reader->ahead, begin, count);
        reader->ahead_begin = 0;
        reader->ahead_end = count;
        size_t got;
        const enum byte_reader_status status =
            read_some(reader, reader->ahead + count, sizeof(reader->ahead) - count, &got, deadline_ns);
        if (status != READER_OK)
            return status;
        reader->ahead_end += got;
    }
}

bool byte_reader_seek(struct byte_reader *reader, off_t offset)
{
    reader->ahead_begin = reader->ahead_end = 0;
    reader->offset = offset;
    if (lseek(reader->fd, offset, SEEK_SET) == offset)
        return true;
    log_error("cannot loop %s: %s", reader->name, strerror(errno));
    return false;
}
