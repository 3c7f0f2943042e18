// alloc.c: see alloc.h
#include "base/alloc.h"

#include "base/process.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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
    need(fclose(stream) == 0 ? stream : NULL);
}

void *xgrow(void *array, size_t count, size_t bytes)
{
    enum { FIRST = 8 };
    const size_t room = count < FIRST ? FIRST : 2 * count;
    if (count != 0 && (count < FIRST || (count & (count - 1)) != 0))
        return array; // its room is FIRST, or the next power of two
    return need(room > SIZE_MAX / bytes ? NULL : realloc(array, room * bytes));
}
