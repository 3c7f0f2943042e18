// events.h: carries out keys, pointer events and edits of kernel files
#pragma once

#include <stdbool.h>

struct session;

// Names each digit's filter in the list of keys, and watches the kernel directory. False on failure (logged).
bool events_open(struct session *session);
void events_close(struct session *session);
// Handles all events that have arrived; reports the state after each key. `quit_only`: ignores all keys but quit and
// back. Does nothing without a window.
void events_handle(struct session *session, bool quit_only);
// Returns true if a .cl file in the kernel directory was written, moved in or deleted since the last call. Never waits.
bool events_kernels_changed(struct session *session);
// Saves the main lane's result under a new name. The note reports the name or the failure.
void events_save_picture(struct session *session);
