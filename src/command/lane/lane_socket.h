// lane_socket.h: the control socket of a `lane` run: the properties of its stream, and its lines. Main thread.
#pragma once

#include "command/lane/lane_report.h"
#include "control/control.h"

// The latest frame of a run.
struct lane_latest {
    struct stream *stream;
    struct lane_map map;
    struct lane_result result;
    struct lane_frame frame; // its `file` is NULL: there was no frame
    char file[LANE_FILE_NAME];
};

// Sets `run` to the properties of the latest frame and its stream, which is borrowed.
void lane_controlled(struct controlled *run, struct lane_latest *latest);
