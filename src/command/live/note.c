// note.c: the message at the bottom of the window
#include "command/live/note.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>

void note_set(struct note *note, bool error, double seconds, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->text, sizeof(note->text), format, arguments);
    va_end(arguments);
    note->error = error;
    note->until_ns = seconds > 0 ? clock_now_ns() + (int64_t)(seconds * 1e9) : 0;
}

const char *note_text(const struct note *note)
{
    return note->until_ns == 0 || clock_now_ns() <= note->until_ns ? note->text : "";
}
