// calibration.c: see calibration.h
#include "lane/calibration.h"

#include "base/alloc.h"
#include "base/file.h"
#include "lane/aim.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 65536, DIGITS = 12 };
static const double smallest_height = 2; // pixels, of a triangle of three points
static const double fraction = 100;      // points are multiples of 1/100 pixel, sizes of 1 cm
static const double size_step = 0.1;     // metres

const char *const calibration_names[CALIBRATION_VALUES] = {"near left", "near right", "far right", "far left",
                                                           "width",     "near",       "far"};

// ---- faults ----

// Returns why the points are no corners of a rectangle; NULL: they may be. Their order is not checked.
static const char *corners_fault(const double p[8])
{
    int turns = 0;
    for (int i = 0; i < CALIBRATION_POINTS; i++) {
        const double *a = &p[2 * i], *b = &p[2 * ((i + 1) % 4)], *c = &p[2 * ((i + 2) % 4)];
        const double area = (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
        const double side = fmax(hypot(b[0] - a[0], b[1] - a[1]),
                                 fmax(hypot(c[0] - b[0], c[1] - b[1]), hypot(c[0] - a[0], c[1] - a[1])));
        if (!(fabs(area) > smallest_height * side))
            return "three points are in a line";
        turns += area > 0 ? 1 : -1;
    }
    return abs(turns) < CALIBRATION_POINTS ? "two sides cross, or a corner points inwards" : NULL;
}

// Returns true if no corner of the bird's-eye view is behind the camera. It may be outside the picture.
static bool view_ahead(const struct lane_map *map)
{
    const int right = lane_view.columns - 1, bottom = lane_view.rows - 1;
    double at[2];
    return lane_map_apply(map->warp, 0, 0, at) && lane_map_apply(map->warp, right, 0, at) &&
           lane_map_apply(map->warp, right, bottom, at) && lane_map_apply(map->warp, 0, bottom, at);
}

static void check(struct calibration *calibration)
{
    const char *why = corners_fault(calibration->camera.points);
    calibration->fault[0] = '\0';
    if (!why &&
        lane_map_init(&calibration->map, &calibration->camera, calibration->width, calibration->height,
                      calibration->fault) &&
        !view_ahead(&calibration->map))
        why = lane_road_behind;
    if (why)
        snprintf(calibration->fault, LANE_ERROR, "%s", why);
}

// ---- points ----

static void set_point(struct calibration *calibration, int point, double x, double y)
{
    calibration->camera.points[2 * point] = round(x * fraction) / fraction;
    calibration->camera.points[2 * point + 1] = round(y * fraction) / fraction;
}

// Sets the points to the places in the picture of four points on the ground. Returns false if one has no place.
static bool set_corners(struct calibration *calibration, const struct lane_map *map, const double ground[4][2])
{
    for (int i = 0; i < CALIBRATION_POINTS; i++) {
        double at[2];
        if (!lane_map_apply(map->picture, ground[i][0], ground[i][1], at))
            return false;
        at[0] -= 0.5; // the lens counts from the centre of the first pixel
        at[1] -= 0.5;
        if (!lane_lens_apply(&map->lens, at))
            return false;
        set_point(calibration, i, at[0] + 0.5, at[1] + 0.5);
    }
    calibration->camera.has_points = true;
    return true;
}

// Sets the points to the corners of the rectangle on the road.
static bool points_of_angles(struct calibration *calibration, char error[LANE_ERROR])
{
    const struct lane_camera *camera = &calibration->camera;
    const double side = camera->width / 2;
    const double ground[4][2] = {
        {-side, camera->near}, {side, camera->near}, {side, camera->far}, {-side, camera->far}};
    struct lane_map map;
    if (!lane_map_init(&map, camera, calibration->width, calibration->height, error))
        return false;
    if (set_corners(calibration, &map, ground))
        return true;
    snprintf(error, LANE_ERROR, "the camera does not see the rectangle on the road; change the calibration");
    return false;
}

bool calibration_init(struct calibration *calibration, const struct lane_camera *camera, int width, int height,
                      char error[LANE_ERROR])
{
    *calibration = (struct calibration){.camera = *camera, .width = width, .height = height};
    if (!lane_camera_fit(&calibration->camera, width, height, error))
        return false;
    camera = &calibration->camera;
    if (camera->near >= camera->far) {
        snprintf(error, LANE_ERROR, "'near' must be less than 'far'; change the calibration");
        return false;
    }
    if (!camera->has_points && !points_of_angles(calibration, error))
        return false;
    check(calibration);
    return true;
}

// The search of the lines of one frame.
struct lane_search {
    struct lane_pipeline pipeline;
    struct lane_aim aim;
    struct lane_tracker tracker;
    struct lane_result result;
    uint32_t sums[LANE_STRIPS * LANE_COLUMNS_MAX];
};

static bool find_lines(struct lane_search *s, const struct image *frame)
{
    s->tracker = (struct lane_tracker){.known = false};
    if (!lane_pipeline_sums(&s->pipeline, frame, s->sums))
        return false;
    const struct lane_table table = lane_pipeline_table(&s->pipeline, s->sums);
    lane_track(&s->tracker, &table, &s->result, NULL);
    return s->result.left >= 0 && s->result.right >= 0;
}

bool calibration_find(struct calibration *calibration, const struct lane_camera *camera, double lane_width,
                      const struct image *frame, int threads)
{
    struct lane_search *s = xalloc(sizeof(*s)); // too large for the stack
    char why[LANE_ERROR];
    s->pipeline = (struct lane_pipeline){.camera = *camera, .settings = lane_settings_default};
    s->pipeline.setup.threads = threads;
    s->aim.lane_width = lane_width;
    bool found = lane_map_init(&s->pipeline.map, camera, calibration->width, calibration->height, why) &&
                 lane_aim_search(&s->aim, &s->pipeline, frame, &s->tracker) && find_lines(s, frame);
    if (found && lane_aim_height(&s->aim, &s->pipeline, &frame->shape, &s->result, &s->tracker, 1))
        found = find_lines(s, frame);
    if (found) {
        const struct lane_shape *shape = &s->result.shape;
        const double left = shape->line[s->result.left].offset, right = shape->line[s->result.right].offset;
        const double z[2] = {camera->near, camera->far};
        const double ground[4][2] = {{lane_x(shape, left, z[0]), z[0]},
                                     {lane_x(shape, right, z[0]), z[0]},
                                     {lane_x(shape, right, z[1]), z[1]},
                                     {lane_x(shape, left, z[1]), z[1]}};
        calibration->camera.width = round((right - left) * fraction) / fraction;
        found = set_corners(calibration, &s->pipeline.map, ground);
        check(calibration);
    }
    lane_pipeline_close(&s->pipeline);
    free(s);
    return found;
}

void calibration_move(struct calibration *calibration, int point, double x, double y)
{
    set_point(calibration, point, fmin(fmax(x, 0), calibration->width), fmin(fmax(y, 0), calibration->height));
    check(calibration);
}

void calibration_resize(struct calibration *calibration, int value, int steps)
{
    struct lane_camera camera = calibration->camera;
    const double sizes[CALIBRATION_SIZES] = {camera.width, camera.near, camera.far};
    const double size = sizes[value - CALIBRATION_POINTS] + steps * size_step;
    char why[LANE_ERROR];
    json_t *number = json_real(round(size * fraction) / fraction);
    if (lane_camera_set(&camera, calibration_names[value], number, why) && camera.near < camera.far)
        calibration->camera = camera;
    json_decref(number);
    check(calibration);
}

void calibration_place(const struct calibration *calibration, int point, double place[2])
{
    const double *at = &calibration->camera.points[2 * point];
    place[0] = fmin(fmax(at[0], 0), calibration->width);
    place[1] = fmin(fmax(at[1], 0), calibration->height);
}

int calibration_nearest(const struct calibration *calibration, double x, double y, double reach)
{
    int nearest = -1;
    for (int i = 0; i < CALIBRATION_POINTS; i++) {
        double place[2];
        calibration_place(calibration, i, place);
        const double distance = hypot(place[0] - x, place[1] - y);
        if (distance > reach)
            continue;
        reach = distance;
        nearest = i;
    }
    return nearest;
}

// ---- the file ----

const struct lane_settings lane_settings_default = {.contrast = 2, .smoothing = 0.4};

struct lane_config lane_config_default(void)
{
    return (struct lane_config){.camera = lane_camera_default(), .settings = lane_settings_default};
}

struct key {
    const char *name;
    size_t offset;
    double min, max;
};
#define AT(member) offsetof(struct lane_settings, member)
static const struct key keys[] = {
    {"contrast", AT(contrast), 1, 1000},
    {"smoothing", AT(smoothing), 0, 0.95},
};
enum { KEYS = sizeof(keys) / sizeof(*keys) };

static bool set_key(struct lane_settings *settings, const struct key *key, const json_t *value, char error[LANE_ERROR])
{
    const double number = json_is_number(value) ? json_number_value(value) : (double)NAN;
    memcpy((char *)settings + key->offset, &number, sizeof(number));
    if (number >= key->min && number <= key->max)
        return true;
    snprintf(error, LANE_ERROR, "%s must be a number from %g to %g", key->name, key->min, key->max);
    return false;
}

static bool set_member(struct lane_config *config, const char *name, const json_t *value, char error[LANE_ERROR])
{
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(name, keys[i].name) == 0)
            return set_key(&config->settings, &keys[i], value, error);
    }
    return lane_camera_set(&config->camera, name, value, error);
}

