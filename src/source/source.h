// source.h: where frames come from: cameras, test pattern, files, streams
#pragma once

#include "image/image.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

struct source;
struct road_spec;

// A setting of a camera's control, "name=value", with its file and line for messages.
struct source_setting {
    const char *text;
    const char *file; // NULL: the command line
    int line;
};

struct source_setup {
    const char *text;  // "pattern:640x480@30,nv21", "camera:/dev/video0", "clip.y4m", "-", "dir/", "@LIST", or
                       // "@\n" and the names of image files, one per line; NULL: the first
                       // camera, else the pattern
    int width, height; // wanted size; 0: the default. Raw files need it; a camera takes the nearest size; the pattern
                       // has this size. Other sources refuse a size that is not their own.
    double rate;       // wanted frames per second; 0: the source's own
    bool has_format;   // `format` is set. Raw files need it; cameras and the pattern deliver it; images are converted
                       // to it.
    enum pixfmt format;
    bool compressed;                       // request MJPEG from a camera
    const struct source_setting *controls; // of a camera: sets all, or fails; borrowed until source_close
    int control_count;
    int settle;         // number of a camera's first frames to leave out: they may be garbage
    struct color color; // set by the user; zero: from the source
    bool loop;          // start again at the end
    bool show;          // without `text` and without a camera: the raccoon instead of the pattern
    bool slides; // a list of images shows each at its own size (SOURCE_RESHAPED), by default for 5 s; it can seek
    // files and the pattern deliver frames at their rate (default: 30) and are live; otherwise source_next returns the
    // next frame at once
    bool paced;
    bool rivals;                 // another camera may take the place of one that does not start
    bool brief;                  // this thread ends before the source is closed
    const atomic_bool *given_up; // true: nobody waits for source_open any more, which then fails. NULL: somebody does
};

enum { SOURCE_WHY = 512 };
struct source_info {
    const char *kind;         // "camera", "pipewire", "pattern", "noise", "raccoon", "road", "image", "y4m", "raw",
                              // "video" or "list"
    bool alpha;               // its pixels may be transparent
    char name[256];           // for messages: the file, or the camera's name and mode
    struct image_shape shape; // of every frame until source_reshape; colour resolved
    double rate;              // nominal frames per second; 0: unknown
    int rate_numerator, rate_denominator; // the same rate as a ratio, if the source has one; else 0/0
    bool claimed;                         // `rate` is a camera's claim: see frame.rate
    bool live;                            // frames are lost if the caller is too slow
    bool pictures;                        // each frame is a picture of its own, so none may be skipped
    bool endless;                         // the frames do not end, even without `loop`
    double frame_s, duration_s;           // of a source that can seek: time of a frame, and of all frames (0: unknown,
                                          // or a slide show); else 0. `rate` does not change them.
    bool timed;                           // frame.video_ns is the frame's own time: the intervals may differ
    bool still;                           // one image: one frame, or the same frame repeatedly with `loop`
    bool slides;                          // a slide show: source_slide returns true
    bool controls;                        // the source may have controls
    char missing[SOURCE_WHY];             // why there is no camera, if the source replaces one; else ""
    const struct road_spec *road;         // of a road, whose lane lines are known (road/road.h); else NULL
};

enum { SOURCE_DEFAULT_RATE = 30 }; // for pacing, if neither the user nor the source has a rate

enum source_status {
    SOURCE_FRAME,    // a frame was lent
    SOURCE_TIMEOUT,  // no frame before the time-out; call again
    SOURCE_END,      // no more frames
    SOURCE_FAILED,   // no more frames; the error was logged
    SOURCE_RESHAPED, // the next frames have a new shape; call source_reshape to continue
};

// Opens a source. Returns NULL on failure (logged, with advice). May block while a device opens, up to 5 s for the
// first frame of an MJPEG camera, and as long as it takes for the header of a Y4M pipe
// and for ffprobe, unless a signal arrives.
struct source *source_open(const struct source_setup *setup);
// Checks what shows without opening the source: false if no kind of source takes the text, for example because the file
// does not exist or cannot be read; `why` is then one line.
bool source_check(const struct source_setup *setup, char why[SOURCE_WHY]);
void source_close(struct source *source); // accepts NULL; every frame must have been returned
const struct source_info *source_info(const struct source *source);
// Sets the owner of the memory for later frames (NULL: the system), if the source chooses its memory itself. Each
// buffer moves when no frame uses it. A buffer stays in place if the owner has no memory for it, or if a camera's
// driver refuses the new memory. On any thread; the owner must outlive the source.
void source_set_owner(struct source *source, struct pages_owner *owner);
// Returns true if the source reads this file under another name: as an image of a directory or a list, or as standard
// input. A write to the file would destroy the source.
bool source_holds(const struct source *source, const char *path);

