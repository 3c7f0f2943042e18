// spelling.h: the many ways to spell one name
#pragma once

// The one spelling that all others of a file's name come to: from `directory`, where we are, without "." and "..";
// below it where it is. Symbolic links are other names, which stay. "" where nobody knows where we are. The caller
// frees; NULL where there is no memory.
char *spelling_plain(const char *directory, const char *path);
