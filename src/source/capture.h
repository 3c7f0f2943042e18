// capture.h: a thread that takes frames from a source; a mailbox holds the newest frame
#pragma once

#include "base/trace.h"
#include "source/source.h"

struct capture;

struct capture_counts {
    uint64_t captured; // frames from the source
    uint64_t skipped;  // frames that a newer one replaced before capture_take
    uint64_t dropped;  // frames missing in the source's numbers
};

// Starts the thread. The caller keeps the source, but must not call source_next before capture_stop. If the source is
// not live, or has pictures, the thread waits until the mailbox is empty, and skips no frame. `trace` may be NULL.
// Returns NULL on failure (logged).
struct capture *capture_start(struct source *source, struct trace *trace);
// Stops the thread, returns an untaken frame to the source and frees the capture. Accepts NULL. Returns false if
// source_next does not return within `wait_ms`, for example because a camera's driver has stalled. The thread then
// still uses the capture, the source and the trace: call capture_stop again, or keep them until the process ends.
bool capture_stop(struct capture *capture, int wait_ms);
enum { CAPTURE_STOP_MS = 3000 }; // at the end of a run

// Continues after SOURCE_RESHAPED. Call it after source_reshape.
void capture_resume(struct capture *capture);

// For a source that can seek. Both return at once.
//
// Pauses or continues. While it is paused, each capture_step and each capture_seek gives one frame.
void capture_pause(struct capture *capture, bool paused);
void capture_step(struct capture *capture);
// Continues at this time, see source_seek, also after SOURCE_END. Later frames are those from there on. Returns false
// if the source has failed or waits for capture_resume.
bool capture_seek(struct capture *capture, double seconds);

// Takes the newest frame, and waits for it up to timeout_ms. The caller returns it with source_return.
enum source_status capture_take(struct capture *capture, struct frame *frame, int timeout_ms);
// Returns a descriptor that can be read (poll) when capture_take would return without a wait. Only for poll. -1: it
// could not be made.
int capture_event(const struct capture *capture);
struct capture_counts capture_counts(const struct capture *capture);
