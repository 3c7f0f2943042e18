// alloc.c: see alloc.h
#include "base/alloc.h"

#include "base/process.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Returns the block, or ends the process if it is NULL. exit() would need memory, and threads may run.
static void *need(void *block)
{
    static const char message[] = "monocle: error: out of memory\n";
    if (block)
        return block;
    (void)!write(STDERR_FILENO, message, sizeof(message) - 1);
    _exit(EXIT_FAILED_SOME);
}

void *xcalloc(size_t count, size_t bytes)
{
    if (count == 0 || bytes == 0)
        count = bytes = 1;
    return need(calloc(count, bytes));
}

void *xalloc(size_t bytes)
{
    return xcalloc(1, bytes);
}

void *xmalloc(size_t bytes)
{
    return need(malloc(bytes ? bytes : 1));
}

void *xrealloc(void *block, size_t bytes)
{
    return need(realloc(block, bytes ? bytes : 1));
}

char *xstrdup(const char *text)
{
    return need(strdup(text));
}

char *xstrndup(const char *text, size_t bytes)
{
    return need(strndup(text, bytes));
}

char *xvprintf(const char *format, va_list arguments)
{
    char *text;
    return need(vasprintf(&text, format, arguments) < 0 ? NULL : text);
}

char *xprintf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = xvprintf(format, arguments);
    va_end(arguments);
    return text;
}

FILE *xmemstream(char **text, size_t *size)
{
    return need(open_memstream(text, size));
}

void xmemclose(FILE *stream)
{
    if (fclose(stream) != 0)
        need(NULL);
}

void *xgrow(void *array, size_t count, size_t bytes)
{
    enum { FIRST = 8 };
    const size_t room = count < FIRST ? FIRST : 2 * count;
    if (count != 0 && (count < FIRST || (count & (count - 1)) != 0))
        return array; // its room is FIRST, or the next power of two
    return need(room > SIZE_MAX / bytes ? NULL : realloc(array, room * bytes));
}

// ---- pages: memory for images, from the system or a device; the size of the caches ----

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
