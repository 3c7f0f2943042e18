// test_lane_finder.c: finds and follows lines in made tables of column sums
#include "base/hash.h"
#include "lane/finder.h"
#include "unit.h"

#include <math.h>

enum { STRIPS = 40, COLUMNS = 320, ROWS = 10, FULL = 255 * ROWS, FRAMES = 60 };

static uint32_t sums[STRIPS * COLUMNS];
static const struct lane_table table = {.sums = sums,
                                        .columns = COLUMNS,
                                        .full = FULL,
                                        .across = 16,
                                        .near = 4,
                                        .far = 64,
                                        .settings = &lane_settings_default};

static const struct lane_shape road = {
    .term = {[LANE_HEADING] = 0.02, [LANE_BEND] = 0.0015},
    .line = {{.offset = -5.2}, {.offset = -1.7}, {.offset = 1.8}, {.offset = 5.3}},
    .lines = 4,
};

// Paints a part of the marks of a line: `dash` metres of every 12 m; 12 or more: a solid line.
static void paint(const struct lane_shape *shape, double offset, double dash)
{
    for (int row = 0; row < STRIPS * ROWS; row++) {
        const double z = table.far - (row + 0.5) * (table.far - table.near) / (STRIPS * ROWS);
        const int middle = (int)floor((lane_x(shape, offset, z) + table.across / 2) / 0.05);
        for (int column = middle - 1; column <= middle + 1 && fmod(z, 12) < dash; column++) {
            if (column >= 0 && column < COLUMNS)
                sums[row / ROWS * COLUMNS + column] += 255;
        }
    }
}

// Clears the table, except that each pixel is white with this probability.
static void clear(double noise, uint64_t *state)
{
    for (int i = 0; i < STRIPS * COLUMNS; i++) {
        sums[i] = 0;
        for (int pixel = 0; pixel < ROWS; pixel++)
            sums[i] += random_unit(state) < noise ? 255 : 0;
    }
}

static void paint_road(const struct lane_shape *shape, double noise, uint64_t *state)
{
    clear(noise, state);
    for (int i = 0; i < shape->lines; i++)
        paint(shape, shape->line[i].offset, i == 0 || i == shape->lines - 1 ? 12 : 4);
}

static void check_lines(const struct lane_shape *got, const struct lane_shape *want, double tolerance, const char *what)
{
    check_that(&unit, got->lines == want->lines, "%s: %d lines, not %d", what, got->lines, want->lines);
    for (int i = 0; i < got->lines && i < want->lines; i++)
        for (double z = 5; z < 60; z += 5) {
            const double x = lane_x(got, got->line[i].offset, z), right = lane_x(want, want->line[i].offset, z);
            if (fabs(right) < 7)
                check_that(&unit, fabs(x - right) < tolerance, "%s: line %d is at %.2f m, not %.2f m, %.0f m ahead",
                           what, i, x, right, z);
        }
}

static void test_shapes(void)
{
    static const double headings[] = {0, -0.05, 0.08}, bends[] = {0, 0.003, -0.002};
    uint64_t state = 1;
    for (int i = 0; i < 9; i++) {
        struct lane_shape shape = road, found;
        shape.term[LANE_HEADING] = headings[i % 3];
        shape.term[LANE_BEND] = bends[i / 3];
        paint_road(&shape, 0.01, &state);
        lane_find(&found, &table, NULL, false, NULL);
        char what[64];
        snprintf(what, sizeof(what), "heading %.2f, bend %.4f", headings[i % 3], bends[i / 3]);
        check_lines(&found, &shape, 0.15, what);
    }
}

// A camera that looks 20 degrees aside: only a search of more headings finds its lines.
static void test_turned(void)
{
    uint64_t state = 3;
    for (int turned = 0; turned <= 1; turned++) {
        struct lane_shape shape = {
            .term = {[LANE_HEADING] = -0.4}, .line = {{.offset = 0.4}, {.offset = 4}}, .lines = 2};
        struct lane_shape found;
        struct lane_table wide = table;
        wide.turned = turned;
        paint_road(&shape, 0.02, &state);
        lane_find(&found, &wide, NULL, false, NULL);
        const bool same = found.lines == 2 && fabs(found.term[LANE_HEADING] + 0.4) < 0.03;
        check_that(&unit, same == turned, "turned %d: %d lines, heading %.3f", turned, found.lines,
                   found.term[LANE_HEADING]);
    }
}

static void test_pitch(void)
{
    uint64_t state = 2;
    struct lane_shape shape = road, found;
    shape.term[LANE_SPREAD] = 0.004;
    paint_road(&shape, 0, &state);
    lane_find(&found, &table, NULL, false, NULL);
    check_lines(&found, &shape, 0.2, "pitch");
}

