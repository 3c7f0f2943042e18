// test_lane_camera.c: calibrations, and the way from the ground to the picture and back
#include "lane/lane_camera.h"
#include "scratch.h"
#include "unit.h"

#include <math.h>

enum { WIDTH = 1280, HEIGHT = 720 };

static char error[LANE_ERROR];

static bool parse(struct lane_camera *camera, const char *text)
{
    *camera = lane_camera_default();
    error[0] = '\0';
    return lane_camera_parse(camera, text, error);
}

static bool parse_points(struct lane_camera *camera, const char *text)
{
    *camera = lane_camera_default();
    error[0] = '\0';
    return lane_camera_parse_points(camera, text, error);
}

// A camera that looks straight ahead sees a point one height below the horizon at 45 degrees.
static void test_angles(void)
{
    struct lane_camera camera;
    struct lane_map map;
    double at[2];
    CHECK(parse(&camera, "height=2,pitch=0,fov=90"));
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK(lane_map_apply(map.picture, 0, 4, at));
    CHECK(fabs(at[0] - 640) < 1e-6 && fabs(at[1] - (360 + 640 * 2 / 4.0)) < 1e-6);
    CHECK(lane_map_apply(map.picture, 4, 8, at));
    CHECK(fabs(at[0] - (640 + 320)) < 1e-6 && fabs(at[1] - (360 + 160)) < 1e-6);
    CHECK(!lane_map_apply(map.picture, 0, -1, at));
    // A camera that is turned clockwise sees the right side of the road higher.
    double left[2], right[2];
    CHECK(parse(&camera, "roll=5"));
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK(lane_map_apply(map.picture, -2, 10, left) && lane_map_apply(map.picture, 2, 10, right));
    CHECK(right[1] < left[1]);
}

// Four points of a camera's picture give the same map as its angles.
static void test_points(void)
{
    static const char *const angles[] = {"height=1.4,pitch=4,fov=62", "height=1.4,pitch=0", "pitch=-1",
                                         "roll=3,pitch=6"};
    for (int i = 0; i < 4; i++) {
        struct lane_camera camera, same;
        struct lane_map map, other;
        double p[8];
        char text[256];
        CHECK(parse(&camera, angles[i]));
        CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
        CHECK(lane_map_apply(map.picture, -1.8, 5, &p[0]) && lane_map_apply(map.picture, 1.8, 5, &p[2]));
        CHECK(lane_map_apply(map.picture, 1.8, 30, &p[4]) && lane_map_apply(map.picture, -1.8, 30, &p[6]));
        snprintf(text, sizeof(text), "%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f", p[0], p[1], p[2], p[3], p[4], p[5],
                 p[6], p[7]);
        CHECK(parse_points(&same, text));
        CHECK(lane_map_init(&other, &same, WIDTH, HEIGHT, error));
        for (double z = 4; z < 100; z *= 2) {
            double a[2], b[2];
            CHECK(lane_map_apply(map.picture, 2, z, a) && lane_map_apply(other.picture, 2, z, b));
            CHECK(fabs(a[0] - b[0]) < 1e-3 && fabs(a[1] - b[1]) < 1e-3);
        }
    }
}

// The centre of a pixel of the bird's-eye picture shows its point of the ground.
static void test_warp(void)
{
    struct lane_camera camera = lane_camera_default();
    struct lane_map map;
    double pixel[2], ground[2];
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    const double x = (10 + 0.5) * lane_view.across / lane_view.columns - lane_view.across / 2;
    const double z = lane_view.far - (300 + 0.5) * (lane_view.far - lane_view.near) / lane_view.rows;
    CHECK(lane_map_apply(map.warp, 10, 300, pixel) && lane_map_apply(map.picture, x, z, ground));
    CHECK(fabs(pixel[0] + 0.5 - ground[0]) < 1e-6 && fabs(pixel[1] + 0.5 - ground[1]) < 1e-6);
}

