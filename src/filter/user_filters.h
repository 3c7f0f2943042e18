// user_filters.h: the users' filters that are loaded. Only the main thread loads, finds and lists them; other threads
// may use those in their chains. A filter stays until the process ends.
#pragma once

#include "filter/user_filter.h"

#include <limits.h>
#include <stdbool.h>

enum { USER_FILTERS = 128 };

// Loads the examples, which are in the binary (assets/filters), then the files NAME.cl of "monocle/filters" in the
// directories of the system's data and of the user's configuration, and then those of `directory` (NULL or "": none). A
// file replaces an earlier one of the same name. Refuses a file that another user can write, or that declares no filter
// (logged at the level info, and the others are loaded). False: `directory` cannot be used (logged).
bool user_filters_load(const char *directory);
// Loads all files again. A changed file makes a new filter, which replaces the old one in the list; chain_renew puts it
// into a chain. If a file is refused (logged as a warning), its old filter stays in the list; `error` gets the line
// about the first such file, or "". Returns true if a filter was replaced.
bool user_filters_reload(char error[USER_ERROR]);
// Sets `path` to directory `index` of user_filters_load, which may not exist. False: there are no more.
bool user_filters_directory(int index, char path[PATH_MAX]);
// Returns true if the file of a filter with this name is refused; `why` gets one line.
bool user_filters_refused(const char *name, char why[USER_ERROR]);

const struct filter *user_filters_at(int index); // NULL after the last one
// Returns the directory that user_filters_load was given; "": none.
const char *user_filters_named(void);
