// pages.h: memory for images, from the system or a device; the size of the caches
#pragma once

#include <stdbool.h>
#include <stddef.h>

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
