// note.h: the message at the bottom of the window. Main thread. Zeroed is empty. Only note.c uses the members.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NOTE_TEXT = 2048, NOTE_S = 3 }; // NOTE_S: how long an ordinary message stays

struct note {
    char text[NOTE_TEXT]; // "": none
    bool error;
    int64_t until_ns; // 0: until it is replaced
};

// Replaces the message; newlines at its end are removed. 0 seconds: it stays until it is replaced. Returns the text,
// which is valid until the next call.
const char *note_set(struct note *note, bool error, double seconds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Removes the message if it is an error (`error` true) or if it is not an error (`error` false).
void note_clear(struct note *note, bool error);
// Returns the message; "": there is none, or its time is over. Sets *error to true if it is an error, else to false.
const char *note_text(const struct note *note, bool *error);
