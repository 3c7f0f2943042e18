// state.c: the message at the bottom of the window
#include "stream/state.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *note_set(struct note *note, bool error, double seconds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof(note->text), format, arguments);
    va_end(arguments);
    for (size_t end = strlen(note->text); end > 0 && note->text[end - 1] == '\n'; end--)
        note->text[end - 1] = '\0';
    note->error = error;
    note->until_ns = seconds > 0 ? clock_now_ns() + (int64_t)(seconds * 1e9) : 0;
    return note->text;
}

void note_clear(struct note *note, bool error)
{
    if (note->error == error)
        note->text[0] = '\0';
}

const char *note_text(const struct note *note, bool *error)
{
    const char *text = note->until_ns == 0 || clock_now_ns() <= note->until_ns ? note->text : "";
    *error = text[0] && note->error;
    return text;
}
