// cache.h: files kept between runs, in directories that only this user can write, and the user's settings files
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

// Returns why other users may have written a file or directory, such as "belongs to another user"; NULL if only this
// user can write it. Static text.
const char *cache_unsafe(const struct stat *status);
// Returns the remedy for an *unsafe that a function below has set, such as "change its owner". Static text. The
// functions set *unsafe also if another user owns a directory above the path, or if all users can write such a
// directory and it has no sticky bit.
const char *cache_remedy(const char *unsafe);

// Opens "$XDG_CACHE_HOME/monocle", or "~/.cache/monocle" where that variable is unset or relative. Makes it (mode 0700)
// if it is missing. Returns a descriptor that the caller closes; -1 on failure, not logged. If the directory exists but
// is unsafe, *unsafe says why and `path` names the directory; otherwise *unsafe is NULL.
int cache_open(char path[PATH_MAX], const char **unsafe);

// Opens "$XDG_DATA_HOME/monocle" or "~/.local/share/monocle", as cache_open, for files that the user must not lose.
// `make`: makes it if it is missing. If `path` is "" after a failure, the environment names no place.
int data_open(char path[PATH_MAX], bool make, const char **unsafe);
// The same for "$XDG_STATE_HOME/monocle" or "~/.local/state/monocle", for files that the user may lose.
int state_open(char path[PATH_MAX], bool make, const char **unsafe);
// Writes the next of the directories "DIR/monocle" with a DIR of $XDG_DATA_DIRS (default: /usr/local/share:/usr/share),
// from the last one to the first, which has precedence. *at begins at 0. False: there is no more.
bool data_system_next(char path[PATH_MAX], size_t *at);
// Opens one of these directories, or one that the user has named, which only root and this user may be able to write.
// `make`: makes it (mode 0700) if it is missing. Returns as cache_open; errno is set if *unsafe is NULL after a
// failure.
int cache_open_named(const char *path, bool make, const char **unsafe);

// Writes the path of a settings file, "$XDG_CONFIG_HOME/monocle/NAME" or "~/.config/monocle/NAME". False: the
// environment names no place.
bool config_path(const char *name, char path[PATH_MAX]);
// Reads a settings file as file_read_text. It may be a symbolic link. NULL with errno set on failure (ENOENT: there is
// none; EPERM: a user other than this one and root can write it, and *unsafe says why, else NULL); not logged. `path`
// gets its name.
char *config_read(const char *name, size_t limit, char path[PATH_MAX], const char **unsafe);
// Writes why config_read failed, and the remedy. Takes errno and the values that config_read has set.
enum { CONFIG_WHY = PATH_MAX + 80 };
void config_explain(const char *path, const char *unsafe, size_t limit, char why[CONFIG_WHY]);
// Adds a line to a settings file as file_write_atomic; makes the file (mode 0600) and its directories if they are
// missing. False with errno set on failure; not logged.
bool config_append(const char *name, size_t limit, const char *line);

// Reads an entry of the directory, as file_read. NULL with errno set on failure (EPERM: a user other than this one and
// root can write it); not logged.
char *cache_read(int directory, const char *name, size_t limit, size_t *size);
// Open a directory, and read an entry of it, that may be symbolic links, because users link their configuration. Only
// root and this user may be able to write what they lead to. Return as cache_open_named and cache_read; *unsafe is why
// another user may have written it, or NULL.
int trusted_open(const char *path, const char **unsafe);
char *trusted_read(int directory, const char *name, size_t limit, size_t *size, const char **unsafe);

// Replaces an entry (mode 0600). Readers see the whole old or the whole new entry; a system crash may truncate it.
// False with errno set on failure; not logged.
bool cache_write(int directory, const char *name, const void *data, size_t size);
