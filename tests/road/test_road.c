// test_road.c: the synthetic road: frames are the same in any order, the truth lies on the painted lines, levels differ
#include "road/road.h"
#include "source/source.h"

#include "unit.h"

#include <math.h>
#include <stdint.h>

static const struct road_spec clean = {.seed = 5, .level = ROAD_CLEAN, .width = 1280, .height = 720, .rate = 30};

// A picture, drawn whole.
struct picture {
    struct road_spec spec;
    uint8_t *rgba;
};

static struct picture draw(struct road_spec spec, uint64_t frame)
{
    struct picture picture = {spec, malloc((size_t)spec.width * (size_t)spec.height * 4)};
    struct road_painter *painter = road_painter_open(&spec);
    road_painter_begin(painter, frame);
    for (int y = 0; y < spec.height; y++)
        road_painter_row(painter, y, picture.rgba + (size_t)y * (size_t)spec.width * 4);
    road_painter_close(painter);
    return picture;
}

static uint8_t *pixel(const struct picture *picture, int x, int y)
{
    return picture->rgba + ((size_t)y * (size_t)picture->spec.width + (size_t)x) * 4;
}

static bool same(const struct picture *a, const struct picture *b)
{
    return memcmp(a->rgba, b->rgba, (size_t)a->spec.width * (size_t)a->spec.height * 4) == 0;
}

// Returns the mean brightness of a few pixels around x, and of the row below; -1 outside the picture.
static double brightness(const struct picture *picture, double x, int y)
{
    double sum = 0;
    const int middle = (int)lround(x);
    if (middle < 1 || middle + 1 >= picture->spec.width)
        return -1;
    for (int i = -1; i <= 1; i++)
        sum += pixel(picture, middle + i, y)[0] / 3.0;
    return sum;
}

// Counts the points of the truth at which the picture is brighter than on the road 30 cm to the left and right.
static void count_points(struct road_spec spec, uint64_t frame, int *bright, int *points)
{
    const struct picture picture = draw(spec, frame);
    struct road_truth truth;
    struct road_scene scene;
    road_scene(&spec, frame, &scene);
    road_truth(&spec, frame, &truth);
    for (int i = 0; i < truth.lines * ROAD_TRUTH_ROWS; i++) {
        const int y = truth.y[i % ROAD_TRUTH_ROWS];
        const double at = truth.x[i / ROAD_TRUTH_ROWS][i % ROAD_TRUTH_ROWS];
        double x, z, left, right, py;
        if (at < 0 || !road_ground(&scene, at, y, &x, &z) || z > 40)
            continue;
        road_project(&scene, x - 0.3, 0, z, &left, &py);
        road_project(&scene, x + 0.3, 0, z, &right, &py);
        const double here = brightness(&picture, at, y),
                     beside[] = {brightness(&picture, left, y), brightness(&picture, right, y)};
        if (here < 0 || beside[0] < 0 || beside[1] < 0)
            continue;
        ++*points;
        *bright += here > beside[0] + 25 && here > beside[1] + 25;
    }
    free(picture.rgba);
}

// Solid lines are bright at each point, dashed lines at some.
static void test_truth(enum road_level level, double least)
{
    int bright = 0, points = 0;
    for (uint32_t seed = 0; seed < 6; seed++) {
        struct road_spec spec = clean;
        spec.seed = seed;
        spec.level = level;
        count_points(spec, 37 * (uint64_t)seed + 1, &bright, &points);
    }
    check_that(&unit, points > 300 && bright > least * points, "%s: %d of %d points are bright", road_level_name(level),
               bright, points);
}

