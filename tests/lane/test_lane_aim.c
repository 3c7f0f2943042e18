// test_lane_aim.c: finds the pitch of the camera in drawn pictures
#include "lane/lane_camera.h"
#include "lane/pipeline.h"
#include "unit.h"

#include <math.h>

enum { WIDTH = 640, HEIGHT = 360, ROAD = 70, PAINT = 220 };

static const struct image_shape shape = {.format = PIXFMT_RGBA, .width = WIDTH, .height = HEIGHT};

// Draws a line of the road, 20 cm wide, as this camera sees it: `dash` metres of every 12 m; 12: a solid line.
static void draw_line(struct image *image, const struct lane_map *map, double x, double dash)
{
    for (double z = 3; z < 100; z += 0.02) {
        double left[2], right[2];
        if (fmod(z, 12) >= dash || !lane_map_apply(map->picture, x - 0.1, z, left) ||
            !lane_map_apply(map->picture, x + 0.1, z, right) || left[1] < 0 || left[1] >= HEIGHT)
            continue;
        for (int column = (int)fmax(left[0], 0); column < WIDTH && column <= (int)right[0]; column++)
            memset(image_row(image, 0, (int)left[1]) + (size_t)column * 4, PAINT, 3);
    }
}

static void draw_seen(struct image *image, const struct lane_camera *camera, const double *x, int lines, double dash)
{
    struct lane_map map;
    char error[LANE_ERROR];
    CHECK(lane_map_init(&map, camera, WIDTH, HEIGHT, error));
    for (int i = 0; i < lines; i++)
        draw_line(image, &map, x[i], dash);
}

static void draw_lines(struct image *image, double pitch, const double *x, int lines, double dash)
{
    struct lane_camera camera = lane_camera_default();
    camera.pitch = pitch;
    draw_seen(image, &camera, x, lines, dash);
}

// What a run keeps from frame to frame.
struct run {
    struct lane_pipeline pipeline;
    struct lane_aim aim;
    struct lane_tracker tracker;
    struct lane_result result;
};

static void begin(struct run *run)
{
    char error[LANE_ERROR];
    *run = (struct run){.pipeline = {.camera = lane_camera_default(), .settings = lane_settings_default}};
    run->pipeline.setup.threads = 1;
    CHECK(lane_map_init(&run->pipeline.map, &run->pipeline.camera, WIDTH, HEIGHT, error));
}

static void step(struct run *run, const struct image *image)
{
    static uint32_t sums[LANE_STRIPS * LANE_COLUMNS_MAX];
    CHECK(lane_aim_search(&run->aim, &run->pipeline, image, &run->tracker));
    CHECK(lane_pipeline_sums(&run->pipeline, image, sums));
    const struct lane_table table = lane_pipeline_table(&run->pipeline, sums);
    lane_track(&run->tracker, &table, &run->result, NULL);
    lane_aim_follow(&run->aim, &run->pipeline, &shape, &run->result, &run->tracker);
}

// Returns the pitch that the first frame gives to a camera with the default one.
static double pitch_of(const struct image *image)
{
    struct lane_pipeline pipeline = {.camera = lane_camera_default(), .settings = lane_settings_default};
    struct lane_aim aim = {.named = NULL};
    struct lane_tracker tracker = {.known = false};
    char error[LANE_ERROR];
    pipeline.setup.threads = 1;
    CHECK(lane_map_init(&pipeline.map, &pipeline.camera, WIDTH, HEIGHT, error));
    CHECK(lane_aim_search(&aim, &pipeline, image, &tracker));
    lane_pipeline_close(&pipeline);
    return pipeline.camera.pitch;
}

static void clear(struct image *image)
{
    uint8_t *pixels = image_row(image, 0, 0);
    memset(pixels, ROAD, image_bytes(&shape));
    for (size_t i = 3; i < image_bytes(&shape); i += 4)
        pixels[i] = 255;
}

