// calibrate.h: `lane --calibrate`: the user moves the four points of the calibration in a window
#pragma once

#include "command/command.h"
#include "lane/lane_camera.h"
#include "source/source.h"

// Shows the source's frames until the user quits. The points start at the camera's. Enter writes them to the file.
// `threads`: of the cpu path, 0: one per CPU. Returns an exit code.
enum exit_code lane_calibrate(struct source *source, const struct lane_camera *camera, const char *file, int threads);
