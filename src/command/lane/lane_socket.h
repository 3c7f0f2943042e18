// lane_socket.h: the control socket of a `lane` run: the properties of its stream, and its lines. Main thread.
#pragma once

#include "control/control.h"
#include "lane/lane_camera.h"
#include "lane/tracker.h"

// The latest frame of a run.
struct lane_latest {
    struct stream *stream;
    const struct lane_map *map;
    struct lane_result result;
    double milliseconds; // as in struct lane_frame
    uint64_t number;     // of the frame
    bool found;          // there was a frame
};

// Sets `run` to the properties of the latest frame and its stream, which is borrowed.
void lane_controlled(struct controlled *run, struct lane_latest *latest);
