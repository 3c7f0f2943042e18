// live_tuning.h: tunes the passes of a path's chain while frames run
//
// A candidate is the chain with another configuration of one pass. A thread builds it, and checks in a child process
// and then on a copy of a frame that it computes the same bytes. The thread also times the candidate on a part of the
// frame, and discards it if it is slow. Otherwise some of the frames run it. If it is faster than the current chain by
// more than 2 % and by more than the noise, it replaces the chain between two frames, and its result is stored
// (compute/tuned.h).
#pragma once

#include "path/path.h"

enum live_tuning_phase {
    LIVE_TUNING_WAITING, // for the first frame
    LIVE_TUNING_NOTHING, // the path needs no device
    LIVE_TUNING_TUNING,
    LIVE_TUNING_DONE,  // every pass has a result for this device, driver and size
    LIVE_TUNING_ENDED, // the device or the system has failed: `why`
};

struct live_tuning_state {
    enum live_tuning_phase phase;
    bool paused;       // by live_tuning_pause, or because frames would be skipped
    char pass[128];    // the current pass, or the last one
    int tried, total;  // numbers of its configurations
    int failed;        // number of the tried ones that failed
    double gain;       // the pass's time before its tuning / its time now
    int tuned, faster; // number of passes with a new result; of these, passes with another configuration
    char why[160];
};

struct live_tuning;

// Starts the thread. NULL on failure (logged). All functions are for the thread that submits frames.
struct live_tuning *live_tuning_open(void);
// Ends the tuning. Call it after path_close. False if a driver or a child process is busy for more than `patience_ms`:
// the devices must then stay open, and the process must end without exit(). Accepts NULL.
bool live_tuning_close(struct live_tuning *tuning, int patience_ms);

// Call this before path_submit; it does nothing while a frame is in flight. Returns true if another chain runs now, or
// the tuning is done or has ended.
bool live_tuning_submit(struct live_tuning *tuning, struct path *path, const struct image *frame);
// Call this after path_collect of that frame.
void live_tuning_collect(struct live_tuning *tuning, const struct path_result *result);
// Call this between frames. `budget_ms`: the frame interval; 0: no limit. `skipped`: number of frames that were not
// shown so far. The tuning pauses while a frame takes more than 70 % of the interval, and after a skipped frame.
void live_tuning_pace(struct live_tuning *tuning, double budget_ms, uint64_t skipped);
// The path has another chain, or is closed. No frame may be in flight.
void live_tuning_forget(struct live_tuning *tuning);
// A frame failed. Returns true if it ran a candidate: the caller runs the frame again, and the tuning has ended.
bool live_tuning_frame_failed(struct live_tuning *tuning);

// After LIVE_TUNING_ENDED, the end of a pause starts the tuning again.
void live_tuning_pause(struct live_tuning *tuning, bool pause);
struct live_tuning_state live_tuning_describe(struct live_tuning *tuning);
