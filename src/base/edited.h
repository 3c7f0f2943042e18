// edited.h: notices edited files of directories, without waiting
#pragma once

#include <stdbool.h>

// Watches a directory (NULL: none yet). Returns a descriptor above 0, which the caller closes; -1 with errno set on
// failure.
int edited_open(const char *directory);
// Watches one more directory. False on failure, with errno set.
bool edited_add(int descriptor, const char *directory);
// Returns true if a file was written, moved in or deleted since the last call, and `wanted` is true for its name; or if
// too many events arrived at once. Descriptor 0 or -1: returns false.
bool edited_any(int descriptor, bool (*wanted)(const char *name, const void *context), const void *context);
