// showcase.h: shows the looks one after another beside the original, until the user does something. Main thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct session;

// Zeroed is off. Only showcase.c uses the other members.
struct showcase {
    bool on;
    int look;           // index in the session's looks
    int64_t look_ns;    // when this look was complete
    int64_t from_ns;    // when the showcase began
    int64_t divider_ns; // when the divider last moved
};

// Starts with the first look, if the user wants a showcase: with --showcase, or without a source, a chain and a camera.
// Call after events_open and before a path is built.
void showcase_open(struct session *session);
// Moves the divider, and selects the next look when it is time. Call between two frames.
void showcase_step(struct session *session);
// Ends the showcase: the look stays, and the divider goes to the middle. Does nothing if it is off.
void showcase_end(struct session *session);
// Returns the name of the look that is shown; NULL: the showcase is off.
const char *showcase_look(const struct session *session);
