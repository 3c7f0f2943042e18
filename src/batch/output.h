// output.h: writes a file completely or not at all: temporary name in the same directory, sync, rename
#pragma once

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// The mark of an output: a hash of the job and the input that made it. The extended attribute user.monocle.done stores
// it, if the file system supports such attributes.
struct output_mark {
    char text[HASH_TEXT];
};

// Makes the mark from the job (text of everything that decides its outputs) and the input's name, size and time.
struct output_mark output_mark_make(const char *job, const char *relative, const struct stat *input);
// Returns true if the file has this mark (NULL: the mark of any job) and was not changed since.
bool output_is_made(const char *path, const struct output_mark *mark);

struct output {
    int fd; // holds a lock, which shows other runs that the file is in use; -1: none
    char *temporary;
    char *path; // borrowed
    struct output_mark mark;
};

// Returns true if a file could be created at the path: in its directory or, if that is missing, in the nearest existing
// parent. Otherwise returns false and sets errno. *length is the length of that directory in the path, with its slash;
// 0: the working directory. Creates nothing.
bool output_possible(const char *path, size_t *length);
// Creates an empty file with a temporary name in the directory of `path`, and the directory if it is missing. `path`
// must stay valid until the output ends. The file's permissions are `mode` minus the umask; if the file's group is not
// `group`, the group gets no more rights than others. Returns false on failure and sets errno.
bool output_begin(struct output *output, char *path, mode_t mode, gid_t group);
// Writes all bytes, marks the file and starts writeback to the disk. Returns false on failure and sets errno.
bool output_write(struct output *output, const void *data, size_t size, const struct output_mark *mark);
// Waits until the bytes are on the disk. Returns false on failure and sets errno.
bool output_sync(struct output *output);
// Renames the file to its final name. Replaces an existing file only if `replace` is set; otherwise fails with EEXIST.
// The caller must then call output_sync_directory. Returns false on failure and sets errno. Ends the output in either
// case.
bool output_commit(struct output *output, bool replace);
// Removes the temporary file and ends the output. Accepts an output that did not begin (fd -1).
void output_abandon(struct output *output);

bool output_sync_directory(const char *path); // syncs the directory of this file; false on failure, sets errno
// Removes the temporary files that killed runs left in the directory.
void output_clean_directory(const char *directory);
