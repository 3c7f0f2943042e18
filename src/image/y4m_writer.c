// y4m_writer.c: pictures written as a YUV4MPEG2 stream, to a file or a pipe
#include "base/log.h"
#include "image/convert.h"
#include "image/y4m.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char frame_head[] = "FRAME\n";
enum { FRAME_HEAD = sizeof(frame_head) - 1 };
enum { PATIENCE_MS = 500 }; // for a reader, once the user wants to leave
enum { STALL_MS = 100 };    // a reader that takes nothing for so long has stalled

struct y4m_writer {
    char *name; // for messages
    int fd;
    bool regular;       // whole_bytes can be cut back to
    off_t whole_bytes;  // file size behind the last whole picture
    uint64_t pictures;  // written
    struct image frame; // the picture as C444, right behind its frame header in `buffer`
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t pending; // bytes at the buffer's end that a stalled reader has not taken yet
    bool failed;
};

// Returns how much of it is written; errno says why that is not all, EINTR that for `patience_ms` nothing was read at
// the other end. -1 waits however long that takes, until a signal comes.
static size_t write_some(int fd, const uint8_t *data, size_t size, int patience_ms)
{
    size_t done = 0;
    while (done < size) {
        struct pollfd ready = {.fd = fd, .events = POLLOUT};
        const int turns = poll(&ready, 1, patience_ms);
        if (turns == 0)
            errno = EINTR;
        if (turns == 0 || (turns < 0 && errno != EINTR))
            break;
        const size_t rest = size - done;
        const size_t most = patience_ms >= 0 && rest > PIPE_BUF ? PIPE_BUF : rest; // a pipe that is ready takes so much
        const ssize_t put = turns < 0 ? -1 : write(fd, data + done, most);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            break;
        if (patience_ms < 0 && (put < 0 ? errno == EINTR : (size_t)put < most)) // a signal
            patience_ms = PATIENCE_MS;
        if (put > 0)
            done += (size_t)put;
    }
    return done;
}

static void log_failure(const struct y4m_writer *writer)
{
    if (errno == EPIPE)
        log_error("cannot record more frames to %s: the program that read them has exited", writer->name);
    else if (errno == EINTR)
        log_error("the last frame in %s is incomplete: the program that reads it has stalled", writer->name);
    else
        log_error("cannot record to %s: %s%s", writer->name, strerror(errno),
                  writer->pictures > 0 ? "; the earlier frames are complete" : "");
}

// A failed write leaves the file as it was after the last whole picture.
static bool give_up(struct y4m_writer *writer)
{
    log_failure(writer);
    writer->failed = true;
    if (writer->regular && ftruncate(writer->fd, writer->whole_bytes) != 0)
        log_error("cannot remove the incomplete last frame from %s: %s", writer->name, strerror(errno));
    return false;
}

