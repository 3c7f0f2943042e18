// session.h: one run of the `live` command: its stream and the user's side of it. session.c opens and closes the parts,
// live.c runs frames
// through them, events.c handles keys and pointer events, and property_table.c has the settings. These four files know
// the session; the parts do not. Main thread.
#pragma once

#include "base/log.h"
#include "command/command.h"
#include "command/live/controls.h"
#include "command/live/live_options.h"
#include "command/live/report.h"
#include "command/looks.h"
#include "control/control.h"
#include "control/properties.h"
#include "lane/score.h"
#include "screen/keys.h"
#include "screen/window.h"
#include "stream/settings.h"
#include "stream/stream.h"

#include <stdbool.h>

enum { DIGIT_LINES = 6, DIGIT_COLUMNS = 36 };

enum chooser_kind { CHOOSER_NONE, CHOOSER_FILTERS, CHOOSER_LOOKS, CHOOSER_ACTIONS };

// The open list in the window, from which the user chooses a filter, a look or an action. Zeroed is closed. Only
// lists.c uses the members.
struct chooser {
    enum chooser_kind kind;
    char typed[24];
    int selected, first; // among the rows that contain the typed text; `first` is at the top
    int most;            // rows without a typed text
    bool placed;         // at the pointer (x, y)
    float x, y;
    const struct look *shown; // in place of the chain until the user chooses; NULL: none
    // The pictures of the looks, one below the other, made one by one.
    struct image small, sheet; // `small`: the frame of the moment when the list was opened
    int made;                  // pictures in the sheet
    struct chain look;         // of the next picture, which a thread makes
    struct image filtered;     // its result; empty: it failed
    pthread_t thread;
    bool running; // the thread runs, or waits to be joined
    atomic_bool done;
    unsigned changes; // of the sheet, in all lists
};

// Shows the looks one after another beside the original, until the user does something. Zeroed is off.
struct showcase {
    bool on;
    int look;           // index in the session's looks
    int64_t look_ns;    // when this look was complete
    int64_t from_ns;    // when the showcase began
    int64_t divider_ns; // when the divider last moved
};

// What one run with a window keeps for the next, in the file $XDG_STATE_HOME/monocle/live: the window's size and place,
// kept properties (the overlay) and the chain.
struct last_run {
    bool kept;                                // the file is read and written
    struct window_area area;                  // from the file; width 0: unknown
    char settings[PROPERTIES_KEPT];           // lines for the file
    char part[CHAIN_PARTS][CHAIN_TEXT];       // the last camera, chain and titles that the user has changed; "": none
    struct window_area first;                 // of this run's window
    char first_settings[PROPERTIES_KEPT];     // of the start of this run
    char first_part[CHAIN_PARTS][CHAIN_TEXT]; // of the start of this run, or of the showcase
    bool resumed;                             // this run began with the last chain
    char lost[CHAIN_ERROR];                   // why a part of the last chain cannot be used; "": all can
};

// A press of the mouse, and its drag.
struct pointer {
    enum { DRAG_DIVIDER, DRAG_PICTURE, DRAG_REGION, DRAG_CORNER } drags;
    float x, y;     // where it was last
    bool changed;   // the drag has changed the region
    float fixed[2]; // the corner that stays, or the pointer's place in the region; in %
};

// Images that `s` and `S` save.
struct saves {
    bool due;                      // the next frame: there was none when the user pressed the key
    bool both;                     // before and after the chain
    bool last;                     // the last frame of the run, under the first free name
    struct screenshot *running[4]; // threads write them, the oldest first; a fifth waits for it
    int count;                     // of `running`
};

struct session {
    struct live_options options;
    struct controls controls;
    struct stream stream;
    struct controlled controlled;   // the stream and its properties
    struct control_socket *control; // NULL: none
    struct view *view;              // of the stream's window
    struct edits edits;             // of the settings' chain
    struct report report;
    struct truth truth;                          // of --truth
    struct status status;                        // see session_status
    struct keys keys;                            // the list of keys in the window
    char digits[DIGIT_LINES][2 * DIGIT_COLUMNS]; // lines of the list of keys: each digit's look
    struct looks looks;
    int digit; // the last digit key that selected a look; 0: none since the looks changed
    struct showcase showcase;
    struct chooser chooser;
    struct last_run last;
    struct pointer mouse;

    int64_t reported_ns;            // when progress was last reported
    struct status_line status_line; // of a run without a window
    int64_t left_ns;                // when the key `back` asked whether to quit; 0: never
    int64_t drawn_ns;               // when the window was last drawn, after the swap
    bool redraw;                    // the screen is out of date
    struct saves save;
};

// Limits the frames of a run without a window whose source has no end, unless the user has set a limit.
void session_limit(struct session *session);
// Reads the state of all parts. Valid until the session changes or the next call.
const struct status *session_status(struct session *session);
// Warns if the chain makes pixels transparent for an output that shows their hidden colour.
void session_warn_transparency(const struct session *session);

// ---- showcase and last run ----

// Starts with the first look, if the user wants a showcase: with --showcase, or without a source, a chain and a camera.
// Call after events_open and before a path is built.
void showcase_open(struct session *session);
// Moves the divider, and selects the next look when it is time. Call between two frames.
void showcase_step(struct session *session);
// Ends the showcase: the look stays, and the divider goes to the middle. Does nothing if it is off.
void showcase_end(struct session *session);

// live.c: what the session does for its stream, whose context is the session.
extern const struct stream_client live_client;
extern const struct property live_properties[]; // property_table.c: their context is the session; as controlled.own

// Opens everything and builds the first path; session->options is set. False on failure (logged), or if the user quits
// meanwhile: session->stream.code is the exit code.
bool session_open(struct session *session);
// Closes everything. False if a driver is still busy or the display is lost. The session and all that they use must
// then stay as they are, and the caller exits with EXIT_AT_ONCE.
bool session_close(struct session *session);

// ---- events.c: carries out keys, pointer events and the requests of the control socket ----

struct filter;

// Fills in the list of keys, which has the names of the looks.
void events_open(struct session *session);
void events_note_zoom(struct session *session); // sets the note to the percentage of the zoom
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

// ---- lists.c: the lists of filters, looks and actions in the window ----

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
