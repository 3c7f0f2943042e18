// config.h: the configuration of the `lane` command: the calibration, and the numbers of the search
#pragma once

#include "lane/finder.h"
#include "lane/lane_camera.h"

struct lane_config {
    struct lane_camera camera;
    struct lane_settings settings;
};

struct lane_config lane_config_default(void);
// Sets keys from a JSON file. Returns false if a value is wrong, with one line in `error`; the configuration is then
// undefined.
bool lane_config_read(struct lane_config *config, const char *path, char error[LANE_ERROR]);
