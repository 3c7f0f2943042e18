// capture.h: a thread that keeps taking frames from a source; a one-slot mailbox holds the newest
#pragma once

#include "base/trace.h"
#include "source/source.h"

struct capture;

struct capture_counts {
    uint64_t captured; // frames the source delivered
    uint64_t skipped;  // frames nobody took before a newer one came
    uint64_t dropped;  // gaps in the source's numbers
};

// Starts the thread. The source stays the caller's, who must not call source_next until capture_stop. When the source
// is not live no frame is skipped: the thread waits until the mailbox is empty. `trace` may be NULL.
struct capture *capture_start(struct source *source, struct trace *trace);
// Joins the thread and returns what is in the mailbox; takes NULL. False where the source has not let go of the thread
// for seconds, as the driver of a stalled camera may do: it and all it works with must be left alone until the process
// ends.
bool capture_stop(struct capture *capture);

// Goes on after SOURCE_RESHAPED, when the source has its new shape.
void capture_resume(struct capture *capture);

// The newest frame not yet taken; waits for one. The frame goes back with source_return.
enum source_status capture_take(struct capture *capture, struct frame *frame, int timeout_ms);
struct capture_counts capture_counts(const struct capture *capture);
