// stream.h: reads a file, named pipe or standard input with a time-out
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum stream_status {
    STREAM_OK,
    STREAM_TIMEOUT, // or a signal arrived; call again to continue
    STREAM_END,
    STREAM_FAILED, // the error was logged
    STREAM_LONG,   // the line exceeds the limit
};

struct stream {
    char *name; // for messages
    int fd;
    bool regular; // a regular file: has a size and can be rewound
    off_t size;   // size of a regular file
    off_t offset; // offset of the next byte for the caller
    uint8_t ahead[4096];
    size_t ahead_begin, ahead_end;
};

// `path` "-" is standard input. Returns false on failure (logged). Call stream_close in either case.
bool stream_open(struct stream *stream, const char *path);
// Reads a pipe that does not block, and owns it. Returns false if out of memory (logged).
bool stream_from_pipe(struct stream *stream, int pipe, const char *name);
void stream_close(struct stream *stream); // accepts a zeroed stream

// Reads until *filled is `size`. Deadlines are clock_now_ns time. STREAM_END: the data ended early, after *filled
// bytes.
enum stream_status stream_read(struct stream *stream, void *to, size_t size, size_t *filled, int64_t deadline_ns);
// Reads a line into `line`, with a NUL instead of the newline; `line` has room for `limit` bytes (below 4096) and a
// NUL. STREAM_END: the data ended without a newline; *length bytes are left.
enum stream_status stream_line(struct stream *stream, char *line, size_t limit, size_t *length, int64_t deadline_ns);

bool stream_seek(struct stream *stream, off_t offset); // of a regular file; failure is logged
