// cache.h: files kept between runs, in a directory that only this user can write
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// Returns why other users may have written a file or directory, such as "belongs to another user"; NULL if only this
// user can write it. Static text.
const char *cache_unsafe(const struct stat *status);

// Opens "$XDG_CACHE_HOME/monocle", or "~/.cache/monocle" where that variable is unset or relative. Makes it (mode 0700)
// if it is missing. Returns a descriptor that the caller closes; -1 on failure, not logged. If the directory exists but
// is unsafe, *unsafe says why and `path` names the directory; otherwise *unsafe is NULL.
int cache_open(char path[PATH_MAX], const char **unsafe);

// Reads an entry of the directory, as file_read. NULL with errno set on failure (EPERM: it is unsafe); not logged.
char *cache_read(int directory, const char *name, size_t limit, size_t *size);
// Replaces an entry (mode 0600). Readers see the whole old or the whole new entry; a system crash may truncate it.
// False with errno set on failure; not logged.
bool cache_write(int directory, const char *name, const void *data, size_t size);
