// pages.c: memory for images, from the system or a device; the size of the caches
#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static const size_t large_page_bytes = (size_t)2 << 20;

// The last level of cache has the highest index: 3 on most processors, 2 on many ARM processors. Indices 0 and 1 are
// the first level. sysconf(_SC_LEVEL3_CACHE_SIZE) would return the sum of all these caches in a package.
size_t pages_cache_bytes(void)
{
    unsigned kilobytes = 0;
    for (int index = 2;; index++) {
        char path[80];
        snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
        FILE *file = fopen(path, "re");
        if (!file)
            return (size_t)kilobytes << 10;
        if (fscanf(file, "%uK", &kilobytes) != 1)
            kilobytes = 0;
        fclose(file);
    }
}

void *pages_alloc(size_t bytes)
{
    const bool large = bytes >= large_page_bytes;
    const size_t page = large ? large_page_bytes : PAGE_BYTES, whole = (bytes + page - 1) / page * page;
    void *memory = NULL;
    if (posix_memalign(&memory, page, whole) != 0)
        return NULL;
    if (large)
        madvise(memory, whole, MADV_HUGEPAGE); // a request; small pages work too
    return memory;
}

void *pages_take(struct pages_owner *owner, size_t bytes)
{
    return owner && owner->take ? owner->take(owner, bytes) : pages_alloc(bytes);
}

void pages_give(struct pages_owner *owner, void *memory)
{
    if (owner && owner->take && memory)
        owner->give(owner, memory);
    else
        free(memory);
}
