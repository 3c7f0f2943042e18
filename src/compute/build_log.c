// build_log.c: places in a compiler's messages
#include "compute/build_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    char file[64];
    long line;
};

// Where line `number` of the text, from 1, came from. False ahead of the first directive.
static bool find_place(const char *text, long number, struct place *place)
{
    struct place at = {.file = ""};
    for (long n = 1; n < number && *text; n++) {
        if (sscanf(text, "#line %ld \"%63[^\"]\"", &at.line, at.file) < 1) // a name may be left out
            at.line++;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *place = at;
    return at.file[0] != '\0';
}

char *build_log_places(const char *log, const char *text)
{
    static const char mark[] = "<kernel>:";
    char *out = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&out, &bytes);
    if (!stream)
        return NULL;
    while (*log) {
        char *end;
        struct place place;
        const bool marked = strncmp(log, mark, sizeof(mark) - 1) == 0;
        const long number = marked ? strtol(log + sizeof(mark) - 1, &end, 10) : 0;
        if (number > 0 && find_place(text, number, &place)) {
            fprintf(stream, "%s:%ld", place.file, place.line);
            log = end;
        } else {
            fputc(*log++, stream);
        }
    }
    return fclose(stream) == 0 ? out : NULL;
}
