// online.h: tunes the passes of a path's chain while frames run
//
// A candidate is the chain with another configuration of one pass. A thread builds it, and checks in a child process
// and then on a copy of a frame that it computes the same bytes. The thread also times the candidate on a part of the
// frame, and discards it if it is slow. Otherwise some of the frames run it. If it is faster than the current chain by
// more than 2 % and by more than the noise, it replaces the chain between two frames, and its result is stored
// (compute/tuned.h).
#pragma once

#include "path/path.h"

enum online_phase {
    ONLINE_WAITING, // for the first frame
    ONLINE_NOTHING, // the path needs no device
    ONLINE_TUNING,
    ONLINE_DONE,  // every pass has a result for this device, driver and size
    ONLINE_ENDED, // the device or the system has failed: `why`
};

struct online_state {
    enum online_phase phase;
    bool paused;       // by online_pause, or because frames would be skipped
    char pass[128];    // the current pass, or the last one
    int tried, total;  // numbers of its configurations
    int failed;        // number of the tried ones that failed
    double gain;       // the pass's time before its tuning / its time now
    int tuned, faster; // number of passes with a new result; of these, passes with another configuration
    char why[160];
};

struct online;

// Starts the thread. NULL on failure (logged). All functions are for the thread that submits frames.
struct online *online_open(void);
// Ends the tuning. Call it after path_close. False if a driver or a child process is busy for more than `patience_ms`:
// the devices must then stay open, and the process must end without exit(). Accepts NULL.
bool online_close(struct online *online, int patience_ms);

// Call this before path_submit; it does nothing while a frame is in flight. Returns true if another chain runs now, or
// the tuning is done or has ended.
bool online_submit(struct online *online, struct path *path, const struct image *frame);
// Call this after path_collect of that frame.
void online_collect(struct online *online, const struct path_result *result);
// Call this between frames. `budget_ms`: the frame interval; 0: no limit. `skipped`: number of frames that were not
// shown so far. The tuning pauses while a frame takes more than 70 % of the interval, and after a skipped frame.
void online_pace(struct online *online, double budget_ms, uint64_t skipped);
// The path has another chain, or is closed. No frame may be in flight.
void online_forget(struct online *online);
// A frame failed. Returns true if it ran a candidate: the caller runs the frame again, and the tuning has ended.
bool online_frame_failed(struct online *online);

// After ONLINE_ENDED, the end of a pause starts the tuning again.
void online_pause(struct online *online, bool pause);
struct online_state online_describe(struct online *online);
