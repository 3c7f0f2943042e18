// last_run.h: the window's size and place, kept properties (the overlay) and the chain, kept from one run with a window
// to the next in the file $XDG_STATE_HOME/monocle/live. Main thread.
#pragma once

#include "control/properties.h"
#include "filter/chain.h"
#include "screen/window.h"

struct session;

// Only last_run.c uses the members.
struct last_run {
    bool kept;                            // the file is read and written
    struct window_area area;              // from the file; width 0: unknown
    char settings[PROPERTIES_KEPT];       // lines for the file
    char chain[CHAIN_TEXT];               // the last chain that the user has changed; "": none
    struct window_area first;             // of this run's window
    char first_settings[PROPERTIES_KEPT]; // of the start of this run
    char first_chain[CHAIN_TEXT];         // of the start of this run, or of the showcase
    bool resumed;                         // this run began with the last chain
};

// Reads the file and sets the settings' kept properties and chain, unless the options do. Reads nothing without a
// display, with --headless or with --no-config. A file that is missing or wrong is no failure; one that other users can
// write is not used (logged).
void last_run_open(struct session *session);
const struct window_area *last_run_area(const struct session *session); // for window_setup
void last_run_opened(struct session *session);                          // call when the window is open
void last_run_chain(struct session *session); // the user has not chosen the present chain: it is not kept
// Writes the file if the window, a kept property or the chain has changed. Call before the window is closed.
void last_run_close(struct session *session);
