// spelling.h: the normal form of a file name
#pragma once

// Returns the normal form of `path`, without "." and "..": relative to `directory` if the file is below it, else
// absolute. `directory` is the working directory; "" if it is unknown. Does not resolve symbolic links, except before
// "..". The caller frees the text; NULL if out of memory.
char *spelling_plain(const char *directory, const char *path);
