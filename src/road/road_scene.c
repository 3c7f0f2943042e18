// road_scene.c: see road.h
#include "road/road.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

// What a random number is for: the second argument of road_hash.
enum { FOR_LANES, FOR_OWN, FOR_DASH, FOR_LINE, FOR_CURVE, FOR_SIDE, FOR_PITCH, FOR_ROLL, FOR_CAR, FOR_MIX };
static const double knot_distance = 120, curvature_max = 1.0 / 250, degree = 3.14159265358979323846 / 180;

static const char *const level_names[ROAD_LEVELS + 1] = {
    [ROAD_CLEAN] = "clean",   [ROAD_WORN] = "worn",   [ROAD_SHADOWS] = "shadows", [ROAD_PITCH] = "pitch",
    [ROAD_CARS] = "cars",     [ROAD_RAIN] = "rain",   [ROAD_NIGHT] = "night",     [ROAD_CONCRETE] = "concrete",
    [ROAD_STREET] = "street", [ROAD_EMPTY] = "empty", [ROAD_CHANGES] = "changes", [ROAD_MERGE] = "merge",
    [ROAD_MIXED] = "mixed",
};

const char *road_level_name(int level)
{
    return level_names[level];
}

void road_name(const struct road_spec *spec, char name[ROAD_NAME])
{
    snprintf(name, ROAD_NAME, "road:seed=%u,level=%s,size=%dx%d@%.10g", spec->seed, level_names[spec->level],
             spec->width, spec->height, spec->rate);
}

void road_frame_name(const struct road_spec *spec, uint64_t frame, char name[ROAD_NAME])
{
    road_name(spec, name);
    snprintf(name + strlen(name), ROAD_NAME - strlen(name), "#%llu", (unsigned long long)frame);
}

// ---- random numbers ----

// Wellons' lowbias32 over each number.
uint32_t road_hash(uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t numbers[] = {a, b, c};
    uint32_t x = 0x9e3779b9;
    for (int i = 0; i < 3; i++) {
        x ^= numbers[i];
        x = (x ^ x >> 16) * 0x7feb352d;
        x = (x ^ x >> 15) * 0x846ca68b;
        x ^= x >> 16;
    }
    return x;
}

double road_unit(uint32_t a, uint32_t b, uint32_t c)
{
    return road_hash(a, b, c) * 0x1p-32;
}

double road_noise(uint32_t seed, double t, double *slope)
{
    const double knot = floor(t), u = t - knot;
    const uint32_t index = (uint32_t)(int64_t)knot;
    const double a = 2 * road_unit(seed, index, 0) - 1, b = 2 * road_unit(seed, index + 1, 0) - 1;
    if (slope)
        *slope = (b - a) * 6 * u * (1 - u);
    return a + (b - a) * u * u * (3 - 2 * u);
}

// ---- the road ----

// Returns the curvature at a knot, in 1/m. Most of the road is nearly straight.
static double curvature_at(uint32_t seed, int64_t knot)
{
    const double u = 2 * road_unit(seed, FOR_CURVE, (uint32_t)knot) - 1;
    return curvature_max * u * fabs(u);
}

static void set_way(struct road_scene *scene)
{
    const int64_t knot = (int64_t)floor(scene->way / knot_distance);
    double slope;
    scene->knot_z = (double)knot * knot_distance - scene->way;
    for (int i = 0; i < ROAD_KNOTS; i++)
        scene->curvature[i] = curvature_at(scene->seed, knot + i);
    // The car wanders in its lane; its heading follows from the way that it takes.
    static const double wander = 0.3, seconds = 3;
    scene->side = wander * road_noise(road_hash(scene->seed, FOR_SIDE, 0), scene->time / seconds, &slope);
    scene->heading = wander * slope / seconds / ROAD_SPEED;
}

double road_middle(const struct road_scene *scene, double z)
{
    double x = -scene->side, direction = -scene->heading, at = 0;
    for (int i = 0; i + 1 < ROAD_KNOTS && at < z; i++) {
        const double begin = scene->knot_z + i * knot_distance, end = begin + knot_distance;
        const double change = (scene->curvature[i + 1] - scene->curvature[i]) / knot_distance;
        const double curvature = scene->curvature[i] + change * (at - begin), step = fmin(z, end) - at;
        x += step * (direction + step * (curvature / 2 + step * change / 6));
        direction += step * (curvature + step * change / 2);
        at = fmin(z, end);
    }
    return x;
}

double road_line_offset(const struct road_scene *scene, int line)
{
    static const double cycle_lane = 1.6;
    const int lane_line = line < scene->lanes ? line : scene->lanes;
    return (lane_line - scene->own - 0.5) * ROAD_LANE_WIDTH + (line - lane_line) * cycle_lane;
}