static bool open_output(struct y4m_writer *writer, const char *path)
{
    const bool to_stdout = strcmp(path, "-") == 0;
    writer->name = strdup(to_stdout ? "standard output" : path);
    if (!writer->name)
        return false;
    writer->fd = to_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
                           : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    // A closed standard output may have become one that can only be read (command_guard_streams).
    const bool closed =
        writer->fd < 0 ? to_stdout && errno == EBADF : (fcntl(writer->fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    struct stat status;
    if (closed || writer->fd < 0 || fstat(writer->fd, &status) != 0) {
        log_error("cannot record to %s: %s", writer->name,
                  closed ? "it is closed; redirect it to a file or a program" : strerror(errno));
        return false;
    }
    if (isatty(writer->fd)) {
        log_error("cannot record to %s: it is a terminal; name a file, or redirect it to a file or a program",
                  writer->name);
        return false;
    }
    writer->regular = S_ISREG(status.st_mode);
    if (writer->regular) { // standard output may already hold something
        const bool append = (fcntl(writer->fd, F_GETFL) & O_APPEND) != 0;
        writer->whole_bytes = append ? status.st_size : lseek(writer->fd, 0, SEEK_CUR);
    }
    return true;
}

static bool prepare(struct y4m_writer *writer, int width, int height)
{
    struct image_shape shape = {.format = PIXFMT_444P, .width = width, .height = height};
    const char *why;
    if (!pixfmt_size_ok(shape.format, width, height, &why)) {
        log_error("cannot record frames of %dx%d pixels: %s", width, height, why);
        return false;
    }
    shape.color = color_resolve((struct color){.range = COLOR_RANGE_LIMITED}, (struct color){0}, false, width, height);
    writer->buffer_bytes = FRAME_HEAD + image_bytes(&shape);
    writer->buffer = malloc(writer->buffer_bytes);
    if (!writer->buffer) {
        log_error("cannot record frames of %dx%d pixels: out of memory", width, height);
        return false;
    }
    memcpy(writer->buffer, frame_head, FRAME_HEAD);
    image_wrap(&writer->frame, &shape, writer->buffer + FRAME_HEAD);
    return true;
}

// The simplest ratio within a billionth of the rate, by the convergents of its continued fraction.
static void simplest_ratio(double rate, int *numerator, int *denominator)
{
    long long n = 1, d = 0, last_n = 0, last_d = 1;
    double rest = rate;
    do {
        const long long whole = (long long)rest, n_now = n, d_now = d;
        n = whole * n_now + last_n;
        d = whole * d_now + last_d;
        last_n = n_now;
        last_d = d_now;
        rest = 1 / (rest - (double)whole); // infinite behind the last one
    } while (fabs((double)n / (double)d - rate) > rate * 1e-9);
    *numerator = (int)n;
    *denominator = (int)d;
}

void y4m_rate(double rate, int *numerator, int *denominator)
{
    const double ntsc = rate * 1001 / 1000;
    if (rate >= 1 && fabs(rate - round(rate)) < 0.0005) { // cameras count in 100 ns: their 120 is 120.00048
        *numerator = (int)round(rate);
        *denominator = 1;
    } else if (rate >= 1 && fabs(ntsc - round(ntsc)) < 0.002) {
        *numerator = (int)round(ntsc) * 1000;
        *denominator = 1001;
    } else {
        simplest_ratio(rate, numerator, denominator);
    }
}

struct y4m_writer *y4m_writer_open(const char *path, int width, int height, int rate_numerator, int rate_denominator)
{
    struct y4m_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    writer->fd = -1;
    if (!prepare(writer, width, height) || !open_output(writer, path))
        goto fail;
    if (rate_numerator <= 0 || rate_denominator <= 0)
        rate_numerator = rate_denominator = 0;
    char line[160];
    const int length = snprintf(line, sizeof(line), "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C444 XCOLORRANGE=LIMITED\n",
                                width, height, rate_numerator, rate_denominator);
    if (write_some(writer->fd, (const uint8_t *)line, (size_t)length, -1) < (size_t)length) {
        give_up(writer);
        goto fail;
    }
    writer->whole_bytes += length;
    return writer;
fail:
    y4m_writer_close(writer);
    return NULL;
}

// Goes on with the picture in the buffer. False when the recording cannot go on (logged); a reader for which there is
// no more patience leaves some of it pending.
static bool write_pending(struct y4m_writer *writer, int patience_ms)
{
    if (writer->pending == 0)
        return true;
    const uint8_t *rest = writer->buffer + writer->buffer_bytes - writer->pending;
    writer->pending -= write_some(writer->fd, rest, writer->pending, patience_ms);
    if (writer->pending > 0)
        return (patience_ms >= 0 && errno == EINTR) || give_up(writer);
    writer->whole_bytes += (off_t)writer->buffer_bytes;
    return true;
}

bool y4m_writer_add(struct y4m_writer *writer, const struct image *rgba, bool *left_out)
{
    const int patience_ms = left_out && !writer->regular ? STALL_MS : -1;
    struct pollfd ready = {.fd = writer->fd, .events = POLLOUT};
    if (writer->failed)
        return false;
    if (writer->pending > 0 && (patience_ms < 0 || poll(&ready, 1, 0) != 0) && !write_pending(writer, patience_ms))
        return false;
    if (left_out)
        *left_out = writer->pending > 0;
    if (writer->pending > 0)
        return true;
    encode_image(&writer->frame, rgba);
    writer->pending = writer->buffer_bytes;
    if (!write_pending(writer, patience_ms))
        return false;
    writer->pictures++;
    return true;
}

bool y4m_writer_close(struct y4m_writer *writer)
{
    if (!writer)
        return true;
    if (!writer->failed && write_pending(writer, PATIENCE_MS) && writer->pending > 0)
        give_up(writer);
    bool ok = !writer->failed;
    if (writer->fd >= 0) {
        // Some file systems report a full disk only here.
        ok &= !writer->regular || writer->failed || fsync(writer->fd) == 0 || errno == EINVAL;
        ok &= close(writer->fd) == 0;
        if (!ok && !writer->failed)
            log_failure(writer);
    }
    free(writer->buffer);
    free(writer->name);
    free(writer);
    return ok;
}
