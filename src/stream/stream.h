// stream.h: runs the frames of a source through the lanes; a client shows or reports each result. Main thread.
#pragma once

#include "base/process.h"
#include "source/capture.h"
#include "stream/lanes.h"

// What a client does at the turns of its stream. `context` is of struct stream_setup.
struct stream_client {
    // Draws or reports the results of a frame, which are in the lanes. `again`: it was shown before. Returns the time
    // when it was shown.
    int64_t (*show)(void *context, const struct frame *frame, bool again);
    // Follows a change that the lanes made by themselves, such as the replacement of a lost path. NULL: nothing to do.
    void (*changed)(void *context);
};

struct stream_setup {
    const struct stream_client *client;
    void *context;
    bool kind_named; // the user named the wish's kind of path: no other one replaces it at the start
    bool driven;     // the client may change the wish: the latest frame is kept, to be filtered again
    int threads;     // as path_setup.threads
    int depth;       // frames in flight
    uint64_t limit;  // frames to show; 0: no limit
};

// Zeroed, except for the members that the client sets before stream_open: `set`, `source`, `info`, `window`, `devices`
// and `wish`. Later, it may change the wish (then: lanes_changed), `quit` and `code`.
struct stream {
    struct stream_setup set;
    struct source *source;
    const struct source_info *info;
    struct window *window; // with the GL context for the paths; borrowed; NULL: none
    struct gl_context *gl; // of a gl path without a window; NULL: none
    struct devices devices;
    struct wish wish;
    struct lanes *lanes;
    struct capture *capture; // NULL: not started
    struct trace *trace;     // borrowed; NULL: none
    struct meter meter;
    struct note note;
    uint64_t taken; // frames taken from the capture
    bool ended;     // the source has no more frames
    bool quit;
    enum exit_code code;
};

// Opens a GL context, if the path needs one and there is no window, and the lanes, without a path. False on failure
// (logged).
bool stream_open(struct stream *stream);
// Builds the wish's path and waits for it. If the user named no path, the cpu path replaces one that fails. False on
// failure (logged).
bool stream_build(struct stream *stream);
bool stream_start(struct stream *stream); // starts the capture; false on failure (logged)

enum stream_turn {
    STREAM_IDLE,  // no frame is in flight
    STREAM_BUSY,  // a frame was submitted, or is not ready
    STREAM_SHOWN, // the client showed a frame
};
// Takes a frame if there is one, and submits it; shows the oldest frame in flight if there is no room for more, or no
// new one. Waits for a frame for up to wait_ms. A lost path is replaced by the cpu path. If the run cannot continue,
// sets the exit code (logged).
enum stream_turn stream_step(struct stream *stream, int wait_ms);
void stream_drain(struct stream *stream); // shows all frames in flight
// Returns true when the run must end: the client, a signal, the end of the source, the limit or a failure ends it.
bool stream_finished(const struct stream *stream);

// Closes everything but the window, whose GL context must still be current. False if a driver is still busy or the
// display is lost. All must then stay as it is, and the caller exits with EXIT_AT_ONCE.
bool stream_close(struct stream *stream);