// Lends the next frame; waits up to timeout_ms, also for a pipe; a negative time-out waits without limit. Call on one
// thread at a time.
enum source_status source_next(struct source *source, struct frame *frame, int timeout_ms);
// Continues at the frame nearest to this time, also after the end; only if info.frame_s > 0. Call it on the thread of
// source_next. Returns false on failure (logged): there are no more frames.
bool source_seek(struct source *source, double seconds);
// The image of a slide show at a time of the source
struct source_slide {
    const char *path;  // valid until source_close
    int number, count; // from 1 on, without the images that could not be read until now
};
// Returns false if the source is no slide show. On any thread.
bool source_slide(const struct source *source, double seconds, struct source_slide *slide);
// Makes the next frame due at once. Call it on the thread of source_next.
void source_hurry(struct source *source);
// Returns a lent frame. On any thread. At most SOURCE_LENT frames may be lent at once.
void source_return(struct source *source, const struct frame *frame);
enum { SOURCE_LENT = 4 };
// Switches to the new shape after SOURCE_RESHAPED; source_info then has it. All frames must have been returned, and no
// other thread may use the source. Returns false on failure (logged): there are no more frames.
bool source_reshape(struct source *source);

// The state of a camera's connection. On any thread. All members are zero for other kinds of source.
enum { SOURCE_TROUBLE = 256 };
struct source_health {
    char trouble[SOURCE_TROUBLE]; // why no frames arrive; "" while they arrive
    char hint[SOURCE_TROUBLE];    // advice for the user, or ""
    uint64_t damaged;             // number of damaged frames, which were dropped
    uint64_t lost;                // number of frames missed without a signal, at the nominal rate
    int outages;                  // how often the signal was lost
    bool faulty;                  // a video is damaged: its duration may be wrong
    bool userptr;                 // the driver writes frames to our memory, which is lent without a copy
    double rate;                  // recent frames per second; 0: unknown
};
struct source_health source_health(struct source *source);

// Closes the camera until it is called with false; source_next times out meanwhile. The next frame comes after the
// camera was opened again. Does nothing for other kinds of source. On any thread; returns at once.
void source_rest(struct source *source, bool rest);

// A camera's control (brightness, exposure, focus, ...), with name and value as in a camera setting ("name=value")
enum { SOURCE_WORD = 40, SOURCE_CHOICES = 256, SOURCE_CONTROLS = 64 };
enum source_control_type { SOURCE_NUMBER, SOURCE_SWITCH, SOURCE_MENU };
struct source_control {
    int index; // number among the controls that can be read and set
    char name[SOURCE_WORD];
    char value[SOURCE_WORD];
    enum source_control_type type;
    int minimum, maximum, step, preset; // `preset`: the default value
    char choices[SOURCE_CHOICES];       // of a menu: "disabled|50_hz|60_hz", the items for which there is room
    bool locked;                        // it cannot be set now
};
// Describes the controls that can be read and set. Returns their number; 0: none, or the camera is not there. On any
// thread; blocks until the camera answers.
int source_controls(struct source *source, struct source_control control[SOURCE_CONTROLS]);
// Sets a control by a setting "name=value". After a reconnection, the source sets the value again. False: `why` is one
// line. On any thread; blocks until the camera answers.
enum { SOURCE_SET_WHY = 512 };
bool source_set_control(struct source *source, const char *setting, char why[SOURCE_SET_WHY]);

// Prints the controls of the camera that `text` means (NULL: the first camera). `settings` false: all controls with
// their limits. `settings` true: the controls that can be set, as "name=value", one per line. Returns false on failure
// (logged).
bool source_print_controls(const char *text, FILE *out, bool settings);

// As camera_nodes and camera_offers (cameras.h), for all kinds of camera.
struct camera_node;
struct camera_offers;
struct camera_node *source_cameras(int *count);
void source_offers(const struct camera_node *node, struct camera_offers *offers);
// Returns the package without which this build does not have the kind of this word; NULL: it has it.
const char *source_lacks(const char *word);

// Returns the path or name in a source's text: the part after "camera:", "raw:" or "@", the decoded path of a file URL,
// in `room`, or the whole text. NULL: none.
const char *source_path(const char *text, char room[PATH_MAX]);
// Returns true if the name of a file has the ending of an image.
bool source_is_image_name(const char *name);
// Returns true if the text is the word of a kind, or begins with it: "camera", "pattern:640x480".
bool source_has_word(const char *text);
// Returns line number `row` of the help on sources: "syntax<TAB>description". NULL after the last line.
const char *source_help(int row);
// Returns word number `index` of the words that may begin a source's text, such as "camera". NULL after the last word.
const char *source_word(int index);
