// alloc.h: small blocks of memory, which free() frees; if there is no memory, these functions end the process
//
// Use them for structs, names, texts and lists. Allocate pictures, and blocks whose size a file decides, with malloc,
// so that a failure ends only their work. "monocle: error: out of memory" is logged, and the exit status is 1.
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

// Return zeroed memory; never NULL, also for 0 bytes.
void *xalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
// As malloc and realloc, never NULL.
void *xmalloc(size_t bytes);
void *xrealloc(void *block, size_t bytes);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t bytes);
char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
// As open_memstream. xmemclose closes the stream; the text is then complete.
FILE *xmemstream(char **text, size_t *size);
void xmemclose(FILE *stream);

// Returns the array with room for one element of `bytes` after the first `count`. Only this function may have resized
// the array; NULL: none yet.
void *xgrow(void *array, size_t count, size_t bytes);
