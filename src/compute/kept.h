// kept.h: data kept between runs in the cache directory; each entry stores the whole key that it belongs to
#pragma once

#include <stdbool.h>
#include <stddef.h>

// An entry, which may not exist yet. Use it on one thread.
struct kept {
    const void *key; // borrowed
    size_t key_bytes;
    int directory; // -1: the directory is unusable, so nothing is read or written
    char name[40]; // file name
};

// Finds the entry of a key. `kind` is the file's extension, such as "clbin". `key` NULL: no entry.
void kept_open(struct kept *kept, const char *kind, const void *key, size_t key_bytes);
void kept_close(struct kept *kept);
// Returns the data, which the caller frees. NULL: there are none, or they are damaged, or they belong to another key
// with the same hash (log_info).
void *kept_read(const struct kept *kept, size_t *bytes);
void kept_write(const struct kept *kept, const void *data, size_t bytes); // a failure is logged (log_info)

// Logs a warning, once in a process, if the cache directory is unsafe: nothing is then read or written.
void kept_check(void);
