// lists.h: the lists of filters, looks and actions in the window. Main thread.
#pragma once

#include "command/live/session.h"
#include "screen/window.h"

struct choice_list;

// Opens a list; `event` NULL: in the middle of the window, else at the pointer.
void lists_open(struct session *session, enum chooser_kind kind, const struct window_event *event);
// Handles a key or a pointer event. Returns false if no list is open.
bool lists_event(struct session *session, const struct window_event *event);
// Makes the next picture of the open list of looks. Call often.
void lists_step(struct session *session);
// Fills in the rows of the open list that the window shows; nothing if no list is open.
void lists_fill(const struct session *session, struct choice_list *list);
void lists_close(struct session *session); // at the end of the run
