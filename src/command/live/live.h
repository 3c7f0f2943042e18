// live.h: what the files of the live view share
#pragma once

#include "base/options.h"
#include "command/command.h"
#include "command/live/builder.h"
#include "command/live/meter.h"
#include "command/live/output.h"
#include "command/live/watch.h"
#include "screen/keys.h"
#include "screen/overlay.h"
#include "screen/renderer.h"
#include "screen/window.h"
#include "source/camera_output.h"
#include "source/capture.h"

#include <stdatomic.h>

struct live_options {
    const char *source;
    const char *filters;
    int path; // enum path_kind; -1: not given
    const char *device;
    int threads;
    struct option_size size;
    double rate;
    const char *pixel_format;
    struct option_texts controls;
    const char *load_controls, *save_controls;
    bool list_controls;
    int matrix, range;
    bool loop, fast, headless;
    int frames; // 0: not given
    bool json;
    const char *screenshot, *record, *trace, *virtual_camera;
    int vsync; // 0: on, 1: off; -1: not given
    bool fullscreen;
    int overlay; // enum overlay_size; -1: not given
    const char *keys;
    const char *kernels;
    int log_level; // -1: not given
};

// The two halves of a split view. LANE_MAIN is the user's chain on the user's path; LANE_OTHER is the picture as it
// comes, or the same chain on the next path.
enum { LANE_MAIN, LANE_OTHER, LANES };

enum split { SPLIT_OFF, SPLIT_ORIGINAL, SPLIT_PATH, SPLITS };

struct lane {
    struct path *path; // NULL: not open
    enum path_kind kind;
    struct device *device; // NULL for the cpu path
    struct chain chain;    // what the path runs
    enum split shows;      // what the path was built for
    struct path_result result;
    bool has_result;
    unsigned texture; // of the last result; 0: none
    bool stale;       // may differ from what the user wants
    bool reload;      // kernels were edited
    bool building;    // by the builder
};

// What the user wants; the lanes follow.
struct wish {
    struct chain chain;
    int selected; // parameter, counted through the whole chain
    enum path_kind kind;
    int device; // number in the list; -1: there is none
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
    struct color color;             // the user's override
    struct source_setting *control; // settings of the camera: of a file, then of the command line
    int controls;
    char *control_text; // of that file
    int depth;          // frames in flight
    uint64_t limit;     // frames to show; 0: no limit
    bool saves_last;    // the last picture gets a free name, since the user gave it none
    bool stdout_taken;  // an output is written to standard output

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
    char digits[DIGIT_LINES][2 * DIGIT_COLUMNS]; // lines of the list of keys: which digit is which filter
    struct recorder recorder;
    struct camera_output *camera; // NULL: none
    struct image readback;        // RGBA, for results that are textures

    struct wish wish;
    struct lane lane[LANES];
    struct source_control adjusted;      // the camera's control that the keys are about; name "": none yet
    struct frame flight[PATH_DEPTH_MAX]; // frames submitted and not collected, oldest first
    int64_t arrived_ns[PATH_DEPTH_MAX];  // when each was taken
    int flights;
    uint64_t taken;       // frames taken from the capture
    struct frame current; // the frame on the screen, kept for freezing and for new chains
    bool has_current;
    bool reshaped; // the source's frames have another shape now
    bool rerun;    // the current frame must go through the lanes again
    bool redraw;   // the screen is out of date
    bool save_due; // the next picture is to be saved, since there was none when the user asked
    bool awaited;  // the path that the user named is not there yet, and the run is nothing without it
    bool ended;    // the source has no more frames
    bool quit;
    enum exit_code code;

    struct meter meter;
    struct overlay overlay;
    struct note note;
    int64_t drawn_ns, reported_ns; // when the screen was last drawn, when progress was last reported
    atomic_bool mute;              // standard output is broken; errors of any thread go there
    atomic_bool hurried;           // a window's keys must not wait for who reads standard output ...
    unsigned unsaid;               // ... which then lacks so many lines (under the lock of stdout)
};

