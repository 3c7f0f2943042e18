// session.h: the parts of one run of the `live` command. session.c opens and closes them, live.c runs frames through
// them, and events.c handles keys and pointer events. A part does not know the session. Main thread.
#pragma once

#include "base/log.h"
#include "base/trace.h"
#include "command/command.h"
#include "command/live/control.h"
#include "command/live/controls.h"
#include "command/live/edits.h"
#include "command/live/last_run.h"
#include "command/live/mouse.h"
#include "command/live/output_check.h"
#include "command/live/report.h"
#include "command/live/showcase.h"
#include "command/live/source_change.h"
#include "command/live/view.h"
#include "command/looks.h"
#include "lane/truth.h"
#include "source/capture.h"
#include "tune/captures.h"

enum { DIGIT_LINES = 6, DIGIT_COLUMNS = 36 };

struct session {
    struct live_options options;
    struct claim claims[OUTPUTS]; // of the output files that options name
    struct trace *trace;          // NULL: none
    bool trace_drafted;           // it is written to `trace_draft`
    struct file_draft trace_draft;
    struct controls controls;
    struct source *source;
    const struct source_info *info;
    struct capture *capture;
    struct control *control; // NULL: none
    struct window *window;   // NULL: none
    struct view *view;       // of the window
    struct gl_context *gl;   // of the gl path without a window; NULL: none
    struct devices devices;
    struct wish wish;
    struct edits edits; // of the wish's chain
    struct lanes *lanes;
    struct online *online; // tunes while frames run; NULL: not yet
    struct outputs outputs;
    struct meter meter;
    struct note note;
    struct report report;
    struct captures captures;                    // of --capture
    struct truth truth;                          // of --truth
    struct status status;                        // see status_read
    struct keys keys;                            // the list of keys in the window
    char digits[DIGIT_LINES][2 * DIGIT_COLUMNS]; // lines of the list of keys: each digit's look
    struct looks looks;
    int digit; // the last digit key that selected a look; 0: none since the looks changed
    struct showcase showcase;
    struct last_run last;
    struct mouse mouse;
    struct source_change change;
    struct capture_counts past; // of the sources before this one
    int filter_watch;           // descriptor of edited.h for users' filters; 0: none

    int depth;       // frames in flight
    uint64_t limit;  // frames to show; 0: no limit
    bool saves_last; // save the last frame under the first free name
    bool still;      // the source is one image, shown once
    bool driven;     // a window or the control socket may change the wish

    int64_t reported_ns;            // when progress was last reported
    struct status_line status_line; // of a run without a window
    int64_t drawn_ns;               // when the window was last drawn, after the swap
    uint64_t taken;                 // frames taken from the capture
    bool reshaped;                  // the source's next frames have another shape
    bool ended;                     // the source has no more frames
    bool stepping;                  // a frame is due that a seek or a step has asked for
    uint64_t stepped;               // `taken` when this frame arrived
    double position_s;              // time of the newest frame in a source that can seek, or of the frame that is due
    bool redraw;                    // the screen is out of date
    bool capture_due;               // capture the next frame: the path or its frames have changed
    bool save_due;                  // save the next frame: there was none when the user pressed the key
    bool save_both;                 // before and after the chain
    bool quit;
    enum exit_code code;
};

// Opens everything and builds the first path; session->options is set. False on failure (logged), or if the user quits
// meanwhile: session->code is the exit code.
bool session_open(struct session *session);
void session_size(const struct session *session, int *width, int *height); // size of the chain's results
// Builds the first path for the source's shape and runs a blank frame through it. False on failure (logged), or if the
// user quits meanwhile.
bool session_open_path(struct session *session);
// Starts, pauses or continues the tuning, as the wish says. False on failure (logged).
bool session_tune(struct session *session);
// Closes everything. False if a driver is still busy or the display is lost. The session and all that they use must
// then stay as they are, and the caller exits with EXIT_AT_ONCE.
bool session_close(struct session *session);
