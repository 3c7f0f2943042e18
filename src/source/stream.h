// stream.h: bytes of a file, named pipe or standard input, read with a time-out
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum stream_status {
    STREAM_OK,
    STREAM_TIMEOUT, // or a signal came: call again to go on where it stopped
    STREAM_END,
    STREAM_FAILED, // logged
    STREAM_LONG,   // of a line: it is longer than the limit
};

struct stream {
    char *name; // for messages
    int fd;
    bool regular; // can be rewound and has a size
    off_t size;   // bytes of a regular file
    off_t offset; // of the next byte the caller gets
    uint8_t ahead[4096];
    size_t ahead_begin, ahead_end;
};

// `path` "-" is standard input. False on failure (logged); close it all the same.
bool stream_open(struct stream *stream, const char *path);
void stream_close(struct stream *stream); // takes one that is all zero

// Reads until `*filled` is `size`. STREAM_END: the data ended before, with `*filled` saying how far it came.
enum stream_status stream_read(struct stream *stream, void *to, size_t size, size_t *filled, int64_t deadline_ns);
// Reads a line into `line` (room for `limit` bytes and a NUL; the newline is left out). STREAM_END: no newline came;
// `*length` bytes are left over.
enum stream_status stream_line(struct stream *stream, char *line, size_t limit, size_t *length, int64_t deadline_ns);

bool stream_seek(struct stream *stream, off_t offset); // regular files only; logged
