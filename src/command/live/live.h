// live.h: the state of the live view. All functions run on the main thread.
#pragma once

#include "command/command.h"
#include "command/live/builder.h"
#include "command/live/meter.h"
#include "command/live/options.h"
#include "command/live/output.h"
#include "command/live/watch.h"
#include "screen/keys.h"
#include "screen/overlay.h"
#include "screen/renderer.h"
#include "screen/window.h"
#include "sink/camera_output.h"
#include "source/capture.h"

#include <stdatomic.h>

// A lane runs frames through a path. LANE_MAIN runs the user's chain on the user's path. LANE_OTHER makes the second
// pane of the split view: the unfiltered frame (SPLIT_ORIGINAL), or the same chain on the next path (SPLIT_PATH).
enum { LANE_MAIN, LANE_OTHER, LANES };

enum split { SPLIT_OFF, SPLIT_ORIGINAL, SPLIT_PATH, SPLITS };

struct lane {
    struct path *path; // NULL: not open
    enum path_kind kind;
    struct device *device; // NULL for the cpu path
    struct chain chain;    // what the path runs
    enum split shows;      // the split view that the path was built for
    struct path_result result;
    bool has_result;
    unsigned texture; // of the last result; 0: none
    bool stale;       // the wish may have changed: compare them
    bool reload;      // kernel files have changed: build again
    bool building;    // the builder has a build for this lane
};

// The user's settings. The lanes change to match them.
struct wish {
    struct chain chain;
    int selected; // number of the selected parameter, counted through the whole chain
    enum path_kind kind;
    int device; // index in live.device_info; -1: none
    enum split split;
    float divider;
    bool frozen, vsync, fullscreen, help;
    enum overlay_size overlay;
};

enum { WHY_TEXT = 64, PATH_WORDS = 64, NOTE_TEXT = 2048, DIGIT_LINES = 6, DIGIT_COLUMNS = 46 };

struct note {
    char text[NOTE_TEXT];
    bool error;
    int64_t until_ns; // 0: until it is cleared
};

struct live {
    struct live_options options;
    struct source_setting *control; // settings of the camera: first the file's, then the command line's
    int controls;
    char *control_text; // text of that file, which `control` points into
    int depth;          // maximum number of frames in flight
    uint64_t limit;     // frames to show; 0: no limit
    bool saves_last;    // save the last frame under the first free name

    struct trace *trace;
    struct source *source;
    const struct source_info *info;
    struct capture *capture;
    struct window *window; // NULL: headless
    struct renderer *renderer;
    struct device_info device_info[DEVICE_MAX];
    struct device *device[DEVICE_MAX]; // opened when first used, closed at the end
    int devices;
    struct builder *builder; // NULL when headless
    struct watch *watch;     // NULL without a kernel directory
    struct keys keys;
    char digits[DIGIT_LINES][2 * DIGIT_COLUMNS]; // lines of the list of keys: each digit's filter
    struct recorder recorder;
    struct camera_output *camera; // NULL: none
    struct image readback;        // RGBA; for lane_picture when the result is a texture

    struct wish wish;
    struct lane lane[LANES];
    struct source_control adjusted;      // the camera control that the keys change; name "": none yet
    struct frame flight[PATH_DEPTH_MAX]; // frames submitted and not collected, oldest first
    int64_t arrived_ns[PATH_DEPTH_MAX];  // when each was taken from the capture; headless only
    int flights;
    uint64_t taken;       // frames taken from the capture
    struct frame current; // the frame on the screen, kept to be shown again through a new chain or path
    bool has_current;
    bool reshaped; // the source's next frames have another shape
    bool rerun;    // run the current frame through the lanes again
    bool redraw;   // the screen is out of date
    bool save_due; // save the next frame: there was none when the user pressed the key
    bool awaited;  // the path that the user named is being built; the run fails if the build fails
    bool ended;    // the source has no more frames
    bool quit;
    enum exit_code code;

    struct meter meter;
    struct overlay overlay;
    struct note note;
    int64_t drawn_ns, reported_ns; // when the screen was last drawn, when progress was last reported
    atomic_bool mute;              // standard output is broken; any thread may set it
    atomic_bool hurried;           // drop lines if the reader of standard output stalls: a window must not wait
    unsigned unsaid;               // number of dropped lines; the lock of stdout guards it
};