// No lines in an empty table, a full one, noise, or a table of the largest numbers.
static void test_nothing(void)
{
    uint64_t state = 3;
    struct lane_tracker tracker = {.known = false};
    struct lane_result result;
    for (int i = 0; i < 30; i++) {
        clear(i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : 0.3, &state);
        lane_track(&tracker, &table, &result, NULL);
        CHECK(result.state == LANE_NONE && result.shape.lines == 0 && result.left == -1 && result.right == -1);
        CHECK(result.confidence == 0);
    }
    memset(sums, 0xff, sizeof(sums));
    lane_track(&tracker, &table, &result, NULL);
    CHECK(result.state == LANE_NONE);
}

// Dashes that are too faint for a new line continue a known one.
static void test_faint(void)
{
    static const struct lane_shape prior = {.line = {{.offset = -1.7}}, .lines = 1};
    uint64_t state = 9;
    struct lane_shape found;
    clear(0, &state);
    paint(&prior, -1.7, 1.5);
    for (int i = 0; i < STRIPS * COLUMNS; i++)
        sums[i] /= 32;
    CHECK(lane_find(&found, &table, NULL, false, NULL) == 0);
    CHECK(lane_find(&found, &table, &prior, true, NULL) == 1);
    check_lines(&found, &prior, 0.15, "faint");
}

// A cycle lane: its border, 1.6 m to the left of the own line, is brighter than the own line and does not hide it. Its
// border is not reported, and neither is the kerb farther left, although the kerb is a lane's width from the own line.
static void test_cycle_lane(void)
{
    uint64_t state = 11;
    struct lane_tracker tracker = {.known = false};
    struct lane_result result;
    clear(0, &state);
    paint(&road, -3.3, 12);
    paint(&road, -5.2, 12);
    paint(&road, -1.7, 4);
    paint(&road, 1.8, 12);
    lane_track(&tracker, &table, &result, NULL);
    CHECK(result.left == 0 && result.right == 1 && result.shape.lines == 2);
    CHECK(result.left == 0 && fabs(result.shape.line[0].offset + 1.7) < 0.1);
    CHECK(result.confidence > 0.6); // two lines in a first frame confirm each other
}

// A lane is not narrower than 2.2 m: between its lines, a track of a tyre is no line.
static void test_narrow(void)
{
    uint64_t state = 12;
    struct lane_shape found;
    clear(0, &state);
    paint(&road, -1.7, 12);
    paint(&road, 0.2, 6);
    paint(&road, 1.8, 12);
    CHECK(lane_find(&found, &table, NULL, false, NULL) == 2);
}

// In a first frame, a long line alone is reported, with its heading. One that leads aside is not.
static void test_alone(void)
{
    uint64_t state = 18;
    for (int aside = 0; aside <= 1; aside++) {
        struct lane_shape road_side = {.term = {[LANE_HEADING] = aside ? 0.09 : 0.03}};
        struct lane_tracker tracker = {.known = false};
        struct lane_result result;
        clear(0, &state);
        paint(&road_side, 1.2, 12);
        lane_track(&tracker, &table, &result, NULL);
        check_that(&unit, result.shape.lines == !aside, "aside %d: %d lines", aside, result.shape.lines);
        if (aside || result.shape.lines != 1)
            continue;
        CHECK(result.left == -1 && result.right == 0 && result.confidence > 0.9);
        check_that(&unit, fabs(lane_x(&result.shape, result.shape.line[0].offset, 30) - 2.1) < 0.15,
                   "30 m ahead, it is at %.2f m", lane_x(&result.shape, result.shape.line[0].offset, 30));
    }
}

// The confidence tells how near the marks are to the line: here they are `aside` metres to its left and right in turn.
static void test_agreement(void)
{
    static const struct lane_shape straight = {.lines = 0};
    static const double aside[] = {0, 0.05, 0.15}, most[] = {1, 0.9, 0.35}, least[] = {0.95, 0.5, 0.02};
    static uint32_t left[STRIPS * COLUMNS];
    uint64_t state = 19;
    for (int i = 0; i < 3; i++) {
        struct lane_tracker tracker = {.known = false};
        struct lane_result result;
        clear(0, &state);
        paint(&straight, 1.8 - aside[i], 12);
        memcpy(left, sums, sizeof(left));
        clear(0, &state);
        paint(&straight, 1.8 + aside[i], 12);
        for (int strip = 0; strip < STRIPS; strip += 2)
            memcpy(sums + strip * COLUMNS, left + strip * COLUMNS, COLUMNS * sizeof(*sums));
        paint(&straight, -1.8, 12);
        lane_track(&tracker, &table, &result, NULL);
        const double right = result.right < 0 ? 0 : result.line[result.right];
        check_that(&unit, result.left == 0 && result.line[0] > 0.95, "aside %.2f: left %d", aside[i], result.left);
        check_that(&unit, right >= least[i] && right <= most[i], "aside %.2f: %.2f", aside[i], right);
    }
}

