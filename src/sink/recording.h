// recording.h: a video file of RGBA images: Y4M, or MP4, MOV, MKV, WebM, GIF and WebP through the installed ffmpeg
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct recording;

struct recording_setup {
    int width, height;                    // of every image
    int rate_numerator, rate_denominator; // frames per second
    int quality;   // 1 to RECORDING_QUALITY_BEST; 0: the default. Y4M has no loss, GIF no choice.
    uint64_t most; // frames that the video may have; 0: no limit
    bool
        replace; // an encoded video replaces the file at its end; else it is written to the file, which the caller made
};
enum { RECORDING_QUALITY_BEST = 100, RECORDING_QUALITY = 75 };

// Returns true if the file's suffix names a format that ffmpeg encodes. Any other file becomes Y4M.
bool recording_encodes(const char *path);
bool recording_has_quality(const char *path); // ... and has a choice of quality
// Returns true if the file's suffix names a format of recordings, Y4M included.
bool recording_has_format(const char *path);

// Begins a video; `path` "-" is Y4M on standard output. Encoded videos have 4:2:0 pixels (GIF: palettes). GIF and WebP
// have at most 15 frames per second, and a width of at most 640 pixels. Call all functions on one thread. Returns NULL
// on failure (logged, with advice).
struct recording *recording_open(const char *path, const struct recording_setup *setup);
// Adds a frame of this time. The rate of a video is constant, so the last frame is repeated before it (at most for a
// second), or a frame that comes too early for the rate is left out. With `every`, no frame is. Waits for the reader of
// a pipe and for ffmpeg; with `left_out`, it drops frames if they stall, as y4m_writer_add does. Returns false on
// failure (logged once; later calls fail silently).
bool recording_add(struct recording *recording, const struct image *rgba, int64_t time_ns, bool every, bool *left_out);
// Repeats the last frame (at most for a second) until the video lasts to this time. Otherwise as recording_add.
bool recording_fill(struct recording *recording, int64_t time_ns, bool *left_out);
uint64_t recording_frames(const struct recording *recording); // of the video, repeated ones included
// Sets the time to which the end of the recording repeats the last frame.
void recording_set_end(struct recording *recording, int64_t time_ns);
// Starts a thread that ends the video. Until recording_ended returns true, call no other function; recording_close then
// does not wait.
void recording_end(struct recording *recording);
bool recording_ended(const struct recording *recording);
// Waits for that thread. Returns its error ("": none), valid until recording_close.
enum { RECORDING_WHY = 512 };
const char *recording_end_failure(struct recording *recording);
// Ends the video; waits up to 20 s for ffmpeg. Returns true if all frames that were not dropped are in the file. After
// a failure, Y4M, MKV and WebM have the frames before it. The others need their end: their file is then empty, or not
// replaced. So is that of an encoded video without frames. Accepts NULL.
bool recording_close(struct recording *recording);