// Returns the object in the file. NULL on failure.
static json_t *read_object(const char *path, char error[LANE_ERROR])
{
    char *text = file_read_text(path, FILE_LIMIT);
    if (!text) {
        snprintf(error, LANE_ERROR, "cannot read it: %s", file_read_error());
        return NULL;
    }
    json_error_t place;
    json_t *object = json_loads(text, JSON_REJECT_DUPLICATES, &place);
    free(text);
    if (json_is_object(object))
        return object;
    if (object)
        snprintf(error, LANE_ERROR, "it must be a JSON object such as {\"height\": 1.4, \"pitch\": 4, \"fov\": 62}");
    else
        snprintf(error, LANE_ERROR, "line %d: %s", place.line, place.text);
    json_decref(object);
    return NULL;
}

bool lane_config_read(struct lane_config *config, const char *path, char error[LANE_ERROR])
{
    json_t *object = read_object(path, error), *value;
    const char *name;
    bool ok = object;
    json_object_foreach(object, name, value)
    {
        ok = ok && set_member(config, name, value, error);
    }
    json_decref(object);
    return ok;
}

static bool set_members(json_t *object, const struct lane_camera *camera)
{
    json_t *points = json_array();
    bool ok = points != NULL;
    for (int i = 0; i < 2 * CALIBRATION_POINTS; i++)
        ok = json_array_append_new(points, json_real(camera->points[i])) == 0 && ok;
    ok = json_object_set_new(object, "points", points) == 0 && ok;
    ok = json_object_set_new(object, "size", json_pack("[i,i]", camera->size[0], camera->size[1])) == 0 && ok;
    if (lane_lens_bends(&camera->lens)) // the file's may be of another size
        ok = json_object_set_new(object, "lens", json_string(camera->lens.text)) == 0 && ok;
    ok = json_object_set_new(object, "width", json_real(camera->width)) == 0 && ok;
    ok = json_object_set_new(object, "near", json_real(camera->near)) == 0 && ok;
    return json_object_set_new(object, "far", json_real(camera->far)) == 0 && ok;
}

