// source_strip.c: see source_strip.h
#include "path/source_strip.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static void join_lines(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const bool ends_line = at[0] == '\\' && (at[1] == '\n' || (at[1] == '\r' && at[2] == '\n'));
        if (ends_line)
            at += at[1] == '\r' ? 3 : 2;
        else
            *to++ = *at++;
    }
    *to = '\0';
}

// Returns the length of the comment at the beginning of a text; 0: there is none. A line comment ends before the
// newline.
static size_t comment_length(const char *text)
{
    if (strncmp(text, "//", 2) == 0)
        return strcspn(text, "\n");
    if (strncmp(text, "/*", 2) != 0)
        return 0;
    const char *end = strstr(text + 2, "*/");
    return end ? (size_t)(end + 2 - text) : strlen(text);
}

// Returns the length of the string or character literal at the beginning of a text; 0: there is none. A literal
// without an end ends before the newline.
static size_t literal_length(const char *text)
{
    size_t length = 1;
    if (*text != '"' && *text != '\'')
        return 0;
    while (text[length] && text[length] != '\n' && text[length] != *text)
        length += text[length] == '\\' && text[length + 1] ? 2 : 1;
    return length + (text[length] == *text ? 1 : 0);
}

// Newlines around directives remain, because they end them. Other newlines are white space.
void source_strip(char *text)
{
    char *to = text;
    bool gap = false, line_starts = true, directive = false;
    join_lines(text);
    for (const char *at = text; *at;) {
        const size_t comment = comment_length(at), literal = literal_length(at), length = literal > 0 ? literal : 1;
        if (comment > 0 || strchr(" \t\r\v\f\n", *at)) {
            if (*at == '\n') {
                line_starts = true;
                if (directive)
                    *to++ = '\n';
                directive = false;
            }
            gap = true;
            at += comment > 0 ? comment : 1;
            continue;
        }
        if (line_starts && strncmp(at, "#line ", 6) == 0) {
            at += strcspn(at, "\n");
            continue;
        }
        if (line_starts && *at == '#') {
            directive = true;
            if (to > text && to[-1] != '\n')
                *to++ = '\n';
        }
        line_starts = false;
        if (gap && to > text && to[-1] != '\n')
            *to++ = ' ';
        gap = false;
        memmove(to, at, length);
        to += length;
        at += length;
    }
    *to = '\0';
}
