// playback.h: the source of a stream while it runs: its frames and its end; pause, seek and step. Main thread.
#pragma once

#include "source/capture.h"
#include "stream/panes.h"

struct playback {
    struct source *source;
    const struct source_info *info;
    struct capture *capture;    // NULL: not started
    struct capture_counts past; // of the sources before this one
    uint64_t taken;             // frames taken from all sources
    bool still;                 // the source is one image, shown once
    bool reshaped;              // the source's next frames have another shape
    bool ended;                 // the source has no more frames
    double position_s;          // time of the newest frame in a source that can seek, or of the frame that is due
    bool stepping;              // a frame is due that a seek or a step has asked for
    uint64_t stepped;           // `taken` when the latest such frame arrived
    // Set by the stream; borrowed.
    bool loop; // of stream_setup
    struct settings *settings;
    const struct panes *panes;
    struct meter *meter;
    struct note *note;
};

// Starts the capture. False on failure (logged).
bool playback_start(struct playback *playback, struct trace *trace);
// Stops the capture, after which no thread writes the trace. False: as capture_stop.
bool playback_stop(struct playback *playback, int wait_ms);
// Continues with another source, from its start. Closes the present one, whose capture has stopped.
void playback_replace(struct playback *playback, struct source *source);

// Freezes or continues the view. After the last frame, it continues from the start. Before the first frame of a source,
// a pause waits for this frame. A source that can seek waits meanwhile; others go on, and their frames are skipped.
void playback_pause(struct playback *playback, bool paused);

// The next functions return false if the source cannot seek; `why` is then one line.
enum { PLAYBACK_WHY = 400 };
// Continues at this time of the source. A paused view then shows that frame. A time after the last frame pauses there.
bool playback_seek(struct playback *playback, double seconds, char why[PLAYBACK_WHY]);
// The same by about 5 s forward (`sign` 1) or back (-1). A slide show moves by an image, with --loop from the last one
// to the first; without it, the first and the last image stay.
bool playback_skip(struct playback *playback, int sign, char why[PLAYBACK_WHY]);
// The same by a number of frames or images, and pauses.
bool playback_step(struct playback *playback, int frames, char why[PLAYBACK_WHY]);

double playback_duration(const struct playback *playback);              // 0: unknown
struct capture_counts playback_counts(const struct playback *playback); // frames of all sources of the run
// Sets the note to the new position after a seek or a step: "0:12.3 of 1:30.0". Of a slide show, the awaited frame sets
// it: "photo.jpg  2 of 3".
void playback_note(struct playback *playback);
// Follows a frame that was taken; NULL: the source has ended.
void playback_arrived(struct playback *playback, const struct frame *frame);