// Writes the object if it is complete, and frees it.
static bool write_object(json_t *object, bool complete, const char *path, char error[LANE_ERROR])
{
    char *text = complete ? json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) : NULL;
    json_decref(object);
    const size_t size = text ? strlen(text) : 0;
    if (text)
        text[size] = '\n'; // in place of the NUL: the file's text ends with a newline
    const bool ok = text && file_write_atomic(path, text, size + 1);
    if (!ok)
        snprintf(error, LANE_ERROR, "cannot write it: %s", text ? strerror(errno) : "out of memory");
    free(text);
    return ok;
}

bool calibration_write(const struct calibration *calibration, const char *path, char error[LANE_ERROR])
{
    if (calibration->fault[0]) {
        snprintf(error, LANE_ERROR, "%s", calibration->fault);
        return false;
    }
    json_t *object = access(path, F_OK) == 0 ? read_object(path, error) : json_object();
    return object && write_object(object, set_members(object, &calibration->camera), path, error);
}

bool calibration_keep(double pitch, double yaw, double height, const char *path, char error[LANE_ERROR])
{
    json_t *object = read_object(path, error);
    bool ok = object && json_object_set_new(object, "pitch", json_real(round(pitch * 100) / 100)) == 0 &&
              json_object_set_new(object, "yaw", json_real(round(yaw * 100) / 100)) == 0;
    if (ok && height > 0)
        ok = json_object_set_new(object, "height", json_real(round(height * 100) / 100)) == 0;
    return object && write_object(object, ok, path, error);
}
