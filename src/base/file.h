// file.h: files read and written whole
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Reads all of a regular file (a directory: EISDIR; anything else might never end: EINVAL), at most `limit` bytes; adds
// a NUL behind the data. The caller frees. NULL on failure with errno set (EFBIG when larger); not logged, since only
// the caller knows whether a missing file matters.
char *file_read(const char *path, size_t limit, size_t *size);
// The same for text: a byte order mark, which some editors put before it, is left out.
char *file_read_text(const char *path, size_t limit);

// Reads an open file from where it stands to its end, as file_read.
char *file_read_all(int fd, size_t limit, size_t *size);
// Writes all bytes to an open file, where it stands. False with errno set; not logged.
bool file_write_all(int fd, const void *data, size_t size);

// Writes to a temporary name in the same directory, syncs and renames: the path holds the old bytes or all the new
// ones. A symbolic link stays one, and what it points to is replaced or made; a device or pipe is written to as it is;
// a file that may not be written is left alone (EACCES). A new file has the rights 0666 minus the umask; a file that
// replaces another gets no more rights than the old one. Returns false with errno set on failure, leaves no temporary
// file, and logs nothing.
bool file_write_atomic(const char *path, const void *data, size_t size);

// Whether a file can be written there, found out by making another beside it for a moment: by file_write_atomic, or
// (not `atomic`) by opening it, or making it where there is none. False with errno set; not logged.
bool file_writable(const char *path, bool atomic);

// Whether two paths mean one file, which need not exist yet. Devices, of which many may be written at once, never do.
bool file_same(const char *a, const char *b);
// Whether a path means the open file; never true for devices.
bool file_is_open(const char *path, int fd);
