// lane_camera.h: where the road is in the picture: the camera's calibration and lens, the map between ground and
// picture, and lines in the picture
#pragma once

#include "filter/filter.h"
#include "image/image.h"
#include "lane/finder.h"

#include <stdbool.h>

enum { LANE_LENS_TEXT = 256, LANE_ERROR = 256 };

// The camera's lens: from the picture without distortion, which the pipeline sees, to the camera's picture and back.
// Points are in pixels; whole numbers are the centres of pixels. Zeroed is a lens without distortion.
struct lane_lens {
    char text[LANE_LENS_TEXT]; // arguments of the undistort filter; "": none
    struct filter_map map;     // from the picture without distortion to the plane at distance 1, and the lens
    double reach;              // radius on this plane as far as the lens shows no point twice
};

// Reads arguments of the undistort filter. Returns false if they are wrong, with one line of at most `size` bytes in
// `error`; the lens is then undefined.
bool lane_lens_parse(struct lane_lens *lens, const char *text, char *error, size_t size);
bool lane_lens_bends(const struct lane_lens *lens); // false: no distortion
// Moves a point from the picture without distortion to the camera's picture. Returns false if the lens does not show
// it.
bool lane_lens_apply(const struct lane_lens *lens, double point[2]);
// Moves a point from the camera's picture to the picture without distortion. Returns false if the lens shows nothing
// there.
bool lane_lens_remove(const struct lane_lens *lens, double point[2]);

// Ground coordinates are metres: x to the right of the camera, z ahead of it. Picture coordinates are pixels from the
// top left corner. The lens removes the distortion from the picture first; then its focal length and centre replace
// fov.
struct lane_camera {
    double height, pitch, fov, roll; // metres above the road; degrees downwards; horizontal degrees; degrees clockwise
    double yaw;                      // degrees: the camera looks to the right of the car's direction
    bool has_height, has_pitch;      // the user gave them
    bool has_points;                 // `points` replace height, pitch, fov and roll
    double points[8]; // x, y in the picture of a rectangle on the road: near left, near right, far right, far left
    double width, near, far; // metres: width of this rectangle, distances of its near and far side
    int size[2];             // width and height of the pictures that `points` and `lens` are for; 0: not known
    bool framed;             // `points` are of the frames, whatever `size` is
    struct lane_lens lens;
};

struct json_t;
struct lane_camera lane_camera_default(void);
// Sets keys from a text "height=1.4,pitch=4", or the points from "x,y,x,y,x,y,x,y". Returns false if a value is wrong,
// with one line in `error`; the camera is then undefined.
bool lane_camera_parse(struct lane_camera *camera, const char *text, char error[LANE_ERROR]);
bool lane_camera_parse_points(struct lane_camera *camera, const char *text, char error[LANE_ERROR]);
// Scales the points and the lens to frames of this size, which is then the camera's size. Returns false if the two
// sizes have different aspect ratios, with one line in `error`. Angles fit every size.
bool lane_camera_fit(struct lane_camera *camera, int width, int height, char error[LANE_ERROR]);

// The part of the road in the bird's-eye picture, which shows far points at the top.
struct lane_view {
    int columns, rows;
    double across, near, far; // metres: x is -across/2 to across/2, z is near to far
};
extern const struct lane_view lane_view;

struct lane_map {
    double picture[9]; // matrix from ground (x, z, 1) to the picture without distortion, by rows
    double warp[9];    // matrix from pixel centres of the bird's-eye picture to pixel centres of this picture
    struct lane_lens lens;
};

extern const char lane_road_behind[]; // the reason if no picture of the road is possible

// Makes the map for pictures of this size. Returns false if the calibration is impossible, with one line in `error`.
bool lane_map_init(struct lane_map *map, const struct lane_camera *camera, int width, int height,
                   char error[LANE_ERROR]);
// Multiplies a matrix and the point (x, y, 1). Returns false if the result is behind the camera.
bool lane_map_apply(const double matrix[9], double x, double y, double result[2]);

enum { LANE_SAMPLES = 56, LANE_ABSENT = -2 };

// Writes the rows of the picture at which lines are reported, as in TuSimple's data: 160 to 710 in steps of 10 for a
// height of 720, and in proportion for others.
void lane_samples(int height, int y[LANE_SAMPLES]);
// Writes the x of a line at each of these rows; LANE_ABSENT: the line is not in the picture there.
void lane_to_picture(const struct lane_map *map, const struct lane_shape *shape, double offset, int width, int rows,
                     const int y[], double x[]);

// ---- the file of --config, and the four points while the user moves them ----

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
