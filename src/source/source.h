// source.h: where frames come from: test pattern, files, streams, cameras
#pragma once

#include "image/image.h"

#include <stdbool.h>

struct source;

// A setting of a camera's control, "name=value", and where it stands, for messages.
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
    bool paced;         // files and pattern deliver at their rate (30 where they have none) and are live; otherwise
                        // as fast as asked
};

struct source_info {
    const char *kind;                     // "pattern", "image", "y4m", "raw", "list", "camera"
    char name[256];                       // for people: the file, the camera's name and mode
    struct image_shape shape;             // of every frame until source_reshape; colour resolved
    double rate;                          // nominal frames per second, 0 when unknown
    int rate_numerator, rate_denominator; // the same, exactly, where the source says it as a ratio; else 0/0
    bool live;                            // frames are lost when nobody takes them
};

enum source_status {
    SOURCE_FRAME,    // *frame is lent
    SOURCE_TIMEOUT,  // none within the time-out; try again
    SOURCE_END,      // there will be no more
    SOURCE_FAILED,   // logged; there will be no more
    SOURCE_RESHAPED, // a camera's pictures have another shape now: none comes until source_reshape
};

// NULL on failure (logged, with what to do). Never blocks longer than a second but on opening a device or waiting for
// the first line of a pipe (10 s; a signal ends the wait).
struct source *source_open(const struct source_setup *setup);
void source_close(struct source *source); // takes NULL; every frame must have been returned
const struct source_info *source_info(const struct source *source);
// Whose memory pictures shall lie in from here on (NULL: the system's), where they come into memory of the source's own
// choice: each place that they take turns in moves when nobody has it. What such an owner does not have, or a camera's
// driver does not take, stays where it is. On any thread; the owner must outlive the source.
void source_place(struct source *source, struct pages_owner *owner);
// Whether a file is among those that the source reads without being named by them: a picture of a directory or of a
// list, the file that is standard input. What is written there is lost to the source.
bool source_holds(const struct source *source, const char *path);

// Lends the next frame in order. One thread at a time; honours the time-out also when reading a pipe.
enum source_status source_next(struct source *source, struct frame *frame, int timeout_ms);
// Gives a frame back; on any thread. At most SOURCE_LENT frames may be out at once.
void source_return(struct source *source, const struct frame *frame);
enum { SOURCE_LENT = 4 };
// Goes over to the new shape after SOURCE_RESHAPED, of which source_info tells. Every frame must have been returned,
// and nobody be in source_next. False on failure (logged): there will be no more frames.
bool source_reshape(struct source *source);

// How a source is doing, which a camera may do badly. On any thread; all zero for other kinds.
enum { SOURCE_TROUBLE = 256 };
struct source_health {
    char trouble[SOURCE_TROUBLE]; // why no pictures come and what is being done about it, "" while they do
    char hint[SOURCE_TROUBLE];    // what the user may want to change; "" for nothing
    uint64_t damaged;             // pictures left out because they were damaged
    uint64_t lost;                // pictures missed while there was no signal, at the nominal rate
    int outages;                  // how often the signal was lost
    bool userptr;                 // a camera's driver writes its pictures into memory of ours, which is lent as it is
    double rate;                  // pictures delivered per second of late; 0 while unknown
};
struct source_health source_health(struct source *source);

// A camera's control: brightness, exposure, focus, ... Names and values as camera settings have them ("name=value").
enum { SOURCE_WORD = 40 };
struct source_control {
    int index; // among those that can be looked at and set
    char name[SOURCE_WORD];
    char value[SOURCE_WORD];
    int minimum, maximum;
    char why[SOURCE_TROUBLE]; // why it cannot be moved or there is none; "" where all is well
};
// Looks at the camera's control with that number, counted on around at the ends, and moves it by so many steps first: a
// fiftieth of its range, or a menu's next item. A camera that comes back gets it again. False where there is none or it
// cannot be moved. On any thread; may take as long as the camera does.
bool source_control(struct source *source, int index, int steps, struct source_control *control);

// Help for people: one line per kind of source, "syntax<TAB>what it is", NULL-ended.
extern const char *const source_help[];
