// pages.h: memory for whole pictures, who has it, and how much of it caches hold
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_BYTES = 4096 };

// Bytes of the last level of cache, as far as processors share one; 0 where the system does not say.
size_t pages_cache_bytes(void);

// At the start of a page and a whole number of pages long, freed by free(); NULL when there is none. Where the system
// offers large pages, a large block is made of them: a processor otherwise spends a good part of a pass on finding out
// where pages are.
void *pages_alloc(size_t bytes);

// Who has memory for pictures that is better than any: a device, of what it has pinned (compute/pinned.h). NULL in the
// place of one means the system's, by pages_alloc and free. On any thread.
struct pages_owner {
    void *(*take)(struct pages_owner *owner,
                  size_t bytes);                           // as pages_alloc, but for free(); NULL: the system's will do
    void (*give)(struct pages_owner *owner, void *memory); // what was taken, or adopted
    // Reads memory that a driver has, and fills, where it lies, by its dma-buf: a file descriptor, which is taken in
    // any case. The memory may be written to. False where that does not work (logged). NULL: it never does.
    bool (*adopt)(struct pages_owner *owner, void *memory, size_t bytes, int dmabuf);
};

void *pages_take(struct pages_owner *owner, size_t bytes);
void pages_give(struct pages_owner *owner, void *memory); // takes NULL