// A straight line in the picture's rows lies on the straight line between two of its points.
static void test_picture(void)
{
    struct lane_camera camera = lane_camera_default();
    struct lane_map map;
    struct lane_shape shape = {.lines = 0};
    int y[LANE_SAMPLES];
    double x[LANE_SAMPLES], near[2], far[2];
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    lane_samples(HEIGHT, y);
    CHECK(y[0] == 160 && y[LANE_SAMPLES - 1] == 710);
    lane_to_picture(&map, &shape, 1.7, WIDTH, LANE_SAMPLES, y, x);
    CHECK(lane_map_apply(map.picture, 1.7, 5, near) && lane_map_apply(map.picture, 1.7, 50, far));
    int present = 0;
    for (int i = 0; i < LANE_SAMPLES; i++) {
        const double want = near[0] + (far[0] - near[0]) * (near[1] - y[i]) / (near[1] - far[1]);
        CHECK(x[i] == LANE_ABSENT || fabs(x[i] - want) < 0.5);
        CHECK(x[i] == LANE_ABSENT || (x[i] >= 0 && x[i] < WIDTH));
        CHECK(y[i] > 280 || x[i] == LANE_ABSENT); // above the horizon
        present += x[i] != LANE_ABSENT;
    }
    CHECK(present >= 35);
}

// A lens with distortion moves points as OpenCV's formula does, and the way back undoes it.
static void test_lens(void)
{
    static const char *const lenses[] = {"1000 1100 630 350 -0.3 0.1 1e-3 -2e-3",
                                         "1000 1100 630 350 0.2 0 0 0:zoom=0.5",
                                         "1000 1100 630 350 -0.2 0 0 0:fisheye:0.7"};
    for (int i = 0; i < 3; i++) {
        struct lane_lens lens;
        CHECK(lane_lens_parse(&lens, lenses[i], error, sizeof(error)));
        for (double y = 0; y < HEIGHT; y += 40) {
            for (double x = 0; x < WIDTH; x += 40) {
                double point[2] = {x, y};
                CHECK(lane_lens_remove(&lens, point) && lane_lens_apply(&lens, point));
                CHECK(fabs(point[0] - x) < 0.01 && fabs(point[1] - y) < 0.01);
            }
        }
    }
    struct lane_lens lens;
    double at[2] = {730, 405}, outside[2] = {3000, 350}, nowhere[2] = {2000, 350};
    CHECK(lane_lens_parse(&lens, "1000 1100 630 350 -0.3 0 0 0", error, sizeof(error)) && lane_lens_bends(&lens));
    CHECK(lane_lens_apply(&lens, at));
    CHECK(fabs(at[0] - (630 + 100 * (1 - 0.3 * 0.0125))) < 1e-3 &&
          fabs(at[1] - (350 + 55 * (1 - 0.3 * 0.0125))) < 1e-3);
    CHECK(!lane_lens_apply(&lens, outside) && !lane_lens_remove(&lens, nowhere)); // the model folds at 1054 pixels
    CHECK(lane_lens_parse(&lens, "none", error, sizeof(error)) && !lane_lens_bends(&lens));
}

// With a lens, the focal length replaces fov, and points are in the camera's picture.
static void test_lens_map(void)
{
    struct lane_camera camera = lane_camera_default(), same;
    struct lane_map map, other;
    double p[8], a[2], b[2];
    static const double ground[4][2] = {{-1.8, 5}, {1.8, 5}, {1.8, 30}, {-1.8, 30}};
    camera.fov = 20;
    CHECK(lane_lens_parse(&camera.lens, "1000 1000 639.5 359.5 -0.2 0 0 0", error, sizeof(error)));
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK(lane_map_apply(map.picture, 2, 20, a));
    CHECK(fabs(a[0] - (640 + 1000 * 2 / (20 * cos(4 * M_PI / 180) + 1.4 * sin(4 * M_PI / 180)))) < 1e-6);
    for (int i = 0; i < 4; i++) {
        CHECK(lane_map_apply(map.picture, ground[i][0], ground[i][1], a));
        a[0] -= 0.5;
        a[1] -= 0.5;
        CHECK(lane_lens_apply(&map.lens, a));
        p[2 * i] = a[0] + 0.5;
        p[2 * i + 1] = a[1] + 0.5;
    }
    same = camera;
    memcpy(same.points, p, sizeof(p));
    same.has_points = true;
    CHECK(lane_map_init(&other, &same, WIDTH, HEIGHT, error));
    CHECK(lane_map_apply(map.picture, 2, 40, a) && lane_map_apply(other.picture, 2, 40, b));
    CHECK(fabs(a[0] - b[0]) < 0.05 && fabs(a[1] - b[1]) < 0.05);
    same.points[0] = -1e5;
    CHECK(!lane_map_init(&other, &same, WIDTH, HEIGHT, error));
    CHECK_HAS(error, "a point is outside the lens");
}

