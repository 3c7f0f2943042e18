// lane_camera.c: the camera's calibration and lens, the map between ground and picture, and lines in the picture
#include "lane/lane_camera.h"

#include "base/alloc.h"
#include "base/file.h"
#include "filter/chain.h"
#include "filter/warp.h"
#include "image/image.h"
#include "lane/pipeline.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINT_NUMBERS = 8, TEXT = 1024 };

static const double pi = 3.14159265358979323846;

const struct lane_view lane_view = {.columns = 320, .rows = 400, .across = 16, .near = 4, .far = 60};

// A number of the calibration: a key of --camera and of the file.
struct key {
    const char *name;
    size_t offset;
    double min, max;
};
#define AT(member) offsetof(struct lane_camera, member)
static const struct key camera_keys[] = {
    {"height", AT(height), 0.2, 10}, {"pitch", AT(pitch), -30, 80}, {"fov", AT(fov), 5, 170},
    {"roll", AT(roll), -45, 45},     {"yaw", AT(yaw), -30, 30},     {"width", AT(width), 0.5, 50},
    {"near", AT(near), 0.5, 200},    {"far", AT(far), 1, 500},      {0},
};
static const struct key settings_keys[] = {
    {"contrast", offsetof(struct lane_settings, contrast), 1, 1000},
    {"smoothing", offsetof(struct lane_settings, smoothing), 0, 0.95},
    {0},
};

struct lane_camera lane_camera_default(void)
{
    return (struct lane_camera){.height = 1.4, .pitch = 4, .fov = 62, .width = 3.6, .near = 5, .far = 30};
}

// ---- the lens ----

enum { REACH_STEPS = 1000, ROUNDS = 40 };
static const double reach_step = 0.01;
static const double difference = 1e-6; // for derivatives
static const double exact = 1e-3;      // pixels

// Returns the distance from the axis up to which the distorted distance grows.
static double find_reach(const struct lens *lens)
{
    struct lens plain = *lens;
    plain.focal_x = plain.focal_y = 1;
    plain.centre_x = plain.centre_y = 0;
    if (plain.model == LENS_RADIAL)
        plain.term[2] = plain.term[3] = 0; // p1 and p2 are small
    double last = 0;
    for (int i = 1; i <= REACH_STEPS; i++) {
        double point[2] = {i * reach_step, 0};
        lens_distort(&plain, point);
        if (!(point[0] > last))
            return (i - 1) * reach_step;
        last = point[0];
    }
    return REACH_STEPS * reach_step;
}

bool lane_lens_parse(struct lane_lens *lens, const char *text, char *error, size_t size)
{
    char line[LANE_LENS_TEXT + 16], why[CHAIN_ERROR];
    struct chain *chain = xmalloc(sizeof(*chain)); // too large for the stack
    *lens = (struct lane_lens){.text = ""};
    snprintf(line, sizeof(line), "undistort=%s", text);
    bool ok = strlen(text) < sizeof(lens->text) && chain_parse(chain, line, why);
    if (ok && (chain->count != 1 || strcmp(chain->stage[0].filter->name, "undistort") != 0)) {
        snprintf(why, sizeof(why), "only one filter is possible");
        ok = false;
    }
    if (ok) {
        const struct stage *stage = &chain->stage[0];
        memcpy(lens->text, text, strlen(text) + 1);
        stage->filter->warp->map(&stage->values, 1, 1, &lens->map);
        lens->reach = find_reach(&lens->map.lens);
    } else {
        snprintf(error, size, "lens must have arguments of the undistort filter: %s",
                 strlen(text) < sizeof(lens->text) ? why : "the text is too long");
    }
    free(chain);
    return ok;
}

bool lane_lens_bends(const struct lane_lens *lens)
{
    return lens->map.lens.model != LENS_NONE;
}

bool lane_lens_apply(const struct lane_lens *lens, double point[2])
{
    const double *m = lens->map.matrix;
    if (!lane_lens_bends(lens))
        return true;
    point[0] = m[0] * point[0] + m[2];
    point[1] = m[4] * point[1] + m[5];
    const bool shown = hypot(point[0], point[1]) <= lens->reach;
    lens_distort(&lens->map.lens, point);
    return shown;
}