// A mark stands out from the road around it: in gravel, the same bar is none. Its height alone does not matter.
static void test_gravel(void)
{
    static const struct lane_shape straight = {.lines = 0};
    uint64_t state = 13;
    for (int gravel = 0; gravel <= 1; gravel++) {
        struct lane_shape found;
        clear(0, &state);
        paint(&straight, 1.8, 12);
        paint(&straight, -1.7, 12);
        for (int i = 0; i < STRIPS * COLUMNS; i++) {
            sums[i] /= 20;
            sums[i] += gravel && i % COLUMNS > COLUMNS / 2 ? (uint32_t)(random_unit(&state) * FULL / 20) : 0;
        }
        lane_find(&found, &table, NULL, false, NULL);
        int right = 0;
        for (int i = 0; i < found.lines; i++)
            right += found.line[i].offset > 0 && found.line[i].support > 0.4;
        check_that(&unit, right == !gravel, "gravel %d: %d lines to the right", gravel, right);
    }
}

// In noise, a known line is seen no more often than the road beside it: it has little support.
static void test_chance(void)
{
    static const struct lane_shape prior = {.line = {{.offset = -1.7}}, .lines = 1};
    uint64_t state = 14;
    double support = 0;
    for (int trial = 0; trial < 20; trial++) {
        struct lane_shape found;
        clear(0.006, &state);
        if (lane_find(&found, &table, &prior, true, NULL) > 0)
            support += found.line[0].support / 20;
    }
    check_that(&unit, support < 0.12, "support %.2f in noise", support);
}

// Far marks that are 0.4 m beside the line do not move its near part.
static void test_hill(void)
{
    static const struct lane_shape straight = {.lines = 0};
    static uint32_t near[STRIPS * COLUMNS];
    uint64_t state = 15;
    struct lane_shape found;
    clear(0, &state);
    paint(&straight, -1.7, 4);
    paint(&straight, 1.8, 4);
    memcpy(near, sums, sizeof(sums));
    clear(0, &state);
    paint(&straight, -1.3, 12);
    paint(&straight, 2.2, 12);
    memcpy(sums + STRIPS / 2 * COLUMNS, near + STRIPS / 2 * COLUMNS, sizeof(near) / 2);
    CHECK(lane_find(&found, &table, NULL, false, NULL) == 2);
    check_that(&unit, fabs(lane_x(&found, found.line[0].offset, 6) + 1.7) < 0.1, "the near part is at %.2f m",
               lane_x(&found, found.line[0].offset, 6));
}

// A weaker mark 0.3 m beside a line, such as a seam, does not move it.
static void test_seam(void)
{
    static const struct lane_shape straight = {.lines = 0};
    uint64_t state = 16;
    struct lane_shape found;
    clear(0, &state);
    paint(&straight, -1.4, 12);
    paint(&straight, 2.1, 12);
    for (int i = 0; i < STRIPS * COLUMNS; i++)
        sums[i] /= 30;
    paint(&straight, -1.7, 12);
    paint(&straight, 1.8, 12);
    CHECK(lane_find(&found, &table, NULL, false, NULL) == 2);
    check_that(&unit, fabs(found.line[0].offset + 1.7) < 0.05, "the line is at %.2f m", found.line[0].offset);
}

static void test_tracking(void)
{
    uint64_t state = 4;
    struct lane_tracker tracker = {.known = false};
    struct lane_result result;
    struct lane_shape shape = road;
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int i = 0; i < shape.lines; i++)
            shape.line[i].offset += 0.01;
        shape.term[LANE_BEND] -= 3e-5;
        paint_road(&shape, 0.02, &state);
        lane_track(&tracker, &table, &result, NULL);
        if (frame > 3)
            check_lines(&result.shape, &shape, 0.25, "tracking");
    }
    CHECK(result.state == LANE_SEEN && result.confidence > 0.7);
    CHECK(result.left == 1 && result.right == 2);
    clear(0, &state);
    lane_track(&tracker, &table, &result, NULL);
    CHECK(result.state == LANE_HELD);
    check_lines(&result.shape, &shape, 0.3, "held");
    for (int frame = 0; frame < 20; frame++)
        lane_track(&tracker, &table, &result, NULL);
    CHECK(result.state == LANE_NONE && result.shape.lines == 0);
}

