// recording.h: a video file of RGBA images: Y4M, or MP4, MOV, MKV, WebM, GIF and WebP through the installed ffmpeg
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct recording;

struct recording_setup {
    int width, height; // of every image
    int quality;       // 1 to RECORDING_QUALITY_BEST; 0: the default. Y4M has no loss, GIF no choice.
    // The file, which the caller has created and opened for writing: recording_open takes it over, also on failure. -1:
    // the video replaces the file at its end; Y4M to a pipe or a device is written to it.
    int file;
    bool alpha; // pixels may be transparent: MKV becomes VP9, MOV ProRes 4444; MP4 and Y4M are opaque (logged)
};
enum { RECORDING_QUALITY_BEST = 100, RECORDING_QUALITY = 75 };

// Returns true if the file's suffix names a format that ffmpeg encodes. Any other file becomes Y4M.
bool recording_encodes(const char *path);
bool recording_has_quality(const char *path); // ... and has a choice of quality
// Returns true if the file's suffix names a format of recordings, Y4M included.
bool recording_has_format(const char *path);

// Opens the file of a video; `path` "-" is Y4M on standard output. Encoded videos have 4:2:0 pixels (GIF: palettes).
// GIF and WebP have at most 15 frames per second, and a width of at most 640 pixels. Call all functions on one thread.
// Returns NULL on failure (logged, with advice).
struct recording *recording_open(const char *path, const struct recording_setup *setup);
// Begins the video, with this rate, and at most `most` frames (0: no limit). Call it once. A thread starts ffmpeg, for
// as long as that takes; recording_close ends this.
void recording_start(struct recording *recording, int rate_numerator, int rate_denominator, uint64_t most);
enum recording_state {
    RECORDING_STARTS, // recording_start was not called, or ffmpeg starts
    RECORDING_RUNS,   // only now may frames be added
    RECORDING_FAILED, // the start has failed (logged)
};
enum recording_state recording_state(const struct recording *recording);
// Waits while ffmpeg starts, at most until this time of clock_now_ns (INT64_MAX: without limit).
enum recording_state recording_await(struct recording *recording, int64_t deadline_ns);
// Adds a frame that is due at `time_ns`; the first frame's time is the start of the video. The rate of a video is
// constant, so this first repeats the last frame until that time (for at most 1 s), and leaves out a frame that is too
// early for the rate. `every`: adds all frames, and has no limit of 1 s. Waits for the reader of a pipe and for ffmpeg;
// with `left_out`, it drops frames if they stall, as y4m_writer_add does. Returns false on failure (logged once; later
// calls fail silently).
bool recording_add(struct recording *recording, const struct image *rgba, int64_t time_ns, bool every, bool *left_out);
// Repeats the last frame (for at most 1 s) until the video lasts to this time. `left_out` and result: as recording_add.
bool recording_fill(struct recording *recording, int64_t time_ns, bool *left_out);
uint64_t recording_frames(const struct recording *recording); // in the video, including repeated ones
// Sets the time until which recording_end and recording_close repeat the last frame; 0, the default: not at all.
void recording_set_end(struct recording *recording, int64_t time_ns);
// Starts a thread that ends the video. Until recording_ended returns true, call no other function; recording_close then
// does not wait.
void recording_end(struct recording *recording);
bool recording_ended(const struct recording *recording);
// Waits for the thread that starts or ends the video. Returns its error ("": none), valid until recording_close.
enum { RECORDING_WHY = 512 };
const char *recording_failure(struct recording *recording);
// Ends the video; waits for ffmpeg, but not for its start. Returns true if all frames that were not dropped are in the
// file. After a failure, Y4M, MKV and WebM have the frames before it. Files of other formats are unusable without their
// end: then, and if an encoded video has no frames, the file is left empty. An incomplete video replaces no file: it
// keeps the name of its draft (logged), also if another program has replaced the file meanwhile. Accepts NULL.
bool recording_close(struct recording *recording);