// Newton's method on the plane, from the place that a lens without distortion has.
bool lane_lens_remove(const struct lane_lens *lens, double point[2])
{
    const struct lens *to = &lens->map.lens;
    const double *m = lens->map.matrix;
    if (!lane_lens_bends(lens))
        return true;
    double a = (point[0] - to->centre_x) / to->focal_x, b = (point[1] - to->centre_y) / to->focal_y;
    double error[2] = {INFINITY, INFINITY};
    for (int i = 0; i < ROUNDS; i++) {
        double at[2] = {a, b}, right[2] = {a + difference, b}, down[2] = {a, b + difference};
        lens_distort(to, at);
        lens_distort(to, right);
        lens_distort(to, down);
        error[0] = point[0] - at[0];
        error[1] = point[1] - at[1];
        if (hypot(error[0], error[1]) < exact)
            break;
        const double xa = (right[0] - at[0]) / difference, xb = (down[0] - at[0]) / difference;
        const double ya = (right[1] - at[1]) / difference, yb = (down[1] - at[1]) / difference;
        const double area = xa * yb - xb * ya;
        a += (error[0] * yb - error[1] * xb) / area;
        b += (error[1] * xa - error[0] * ya) / area;
    }
    point[0] = (a - m[2]) / m[0];
    point[1] = (b - m[5]) / m[4];
    return hypot(error[0], error[1]) < exact && hypot(a, b) <= lens->reach;
}

// ---- values ----

static const struct key *find_key(const struct key *keys, const char *name)
{
    for (; keys->name; keys++) {
        if (strcmp(keys->name, name) == 0)
            return keys;
    }
    return NULL;
}

