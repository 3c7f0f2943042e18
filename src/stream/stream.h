// stream.h: runs the frames of a source through the panes to the outputs; a client shows or reports each result. Main
// thread.
#pragma once

#include "base/process.h"
#include "stream/devices.h"
#include "stream/meter.h"
#include "stream/output_files.h"
#include "stream/outputs.h"
#include "stream/panes.h"
#include "stream/playback.h"

struct screenshot;

// The calls from a stream to its client; `context` is that of struct stream_setup. Every client has `show`, and a
// client with a window also `building`. The last four are for a source that changes.
struct stream_client {
    // Draws or reports the results of a frame, which are in the panes. `again`: it was shown before. Returns the time
    // when it was shown.
    int64_t (*show)(void *context, const struct frame *frame, bool again);
    // Follows a change by the stream itself, such as the replacement of a lost path.
    void (*changed)(void *context);
    // Handles the user's events while the stream waits for a device.
    void (*events)(void *context);
    // Waits until `fd` can be read (-1: none), the client has something to do, or the time is over.
    void (*wait)(void *context, int fd, int64_t timeout_ns);
    // Called often while the first path is being built: shows this, and handles only events that end the run.
    void (*building)(void *context);
    void (*closing)(void *context); // the results end: the client keeps the picture that it shows
    bool (*allows)(void *context, const struct source *source); // false: the source must not be used (logged)
    void (*arrived)(void *context);                             // the source is new
    void (*reshaped)(void *context);    // the frames have a new shape, and a path for it is open
    const char *(*look)(void *context); // the name of the look with the settings' chain; NULL: there is none
};

struct stream_setup {
    const struct stream_client *client;
    void *context;
    const char *text;        // of the first source, as source_setup.text
    const char *source_kept; // why the source cannot change: "in a run with --truth"; NULL: it can
    bool loop, paced;        // of source_setup
    bool at_once;            // the first frame must run on the state's path: no cpu path runs before it
    bool driven;             // the client may change the settings: the latest frame is kept, to be filtered again
    bool served;             // the client's `wait` also waits for the source, because a request may arrive at any time
    int threads;             // as path_setup.threads
    int depth;               // frames in flight
    uint64_t limit;          // frames to show; 0: no limit
};

// The watch of users' filters and of the files of the chain.
struct edit_watch {
    int descriptor; // of file.h; 0: none
    uint64_t files; // hash of the names of the files
};

// The client zeroes it and calls stream_init. Before stream_open, it sets `window`, `devices`, `settings`, `files`,
// `outputs`, `drawn`, and the source and its info in `playback`. Later, it may change `quit`, `code` and the settings;
// after these it calls panes_changed.
struct stream {
    struct stream_setup setup;
    struct window *window; // with the GL context for the paths; borrowed; NULL: none
    struct gl_context *gl; // of a gl path without a window; NULL: none
    struct devices devices;
    struct settings settings;
    struct stream_state state;
    struct panes *panes;
    struct automatic automatic;
    struct live_tuning *tuning; // tunes while frames run; NULL: not yet
    struct playback playback;
    struct outputs outputs;
    struct output_files files;
    struct image_shape fixed;  // the size of results while outputs run or the user has set one; width 0: any
    const struct image *drawn; // by the client: it is recorded, not the result. NULL: none
    struct meter meter;        // with the trace
    struct note note;
    struct source_change change;
    struct edit_watch watch;
    char shown_file[PATH_MAX]; // the image file of the latest result; "": none
    bool quit;
    enum exit_code code;
};

void stream_init(struct stream *stream, const struct stream_setup *setup);

// Watches the directories of users' filters, if the chain may use one and the run lasts.
void stream_watch_filters(struct stream *stream);
// Opens a GL context, if the path needs one and there is no window, and makes the panes, without a path. False:
// there is no context (logged).
bool stream_open(struct stream *stream);
// Builds the state's path and waits for it. If the user named no path, the cpu path replaces one that fails. False on
// failure (logged).
bool stream_build(struct stream *stream);
// The same, and runs a blank frame through it. In a driven run the cpu path runs the first frames, with the same bytes,
// while the state's path is being built, because that may take seconds. Exception: `at_once`, or the cpu path cannot
// run the chain; the client's `building` then serves the user. False also if the user quits meanwhile.
bool stream_build_soon(struct stream *stream);
// Follows settings.path. False, with nothing changed, if such a path cannot be built here.
bool stream_follow_path(struct stream *stream);
bool stream_use_device(struct stream *stream, int index); // for later paths; false if it cannot be opened (logged)
// Starts, pauses or continues the tuning, according to settings.tune. False on failure (logged).
bool stream_tune(struct stream *stream);
bool stream_start(struct stream *stream); // starts the capture; false on failure (logged)

enum stream_turn {
    STREAM_IDLE,  // no frame is in flight
    STREAM_BUSY,  // a frame was submitted, or is not ready
    STREAM_SHOWN, // the client showed a frame
};
// Takes a frame if there is one, and submits it; passes the oldest frame in flight to the outputs and to the client if
// there is no room for more, or no new one. Filters the latest frame again if the panes have changed. Waits for a frame
// for up to wait_ms. The cpu path replaces a lost path. If the run cannot continue, sets the exit code (logged).
enum stream_turn stream_step(struct stream *stream, int wait_ms);
// Sets the exit code because an output failed. A window stays open; a run without a window ends.
void stream_output_failed(struct stream *stream);
// Returns the picture to record and to save: what the client has drawn, or else the main pane's result; NULL: none.
const struct image *stream_picture(struct stream *stream);
// Starts to write that picture, or (`both`) the frame before and after the chain, side by side. `path` NULL: writes the
// file of output_claim_new. The caller closes the screenshot. NULL: there is no frame, or a failure (logged).
struct screenshot *stream_save(struct stream *stream, bool both, const char *path);
void stream_drain(struct stream *stream); // shows all frames in flight
// Completes the recording, and writes the screenshot; sets the exit code if one fails, or if the source had no frames.
void stream_complete(struct stream *stream);
// Returns true when the run must end: the client, a signal, the end of the source, the limit or a failure ends it. A
// still image, or the last frame of a paused video, stays until the user quits.
bool stream_finished(const struct stream *stream);

// Stops the capture and closes everything but the window and the trace. The window's GL context must still be current.
// False if a driver is still busy or the display is lost. All must then stay as it is, and the caller exits with
// EXIT_AT_ONCE.
bool stream_close(struct stream *stream);
