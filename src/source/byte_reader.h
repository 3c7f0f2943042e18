// byte_reader.h: reads a file, named pipe or standard input with a time-out
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum byte_reader_status {
    READER_OK,
    READER_TIMEOUT, // or a signal arrived; call again to continue
    READER_END,
    READER_FAILED, // the error was logged
    READER_LONG,   // the line exceeds the limit
};

struct byte_reader {
    char *name; // for messages
    int fd;
    bool regular; // a regular file: has a size and can be rewound
    off_t size;   // size of a regular file
    off_t offset; // offset of the next byte for the caller
    uint8_t ahead[4096];
    size_t ahead_begin, ahead_end;
};

// `path` "-" is standard input. Returns false on failure (logged). Call byte_reader_close in either case.
bool byte_reader_open(struct byte_reader *reader, const char *path);
// Reads a pipe that does not block, and owns it.
void byte_reader_from_pipe(struct byte_reader *reader, int pipe, const char *name);
void byte_reader_close(struct byte_reader *reader); // accepts a zeroed reader

// Reads until *filled is `size`. Deadlines are clock_now_ns time. READER_END: the data ended early, after *filled
// bytes.
enum byte_reader_status byte_reader_read(struct byte_reader *reader, void *to, size_t size, size_t *filled,
                                         int64_t deadline_ns);
// Reads a line into `line`, with a NUL instead of the newline; `line` has room for `limit` bytes (below 4096) and a
// NUL. READER_END: the data ended without a newline; *length bytes are left.
enum byte_reader_status byte_reader_line(struct byte_reader *reader, char *line, size_t limit, size_t *length,
                                         int64_t deadline_ns);

bool byte_reader_seek(struct byte_reader *reader, off_t offset); // of a regular file; failure is logged