static double number_of(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// Sets the key's member of the struct.
static bool set_number(void *to, const struct key *key, double number, char error[LANE_ERROR])
{
    memcpy((char *)to + key->offset, &number, sizeof(number));
    if (number >= key->min && number <= key->max)
        return true;
    snprintf(error, LANE_ERROR, "%s must be a number from %g to %g", key->name, key->min, key->max);
    return false;
}

static bool set_key(struct lane_camera *camera, const char *name, const json_t *value, char error[LANE_ERROR])
{
    const struct key *key = find_key(camera_keys, name);
    if (!key) {
        snprintf(error, LANE_ERROR,
                 "there is no key '%.60s'; the keys are height, pitch, fov, roll, yaw, width, near and far, "
                 "in a file also points, lens, size, contrast and smoothing",
                 name);
        return false;
    }
    camera->has_height = camera->has_height || key->offset == AT(height);
    camera->has_pitch = camera->has_pitch || key->offset == AT(pitch);
    return set_number(camera, key, number_of(value), error);
}

static bool set_points(struct lane_camera *camera, const json_t *array, char error[LANE_ERROR])
{
    bool ok = json_array_size(array) == POINT_NUMBERS;
    for (size_t i = 0; ok && i < POINT_NUMBERS; i++) {
        const json_t *value = json_array_get(array, i);
        camera->points[i] = json_number_value(value);
        ok = json_is_number(value) && fabs(camera->points[i]) <= 1e5;
    }
    camera->has_points = true;
    if (!ok)
        snprintf(error, LANE_ERROR,
                 "points must be 8 numbers: x,y of the near left, near right, far right and far left point in pixels");
    return ok;
}

bool lane_camera_parse(struct lane_camera *camera, const char *text, char error[LANE_ERROR])
{
    while (*text) {
        char item[TEXT];
        const size_t length = strcspn(text, ",");
        snprintf(item, sizeof(item), "%.*s", (int)(length < TEXT ? length : TEXT - 1), text);
        text += length + (text[length] == ',');
        char *equals = strchr(item, '=');
        if (equals)
            *equals = '\0';
        // jansson reads numbers in any locale and knows no NaN.
        json_t *value = equals ? json_loads(equals + 1, JSON_DECODE_ANY, NULL) : NULL;
        const bool ok = set_key(camera, item, value, error);
        json_decref(value);
        if (!ok)
            return false;
    }
    return true;
}

bool lane_camera_parse_points(struct lane_camera *camera, const char *text, char error[LANE_ERROR])
{
    char list[TEXT];
    snprintf(list, sizeof(list), "[%s]", text);
    json_t *array = json_loads(list, 0, NULL);
    const bool ok = set_points(camera, array, error);
    camera->framed = true;
    json_decref(array);
    return ok;
}

static bool set_lens(struct lane_camera *camera, const json_t *value, char error[LANE_ERROR])
{
    if (json_is_string(value))
        return lane_lens_parse(&camera->lens, json_string_value(value), error, LANE_ERROR);
    snprintf(error, LANE_ERROR, "lens must be a text: the arguments of the undistort filter");
    return false;
}

static bool set_size(struct lane_camera *camera, const json_t *array, char error[LANE_ERROR])
{
    bool ok = json_array_size(array) == 2;
    for (size_t i = 0; ok && i < 2; i++) {
        const json_int_t side = json_integer_value(json_array_get(array, i));
        camera->size[i] = side <= IMAGE_MAX_SIDE ? (int)side : 0;
        ok = camera->size[i] > 0;
    }
    if (!ok)
        snprintf(error, LANE_ERROR, "size must be two numbers: width and height of the pictures in pixels");
    return ok;
}

// Scales the focal lengths and the centre, which counts from the centre of the first pixel.
static bool scale_lens(struct lane_lens *lens, const double scale[2], char error[LANE_ERROR])
{
    const struct lens *from = &lens->map.lens;
    const bool radial = from->model == LENS_RADIAL;
    char text[2 * LANE_LENS_TEXT];
    int used = snprintf(text, LANE_LENS_TEXT, "%.4f %.4f %.4f %.4f", from->focal_x * scale[0], from->focal_y * scale[1],
                        (from->centre_x + 0.5) * scale[0] - 0.5, (from->centre_y + 0.5) * scale[1] - 0.5);
    for (int i = 0; i < (radial ? 5 : 4); i++)
        used += snprintf(text + used, 32, " %.9g", (double)from->term[i]);
    snprintf(text + used, LANE_LENS_TEXT, ":%s:%.6g", radial ? "radial" : "fisheye",
             1 / (lens->map.matrix[0] * from->focal_x));
    return lane_lens_parse(lens, text, error, LANE_ERROR);
}

bool lane_camera_fit(struct lane_camera *camera, int width, int height, char error[LANE_ERROR])
{
    const int from[2] = {camera->size[0], camera->size[1]}, to[2] = {width, height};
    const bool points = camera->has_points && !camera->framed, bends = lane_lens_bends(&camera->lens);
    memcpy(camera->size, to, sizeof(to));
    if (from[0] == 0 || (from[0] == width && from[1] == height) || (!points && !bends))
        return true;
    if (fabs((double)from[1] * width / from[0] - height) > 1) {
        snprintf(error, LANE_ERROR, "the calibration is for frames of %dx%d, another aspect ratio; calibrate again",
                 from[0], from[1]);
        return false;
    }
    const double scale[2] = {(double)width / from[0], (double)height / from[1]};
    for (int i = 0; points && i < POINT_NUMBERS; i++)
        camera->points[i] *= scale[i % 2];
    return !bends || scale_lens(&camera->lens, scale, error);
}

// ---- matrices ----

static void multiply(double result[9], const double a[9], const double b[9])
{
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            double sum = 0;
            for (int i = 0; i < 3; i++)
                sum += a[3 * row + i] * b[3 * i + column];
            result[3 * row + column] = sum;
        }
}

bool lane_map_apply(const double matrix[9], double x, double y, double result[2])
{
    const double w = matrix[6] * x + matrix[7] * y + matrix[8];
    if (!(w > 1e-9))
        return false;
    result[0] = (matrix[0] * x + matrix[1] * y + matrix[2]) / w;
    result[1] = (matrix[3] * x + matrix[4] * y + matrix[5]) / w;
    return true;
}

