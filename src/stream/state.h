// state.h: the state: what runs. Only the stream and its parts write it; settings.h has what the user wants. Main
// thread.
#pragma once

#include "stream/settings.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_state {
    enum path_kind kind; // of the main pane's path, or of the one that is being built
    bool automatic;      // the stream chooses the kind: the settings say so, and no path has failed
    const char *why;     // why monocle chose the kind; NULL: the user named it, or it is the first one
    bool timed;          // frames are timed to choose the kind: an upload to a texture waits for the GPU
    int device;          // index in struct devices; -1: none
    bool gl;             // there is a GL context
    bool split_failed;   // the second pane failed; see panes_split_again
};

// The state before the devices are known.
static inline struct stream_state stream_state_first(const struct settings *settings)
{
    const bool automatic = settings->path == PATH_AUTO;
    return (struct stream_state){
        .kind = automatic ? PATH_DEFAULT : (enum path_kind)settings->path, .automatic = automatic, .device = -1};
}

// ---- the message at the bottom of the window ----

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