// A single picture, and the first one after a loss, have the road's heading and bend.
static void test_first(void)
{
    uint64_t state = 8;
    struct lane_tracker tracker = {.known = false};
    struct lane_result result;
    for (int turn = 0; turn < 2; turn++) {
        paint_road(&road, 0.01, &state);
        lane_track(&tracker, &table, &result, NULL);
        CHECK(result.state == LANE_SEEN && result.left == 1 && result.right == 2);
        check_lines(&result.shape, &road, 0.25, turn == 0 ? "first frame" : "found again");
        clear(0, &state);
        for (int frame = 0; frame < 20; frame++)
            lane_track(&tracker, &table, &result, NULL);
        CHECK(result.state == LANE_NONE);
    }
}

// One or two frames of another road do not move the lines, also if they occur again. A lock on a wrong road ends after
// four frames in a row; the lines would fade in 13.
static void test_jump(void)
{
    uint64_t state = 5;
    struct lane_tracker tracker = {.known = false};
    struct lane_result result;
    struct lane_shape other = road;
    for (int i = 0; i < other.lines; i++)
        other.line[i].offset += 1.2;
    for (int frame = 0; frame < 24; frame++) {
        const bool jumped = frame >= 16 || (frame >= 10 && frame % 3 != 0);
        paint_road(jumped ? &other : &road, 0.01, &state);
        lane_track(&tracker, &table, &result, NULL);
        if (frame > 3 && frame < 19)
            check_lines(&result.shape, &road, 0.25, "before the jump");
        if (frame > 3 && frame < 19)
            CHECK(result.state == (jumped ? LANE_HELD : LANE_SEEN));
        if (frame > 20)
            check_lines(&result.shape, &other, 0.25, "after the jump");
    }
}

// The trace shows the search: a peak for each line, and windows whose points lie on the lines.
static void test_trace(void)
{
    static struct lane_trace trace;
    uint64_t state = 6;
    struct lane_shape found;
    paint_road(&road, 0, &state);
    lane_find(&found, &table, NULL, false, &trace);
    CHECK(!trace.known && fabs(trace.reach - 30) < 1e-9 && trace.shape.lines == road.lines);
    for (int i = 0; i < trace.shape.lines; i++) {
        const double peak = trace.shape.line[i].offset;
        int line = 0, boxes = 0, seen = 0, near_band = 0;
        while (line < road.lines - 1 && fabs(road.line[line].offset - peak) > 0.5)
            line++;
        const int column = (int)floor((peak + table.across / 2) / 0.05);
        CHECK(fabs(road.line[line].offset - peak) < 0.2);
        CHECK(trace.histogram[column] > 0.14f && trace.histogram[column] > 3 * trace.histogram[column + 10]);
        for (int strip = 0; strip < STRIPS; strip++) {
            const struct lane_box *box = &trace.box[i][strip], *band = &trace.band[i][strip];
            const double z = table.far - (strip + 0.5) * (table.far - table.near) / STRIPS;
            const double x = lane_x(&road, road.line[line].offset, z);
            boxes += box->half > 0;
            near_band += band->half > box->half;
            CHECK(band->half <= 0 || z <= trace.reach);
            CHECK(box->half <= 0 || fabs(box->x - x) < 0.3);
            if (!box->seen)
                continue;
            seen++;
            CHECK(fabs(box->found - x) < 0.15);
        }
        CHECK(boxes == STRIPS && near_band > 10 && near_band < STRIPS);
        const bool solid = line == 0 || line == road.lines - 1;
        check_that(&unit, solid ? seen > STRIPS / 2 : seen > 5 && seen < STRIPS * 2 / 3, "line %d: %d windows", line,
                   seen);
    }
    struct lane_shape again;
    lane_find(&again, &table, &found, true, &trace);
    CHECK(trace.known && trace.band[0][0].half > trace.box[0][0].half); // the band of a tracked line reaches the end
    clear(0, &state);
    lane_find(&again, &table, &found, true, &trace);
    CHECK(trace.shape.lines == 0 && trace.box[0][20].half <= 0 && trace.band[0][20].half <= 0);
}

int main(void)
{
    test_shapes();
    test_turned();
    test_pitch();
    test_nothing();
    test_faint();
    test_cycle_lane();
    test_narrow();
    test_alone();
    test_agreement();
    test_gravel();
    test_chance();
    test_hill();
    test_seam();
    test_tracking();
    test_first();
    test_jump();
    test_trace();
    return check_end(&unit);
}