static void map_of_angles(double matrix[9], const struct lane_camera *camera, int width, int height)
{
    const double *plane = camera->lens.map.matrix;
    double fx = width / 2.0 / tan(camera->fov * pi / 360), fy = fx, cx = width / 2.0, cy = height / 2.0;
    if (lane_lens_bends(&camera->lens)) {
        fx = 1 / plane[0];
        fy = 1 / plane[4];
        cx = 0.5 - fx * plane[2];
        cy = 0.5 - fy * plane[5];
    }
    const double pitch = camera->pitch * pi / 180, roll = camera->roll * pi / 180, yaw = camera->yaw * pi / 180;
    // Rows: right, down and forward of a point on the ground, for a camera without roll.
    const double level[9] = {1, 0,           0,                           //
                             0, -sin(pitch), camera->height * cos(pitch), //
                             0, cos(pitch),  camera->height * sin(pitch)};
    const double lens[9] = {fx * cos(roll),  fx * sin(roll), cx, //
                            -fy * sin(roll), fy * cos(roll), cy, 0, 0, 1};
    const double turned[9] = {cos(yaw), -sin(yaw), 0, sin(yaw), cos(yaw), 0, 0, 0, 1};
    double ahead[9];
    multiply(ahead, level, turned);
    multiply(matrix, lens, ahead);
}

// Solves the n x n system in place by elimination with pivots. Returns false if it has no single solution.
static bool solve(int n, double a[][POINT_NUMBERS + 1])
{
    for (int i = 0; i < n; i++) {
        int pivot = i;
        for (int row = i + 1; row < n; row++)
            pivot = fabs(a[row][i]) > fabs(a[pivot][i]) ? row : pivot;
        if (!(fabs(a[pivot][i]) > 1e-9))
            return false;
        for (int k = 0; k <= n; k++) {
            const double swap = a[i][k];
            a[i][k] = a[pivot][k];
            a[pivot][k] = swap;
        }
        for (int row = 0; row < n; row++) {
            const double factor = row == i ? 0 : a[row][i] / a[i][i];
            for (int k = i; k <= n; k++)
                a[row][k] -= factor * a[i][k];
        }
    }
    for (int i = 0; i < n; i++)
        a[i][n] /= a[i][i];
    return true;
}

// Finds the matrix that maps the corners of the rectangle to the points. Its distances count from the near side during
// the solution, because the last element, which is 1, could otherwise be 0.
static bool map_of_points(double matrix[9], const struct lane_camera *camera, const double p[8])
{
    const double side = camera->width / 2, depth = camera->far - camera->near;
    const double ground[4][2] = {{-side, 0}, {side, 0}, {side, depth}, {-side, depth}};
    const double shift[9] = {1, 0, 0, 0, 1, -camera->near, 0, 0, 1};
    double solution[9];
    double a[POINT_NUMBERS][POINT_NUMBERS + 1];
    for (int i = 0; i < 4; i++) {
        const double gx = ground[i][0], gz = ground[i][1], x = p[2 * i], y = p[2 * i + 1];
        const double first[] = {gx, gz, 1, 0, 0, 0, -x * gx, -x * gz, x};
        const double second[] = {0, 0, 0, gx, gz, 1, -y * gx, -y * gz, y};
        memcpy(a[2 * i], first, sizeof(first));
        memcpy(a[2 * i + 1], second, sizeof(second));
    }
    if (!solve(POINT_NUMBERS, a))
        return false;
    for (int i = 0; i < POINT_NUMBERS; i++)
        solution[i] = a[i][POINT_NUMBERS];
    solution[8] = 1;
    multiply(matrix, solution, shift);
    return true;
}

// Returns true if the four points are the corners of a convex shape, in the order of the rectangle.
static bool points_convex(const double p[8])
{
    for (int i = 0; i < 4; i++) {
        const double *a = &p[2 * i], *b = &p[2 * ((i + 1) % 4)], *c = &p[2 * ((i + 2) % 4)];
        if (!((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) < -1))
            return false;
    }
    return true;
}

