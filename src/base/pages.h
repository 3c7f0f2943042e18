// pages.h: memory for whole pictures
#pragma once

#include <stddef.h>

enum { PAGE_BYTES = 4096 };

// At the start of a page and a whole number of pages long, freed by free(); NULL when there is none. Where the system
// offers large pages, a large block is made of them: a processor otherwise spends a good part of a pass on finding out
// where pages are.
void *pages_alloc(size_t bytes);
