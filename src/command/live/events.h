// events.h: carries out keys, pointer events and the requests of the control socket
#pragma once

#include "control/properties.h"
#include "screen/keys.h"

#include <stdbool.h>

struct filter;
struct session;

// Fills in the keys and their list, which has the names of the looks.
void events_note_zoom(struct session *session); // sets the note to the percentage of the zoom
void events_open(struct session *session);
// Names the most useful keys in the note, for this many seconds; 0: until another note replaces it.
void events_hint(struct session *session, double seconds);
// Handles all events that have arrived; reports the state after each key. `quit_only`: ignores all keys but quit and
// back, and serves no control socket.
void events_handle(struct session *session, bool quit_only);
// The same for a key's action. `digit`: of an action with digits; -1: none.
bool events_press(struct session *session, const char *action, long long digit, char why[PROPERTY_WHY]);
// Starts to save the main pane's result (session->save.both: before and after the chain) under a new name.
void events_save_picture(struct session *session);
// Call often. When a picture is saved or has failed, the note reports the name or the failure. `wait`: waits until all
// are.
void events_picture_saved(struct session *session, bool wait);
// Shows the look of this name; "none": no filter. The note names a failure.
void events_show_look(struct session *session, const char *name);
// Adds the filter after the selected one. NULL: the first filter.
void events_add_filter(struct session *session, const struct filter *filter);
