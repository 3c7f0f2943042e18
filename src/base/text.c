// text.c: splits UTF-8 text into characters and lines
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static uint32_t skip(struct span *span, size_t bytes, uint32_t character)
{
    span->text += bytes;
    span->length -= bytes;
    return character;
}

uint32_t span_next(struct span *span)
{
    static const struct {
        uint8_t mask, lead;
        uint32_t least; // smaller values must use a shorter form
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    enum { REPLACEMENT = 0xfffd };
    if (span->length == 0)
        return 0;
    const uint8_t *bytes = (const uint8_t *)span->text;
    for (size_t form = 0; form < sizeof(forms) / sizeof(*forms); form++) {
        if ((bytes[0] & forms[form].mask) != forms[form].lead)
            continue;
        uint32_t character = bytes[0] & (uint8_t)~forms[form].mask;
        for (size_t i = 1; i <= form; i++) {
            if (i >= span->length || (bytes[i] & 0xc0) != 0x80)
                return skip(span, 1, REPLACEMENT);
            character = character << 6 | (bytes[i] & 0x3f);
        }
        const bool surrogate = character >= 0xd800 && character <= 0xdfff;
        const bool valid = character >= forms[form].least && character <= 0x10ffff && character != 0 && !surrogate;
        return valid ? skip(span, form + 1, character) : skip(span, 1, REPLACEMENT);
    }
    return skip(span, 1, REPLACEMENT);
}

bool character_is_control(uint32_t character)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0, '\t' - 1},    {'\t' + 1, ' ' - 1}, {0x7f, 0x9f},     // C0, delete, C1
        {0x200e, 0x200f}, {0x2028, 0x202e},    {0x2066, 0x2069}, // directions, line separators
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

int span_columns(struct span span)
{
    int columns = 0;
    while (span_next(&span))
        columns++;
    return columns;
}

struct span span_head(struct span span, int columns)
{
    struct span rest = span;
    while (columns > 0 && span_next(&rest))
        columns--;
    return (struct span){span.text, span.length - rest.length};
}

struct span span_take_line(struct span *text, int columns)
{
    const char *feed = memchr(text->text, '\n', text->length);
    const struct span paragraph = {text->text, feed ? (size_t)(feed - text->text) : text->length};
    struct span line = span_head(paragraph, columns > 1 ? columns : 1);
    size_t used = line.length;
    if (line.length < paragraph.length) {
        size_t indent = 0, end = line.length;
        while (indent < end && paragraph.text[indent] == ' ')
            indent++;
        while (end > indent && paragraph.text[end] != ' ')
            end--;
        if (end > indent)
            line.length = used = end;
        while (used < paragraph.length && paragraph.text[used] == ' ')
            used++;
    }
    if (feed && used == paragraph.length)
        used++;
    skip(text, used, 0);
    return line;
}

// Removes spaces from both ends, in place.
static char *trim(char *text)
{
    static const char spaces[] = " \t\r";
    text += strspn(text, spaces);
    size_t length = strlen(text);
    while (length > 0 && strchr(spaces, text[length - 1]))
        text[--length] = '\0';
    return text;
}

void text_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}

void text_join_lines(char *text)
{
    for (; *text; text++)
        *text = *text == '\n' ? ' ' : *text;
}

bool text_next_setting(char **rest, int *line, char **name, char **value)
{
    while (*rest && **rest) {
        char *start = strsep(rest, "\n");
        ++*line;
        start = trim(start);
        if (!start[0] || start[0] == '#')
            continue;
        char *equals = strchr(start, '=');
        if (equals)
            *equals = '\0';
        *name = trim(start);
        *value = equals ? trim(equals + 1) : NULL;
        return true;
    }
    return false;
}