// Returns the width of a merging lane, 0 to 1 lane: it begins each 500 m, and ends 240 m later.
static double merging_width(double way)
{
    static const double every = 500, opened = 60, narrows = 120, closed = 240;
    const double at = way - floor(way / every) * every;
    if (at < narrows)
        return fmin(at / opened, 1);
    return fmax((closed - at) / (closed - narrows), 0);
}

double road_line_at(const struct road_scene *scene, int line, double z)
{
    const bool moves = scene->level == ROAD_MERGE && line == scene->lanes;
    return road_line_offset(scene, line) - (moves ? ROAD_LANE_WIDTH * (1 - merging_width(scene->way + z)) : 0);
}

// The car alternates between two lanes: it stays in one for 6 s, then changes to the other in 3 s.
static void change_lane(struct road_scene *scene)
{
    static const double hold = 6, change = 3;
    const int side = scene->own > 0 ? -1 : 1;
    const double at = fmod(scene->time, 2 * (hold + change)), turn = at < hold + change ? 1 : -1;
    const double u = fmin(fmax((turn > 0 ? at : at - hold - change) - hold, 0) / change, 1), way = u * u * (3 - 2 * u);
    const double lanes = turn > 0 ? way : 1 - way, moved = floor(lanes + 0.5);
    scene->own += side * (int)moved;
    scene->side += side * (lanes - moved) * ROAD_LANE_WIDTH;
    scene->heading += side * turn * 6 * u * (1 - u) / change * ROAD_LANE_WIDTH / ROAD_SPEED;
}

static void add_stripe(struct road_scene *scene, int line, double shift, double width, bool dashed)
{
    scene->stripe[scene->stripes++] = (struct road_stripe){
        .line = line,
        .offset = road_line_offset(scene, line) + shift,
        .width = width,
        .dashed = dashed,
        .yellow = line == 0 && (scene->level == ROAD_CONCRETE || road_unit(scene->seed, FOR_LINE, 0) < 0.3),
    };
}

// Outer lines are solid, inner lines are dashed. On a worn road, some lines are double.
static void set_lines(struct road_scene *scene)
{
    static const double twin_width = 0.09, twin_shift = 0.09, twin_share = 0.35;
    const uint32_t seed = scene->seed;
    scene->lanes = 2 + (int)(road_hash(seed, FOR_LANES, 0) % 3);
    scene->own = (int)(road_hash(seed, FOR_OWN, 0) % (uint32_t)scene->lanes);
    if (scene->level == ROAD_CHANGES)
        change_lane(scene);
    if (scene->level == ROAD_MERGE) {
        scene->own = scene->lanes - 1;
        scene->lanes++; // the merging lane is beside the own lane
    }
    scene->dash = 3.5 + 2.5 * road_unit(seed, FOR_DASH, 0);
    scene->period = 9 + 3 * road_unit(seed, FOR_DASH, 1);
    scene->lines = scene->lanes + 1 + (scene->level == ROAD_STREET);
    for (int line = 0; line < scene->lines && scene->level != ROAD_EMPTY; line++) {
        const bool outer = line == 0 || line >= scene->lanes;
        const double width = 0.14 + 0.06 * road_unit(seed, FOR_LINE, 1 + (uint32_t)line);
        if (scene->level == ROAD_WORN && road_unit(seed, FOR_LINE, 16 + (uint32_t)line) < twin_share) {
            add_stripe(scene, line, -twin_shift, twin_width, false);
            add_stripe(scene, line, twin_shift, twin_width, !outer);
        } else {
            add_stripe(scene, line, 0, width, !outer);
        }
    }
}

// One car per lane. Each drives at a changing distance, and sometimes on a line.
static void set_cars(struct road_scene *scene)
{
    scene->cars = scene->level == ROAD_CARS ? scene->lanes : 0;
    for (int i = 0; i < scene->cars; i++) {
        const uint32_t seed = road_hash(scene->seed, FOR_CAR, (uint32_t)i);
        const double noise = road_noise(seed, scene->time / 7, NULL), nearest = i == scene->own ? 12 : 8;
        const double sway = i == scene->own ? 0.4 : 1.2;
        struct road_car car = {.width = 1.8, .height = 1.45, .length = 4.3, .paint = road_hash(seed, 1, 0)};
        if (road_unit(seed, 0, 0) < 0.25) { // a truck
            car.width = 2.4;
            car.height = 3.2;
            car.length = 9;
        }
        car.offset = (i - scene->own) * ROAD_LANE_WIDTH + sway * road_noise(seed + 1, scene->time / 5, NULL);
        car.distance = nearest + 22 * (1 + noise);
        int at = i;
        for (; at > 0 && scene->car[at - 1].distance < car.distance; at--)
            scene->car[at] = scene->car[at - 1];
        scene->car[at] = car;
    }
}

