// note.h: the message at the bottom of the window. Main thread. Zeroed is empty.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NOTE_TEXT = 2048, NOTE_S = 3 }; // NOTE_S: how long an ordinary message stays

struct note {
    char text[NOTE_TEXT]; // "": none
    bool error;
    int64_t until_ns; // 0: until it is replaced
};

// Replaces the message. 0 seconds: it stays until it is replaced.
void note_set(struct note *note, bool error, double seconds, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *note_text(const struct note *note); // "": there is none, or its time is over
