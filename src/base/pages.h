// pages.h: memory for whole pictures, and who has it
#pragma once

#include <stddef.h>

enum { PAGE_BYTES = 4096 };

// At the start of a page and a whole number of pages long, freed by free(); NULL when there is none. Where the system
// offers large pages, a large block is made of them: a processor otherwise spends a good part of a pass on finding out
// where pages are.
void *pages_alloc(size_t bytes);

// Who has memory for pictures that is better than any: a device, of what it has pinned (compute/pinned.h). NULL in the
// place of one means the system's, by pages_alloc and free.
struct pages_owner {
    void *(*take)(struct pages_owner *owner, size_t bytes); // as pages_alloc, but for free(); on any thread
    void (*give)(struct pages_owner *owner, void *memory);  // what was taken; on any thread
};

void *pages_take(struct pages_owner *owner, size_t bytes);
void pages_give(struct pages_owner *owner, void *memory); // takes NULL
