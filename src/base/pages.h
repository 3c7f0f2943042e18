// pages.h: memory for whole pictures: from the system or from a device, and how much of it caches hold
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_BYTES = 4096 };

// Bytes of the processor's largest cache, the last level; 0 where the system does not say.
size_t pages_cache_bytes(void);

// At least `bytes`, from the start of a page to the end of one, to be freed by free(); NULL when there is no memory.
// Where the system offers large pages, a large block is made of them: of small ones a processor has so many to look up
// that it takes a good part of a pass.
void *pages_alloc(size_t bytes);

// A device that offers memory for pictures from which it can copy by itself (compute/memory.h). Where one is asked for,
// NULL means the system's memory, by pages_alloc and free. All calls on any thread.
struct pages_owner {
    // As pages_alloc, but not to be freed by free(). NULL where it has no more: the system's memory will do.
    void *(*take)(struct pages_owner *owner, size_t bytes);
    void (*give)(struct pages_owner *owner, void *memory); // gives back what was taken, or adopted
    // Lets the device read memory that belongs to another driver, which fills it. `dmabuf` is the file descriptor of
    // that memory; it is taken over in any case. The memory may be written to, to try it. False where this does not
    // work (logged). NULL: it never does.
    bool (*adopt)(struct pages_owner *owner, void *memory, size_t bytes, int dmabuf);
};

void *pages_take(struct pages_owner *owner, size_t bytes);
void pages_give(struct pages_owner *owner, void *memory); // takes NULL
