// road.h: a synthetic road with known lane lines: its objects in each frame, the places of its lines in the picture,
// and its drawing. docs/lane.md describes it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// The camera. Pixel (x, y) is centred on the point (x, y); the axis goes through the middle of the picture.
#define ROAD_CAMERA_HEIGHT 1.4 // metres above the road
#define ROAD_CAMERA_PITCH 4.0  // degrees down
#define ROAD_CAMERA_FOV 62.0   // horizontal field of view in degrees
#define ROAD_LANE_WIDTH 3.6    // metres
#define ROAD_SPEED 25.0        // metres per second

enum road_level {
    ROAD_CLEAN,
    ROAD_WORN,
    ROAD_SHADOWS,
    ROAD_PITCH,
    ROAD_CARS,
    ROAD_RAIN,
    ROAD_NIGHT,
    ROAD_CONCRETE,
    ROAD_STREET,
    ROAD_EMPTY,
    ROAD_CHANGES,
    ROAD_MERGE,
    ROAD_MIXED, // for each second, a random one of the levels before ROAD_CHANGES
    ROAD_LEVELS
};

enum { ROAD_WIDTH_MIN = 160, ROAD_HEIGHT_MIN = 90 };

struct road_spec {
    uint32_t seed;
    enum road_level level;
    int width, height;
    double rate; // frames per second
};

const char *road_level_name(int level); // NULL behind the last level

// Writes the source's text, "road:seed=7,level=rain,size=1280x720@30", and the name of a frame, the same with "#12".
enum { ROAD_NAME = 128 };
void road_name(const struct road_spec *spec, char name[ROAD_NAME]);
void road_frame_name(const struct road_spec *spec, uint64_t frame, char name[ROAD_NAME]);

enum { ROAD_LINES = 6, ROAD_STRIPES = 2 * ROAD_LINES, ROAD_CARS_MAX = 4, ROAD_KNOTS = 8 };

// A painted stripe. A double line has two.
struct road_stripe {
    int line;
    double offset, width; // metres from the middle of the own lane, to the right
    bool dashed, yellow;
};

struct road_car {
    double offset, distance; // metres: from the middle of the own lane; from the camera to the rear
    double width, height, length;
    uint32_t paint;
};

// What a frame shows. Distances are in metres: x to the right of the camera, z ahead of it, on the road.
struct road_scene {
    enum road_level level; // never ROAD_MIXED
    uint32_t seed;
    uint64_t frame;
    double time, way; // seconds and metres since frame 0
    // The camera.
    double focal, centre_x, centre_y; // pixels
    double sin_pitch, cos_pitch, sin_roll, cos_roll;
    // The own lane: where its middle is, and how it bends. The curvature is linear between knots: clothoids.
    double side, heading;
    double knot_z, curvature[ROAD_KNOTS]; // the first knot is at knot_z <= 0
    int lanes, own;                       // number of lanes; index of the own lane, from the left
    int lines;                            // lanes + 1, and 1 more with a cycle lane on the right
    double dash, period;                  // length of a dash, and distance from dash to dash
    int stripes, cars;
    struct road_stripe stripe[ROAD_STRIPES];
    struct road_car car[ROAD_CARS_MAX]; // the farthest first
};

// Computes the scene of a frame, from nothing but the arguments.
void road_scene(const struct road_spec *spec, uint64_t frame, struct road_scene *scene);
// Returns x of the middle of the own lane at distance z.
double road_middle(const struct road_scene *scene, double z);
// Returns the offset of a line, 0 to scene->lines - 1 from the left, from the middle of the own lane.
double road_line_offset(const struct road_scene *scene, int line);
// Returns the same for distance z: the last line of a merging lane moves towards its neighbour.
double road_line_at(const struct road_scene *scene, int line, double z);
// Computes the point of the road that a pixel shows. False: it shows the sky.
bool road_ground(const struct road_scene *scene, double px, double py, double *x, double *z);
// Computes the pixel that shows a point `up` metres above the road, with z > 0.
void road_project(const struct road_scene *scene, double x, double up, double z, double *px, double *py);

// Random numbers from numbers: the same on all machines.
uint32_t road_hash(uint32_t a, uint32_t b, uint32_t c);
double road_unit(uint32_t a, uint32_t b, uint32_t c); // 0 <= u < 1
// Smooth noise from -1 to 1, with one random value per unit of t; *slope, unless NULL, is its derivative.
double road_noise(uint32_t seed, double t, double *slope);

enum { ROAD_TRUTH_ROWS = 56, ROAD_TRUTH_LINES = 4 };
#define ROAD_TRUTH_RANGE 60.0 // metres: farther parts of a line do not count

// The lines of the own lane, and the next line on each side, from left to right. Parts that are hidden or worn away
// count, too. There are no lines at level empty.
struct road_truth {
    int y[ROAD_TRUTH_ROWS]; // (16 + i) / 72 of the height: 160, 170, ..., 710 for 720 rows
    int lines;
    double x[ROAD_TRUTH_LINES][ROAD_TRUTH_ROWS]; // in pixels; -2: the line is not in this row of the picture
};

void road_truth(const struct road_spec *spec, uint64_t frame, struct road_truth *truth);

// ---- drawing (road_draw.c) ----

struct road_painter;

// Prepares to draw pictures of this width. NULL: out of memory (not logged).
struct road_painter *road_painter_open(const struct road_spec *spec);
void road_painter_close(struct road_painter *painter);                 // accepts NULL
void road_painter_begin(struct road_painter *painter, uint64_t frame); // the next rows are of this frame
void road_painter_row(struct road_painter *painter, int y, uint8_t *rgba);
