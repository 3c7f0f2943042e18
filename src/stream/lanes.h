// lanes.h: runs frames through paths. A lane is a path with its frames in flight. LANE_MAIN runs the user's chain on
// the user's path. LANE_OTHER makes the second pane of the split view. The lanes follow the wish: a thread builds the
// new path while the old one runs. Main thread.
#pragma once

#include "source/source.h"
#include "stream/devices.h"
#include "stream/meter.h"
#include "stream/note.h"
#include "stream/wish.h"
#include "tune/online.h"

enum { LANE_MAIN, LANE_OTHER, LANES };

// What changed since the last lanes_take_news.
enum lanes_news {
    LANES_UNCHANGED,
    LANES_CHANGED, // a build ended, or a path failed and was replaced
    LANES_FAILED,  // the path that the user named cannot be built (logged)
};

struct lanes;

// All pointers are borrowed.
struct lanes_setup {
    struct wish *wish; // a path, device or split view that cannot be built is removed from it
    struct devices *devices;
    struct source *source;
    const struct window *window; // NULL: none
    struct gl_context *gl;       // current on this thread; NULL: none
    struct meter *meter;         // gets the stages of each frame
    struct note *note;
    const struct image_shape *encode; // see lanes_set_encode
    int depth, threads;               // path_setup
};

// Creates lanes without an open path. NULL: out of memory (logged).
struct lanes *lanes_create(const struct lanes_setup *setup);
// Sets the source of later frames; borrowed. Both lanes must be closed, and no frame in flight.
void lanes_set_source(struct lanes *lanes, struct source *source);
// Builds the main lane's path for the source's shape and waits for it. False on failure: *error is the reason, which
// the caller frees, or NULL if it was logged.
bool lanes_open(struct lanes *lanes, char **error);
// The main lane takes part in this tuning; borrowed until lanes_finish. NULL: none.
void lanes_tune(struct lanes *lanes, struct online *online);
// Sets the YUV shape to which the main lane's next path also converts its results, with the size of the results made
// even; NULL: none.
void lanes_set_encode(struct lanes *lanes, const struct image_shape *shape);
// The main lane's next path returns no pictures, but these measures, as path_setup.measures and path_setup.strips.
void lanes_measure(struct lanes *lanes, unsigned measures, int strips);
// Runs a blank frame through the main lane, because some drivers finish compiling only when a kernel first runs. False
// on failure (logged).
bool lanes_warm_up(struct lanes *lanes);
// Waits for a running build and discards it; closes both lanes; returns the held frame to the source.
void lanes_close(struct lanes *lanes);
// Ends the run: returns all frames to the source and frees the lanes. Accepts NULL. False if a driver still compiles or
// the display is lost: the lanes, their devices and the window must then stay open, and the process must end without
// exit().
bool lanes_finish(struct lanes *lanes);

// Takes over a frame and submits it. `taken_ns`: when the caller took it from the capture; 0: it was shown before.
// False if no path works any more (logged).
bool lanes_submit(struct lanes *lanes, const struct frame *frame, int64_t taken_ns);
bool lanes_submit_again(struct lanes *lanes); // submits the held frame; otherwise as lanes_submit
int lanes_in_flight(const struct lanes *lanes);
bool lanes_ready(const struct lanes *lanes); // true: lanes_collect will not wait for a device
// Waits for the oldest frame in flight and holds it; returns the frame held before to the source. The results stay
// valid until the next call. Begins the frame in the meter. NULL if no path works any more (logged).
const struct frame *lanes_collect(struct lanes *lanes);
void lanes_release(struct lanes *lanes); // returns the held frame, if there is one, to the source
const struct path_result *lanes_result(const struct lanes *lanes, int which); // NULL: none
// Returns the main lane's result in memory, which stays owned by the lanes. NULL if there is none, on failure (logged),
// or if the display is lost.
const struct image *lanes_picture(struct lanes *lanes);

// Makes an image of the held frame on the left and of lanes_picture on the right; the caller frees it. A smaller one is
// at the top, with black below. False: as lanes_picture, or out of memory (logged).
bool lanes_compare(struct lanes *lanes, struct image *both);

void lanes_changed(struct lanes *lanes, bool reload); // call after a change of the wish, or (`reload`) of kernel files
// Requests the wish's path and awaits it: if the build fails, the news are LANES_FAILED.
void lanes_await(struct lanes *lanes);
void lanes_update(struct lanes *lanes); // starts builds and takes their results; no frame may be in flight
// Requests a kind of path that the user did not ask for, in wish->kind. If it cannot be built, the path in use stays.
void lanes_try(struct lanes *lanes);
bool lanes_busy(const struct lanes *lanes);           // true: a lane does not match the wish yet
bool lanes_building(const struct lanes *lanes);       // the same, but false after lanes_try
enum path_kind lanes_kind(const struct lanes *lanes); // of the main lane's path
bool lanes_build_runs(const struct lanes *lanes);     // true: a thread builds; lanes_close waits for it
bool lanes_rerun(const struct lanes *lanes);          // true: a lane has changed since the held frame was collected
bool lanes_split(const struct lanes *lanes);          // true: LANE_OTHER makes the second pane that the wish wants
enum lanes_news lanes_take_news(struct lanes *lanes);

// The texts about a lane, which stay valid until the lanes change.
enum { WHY_TEXT = 64, PATH_WORDS = 64 };
struct lane_facts {
    bool open;                        // the lane has a path
    const struct path_result *result; // NULL: none
    const struct chain *chain;
    const char *kind;    // name of the path
    const char *sharing; // name of its sharing mode; "" if the lane is not open
    const char *why;     // one sentence: why this path and sharing mode
    const char *input;   // how the path gets its input: path_info.input, or "userptr"
    const char *device;
    char words[PATH_WORDS]; // the path and its sharing mode, "zerocopy/mapped"; one word if both are equal, "cpu"
    char until[WHY_TEXT];   // `why` may point here
    struct path_pass pass[PATH_PASSES];
    int passes; // as path_passes; 0 if the lane is not open
};
void lanes_describe(const struct lanes *lanes, int which, struct lane_facts *facts);