static void set_camera(struct road_scene *scene, const struct road_spec *spec)
{
    double pitch = ROAD_CAMERA_PITCH, roll = 0;
    if (scene->level == ROAD_PITCH) {
        pitch += 1.3 * road_noise(road_hash(scene->seed, FOR_PITCH, 0), scene->time * 2.5, NULL);
        roll = 1.5 * road_noise(road_hash(scene->seed, FOR_ROLL, 0), scene->time * 1.5, NULL);
    }
    scene->focal = spec->width / 2.0 / tan(ROAD_CAMERA_FOV / 2 * degree);
    scene->centre_x = (spec->width - 1) / 2.0;
    scene->centre_y = (spec->height - 1) / 2.0;
    scene->sin_pitch = sin(pitch * degree);
    scene->cos_pitch = cos(pitch * degree);
    scene->sin_roll = sin(roll * degree);
    scene->cos_roll = cos(roll * degree);
}

void road_scene(const struct road_spec *spec, uint64_t frame, struct road_scene *scene)
{
    *scene = (struct road_scene){.level = spec->level, .seed = spec->seed, .frame = frame};
    scene->time = (double)frame / spec->rate;
    scene->way = scene->time * ROAD_SPEED;
    if (spec->level == ROAD_MIXED)
        scene->level = (enum road_level)(road_hash(spec->seed, FOR_MIX, (uint32_t)scene->time) % ROAD_CHANGES);
    set_camera(scene, spec);
    set_way(scene);
    set_lines(scene);
    set_cars(scene);
}

// ---- the camera ----

bool road_ground(const struct road_scene *scene, double px, double py, double *x, double *z)
{
    const double u = (px - scene->centre_x) / scene->focal, v = (py - scene->centre_y) / scene->focal;
    const double across = u * scene->cos_roll + v * scene->sin_roll, below = v * scene->cos_roll - u * scene->sin_roll;
    const double down = below * scene->cos_pitch + scene->sin_pitch;
    if (down <= 0)
        return false;
    *x = across * ROAD_CAMERA_HEIGHT / down;
    *z = (scene->cos_pitch - below * scene->sin_pitch) * ROAD_CAMERA_HEIGHT / down;
    return true;
}

void road_project(const struct road_scene *scene, double x, double up, double z, double *px, double *py)
{
    const double down = ROAD_CAMERA_HEIGHT - up;
    const double depth = z * scene->cos_pitch + down * scene->sin_pitch;
    const double across = x / depth, below = (down * scene->cos_pitch - z * scene->sin_pitch) / depth;
    *px = scene->centre_x + scene->focal * (across * scene->cos_roll - below * scene->sin_roll);
    *py = scene->centre_y + scene->focal * (across * scene->sin_roll + below * scene->cos_roll);
}

// ---- the truth ----

enum { STEPS = 40 };
static const double absent = -2, merged_at = 2.2; // metres

// Returns x of the line in a row; `absent` if it is not there, or too near its neighbour. A camera with roll sees
// several distances in one row, so the distance follows from x, and x from the distance: the steps converge.
static double find_x(const struct road_scene *scene, int line, int y)
{
    double px = scene->centre_x, x, z = 0;
    for (int i = 0; i < STEPS; i++) {
        if (!road_ground(scene, px, y, &x, &z) || z > 2 * ROAD_TRUTH_RANGE)
            return absent;
        const double depth = z * scene->cos_pitch + ROAD_CAMERA_HEIGHT * scene->sin_pitch;
        const double step = (road_middle(scene, z) + road_line_at(scene, line, z) - x) * scene->focal / depth;
        px += step;
        if (fabs(step) < 1e-7)
            break;
    }
    const bool merged = line > 0 && road_line_at(scene, line, z) - road_line_at(scene, line - 1, z) < merged_at;
    return z <= ROAD_TRUTH_RANGE && !merged ? px : absent;
}

void road_truth(const struct road_spec *spec, uint64_t frame, struct road_truth *truth)
{
    struct road_scene scene;
    road_scene(spec, frame, &scene);
    *truth = (struct road_truth){.lines = 0};
    for (int i = 0; i < ROAD_TRUTH_ROWS; i++)
        truth->y[i] = (16 + i) * spec->height / 72;
    for (int line = scene.own - 1; line <= scene.own + 2 && scene.stripes > 0; line++) {
        double *x = truth->x[truth->lines];
        bool any = false;
        if (line < 0 || line > scene.lanes)
            continue;
        for (int i = 0; i < ROAD_TRUTH_ROWS; i++) {
            x[i] = find_x(&scene, line, truth->y[i]);
            if (!(x[i] >= 0 && x[i] <= spec->width - 1))
                x[i] = absent;
            any = any || x[i] >= 0;
        }
        truth->lines += any;
    }
}