// Writes the points as they are in the picture without distortion. Returns false if the lens shows nothing there.
static bool points_without_lens(const struct lane_camera *camera, double p[8])
{
    bool ok = true;
    for (int i = 0; i < 8; i += 2) {
        p[i] = camera->points[i] - 0.5;
        p[i + 1] = camera->points[i + 1] - 0.5;
        ok = lane_lens_remove(&camera->lens, p + i) && ok;
        p[i] += 0.5;
        p[i + 1] += 0.5;
    }
    return ok;
}

// ---- the map ----

const char lane_road_behind[] = "the road is behind the camera";

// Returns a reason why the matrix does not show the view as a road ahead of the camera; NULL: it does.
static const char *map_fault(const double matrix[9], int width, int height)
{
    double left[2], right[2], far[2], middle[2];
    const double side = lane_view.across / 4, between = (lane_view.near + lane_view.far) / 2;
    for (int i = 0; i < 4; i++) { // the corners of the view
        const double x = (i % 2 ? 1 : -1) * lane_view.across / 2;
        if (!lane_map_apply(matrix, x, i < 2 ? lane_view.near : lane_view.far, middle))
            return lane_road_behind;
    }
    if (!lane_map_apply(matrix, -side, lane_view.near, left) || !lane_map_apply(matrix, side, lane_view.near, right) ||
        !lane_map_apply(matrix, 0, lane_view.far, far) || !lane_map_apply(matrix, 0, between, middle))
        return lane_road_behind;
    if (!(far[1] < left[1] && far[1] < right[1] && left[0] < right[0]))
        return "the camera is upside down: the far road must be above the near road";
    if (!(middle[0] > 0 && middle[0] < width && middle[1] > 0 && middle[1] < height))
        return "the camera does not see the road ahead";
    return NULL;
}

bool lane_map_init(struct lane_map *map, const struct lane_camera *camera, int width, int height,
                   char error[LANE_ERROR])
{
    const char *why = NULL;
    double points[POINT_NUMBERS];
    map->lens = camera->lens;
    if (!camera->has_points)
        map_of_angles(map->picture, camera, width, height);
    else if (camera->near >= camera->far)
        why = "'near' must be less than 'far'";
    else if (!points_without_lens(camera, points))
        why = "a point is outside the lens";
    else if (!points_convex(points) || !map_of_points(map->picture, camera, points))
        why = "the points must be the corners near left, near right, far right, far left of a rectangle on the road";
    why = why ? why : map_fault(map->picture, width, height);
    if (why) {
        snprintf(error, LANE_ERROR, "%s; change the calibration", why);
        return false;
    }
    const double across = lane_view.across / lane_view.columns,
                 along = (lane_view.far - lane_view.near) / lane_view.rows;
    const double ground[9] = {across, 0,      (across - lane_view.across) / 2, //
                              0,      -along, lane_view.far - along / 2,       //
                              0,      0,      1};
    const double centre[9] = {1, 0, -0.5, 0, 1, -0.5, 0, 0, 1};
    double edges[9];
    multiply(edges, map->picture, ground);
    multiply(map->warp, centre, edges);
    return true;
}

// ---- lines in the picture ----

void lane_samples(int height, int y[LANE_SAMPLES])
{
    for (int i = 0; i < LANE_SAMPLES; i++)
        y[i] = (16 + i) * height / 72;
}

