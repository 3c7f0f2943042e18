// calibration.h: the file of --config: the calibration and the numbers of the search; and the four points while the
// user moves them
#pragma once

#include "image/image.h"
#include "lane/lane_camera.h"

// The values that the user changes: the points in the picture, then the sizes of their rectangle on the road.
enum { CALIBRATION_POINTS = 4, CALIBRATION_SIZES = 3, CALIBRATION_VALUES = CALIBRATION_POINTS + CALIBRATION_SIZES };
extern const char *const calibration_names[CALIBRATION_VALUES]; // "near left", "width"

struct calibration {
    struct lane_camera camera; // has points
    int width, height;         // of the picture
    struct lane_map map;       // only without a fault
    char fault[LANE_ERROR];    // why the points are impossible; "": they are possible
};

// Starts with the camera's points, or with the points that its angles give. Points may be impossible; the function
// returns false if other values are, with one line in `error`.
bool calibration_init(struct calibration *calibration, const struct lane_camera *camera, int width, int height,
                      char error[LANE_ERROR]);
// Moves the rectangle to the own lane of a frame, which has the calibration's size, and takes its width. The camera has
// no points. `lane_width` in metres, 0: the usual widths. `threads`: of the cpu path. Returns false if no lane is
// found.
bool calibration_find(struct calibration *calibration, const struct lane_camera *camera, double lane_width,
                      const struct image *frame, int threads);
// Moves a point to a place in the picture, and makes the map or the fault.
void calibration_move(struct calibration *calibration, int point, double x, double y);
// Changes a size by steps of 10 cm. `value` is its index in calibration_names, from CALIBRATION_POINTS on. A value out
// of range changes nothing. Makes the map or the fault.
void calibration_resize(struct calibration *calibration, int value, int steps);
// Writes the place of a point; for a point outside the picture, the nearest place in the picture.
void calibration_place(const struct calibration *calibration, int point, double place[2]);
// Returns the point that is nearest to a place; -1: none is within `reach` pixels.
int calibration_nearest(const struct calibration *calibration, double x, double y, double reach);
// Writes the points and their rectangle to a file that --config reads, completely or not at all. Other members of an
// existing file stay. Returns false on failure, with one line in `error`, and with a fault.
bool calibration_write(const struct calibration *calibration, const char *path, char error[LANE_ERROR]);
// Writes the estimated pitch, yaw and height (0: not) to the file; its other members stay. Returns false with one line
// in `error`.
bool calibration_keep(double pitch, double yaw, double height, const char *path, char error[LANE_ERROR]);

struct lane_config {
    struct lane_camera camera;
    struct lane_settings settings;
};

struct lane_config lane_config_default(void);
// Sets keys from a JSON file. Returns false if a value is wrong, with one line in `error`; the configuration is then
// undefined.
bool lane_config_read(struct lane_config *config, const char *path, char error[LANE_ERROR]);