// The outer line of the road is solid: each of its points is bright.
static void test_solid(void)
{
    int solid = 0;
    for (uint32_t seed = 0; seed < 20; seed++) {
        struct road_spec spec = clean;
        struct road_scene scene;
        spec.seed = seed;
        road_scene(&spec, 100, &scene);
        if (scene.lanes != 2 || scene.own != 0) // the truth's first line is then the road's left edge
            continue;
        const struct picture picture = draw(spec, 100);
        struct road_truth truth;
        road_truth(&spec, 100, &truth);
        for (int i = 0; i < ROAD_TRUTH_ROWS; i++) {
            if (truth.x[0][i] < 1)
                continue;
            check_that(&unit, brightness(&picture, truth.x[0][i], truth.y[i]) > 130, "seed %u row %d x %.2f is dark",
                       seed, truth.y[i], truth.x[0][i]);
            solid++;
        }
        free(picture.rgba);
    }
    CHECK(solid > 50);
}

// The picture of a frame does not depend on the frames before.
static void test_random_access(enum road_level level)
{
    struct road_spec spec = clean;
    spec.level = level;
    spec.width = 320;
    spec.height = 180;
    char text[64];
    snprintf(text, sizeof(text), "road:size=320x180@30,seed=5,level=%s,rgba", road_level_name(level));
    struct source *source = source_open(&(struct source_setup){.text = text});
    struct frame frame;
    if (!CHECK(source != NULL))
        return;
    CHECK(source_info(source)->road && source_info(source)->road->seed == 5);
    struct picture last = {.rgba = NULL};
    for (uint64_t number = 0; number < 4; number++) {
        const struct picture alone = draw(spec, number);
        if (!CHECK(source_next(source, &frame, 1000) == SOURCE_FRAME))
            break;
        const struct picture lent = {spec, frame.image.plane[0]};
        check_that(&unit, same(&alone, &lent), "%s: frame %d differs", text, (int)number);
        check_that(&unit, !last.rgba || !same(&alone, &last), "%s: frame %d is the one before", text, (int)number);
        free(last.rgba);
        last = alone;
        source_return(source, &frame);
    }
    free(last.rgba);
    source_close(source);
}

// The pictures of two levels differ, and have bright and dark parts.
static void test_levels(void)
{
    struct picture pictures[ROAD_MIXED];
    for (int level = 0; level < ROAD_MIXED; level++) {
        struct road_spec spec = clean;
        spec.level = (enum road_level)level;
        pictures[level] = draw(spec, level == ROAD_CHANGES ? 200 : 45);
        for (int other = 0; other < level; other++)
            check_that(&unit, !same(&pictures[level], &pictures[other]), "%s is %s", road_level_name(level),
                       road_level_name(other));
        const double sky = brightness(&pictures[level], 640, 10), road = brightness(&pictures[level], 640, 600);
        const bool night = level == ROAD_NIGHT;
        check_that(&unit,
                   level == ROAD_CONCRETE ? road > sky + 15
                   : night                ? sky < 20 && road > 2 * sky
                                          : sky > road + 15,
                   "%s: sky %.0f road %.0f", road_level_name(level), sky, road);
    }
    for (int level = 0; level < ROAD_MIXED; level++)
        free(pictures[level].rgba);
    CHECK(road_level_name(ROAD_LEVELS) == NULL);
}

// Truth: nothing above the horizon, beyond 60 m or outside the picture; the rows are TuSimple's; a camera with roll
// sees the same lines.
static void test_range(void)
{
    struct road_truth truth;
    struct road_scene scene;
    for (int i = 0; i < 40 * ROAD_MIXED; i++) {
        struct road_spec spec = clean;
        spec.seed = (uint32_t)i;
        spec.level = (enum road_level)(i % ROAD_MIXED);
        road_scene(&spec, 1000, &scene);
        road_truth(&spec, 1000, &truth);
        CHECK_NUMBER(truth.y[0], 160);
        CHECK_NUMBER(truth.y[55], 710);
        if (spec.level == ROAD_EMPTY)
            CHECK_NUMBER(truth.lines, 0);
        else
            check_that(&unit, truth.lines >= 2 && truth.lines <= 4, "seed %d: %d lines", i, truth.lines);
        for (int k = 0; k < truth.lines * ROAD_TRUTH_ROWS; k++) {
            const double at = truth.x[k / ROAD_TRUTH_ROWS][k % ROAD_TRUTH_ROWS];
            double x, z, px, py;
            if (at == -2)
                continue;
            const bool ground = road_ground(&scene, at, truth.y[k % ROAD_TRUTH_ROWS], &x, &z);
            check_that(&unit, ground && z <= 60.001 && at >= 0 && at <= 1279, "seed %d: x %.1f z %.1f", i, at, z);
            double away = 100;
            for (int line = 0; line < scene.lines; line++)
                away = fmin(away, fabs(x - road_middle(&scene, z) - road_line_at(&scene, line, z)));
            check_that(&unit, away < 1e-5, "seed %d: %.7f m from a line", i, away);
            road_project(&scene, x, 0, z, &px, &py);
            check_that(&unit, fabs(px - at) < 1e-6, "seed %d: x %.7f is seen at %.7f", i, at, px);
        }
    }
}

