// edits.h: changes of the settings' chain by hand, and their undo. Main thread. Zeroed is empty.
#pragma once

#include "stream/settings.h"

enum { EDITS = 32 };

// Only edits.c uses the members.
struct edits {
    struct {
        struct chain chain;
        int selected;
    } before[EDITS]; // the chains before the last changes, oldest first
    int count;
    int run; // EDIT_VALUE or EDIT_FILTER: the last change; 0: another one
};

// A run of changes of one kind to one parameter is undone at once.
enum edit_run { EDIT_ALONE, EDIT_VALUE, EDIT_FILTER };
// Keeps the chain for undo. Call before each change.
void edits_keep(struct edits *edits, const struct settings *settings, enum edit_run run);
bool edits_undo(struct edits *edits, struct settings *settings); // false: there is nothing to undo

// These change the chain at the selected stage and select the changed stage. False: they change nothing, because the
// chain is full or empty, or the stage is at the end.
// Adds a filter after the stage; NULL: the first one.
bool edits_add(struct edits *edits, struct settings *settings, const struct filter *filter);
// Puts `stage` in place of the stage if that has the same filter, else adds it.
bool edits_put(struct edits *edits, struct settings *settings, const struct stage *stage);
bool edits_remove(struct edits *edits, struct settings *settings);
bool edits_move(struct edits *edits, struct settings *settings, int step);   // -1: left, 1: right
bool edits_filter(struct edits *edits, struct settings *settings, int step); // replaces the stage by the next filter
