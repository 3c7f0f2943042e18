// playback.h: pause, seek and step of the source. Main thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct frame;
struct stream;

struct playback {
    double position_s; // time of the newest frame in a source that can seek, or of the frame that is due
    bool stepping;     // a frame is due that a seek or a step has asked for
    uint64_t stepped;  // stream.taken when the latest such frame arrived
};

// Freezes or continues the view. After the last frame, it continues from the start. Before the first frame of a source,
// a pause waits for this frame. A source that can seek waits meanwhile; others go on, and their frames are skipped.
void playback_pause(struct stream *stream, bool paused);

// The next functions return false if the source cannot seek; `why` is then one line.
enum { PLAYBACK_WHY = 400 };
// Continues at this time of the source. A paused view then shows that frame. A time after the last frame pauses there.
bool playback_seek(struct stream *stream, double seconds, char why[PLAYBACK_WHY]);
// The same by about 5 s forward (`sign` 1) or back (-1). A slide show moves by an image, with --loop from the last one
// to the first; without it, the first and the last image stay.
bool playback_skip(struct stream *stream, int sign, char why[PLAYBACK_WHY]);
// The same by a number of frames or images, and pauses.
bool playback_step(struct stream *stream, int frames, char why[PLAYBACK_WHY]);

double playback_duration(const struct stream *stream); // 0: unknown
// Sets the note to the new position after a seek or a step: "0:12.3 of 1:30.0". Of a slide show, the awaited frame sets
// it: "photo.jpg  2 of 3".
void playback_note(struct stream *stream);
// Follows a frame that was taken; NULL: the source has ended.
void playback_arrived(struct stream *stream, const struct frame *frame);
