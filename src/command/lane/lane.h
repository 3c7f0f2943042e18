// lane.h: the options of the `lane` command, and a run over frames
#pragma once

#include "base/options.h"
#include "command/command.h"
#include "lane/lane_camera.h"

struct lane_options {
    const char *camera, *points, *config, *score, *truth;
    const char *pixel_format, *device;
    int path, threads; // path -1: the user named none
    struct option_size size;
    double rate;
    int frames;
    bool fast, headless, json, calibrate;
    int log_level;
};

// Finds lanes in the frames of the source (NULL: the first camera). Returns the exit code.
int lane_run(const struct lane_options *options, const char *source);