// A camera that looks to the right shows the road ahead to the left, at the same height.
static void test_yaw(void)
{
    struct lane_camera camera;
    struct lane_map map;
    double point[2];
    CHECK(parse(&camera, "pitch=0,yaw=2,height=1.5") && lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK(lane_map_apply(map.picture, 30 * sin(2 * M_PI / 180), 30 * cos(2 * M_PI / 180), point));
    const double focal = WIDTH / 2.0 / tan(31 * M_PI / 180);
    check_that(&unit, fabs(point[0] - WIDTH / 2.0) < 1e-6, "yaw: x %.3f", point[0]);
    CHECK(lane_map_apply(map.picture, 0, 30, point));
    CHECK(fabs(point[0] - (WIDTH / 2.0 - focal * tan(2 * M_PI / 180))) < 1e-6);
    CHECK(fabs(point[1] - (HEIGHT / 2.0 + focal * 1.5 / (30 * cos(2 * M_PI / 180)))) < 1e-6);
}

static void refuse(const char *text, const char *part)
{
    struct lane_camera camera;
    struct lane_map map;
    CHECK(!parse(&camera, text) || !lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK_HAS(error, part);
}

static void refuse_points(const char *text, const char *part)
{
    struct lane_camera camera;
    struct lane_map map;
    CHECK(!parse_points(&camera, text) || !lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    CHECK_HAS(error, part);
}

static void test_refusals(void)
{
    refuse("height=nan", "height must be a number from 0.2 to 10");
    refuse("height=", "height must be a number");
    refuse("height", "height must be a number");
    refuse("height=-1", "height must be a number");
    refuse("fov=180", "fov must be a number from 5 to 170");
    refuse("pitch=1e999", "pitch must be a number");
    refuse("tilt=3", "there is no key 'tilt'");
    refuse("pitch=-30,height=10", "the road is behind the camera");
    refuse("pitch=80", "the camera does not see the road ahead");
    refuse_points("", "points must be 8 numbers");
    refuse_points("1,2,3,4,5,6,7", "points must be 8 numbers");
    refuse_points("1,2,3,4,5,6,7,nan", "points must be 8 numbers");
    refuse_points("1,2,3,4,5,6,7,\"8\"", "points must be 8 numbers");
    refuse_points("9,9,9,9,9,9,9,9", "the points must be the corners");
    refuse_points("100,700,600,700,1100,700,300,700", "the points must be the corners"); // on one line
    refuse_points("300,20,900,20,700,300,500,300", "the points must be the corners");    // upside down
    refuse_points("500,300,700,300,900,600,200,600", "the points must be the corners");  // far before near
}

static void write_file(struct scratch *scratch, const char *text, bool good, const char *part)
{
    struct lane_config config = lane_config_default();
    error[0] = '\0';
    CHECK(lane_config_read(&config, scratch_write(scratch, "camera.json", text, strlen(text)), error) == good);
    CHECK_HAS(error, part);
}

static void test_file(void)
{
    struct scratch scratch;
    struct lane_config config = lane_config_default();
    const struct lane_camera *camera = &config.camera;
    if (!CHECK(scratch_open(&scratch)))
        return;
    const char *text = "{\"height\": 1.2, \"fov\": 50, \"smoothing\": 0.1, \"points\": [1, 2, 3, 4, 5, 6, 7, 8]}";
    CHECK(lane_config_read(&config, scratch_write(&scratch, "camera.json", text, strlen(text)), error));
    CHECK(camera->height == 1.2 && camera->fov == 50 && camera->pitch == 4);
    CHECK(camera->has_points && camera->points[7] == 8);
    CHECK(config.settings.smoothing == 0.1 && config.settings.contrast == lane_settings_default.contrast);
    CHECK(!lane_config_read(&config, scratch_path(&scratch, "none.json"), error));
    CHECK_HAS(error, "cannot read it");
    write_file(&scratch, "{\"height\": 1.2", false, "line 1");
    write_file(&scratch, "[1.2]", false, "it must be a JSON object");
    write_file(&scratch, "{\"height\": \"1.2\"}", false, "height must be a number");
    write_file(&scratch, "{\"points\": 3}", false, "points must be 8 numbers");
    write_file(&scratch, "{\"smoothing\": 1}", false, "smoothing must be a number from 0 to 0.95");
    write_file(&scratch, "{\"gap\": 1}", false, "there is no key 'gap'");
    write_file(&scratch, "{\"contrast\": true}", false, "contrast must be a number");
    write_file(&scratch, "{\"size\": 3}", false, "size must be two numbers");
    write_file(&scratch, "{\"lens\": 3}", false, "lens must be a text");
    write_file(&scratch, "{\"lens\": \"1 2 3\"}", false, "lens must have arguments of the undistort filter");
    write_file(&scratch, "{\"lens\": \"200 200 9 9 0 0 0 0,gray\"}", false, "only one filter");
    write_file(&scratch, "{\"lens\": \"200 200 9 9 -0.1 0 0 0:fisheye\"}", true, "");
    write_file(&scratch, "{}", true, "");
    scratch_close(&scratch);
}

// Points that the user moved, and why they are impossible.
static void test_calibration(void)
{
    static const struct {
        const char *points, *fault;
    } rows[] = {
        {"200,300,440,300,420,200,220,200", ""},
        {"200,300,440,300,320,300,220,200", "three points are in a line"},
        {"200,300,440,300,220,200,420,200", "two sides cross, or a corner points inwards"},
        {"200,300,440,300,300,250,220,200", "two sides cross, or a corner points inwards"}, // far right
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct calibration calibration;
        struct lane_camera camera;
        CHECK(parse_points(&camera, rows[i].points));
        CHECK(calibration_init(&calibration, &camera, 640, 480, error));
        CHECK_TEXT(calibration.fault, rows[i].fault);
    }
}

// The sizes of the rectangle change in steps of 10 cm and stay in their ranges; near stays nearer than far.
static void test_sizes(void)
{
    static const struct {
        int value, steps;
        double width, near, far;
    } rows[] = {
        {4, 2, 3.85, 5, 30},    {4, -40, 3.85, 5, 30},    {4, -33, 0.55, 5, 30},   {5, -45, 0.55, 0.5, 30},
        {5, -1, 0.55, 0.5, 30}, {6, -291, 0.55, 0.5, 30}, {6, -290, 0.55, 0.5, 1}, {5, 5, 0.55, 0.5, 1},
    };
    struct lane_camera camera = lane_camera_default();
    struct calibration calibration;
    camera.width = 3.65;
    CHECK(calibration_init(&calibration, &camera, 640, 480, error));
    const struct lane_camera before = calibration.camera;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        calibration_resize(&calibration, rows[i].value, rows[i].steps);
        const double got[] = {calibration.camera.width, calibration.camera.near, calibration.camera.far};
        const double want[] = {rows[i].width, rows[i].near, rows[i].far};
        for (int k = 0; k < 3; k++)
            CHECK(fabs(got[k] - want[k]) < 1e-9);
        double at[2];
        CHECK(calibration.fault[0] || (lane_map_apply(calibration.map.picture, got[0] / 2, got[2], at) &&
                                       fabs(at[0] - before.points[4]) < 0.1 && fabs(at[1] - before.points[5]) < 0.1));
        CHECK(i > 0 || !calibration.fault[0]);
    }
    CHECK(memcmp(calibration.camera.points, before.points, sizeof(before.points)) == 0);
}

int main(void)
{
    test_angles();
    test_points();
    test_warp();
    test_picture();
    test_lens();
    test_lens_map();
    test_yaw();
    test_refusals();
    test_file();
    test_calibration();
    test_sizes();
    return check_end(&unit);
}
