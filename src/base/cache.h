// cache.h: files kept between runs, in a directory that only this user can write
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// Why other users may have written a file or directory: "belongs to another user". NULL: no other user can write it.
const char *cache_unsafe(const struct stat *status);

// Opens "$XDG_CACHE_HOME/monocle", or "~/.cache/monocle" where that variable is unset or relative. Makes it (mode 0700)
// if it is missing. Returns a descriptor that the caller closes; -1 on failure, not logged. If the directory exists but
// is unsafe, *unsafe says why and `path` names the directory; otherwise *unsafe is NULL.
int cache_open(char path[PATH_MAX], const char **unsafe);

// Reads an entry of the directory, as file_read. NULL with errno set on failure (EPERM: it is unsafe); not logged.
char *cache_read(int directory, const char *name, size_t limit, size_t *size);
// Writes an entry (mode 0600). Readers see the old entry or the whole new one; a crash of the system may leave less.
// False with errno set on failure; not logged.
bool cache_write(int directory, const char *name, const void *data, size_t size);
