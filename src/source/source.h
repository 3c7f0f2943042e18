// source.h: where frames come from: test pattern, files, streams, cameras
#pragma once

#include "image/image.h"

#include <stdbool.h>

struct source;

// A setting of a camera's control, "name=value", with its file and line for messages.
struct source_setting {
    const char *text;
    const char *file; // NULL: the command line
    int line;
};

struct source_setup {
    const char *text;  // "pattern:640x480@30,nv21", "camera:/dev/video0", "clip.y4m", "-", "dir/"; NULL picks
                       // the first camera, else the pattern
    int width, height; // wanted size: raw files (needed), cameras (nearest), pattern; 0 for the default. Other
                       // sources have their own: a different one is refused
    double rate;       // wanted frames per second, 0 for the source's own
    bool has_format;   // `format` is given: raw files (needed), cameras, pattern; pictures are converted to it
    enum pixfmt format;
    bool compressed;                       // cameras: MJPEG is wanted
    const struct source_setting *controls; // cameras: all are set, or none; borrowed as long as the source lives
    int control_count;
    struct color color; // the user's override; zero: from the source
    bool loop;          // start again at the end
    bool paced;         // files and pattern deliver at their rate (default: 30) and are live; otherwise source_next
                        // returns the next frame at once
};

struct source_info {
    const char *kind;                     // "pattern", "image", "y4m", "raw", "list", "camera"
    char name[256];                       // for people: the file, the camera's name and mode
    struct image_shape shape;             // of every frame until source_reshape; colour resolved
    double rate;                          // nominal frames per second, 0 when unknown
    int rate_numerator, rate_denominator; // the same, exactly, where the source says it as a ratio; else 0/0
    bool live;                            // frames are lost if the caller is too slow
    bool endless;                         // the frames never end, even without `loop`
    bool still;                           // one image: one frame, or the same frame again and again with `loop`
    bool controls;                        // source_control may work
};

enum source_status {
    SOURCE_FRAME,    // *frame is lent
    SOURCE_TIMEOUT,  // none within the time-out; try again
    SOURCE_END,      // no more frames
    SOURCE_FAILED,   // no more frames; logged
    SOURCE_RESHAPED, // the camera's frames have a new shape: call source_reshape to get them
};

// NULL on failure (logged, with what to do). Never blocks longer than a second but on opening a device or waiting for
// the first line of a pipe (10 s; a signal ends the wait).
struct source *source_open(const struct source_setup *setup);
void source_close(struct source *source); // takes NULL; every frame must have been returned
const struct source_info *source_info(const struct source *source);
// Sets the owner of the memory for later frames (NULL: the system), if the source chooses its memory itself. Each
// buffer moves when no frame uses it. A buffer stays in place if the owner has no memory for it, or if a camera's
// driver refuses the new memory. On any thread; the owner must outlive the source.
void source_place(struct source *source, struct pages_owner *owner);
// Returns true if the source reads this file without naming it: as an image of a directory or a list, or as standard
// input. A write to the file would destroy the source.
bool source_holds(const struct source *source, const char *path);

// Lends the next frame in order. One thread at a time; honours the time-out also when reading a pipe.
enum source_status source_next(struct source *source, struct frame *frame, int timeout_ms);
// Gives a frame back; on any thread. At most SOURCE_LENT frames may be out at once.
void source_return(struct source *source, const struct frame *frame);
enum { SOURCE_LENT = 4 };
// Switches to the new shape after SOURCE_RESHAPED; source_info then has it. All frames must have been returned, and no
// thread may be in source_next. False on failure (logged): no more frames.
bool source_reshape(struct source *source);

// The state of a camera's connection. On any thread; all zero for other kinds of source.
enum { SOURCE_TROUBLE = 256 };
struct source_health {
    char trouble[SOURCE_TROUBLE]; // why no frames arrive and what the source does about it; "" while frames arrive
    char hint[SOURCE_TROUBLE];    // advice for the user, or ""
    uint64_t damaged;             // damaged frames, dropped
    uint64_t lost;                // frames missed while there was no signal, at the nominal rate
    int outages;                  // how often the signal was lost
    bool userptr;                 // the driver writes frames into our memory, which is lent without a copy
    double rate;                  // recent frames per second; 0 while unknown
};
struct source_health source_health(struct source *source);

// A camera's control: brightness, exposure, focus, ... Name and value as in a camera setting ("name=value").
enum { SOURCE_WORD = 40 };
struct source_control {
    int index; // among the controls that can be read and set
    char name[SOURCE_WORD];
    char value[SOURCE_WORD];
    int minimum, maximum;
    char why[SOURCE_TROUBLE]; // why there is no control or it cannot be changed; "" on success
};
// Changes control number `index` (modulo the number of controls) by `steps`, then reads it. A step is 1/50 of the range
// or the next item of a menu. The value is set again after a reconnection. False if there is no control or it cannot be
// changed. On any thread; blocks until the camera answers.
bool source_control(struct source *source, int index, int steps, struct source_control *control);

// Returns line number `row` of the help on sources: "syntax<TAB>description". NULL after the last line.
const char *source_help(int row);
// Returns word number `index` of the words that may begin a source's text, such as "camera". NULL after the last word.
const char *source_word(int index);
