// pages.h: memory for pictures, from the system or a device; the size of the caches
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_BYTES = 4096 };

// Returns the bytes of the processor's last level of cache; 0 if the system does not report it.
size_t pages_cache_bytes(void);

// Allocates at least `bytes` as whole pages; free() frees them. NULL: out of memory (not logged). A large block has
// large pages if the system offers them, because address translation of small pages takes a good part of a pass.
void *pages_alloc(size_t bytes);

// A device that offers memory which it can read without the host's help (compute/memory.h). NULL instead of an owner
// means the system's memory, by pages_alloc and free. All calls on any thread.
struct pages_owner {
    // As pages_alloc, but `give` frees it. NULL: the device has no more, and the caller uses the system's memory.
    void *(*take)(struct pages_owner *owner, size_t bytes);
    void (*give)(struct pages_owner *owner, void *memory); // returns memory of `take` or `adopt`
    // Imports memory that another driver owns and fills. `dmabuf` is its file descriptor; this closes it in any case.
    // May write to the memory as a test. False: it does not work (logged). NULL: the device cannot import.
    bool (*adopt)(struct pages_owner *owner, void *memory, size_t bytes, int dmabuf);
};

void *pages_take(struct pages_owner *owner, size_t bytes);
void pages_give(struct pages_owner *owner, void *memory); // accepts NULL