// A search finds each pitch within 15 degrees of the default, 4 degrees.
static void test_range(struct image *image)
{
    static const double lines[] = {-5.4, -1.8, 1.8, 5.4};
    static const double pitches[] = {-10, 10, 18};
    for (int i = 0; i < 3; i++) {
        clear(image);
        draw_lines(image, pitches[i], lines, 4, 4);
        const double found = pitch_of(image);
        check_that(&unit, fabs(found - pitches[i]) < 0.5, "pitch %.2f, not %.0f", found, pitches[i]);
    }
}

// Solid lines of texture, which are parallel at a wrong pitch, are sharper than the dashed lines of the lanes. They are
// no lanes, so the pitch stays.
static void test_texture(struct image *image)
{
    static const double lanes[] = {-5.4, -1.8, 1.8, 5.4}, texture[] = {0.5, 1.75, 3};
    clear(image);
    draw_lines(image, 4, lanes, 4, 6);
    draw_lines(image, 10, texture, 3, 12);
    const double found = pitch_of(image);
    check_that(&unit, fabs(found - 4) < 0.5, "texture: pitch %.2f, not 4", found);
}

// A good pitch is confirmed once; then no frame searches. When the mean turns the camera, the tracker's lines turn with
// it: the next frame finds them again without a jump.
static void test_turn(struct image *image)
{
    static const double lines[] = {-5.4, -1.8, 1.8, 5.4};
    struct lane_camera camera = lane_camera_default();
    struct run run;
    camera.yaw = 3;
    clear(image);
    draw_seen(image, &camera, lines, 4, 12);
    begin(&run);
    int searched = 0;
    unsigned changes = 0;
    double heading = 0;
    for (int frame = 0; frame < 120 && run.pipeline.camera.yaw == 0; frame++) {
        step(&run, image);
        searched += run.aim.next > 0;
        heading = run.result.shape.term[LANE_HEADING];
        changes = run.pipeline.changes;
    }
    CHECK(run.aim.confirmed && searched < 20);
    check_that(&unit, fabs(run.pipeline.camera.yaw - 3) < 0.3 && fabs(heading + tan(3 * M_PI / 180)) < 0.01,
               "turn: yaw %.2f, heading %.3f", run.pipeline.camera.yaw, heading);
    check_that(&unit, fabs(run.tracker.shape.term[LANE_HEADING]) < 0.01, "turn: the tracker expects the heading %.3f",
               run.tracker.shape.term[LANE_HEADING]);
    step(&run, image);
    CHECK(run.pipeline.changes == changes && run.result.state == LANE_SEEN && run.result.shape.lines == 4);
    lane_pipeline_close(&run.pipeline);
}

// The height follows from the width of the lane: the nearest usual width, or the user's. A height of the user stays.
static void test_height(struct image *image)
{
    static const struct {
        double drawn, given; // metres
        bool has_height;
        double want; // metres; the lane is drawn for a height of 1.4
    } cases[] = {{4.4, 0, false, 1.4 * 3.75 / 4.4},
                 {2.5, 0, false, 1.4 * 3 / 2.5},
                 {4.4, 0, true, 1.4},
                 {4.4, 3.6, true, 1.4 * 3.6 / 4.4}};
    for (int i = 0; i < (int)(sizeof(cases) / sizeof(*cases)); i++) {
        const double width = cases[i].drawn, lines[] = {-0.4 * width, 0.6 * width};
        struct run run;
        clear(image);
        draw_lines(image, 4, lines, 2, 12);
        begin(&run);
        run.aim.lane_width = cases[i].given;
        run.pipeline.camera.has_height = cases[i].has_height;
        for (int frame = 0; frame < 31; frame++)
            step(&run, image);
        for (int k = 0; k < 2; k++)
            check_that(&unit,
                       fabs(run.tracker.shape.line[k].offset - lines[k] * run.pipeline.camera.height / 1.4) < 0.1,
                       "case %d: the tracker expects a line at %.2f", i, run.tracker.shape.line[k].offset);
        const double got =
            run.result.left < 0 || run.result.right < 0
                ? 0
                : run.result.shape.line[run.result.right].offset - run.result.shape.line[run.result.left].offset;
        check_that(&unit, fabs(run.pipeline.camera.height - cases[i].want) < 0.03 * cases[i].want,
                   "case %d: height %.2f, not %.2f", i, run.pipeline.camera.height, cases[i].want);
        check_that(&unit, fabs(got - width * cases[i].want / 1.4) < 0.15, "case %d: width %.2f", i, got);
        CHECK(run.aim.measured == (!cases[i].has_height || cases[i].given > 0));
        lane_pipeline_close(&run.pipeline);
    }
}

