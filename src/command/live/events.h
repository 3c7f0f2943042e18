// events.h: carries out keys and pointer events
#pragma once

#include <stdbool.h>

struct session;

// Fills in the keys and, for a window, reads the looks, whose names enter the list of keys.
void events_open(struct session *session);
// Handles all events that have arrived; reports the state after each key. `quit_only`: ignores all keys but quit and
// back. Does nothing without a window.
void events_handle(struct session *session, bool quit_only);
// Saves the main lane's result under a new name. The note reports the name or the failure.
void events_save_picture(struct session *session);
