// output.h: files written whole or not at all: a temporary name in the same directory, synced, renamed
#pragma once

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// What an output is marked with (extended attribute user.monocle.done, where the file system has such): the hash of
// what made it.
struct output_mark {
    char text[HASH_TEXT];
};

// Of a job: everything that decides its outputs; of an input: its name, size and time.
struct output_mark output_mark_make(const char *job, const char *relative, const struct stat *input);
// Whether the file bears the mark and has not been changed since.
bool output_is_marked(const char *path, const struct output_mark *mark);
// Whether it bears the mark of any job and has not been changed since.
bool output_is_made(const char *path);

struct output {
    int fd; // locked, so that others can tell it from a leftover; -1: none
    char *temporary;
    char *path; // borrowed
    struct output_mark mark;
};

// Whether a file could be made there as things are: in its directory or, where that is missing, in the nearest one
// above. *length: of that directory in the path, with its slash; 0: the current one. Touches nothing. False with errno
// set.
bool output_possible(const char *path, size_t *length);
// Makes the directory if it is missing, and an empty file under a temporary name in it. The file has the rights `mode`
// minus the umask. If its group is not `group`, the group gets no more rights than others. Returns
// false with errno set on failure.
bool output_begin(struct output *output, char *path, mode_t mode, gid_t group);
// Writes all bytes, marks the file, and starts its way to the disk. False with errno set.
bool output_write(struct output *output, const void *data, size_t size, const struct output_mark *mark);
// Waits until the bytes are on the disk. False with errno set.
bool output_sync(struct output *output);
// Gives it its name, over an existing file only where `replace` is set (else EEXIST). The directory is to be synced
// afterwards: output_sync_directory. False with errno set. The output is over in either case.
bool output_commit(struct output *output, bool replace);
// Removes it. Takes one that never began.
void output_abandon(struct output *output);

bool output_sync_directory(const char *path); // of that file
// Removes what runs that were killed have left in a directory.
void output_clean_directory(const char *directory);