// A lane that is drawn 20 degrees aside, where only a search of more headings finds it. Another picture between two
// searches that find it starts anew: one search alone does not turn the camera.
static void test_twice(struct image *image)
{
    enum { SEARCH = (LANE_AIMS + 1) / 2 }; // frames
    static const double lines[] = {-1.6, 2}, wider[] = {-1.9, 2.3};
    struct lane_camera camera = lane_camera_default();
    struct run run;
    begin(&run);
    for (int round = 0; round < 4; round++) {
        camera.yaw = 20;
        camera.pitch = round == 1 ? -4 : 4;
        clear(image);
        if (round > 0)
            draw_seen(image, &camera, round == 1 ? wider : lines, 2, 12);
        for (int frame = 0; frame < (round == 0 ? 1 : SEARCH); frame++)
            step(&run, image);
        check_that(&unit, (fabs(run.pipeline.camera.yaw - 20) < 1) == (round == 3), "round %d: yaw %.2f", round,
                   run.pipeline.camera.yaw);
        CHECK((run.pipeline.camera.yaw != 0) == (round == 3));
    }
    lane_pipeline_close(&run.pipeline);
}

// The points of a calibration begin on the lane of a picture. Its width is measured at the assumed height; with the
// user's width, the same points have that width.
static void test_begin(struct image *image)
{
    static const double lines[] = {-1.8, 2.6}, widths[] = {0, 3.3};
    struct lane_camera camera = lane_camera_default();
    struct calibration start, found[2];
    char error[LANE_ERROR];
    clear(image);
    draw_lines(image, 7, lines, 2, 12);
    CHECK(calibration_init(&start, &camera, WIDTH, HEIGHT, error));
    for (int i = 0; i < 2; i++) {
        struct lane_map map;
        double right[2], left[2];
        const double *p = found[i].camera.points;
        found[i] = start;
        CHECK(calibration_find(&found[i], &camera, widths[i], image, 1) && !found[i].fault[0]);
        check_that(&unit, fabs(found[i].camera.width - (i == 0 ? 4.4 : 3.3)) < 0.05, "begin: width %.2f",
                   found[i].camera.width);
        camera.pitch = 7;
        camera.height = i == 0 ? 1.4 : 1.4 * 3.3 / 4.4;
        CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
        camera = lane_camera_default();
        CHECK(lane_map_apply(map.picture, lines[0] * found[i].camera.width / 4.4, camera.near, left));
        CHECK(lane_map_apply(map.picture, lines[1] * found[i].camera.width / 4.4, camera.near, right));
        check_that(&unit, hypot(p[0] - left[0], p[1] - left[1]) < 4 && hypot(p[2] - right[0], p[3] - right[1]) < 4,
                   "begin: points %.0f,%.0f %.0f,%.0f", p[0], p[1], p[2], p[3]);
    }
    clear(image);
    CHECK(!calibration_find(&start, &camera, 0, image, 1));
}

// A lane is twice as wide for a while, because a line is hidden, or narrows: its height stays.
static void test_widths(struct image *image)
{
    struct run run;
    begin(&run);
    for (int frame = 0; frame < 45; frame++) {
        const double width = fmax(3.6, 7.2 - 0.2 * fmax(frame - 25, 0)), lines[] = {-1.8, width - 1.8};
        clear(image);
        draw_lines(image, 4, lines, 2, 12);
        step(&run, image);
    }
    check_that(&unit, run.pipeline.camera.height == 1.4, "widths: height %.2f", run.pipeline.camera.height);
    lane_pipeline_close(&run.pipeline);
}

int main(void)
{
    struct image image;
    CHECK(image_alloc(&image, &shape));
    test_range(&image);
    test_texture(&image);
    test_turn(&image);
    test_height(&image);
    test_widths(&image);
    test_twice(&image);
    test_begin(&image);
    image_free(&image);
    return check_end(&unit);
}
