// lane.h: the options of the `lane` command, and a run over frames
#pragma once

#include "base/options.h"
#include "command/shared.h"
#include "lane/lane_camera.h"
#include "stream/stream.h"

struct lane_options {
    const char *camera, *points, *config, *score;
    struct output_options outputs;
    struct mode_options mode;
    const char *device, *socket, *culane, *marks;
    int path, threads; // path -1: the user named none
    double lane_width;
    int frames;
    bool loop, fast, headless, json, measures, calibrate, independent;
    int log_level;
};

// Finds lanes in the frames of the source (NULL: the first camera). Returns the exit code.
int lane_run(const struct lane_options *options, const char *source);

// `--calibrate`: the user moves the four points of the calibration in a window.
// Shows the frames of the stream's source until the user quits; the caller closes the stream. The points start at the
// camera's, or on the lane of the first frame. Enter writes them to the file of --config. Returns an exit code.
enum exit_code lane_calibrate(struct stream *stream, const struct lane_camera *camera, const struct lane_options *o);
