// chooser.h: the lists in the window from which the user chooses a filter, a look or an action. Main thread.
#pragma once

#include "screen/choice_list.h"
#include "screen/window.h"

struct session;

enum chooser_kind { CHOOSER_NONE, CHOOSER_FILTERS, CHOOSER_LOOKS, CHOOSER_ACTIONS };

// Zeroed is closed. Only chooser.c uses the members.
struct chooser {
    enum chooser_kind kind;
    char typed[24];
    int selected, first; // among the rows that contain the typed text; `first` is at the top
    bool placed;         // at the pointer (x, y)
    float x, y;
};

// Opens the list; `event` NULL: in the middle of the window, else at the pointer.
void chooser_open(struct session *session, enum chooser_kind kind, const struct window_event *event);
// Handles a key or a pointer event. Returns false if no list is open.
bool chooser_event(struct session *session, const struct window_event *event);
// Fills in the rows that the window shows; nothing if no list is open.
void chooser_fill(const struct session *session, struct choice_list *list);