// controls.c: a camera's controls
bool live_load_controls(struct live *live); // fills live->control. False on failure (logged)
bool live_save_controls(struct live *live); // for --save-controls. False on failure (logged)
void live_free_controls(struct live *live);
void live_choose_control(struct live *live, int step); // selects another control; a failure is shown in the view
void live_move_control(struct live *live, int steps);

// setup.c: opens everything, and builds the first path. False on failure (logged) or if the user quits meanwhile:
// live->code is the exit code.
bool live_setup(struct live *live);
// Builds the first path for the source's shape and runs a blank frame through it. False on failure (logged) or if the
// user quits meanwhile.
bool live_open_path(struct live *live);
// Closes everything. False if a driver is still busy or the display is lost: what they use stays open, and the caller
// exits with EXIT_AT_ONCE.
bool live_teardown(struct live *live);
// Opens the device if it isn't open yet. False on failure (logged).
bool live_open_device(struct live *live, int index);

// reshape.c: changes everything to the new shape of the source's frames. No frame may be in flight. If the run cannot
// continue, sets live->code (logged).
void live_reshape(struct live *live);

// loop.c
void live_loop_window(struct live *live);
void live_loop_headless(struct live *live);
bool live_is_still(const struct live *live); // true: the source is one image, shown once

// lane.c. Builds the lane's path and waits for it. False on failure: *error is the reason, which the caller frees, or
// NULL if it was logged.
bool lane_open(struct live *live, int which, char **error);
// The same on the builder's thread. lane_ask starts the build. lane_asked returns true once when the build is done; *ok
// and *error are then the results of lane_open.
bool lane_ask(struct live *live, int which);
bool lane_asked(struct live *live, int which, bool *ok, char **error);
void lane_close(struct live *live, int which);
void lanes_close(struct live *live); // waits for their builds and discards them
// Takes over the frame. False if no path works any more (logged, live->code set).
bool lanes_submit(struct live *live, const struct frame *frame);
bool lanes_ready(const struct live *live); // true: lanes_collect will not wait for a device
// Waits for the oldest frame in flight and returns it; the lanes have its results until the next call. False if no path
// works any more (logged, live->code set).
bool lanes_collect(struct live *live, struct frame *frame);
void lanes_changed(struct live *live, bool reload); // call after a change of the wish, or (`reload`) of kernel files
void lanes_update(struct live *live);               // starts builds and takes their results; no frame may be in flight
bool lanes_building(const struct live *live);       // true: a lane does not match the wish yet
// Returns the path kind after `kind`, skipping those that need a device if there is none.
enum path_kind live_next_kind(const struct live *live, enum path_kind kind);
// Returns the main lane's result in memory, which stays owned by `live`. NULL if there is none, on failure (logged), or
// if the display is lost.
const struct image *lane_picture(struct live *live);

// keys.c
void live_handle_events(struct live *live);
void live_save_picture(struct live *live); // saves the main lane's result under a new name
void live_handle_quit(struct live *live);  // ignores all keys but quit and back; sets live->redraw
void live_name_digits(struct live *live);
bool live_mirrored(const struct chain *chain); // true: its last filter is a mirror

// camera.c
bool live_camera_open(struct live *live); // true if the user wants none; false on failure (logged)
void live_camera_feed(struct live *live, uint64_t number);

// overlay.c
void live_fill_overlay(struct live *live);
bool live_selected(const struct live *live, int *stage, int *param); // false: the chain has no parameter
void live_note(struct live *live, bool error, double seconds, const char *format, ...)
    __attribute__((format(printf, 4, 5))); // 0 seconds: until live_clear_note

// report.c: prints JSON lines or the final table on standard output
void report_open(struct live *live);  // with --json: from now on, prints each logged error as an event
void report_close(struct live *live); // ends that, and logs the number of dropped lines
void report_start(struct live *live);
void report_reshaped(struct live *live); // after live_reshape
void report_state(struct live *live, const char *event);
void report_summary(struct live *live);
uint64_t live_skipped(const struct live *live);
const char *live_why(const struct live *live, char text[WHY_TEXT]); // one sentence: why this path and sharing mode
const char *live_input(const struct live *live); // how the path gets its input: path_input, or "userptr"
// The path and its sharing mode, "zerocopy/mapped"; one word if both are equal, "cpu".
void live_path_words(const struct lane *lane, char text[PATH_WORDS]);
const char *live_device_name(const struct live *live, const struct lane *lane);