void lane_to_picture(const struct lane_map *map, const struct lane_shape *shape, double offset, int width, int rows,
                     const int y[], double x[])
{
    enum { STEPS = 200 };
    static const double first_z = 2, last_z = 62; // metres: farther parts of a line are not reported
    double before[2] = {0, 0}, point[2];
    bool valid = false;
    for (int i = 0; i < rows; i++)
        x[i] = LANE_ABSENT;
    const double *term = shape->term;
    double matrix[9];
    for (int i = 0; i < 9; i++)
        matrix[i] = map->picture[i] - (i % 3 == 1 ? term[LANE_SPREAD] * map->picture[i + 1] : 0);
    for (int step = 0; step <= STEPS; step++) {
        const double z = first_z * pow(last_z / first_z, (double)step / STEPS);
        const double x_of_z = offset + z * (term[LANE_HEADING] + z * (term[LANE_BEND] / 2 + z * term[LANE_TWIST] / 6));
        const bool before_valid = valid;
        valid = lane_map_apply(matrix, x_of_z, z, point);
        point[0] -= 0.5; // rows and columns count from the middle of the first pixel
        point[1] -= 0.5;
        valid = valid && lane_lens_apply(&map->lens, point);
        for (int i = 0; i < rows && valid && before_valid; i++) {
            if (y[i] > before[1] || y[i] <= point[1])
                continue;
            const double x_of_row = before[0] + (point[0] - before[0]) * (before[1] - y[i]) / (before[1] - point[1]);
            if (x_of_row >= 0 && x_of_row < width)
                x[i] = x_of_row;
        }
        before[0] = point[0];
        before[1] = point[1];
    }
}

// ---- the file of --config, and the four points while the user moves them ----

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

static void check(struct calibration *calibration)
{
    const char *why = corners_fault(calibration->camera.points);
    snprintf(calibration->fault, LANE_ERROR, "%s", why ? why : "");
    if (!why)
        lane_map_init(&calibration->map, &calibration->camera, calibration->width, calibration->height,
                      calibration->fault);
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
        struct calibration moved = *calibration;
        moved.camera.width = round((right - left) * fraction) / fraction;
        found = set_corners(&moved, &s->pipeline.map, ground);
        check(&moved);
        *calibration = found ? moved : *calibration;
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
    const struct key *key = find_key(camera_keys, calibration_names[value]);
    if (set_number(&camera, key, round(size * fraction) / fraction, why) && camera.near < camera.far)
        calibration->camera = camera;
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

static bool set_member(struct lane_config *config, const char *name, const json_t *value, char error[LANE_ERROR])
{
    const struct key *key = find_key(settings_keys, name);
    if (key)
        return set_number(&config->settings, key, number_of(value), error);
    if (strcmp(name, "size") == 0)
        return set_size(&config->camera, value, error);
    if (strcmp(name, "points") == 0)
        return set_points(&config->camera, value, error);
    if (strcmp(name, "lens") == 0)
        return set_lens(&config->camera, value, error);
    return set_key(&config->camera, name, value, error);
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

static void set_members(json_t *object, const struct lane_camera *camera)
{
    json_t *points = json_array();
    for (int i = 0; i < 2 * CALIBRATION_POINTS; i++)
        json_array_append_new(points, json_real(camera->points[i]));
    json_object_set_new(object, "points", points);
    json_object_set_new(object, "size", json_pack("[i,i]", camera->size[0], camera->size[1]));
    if (lane_lens_bends(&camera->lens)) // the file's may be of another size
        json_object_set_new(object, "lens", json_string(camera->lens.text));
    json_object_set_new(object, "width", json_real(camera->width));
    json_object_set_new(object, "near", json_real(camera->near));
    json_object_set_new(object, "far", json_real(camera->far));
}

// Writes the object, and frees it.
static bool write_object(json_t *object, const char *path, char error[LANE_ERROR])
{
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
    json_decref(object);
    const size_t size = strlen(text);
    text[size] = '\n'; // in place of the NUL: the file's text ends with a newline
    const bool ok = file_write_atomic(path, text, size + 1);
    if (!ok)
        snprintf(error, LANE_ERROR, "cannot write it: %s", strerror(errno));
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
    if (!object)
        return false;
    set_members(object, &calibration->camera);
    return write_object(object, path, error);
}

bool calibration_keep(double pitch, double yaw, double height, const char *path, char error[LANE_ERROR])
{
    json_t *object = read_object(path, error);
    if (!object)
        return false;
    json_object_set_new(object, "pitch", json_real(round(pitch * 100) / 100));
    json_object_set_new(object, "yaw", json_real(round(yaw * 100) / 100));
    if (height > 0)
        json_object_set_new(object, "height", json_real(round(height * 100) / 100));
    return write_object(object, path, error);
}
