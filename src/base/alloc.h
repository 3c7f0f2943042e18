// alloc.h: small blocks of memory, which free() frees; if there is no memory, these functions end the process
//
// Use them for structs, names, texts and lists. Allocate pictures, and blocks whose size a file decides, with malloc,
// so that a failure ends only their work. "monocle: error: out of memory" is logged, and the exit status is 1.
#pragma once

#include <stdarg.h>
#include <stdbool.h>
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

// ---- pages: memory for images, from the system or a device; the size of the caches ----

enum { PAGE_BYTES = 4096 };

// Returns the size of the processor's last-level cache in bytes; 0 if the system does not report it.
size_t pages_cache_bytes(void);

// Allocates at least `bytes` as whole pages; free() frees them. NULL: out of memory (not logged). Blocks of 2 MiB and
// more get large pages if the system offers them, because they need fewer address translations.
void *pages_alloc(size_t bytes);

// A device that offers memory which it can read without the host's help (compute/memory.h). A NULL owner means the
// system's memory: pages_alloc and free. Call on any thread.
struct pages_owner {
    // As pages_alloc, but `give` frees the memory. Returns NULL if the device has no more; the caller then uses the
    // system's.
    void *(*take)(struct pages_owner *owner, size_t bytes);
    void (*give)(struct pages_owner *owner, void *memory); // frees memory of `take`
};

void *pages_take(struct pages_owner *owner, size_t bytes);
void pages_give(struct pages_owner *owner, void *memory); // accepts NULL
