// panes.h: runs frames through the paths of the view's panes. PANE_MAIN runs the user's chain on the user's path.
// PANE_OTHER is the second one of the split view. They share the frames in flight. The panes follow the settings: a
// thread builds the new path while the old one runs. Main thread.
#pragma once

#include "path/choice.h"
#include "source/source.h"
#include "stream/devices.h"
#include "stream/meter.h"
#include "stream/state.h"

#include <stdbool.h>
#include <stdint.h>

struct live_tuning;

enum { PANE_MAIN, PANE_OTHER, PANES };

// What changed since the last panes_take_news.
enum panes_news {
    PANES_UNCHANGED,
    PANES_CHANGED, // a build ended, or a path failed and was replaced
    PANES_FAILED,  // the path that the user named cannot be built (logged)
};

struct panes;

// All pointers are borrowed.
struct panes_setup {
    struct settings *settings;  // only the versions of users' filters in its chain change
    struct stream_state *state; // a path, device or split view that cannot be built is removed from it
    struct devices *devices;
    struct source *source;
    const struct window *window; // NULL: none
    struct gl_context *gl;       // current on this thread; NULL: none
    struct meter *meter;         // gets the stages of each frame
    struct note *note;
    const struct image_shape *encode; // see outputs.encode: the main pane's paths built later convert to it, too
    const struct image_shape *fixed;  // the size of the results; width 0: that of the chain's results
    int depth, threads;               // path_setup
};

// Creates panes without an open path.
struct panes *panes_create(const struct panes_setup *setup);
struct path_offer panes_offer(const struct panes *panes); // what its paths can use, for the settings' chain
// Sets the source of later frames; borrowed. Both panes must be closed, and no frame in flight.
void panes_set_source(struct panes *panes, struct source *source);
// Builds the main pane's path for the source's shape and waits for it; panes_update builds the other one. False on
// failure: *error is the reason, which the caller frees, or NULL if it was logged.
bool panes_open(struct panes *panes, char **error);
// The main pane takes part in this tuning; borrowed until panes_finish. NULL: none.
void panes_tune(struct panes *panes, struct live_tuning *tuning);
// The main pane's next path returns no pictures, but these measures, as path_setup.measures and path_setup.strips.
void panes_measure(struct panes *panes, unsigned measures, int strips);
// Runs a blank frame through the main pane, because some drivers finish compiling only when a kernel first runs. False
// on failure (logged).
bool panes_warm_up(struct panes *panes);
// Waits for a running build and discards it; closes both panes; returns the held frame to the source.
void panes_close(struct panes *panes);
// Ends the run: returns all frames to the source and frees the panes. Accepts NULL. False if a driver still compiles or
// the display is lost: the panes, their devices and the window must then stay open, and the process must end without
// exit().
bool panes_finish(struct panes *panes);

// Takes over a frame and submits it. `taken_ns`: when the caller took it from the capture; 0: it was shown before.
// False if no path works any more (logged).
bool panes_submit(struct panes *panes, const struct frame *frame, int64_t taken_ns);
bool panes_submit_again(struct panes *panes); // submits the held frame; otherwise as panes_submit
int panes_in_flight(const struct panes *panes);
bool panes_ready(const struct panes *panes); // true: panes_collect will not wait for a device
// Waits for the oldest frame in flight and holds it; returns the frame held before to the source. The results stay
// valid until the next call. Begins the frame in the meter. NULL if no path works any more (logged).
const struct frame *panes_collect(struct panes *panes);
const struct image *panes_input(const struct panes *panes); // of the held frame, until the next call; NULL: none
void panes_release(struct panes *panes);                    // returns the held frame, if there is one, to the source
const struct path_result *panes_result(const struct panes *panes, int which); // NULL: none
// Returns the main pane's result in memory, which stays owned by the panes. NULL if there is none, on failure (logged),
// or if the display is lost.
const struct image *panes_picture(struct panes *panes);

// Makes an image of the held frame, after the camera's filters that turn it or change its size, and of panes_picture on
// the right; the caller frees it. A smaller one is at the top, with black below. False: as panes_picture, or out of
// memory (logged).
bool panes_compare(struct panes *panes, struct image *both);

// Call it after a change of the settings or the state, or (`reload`) of kernel files.
void panes_changed(struct panes *panes, bool reload);
// The user changed the split view: a second pane that failed is tried again.
void panes_split_again(struct panes *panes);
// Requests the state's path and awaits it: if the build fails, the news are PANES_FAILED.
void panes_await(struct panes *panes);
void panes_update(struct panes *panes);         // starts builds and takes their results; no frame may be in flight
bool panes_busy(const struct panes *panes);     // true: a pane does not match the settings and the state yet
bool panes_building(const struct panes *panes); // the same, but false while -p auto tries a path
// Returns the kind of path after the state's: of the other pane with SPLIT_PATH.
enum path_kind panes_next_kind(const struct panes *panes);
bool panes_build_runs(const struct panes *panes); // true: a thread builds; panes_close waits for it
bool panes_timed(const struct panes *panes);      // true: -p auto times the frames
bool panes_rerun(const struct panes *panes);      // true: a pane has changed since the held frame was collected
// The facts of a frame for a path. `wait_ms` counts from now.
struct frame_time panes_frame_time(const struct panes *panes, const struct frame *frame);
bool panes_split(const struct panes *panes); // true: PANE_OTHER makes the second pane of the settings
enum panes_news panes_take_news(struct panes *panes);

// The texts about a pane, which stay valid until the panes change.
enum { WHY_TEXT = 64, PATH_WORDS = 64 };
struct pane_facts {
    bool open;                        // the pane has a path
    const struct path_result *result; // NULL: none
    const struct chain *chain;
    const char *kind;    // name of the path
    const char *sharing; // name of its sharing mode; "" if the pane is not open
    const char *why;     // one sentence: why this path and sharing mode
    const char *input;   // how the path gets its input: path_info.input, or "userptr"
    const char *device;
    char words[PATH_WORDS]; // the path and its sharing mode, "zerocopy/mapped"; one word if both are equal, "cpu"
    char until[WHY_TEXT];   // `why` may point here
    struct path_pass pass[PATH_PASSES];
    int passes; // as path_passes; 0 if the pane is not open
};
void panes_describe(const struct panes *panes, int which, struct pane_facts *facts);

// ---- -p auto: times the frames of a stream on each kind of path, and continues on the fastest ----

struct panes;

// Zeroed: nothing is timed yet.
struct automatic {
    struct path_choice choice;
    bool tries;           // the kind of path that it wants is being built
    bool rebuilt;         // the panes have changed since it looked at them
    int64_t submitted_ns; // when the newest frame was submitted
};

// Requests the kind of path for the next frames of these panes. No frame may be in flight. Returns true if it has
// chosen a kind for good, because the last candidate cannot be built.
bool automatic_follow(struct automatic *automatic, struct panes *panes);
// Adds a frame that was shown, from `submitted_ns` until its result was collected. Returns true if this was the last
// one, and a kind is chosen.
bool automatic_add(struct automatic *automatic, struct panes *panes, int64_t collected_ns);
// Returns true while frames are timed or the kind changes: frames must then run one after the other.
bool automatic_busy(const struct automatic *automatic);
