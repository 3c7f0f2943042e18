// csv.c: see csv.h
#include "base/csv.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

void csv_print(FILE *out, const char *text)
{
    const size_t room = 4 * strlen(text) + 1;
    char *shown = xmalloc(room);
    log_escape(shown, room, text);
    const bool quoted = strpbrk(shown, ",\"") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (const char *at = shown; *at; at++)
        fprintf(out, *at == '"' ? "\"\"" : "%c", *at);
    fputs(quoted ? "\"" : "", out);
    free(shown);
}