// options.c
extern const struct option_list live_list;
// False when there is nothing to run; *code is then the exit code.
bool live_parse(struct live *live, int argc, char **argv, int *code);

// controls.c: a camera's controls
bool live_load_controls(struct live *live); // gathers the settings for the source. False on failure (logged)
bool live_save_controls(struct live *live); // where the user has asked for it. False on failure (logged)
void live_free_controls(struct live *live);
void live_choose_control(struct live *live, int step); // another control for the keys to change
void live_move_control(struct live *live, int steps);

// setup.c: opens everything and the first path. False on failure, or where the user left meanwhile: `live->code` says
// how to exit.
bool live_setup(struct live *live);
// The first path for pictures of the source's shape, warm. False on failure (logged), or where the user left meanwhile.
bool live_open_path(struct live *live);
// False where a driver is still at work, or the display is gone, and all they work with was left alone: EXIT_AT_ONCE.
bool live_teardown(struct live *live);
// Opens the device if it isn't open yet. False on failure (logged).
bool live_open_device(struct live *live, int index);

// reshape.c: goes over to the new shape of the source's frames; nothing may be in flight. Where it cannot, `live->code`
// ends the run.
void live_reshape(struct live *live);

// loop.c
void live_loop_window(struct live *live);
void live_loop_headless(struct live *live);
bool live_is_still(const struct live *live); // whether the source is a single picture, shown once

// lane.c: frames through the lanes, and lanes that follow the wish
bool lane_open(struct live *live, int which, char **error); // waits until it is ready
// The same by the builder: asks, then looks whether it is done. *ok and *error are then as lane_open has them.
bool lane_ask(struct live *live, int which);
bool lane_asked(struct live *live, int which, bool *ok, char **error);
void lane_close(struct live *live, int which);
void lanes_close(struct live *live); // with what is being built for them
// False when no path works any more (live->code is set).
bool lanes_submit(struct live *live, const struct frame *frame);
bool lanes_ready(const struct live *live); // whether collecting will not wait for a device
// Waits for the oldest frame in flight and hands it out.
bool lanes_collect(struct live *live, struct frame *frame);
void lanes_changed(struct live *live, bool reload); // the wish is new, or the kernels are
void lanes_update(struct live *live);               // starts and takes builds; nothing may be in flight
bool lanes_building(const struct live *live);       // whether a lane is not yet what the user wants
enum path_kind live_next_kind(const struct live *live, enum path_kind kind);
// The main lane's picture in memory; NULL on failure, and where it went with the display.
const struct image *lane_picture(struct live *live);

// keys.c
void live_handle_events(struct live *live);
void live_save_picture(struct live *live); // the main lane's
void live_handle_quit(struct live *live);  // only quit and back; live->redraw after anything else
void live_name_digits(struct live *live);
bool live_mirrored(const struct chain *chain); // whether a mirror is its last filter

// camera.c
bool live_camera_open(struct live *live); // true where none is wanted; false on failure (logged)
void live_camera_feed(struct live *live, uint64_t number);

// overlay.c
void live_fill_overlay(struct live *live);
bool live_selected(const struct live *live, int *stage, int *param); // false: the chain has no parameter
void live_note(struct live *live, bool error, double seconds, const char *format, ...)
    __attribute__((format(printf, 4, 5))); // 0 seconds: until live_clear_note

// report.c: what standard output says
void report_open(struct live *live);  // from here every error logged is an event, too
void report_close(struct live *live); // until here
void report_start(struct live *live);
void report_reshaped(struct live *live); // the source's frames have another shape
void report_state(struct live *live, const char *event);
void report_summary(struct live *live);
uint64_t live_skipped(const struct live *live);
const char *live_why(const struct live *live, char text[WHY_TEXT]); // one sentence: why the main lane's path and rung
const char *live_input(const struct live *live);                    // how frames come in: path_input, or "userptr"
// The path and how it is done: "zerocopy/mapped", or "cpu" where the two are one word.
void live_path_words(const struct lane *lane, char text[PATH_WORDS]);
const char *live_device_name(const struct live *live, const struct lane *lane);