static void test_names(void)
{
    char name[ROAD_NAME];
    road_frame_name(&(struct road_spec){7, ROAD_RAIN, 1280, 720, 29.97}, 12, name);
    CHECK_TEXT(name, "road:seed=7,level=rain,size=1280x720@29.97#12");
    static const struct {
        const char *text, *error;
    } wrong[] = {
        {"road:level=fog", "there is no level 'fog'; the levels are clean, worn,"},
        {"road:level=nigt", "did you mean night?"},
        {"road:seed=-1", "the seed '-1' is not a number from 0 to 4294967295"},
        {"road:seed=4294967296", "the seed '4294967296' is not"},
        {"road:seed=", "the seed '' is not"},
        {"road:size=100x80", "cannot draw a road of 100x80 pixels; it needs at least 160x90"},
        {"road:size=0x0", "cannot open road:0x0: write road:"},
        {"road:colour=3", "there is no setting 'colour=3'; the settings are level, seed and size"},
        {"road:size=1111111111111111111111111111111111111111111111111111111111111111x1", "too long"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct captured said;
        capture_stderr(&said);
        struct source *source = source_open(&(struct source_setup){.text = wrong[i].text});
        CHECK_HAS(captured_stderr(&said), wrong[i].error);
        CHECK(!source);
        source_close(source);
    }
}

// Returns the brightness of a frame at this offset, about 8 m ahead.
static double at_offset(const struct picture *picture, uint64_t frame, double offset)
{
    struct road_scene scene;
    double x, z, px, py;
    road_scene(&picture->spec, frame, &scene);
    road_project(&scene, road_middle(&scene, 8), 0, 8, &px, &py);
    road_ground(&scene, px, round(py), &x, &z);
    road_project(&scene, road_middle(&scene, z) + offset, 0, z, &px, &py);
    return brightness(picture, px, (int)lround(py));
}

// Concrete has dark seams and a yellow line, and a street has the line of a cycle lane.
static void test_hard(void)
{
    struct road_scene scene;
    struct road_spec spec = clean;
    spec.level = ROAD_CONCRETE;
    road_scene(&spec, 0, &scene);
    CHECK(scene.lines == scene.lanes + 1 && scene.stripe[0].yellow);
    const double left = road_line_offset(&scene, scene.own);
    struct picture picture = draw(spec, 0);
    const double seam = at_offset(&picture, 0, left + 0.3), slab = at_offset(&picture, 0, left + 0.6);
    check_that(&unit, seam < slab - 20, "seam %.0f, slab %.0f", seam, slab);
    free(picture.rgba);
    spec.level = ROAD_STREET;
    road_scene(&spec, 0, &scene);
    CHECK(scene.lines == scene.lanes + 2);
    CHECK(fabs(road_line_offset(&scene, scene.lanes + 1) - road_line_offset(&scene, scene.lanes) - 1.6) < 1e-9);
    CHECK(fabs(road_line_offset(&scene, 1) - road_line_offset(&scene, 0) - ROAD_LANE_WIDTH) < 1e-9);
}

// Returns the brightness of a frame at a point above the road.
static double above_road(const struct road_spec *spec, uint64_t frame, double offset, double up, double z)
{
    struct road_scene scene;
    double px, py;
    const struct picture picture = draw(*spec, frame);
    road_scene(spec, frame, &scene);
    road_project(&scene, road_middle(&scene, z) + offset, up, z, &px, &py);
    const double got = brightness(&picture, px, (int)lround(py));
    free(picture.rgba);
    return got;
}

// A street has a crossing, and at night cars come towards the camera.
static void test_objects(void)
{
    struct road_spec spec = clean;
    struct road_scene scene;
    spec.level = ROAD_STREET;
    const uint64_t near_crossing = 17; // 22.5 m from the first frame's camera
    road_scene(&spec, near_crossing, &scene);
    const double first = road_line_offset(&scene, 0), bar = first + ceil(scene.own * ROAD_LANE_WIDTH) + 1;
    const struct picture street = draw(spec, near_crossing);
    for (int i = 0; i < 2; i++)
        CHECK(at_offset(&street, near_crossing, bar + i) > at_offset(&street, near_crossing, bar + i + 0.5) + 50);
    free(street.rgba);
    spec.level = ROAD_NIGHT;
    road_scene(&spec, 0, &scene);
    const double lamp = road_line_offset(&scene, 0) - 3 - 0.7;
    CHECK(above_road(&spec, 0, lamp, 0.65, 66) > 200 && above_road(&spec, 0, lamp, 2, 66) < 100);
}

// In a change of lanes, the lines move as the heading says, without a jump, and another lane becomes the own one.
static void test_changes(void)
{
    struct road_spec spec = clean;
    struct road_scene scene;
    spec.level = ROAD_CHANGES;
    spec.rate = 1000;
    double last = 0;
    int lowest = ROAD_LINES, highest = -1;
    for (uint64_t frame = 0; frame < 18000; frame++) {
        road_scene(&spec, frame, &scene);
        const double x = road_middle(&scene, 0) + road_line_offset(&scene, 0);
        check_that(&unit, frame == 0 || fabs((x - last) * spec.rate + scene.heading * ROAD_SPEED) < 0.01,
                   "frame %d: the line is %.4f m further", (int)frame, x - last);
        last = x;
        lowest = scene.own < lowest ? scene.own : lowest;
        highest = scene.own > highest ? scene.own : highest;
        CHECK(fabs(scene.side) < ROAD_LANE_WIDTH / 2 + 0.4);
    }
    CHECK(highest == lowest + 1 && lowest >= 0 && highest < scene.lanes);
}

// A merging lane is beside the own lane; the truth has its line while it is wide enough for a car.
static void test_merge(void)
{
    struct road_spec spec = clean;
    struct road_scene scene;
    spec.level = ROAD_MERGE;
    int absent = 0, whole = 0;
    for (uint64_t frame = 0; frame < 600; frame += 20) {
        struct road_truth truth;
        road_scene(&spec, frame, &scene);
        road_truth(&spec, frame, &truth);
        CHECK(scene.own == scene.lanes - 2);
        const double wide = road_line_at(&scene, scene.lanes, 20) - road_line_at(&scene, scene.lanes - 1, 20);
        const int lines = scene.own > 0 ? 4 : 3;
        absent += wide < 0.01 && truth.lines < lines;
        whole += fabs(wide - ROAD_LANE_WIDTH) < 1e-9 && truth.lines == lines;
    }
    CHECK(absent > 3 && whole > 1);
}

int main(void)
{
    test_names();
    test_range();
    test_hard();
    test_objects();
    test_changes();
    test_merge();
    test_solid();
    test_truth(ROAD_CLEAN, 0.5);
    test_truth(ROAD_PITCH, 0.5);
    test_truth(ROAD_RAIN, 0.4);
    test_truth(ROAD_NIGHT, 0.35);
    for (int level = 0; level < ROAD_LEVELS; level++)
        test_random_access((enum road_level)level);
    test_levels();
    return check_end(&unit);
}
