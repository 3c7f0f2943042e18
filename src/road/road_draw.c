// road_draw.c: draws a synthetic road, row by row: the ground point of each pixel, its surface, its light
#include "road/road.h"

#include <math.h>
#include <stdlib.h>

enum { SPAN = 16, TABLE = 256, FOR_TABLE = 200, FOR_PATCH, FOR_NOISE, FOR_SHOULDER };
static const double far_away = 500, paint_ends = 250; // metres

// How a level looks. Colours are 0 to 255.
struct road_look {
    float asphalt, paint;  // brightness
    float uneven;          // amplitude of the asphalt's large spots
    float haze_m;          // distance at which half of the light is the haze's
    float noise;           // amplitude of the sensor's noise
    float contrast;        // 1: unchanged
    float haze[3], sky[3]; // colours at the horizon and at the top
};

#define DAY .haze = {196, 206, 216}, .sky = {105, 150, 205}
static const struct road_look looks[ROAD_MIXED] = {
    [ROAD_CLEAN] = {92, 228, 7, 700, 3, 1, DAY},
    [ROAD_WORN] = {104, 196, 14, 700, 4, 1, DAY},
    [ROAD_SHADOWS] = {118, 240, 8, 700, 3, 1, DAY},
    [ROAD_PITCH] = {92, 228, 7, 700, 3, 1, DAY},
    [ROAD_CARS] = {92, 228, 7, 700, 3, 1, DAY},
    [ROAD_EMPTY] = {98, 0, 16, 700, 4, 1, DAY},
    [ROAD_CONCRETE] = {166, 228, 16, 700, 4, 1, DAY},
    [ROAD_STREET] = {104, 214, 12, 700, 4, 1, DAY},
    [ROAD_CHANGES] = {92, 228, 7, 700, 3, 1, DAY},
    [ROAD_MERGE] = {92, 228, 7, 700, 3, 1, DAY},
    [ROAD_RAIN] = {74, 200, 14, 110, 9, 0.75f, .haze = {168, 174, 180}, .sky = {140, 146, 152}},
    [ROAD_NIGHT] = {84, 235, 7, 4000, 6, 1, .haze = {9, 10, 15}, .sky = {5, 6, 12}},
};

// ---- things that look like lane lines: seams, joints, arrows, crossings, kerbs ----

// A point of the ground that a pixel shows.
struct road_point {
    double offset, way; // metres: from the middle of the own lane to the right; along the road
    double left, right; // edges of the asphalt, as offsets
    float wide, length; // size of the pixel on the road, across and along
};

static const double joint_every = 5, arrow_every = 45, crossing_every = 90; // metres along the road
static const float seam_dark = -58, arrow_paint = 214;
static const float kerb[3] = {158, 156, 150}, pavement[3] = {132, 128, 122};

// Returns the share of a pixel that a bar covers: of this half width, `distance` metres from the pixel's middle.
static float cover(double distance, double half, float pixel)
{
    const double inside = half + (double)pixel / 2 - fabs(distance);
    return (float)fmin(fmax(inside, 0), fmin(2 * half, (double)pixel)) / pixel;
}

static void blend(float rgb[3], const float color[3], float share)
{
    for (int c = 0; c < 3; c++)
        rgb[c] += (color[c] - rgb[c]) * share;
}

// Slabs of concrete: a dark seam beside each line, and joints across the road.
static void draw_seams(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    float dark = cover(remainder(at->way, joint_every), 0.015, at->length);
    for (int line = 0; line <= scene->lanes; line++)
        dark = fmaxf(dark, cover(at->offset - road_line_offset(scene, line) - 0.3, 0.03, at->wide));
    for (int c = 0; c < 3; c++)
        rgb[c] += seam_dark * dark;
}

// An arrow straight ahead in the middle of each lane: a shaft of 3 m, and a head of 1.5 m.
static void draw_arrow(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    static const float paint[3] = {arrow_paint, arrow_paint, arrow_paint};
    const double first = road_line_offset(scene, 0), across = remainder(at->offset - first, ROAD_LANE_WIDTH);
    const double aside = ROAD_LANE_WIDTH / 2 - fabs(across), along = remainder(at->way, arrow_every);
    const bool road = at->offset > first && at->offset < road_line_offset(scene, scene->lanes);
    if (road && along > 0 && along < 3)
        blend(rgb, paint, cover(aside, 0.08, at->wide));
    else if (road && along >= 3 && along < 4.5)
        blend(rgb, paint, cover(aside, 0.35 * (4.5 - along) / 1.5, at->wide));
}

// A pedestrian crossing: bars of 50 cm along the road, 3.5 m long.
static void draw_crossing(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    static const float paint[3] = {arrow_paint, arrow_paint, arrow_paint};
    const double first = road_line_offset(scene, 0), last = road_line_offset(scene, scene->lanes);
    const double along = remainder(at->way - crossing_every / 4, crossing_every);
    if (at->offset > first && at->offset < last && fabs(along) < 1.75)
        blend(rgb, paint, cover(remainder(at->offset - first, 1), 0.25, at->wide));
}

// A kerb of 15 cm at each edge, then a pavement.
static void draw_kerbs(const struct road_point *at, float rgb[3])
{
    const double behind = fmax(at->left - at->offset, at->offset - at->right);
    if (behind > 0)
        blend(rgb, pavement, 0.8f);
    blend(rgb, kerb, cover(behind - 0.075, 0.075, at->wide));
}

// Changes the colour of the point as the level demands. Other levels than the hard ones change nothing.
static void road_hard(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    if (scene->level == ROAD_CONCRETE) {
        draw_seams(scene, at, rgb);
    } else if (scene->level == ROAD_STREET) {
        draw_kerbs(at, rgb);
        draw_arrow(scene, at, rgb);
        draw_crossing(scene, at, rgb);
    }
}

// ---- objects between the camera and the road: cars, rain, lights ----

enum { ROAD_RECTS = 384 };

// A slanted rectangle of one colour.
struct road_rect {
    int y0, y1;     // first row, and the row behind the last one
    float x0, x1;   // left and right edge in row y0
    float slant;    // how much both edges move from row to row
    float opacity;  // 0 to 1
    float color[3]; // 0 to 255
};

enum { STREAKS = 220, BOXES = 24, DROPS = 24, ONCOMING = 3, FOR_STREAK = 100, FOR_DROP };

struct rects {
    const struct road_scene *scene;
    int width, height, count;
    struct road_rect *rect;
};

static void add_rect(struct rects *to, double x0, double y0, double x1, double y1, double opacity, const float color[3])
{
    if (to->count == ROAD_RECTS || y1 < 0 || y0 >= to->height)
        return;
    to->rect[to->count++] = (struct road_rect){.y0 = (int)fmax(y0, 0),
                                               .y1 = (int)fmin(y1, to->height),
                                               .x0 = (float)x0,
                                               .x1 = (float)x1,
                                               .opacity = (float)opacity,
                                               .color = {color[0], color[1], color[2]}};
}

// A flat part of a car that faces the camera, in shares of its width (from the left) and height (from the top).
struct car_part {
    double x0, y0, x1, y1;
    float color[3];
    bool dyed; // in the car's own colour
};
static const struct car_part parts[] = {
    {0.00, 0.00, 1.00, 0.90, {0, 0, 0}, true},        {0.08, 0.06, 0.92, 0.40, {32, 38, 44}, false},
    {0.00, 0.50, 0.14, 0.62, {190, 20, 20}, false},   {0.86, 0.50, 1.00, 0.62, {190, 20, 20}, false},
    {0.34, 0.64, 0.66, 0.74, {215, 215, 205}, false}, {0.05, 0.88, 0.95, 0.94, {28, 28, 28}, false},
    {0.04, 0.90, 0.18, 1.00, {16, 16, 16}, false},    {0.82, 0.90, 0.96, 1.00, {16, 16, 16}, false},
};

static void add_car(struct rects *to, const struct road_car *car)
{
    static const float shade[3] = {20, 20, 22};
    const double bright = 40 + 190 * (car->paint % 256 / 255.0), tint = (car->paint / 256 % 256 - 127.5) / 6;
    const float color[3] = {(float)(bright + tint), (float)bright, (float)(bright - tint)};
    const float side[3] = {0.55f * color[0], 0.55f * color[1], 0.55f * color[2]};
    double left, top, right, bottom;
    for (int i = BOXES; i >= 0; i--) { // from the front of the car to its rear
        const double z = car->distance + car->length * i / BOXES, x = road_middle(to->scene, z) + car->offset;
        road_project(to->scene, x - car->width / 2, car->height, z, &left, &top);
        road_project(to->scene, x + car->width / 2, 0, z, &right, &bottom);
        const double margin = 0.04 * (right - left);
        add_rect(to, left - margin, bottom - margin, right + margin, bottom + margin, 0.7, shade);
        add_rect(to, left, top, right, bottom - 0.12 * (bottom - top), 1, side);
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        const struct car_part *part = &parts[i];
        const double width = right - left, height = bottom - top;
        add_rect(to, left + part->x0 * width, top + part->y0 * height, left + part->x1 * width, top + part->y1 * height,
                 1, part->dyed ? color : part->color);
    }
}

// Streaks are new in each frame. Drops stay on the windscreen for a second.
static void add_rain(struct rects *to)
{
    const uint32_t frame = road_hash(to->scene->seed, FOR_STREAK, (uint32_t)to->scene->frame);
    const uint32_t second = road_hash(to->scene->seed, FOR_DROP, (uint32_t)to->scene->time);
    static const float light[3] = {215, 220, 225}, grey[3] = {150, 155, 160};
    const double unit = to->height / 720.0;
    for (uint32_t i = 0; i < STREAKS; i++) {
        const double x = (1.2 * road_unit(frame, i, 0) - 0.1) * to->width;
        const double y = (1.1 * road_unit(frame, i, 1) - 0.1) * to->height;
        const double length = (12 + 40 * road_unit(frame, i, 2)) * unit, wide = 0.8 + 1.2 * road_unit(frame, i, 3);
        const int before = to->count;
        add_rect(to, x, y, x + wide * unit, y + length, 0.15 + 0.25 * road_unit(frame, i, 4), light);
        if (to->count > before)
            to->rect[before].slant = (float)(0.25 * (x / to->width - 0.3));
    }
    for (uint32_t i = 0; i < DROPS; i++) {
        const double x = road_unit(second, i, 0) * to->width, y = road_unit(second, i, 1) * to->height;
        const double size = (3 + 7 * road_unit(second, i, 2)) * unit;
        add_rect(to, x - size, y - 0.6 * size, x + size, y + 0.6 * size, 0.35, grey);
        add_rect(to, x - 0.6 * size, y - size, x + 0.6 * size, y + size, 0.35, grey);
    }
}

// The lights of cars that come towards the camera at its own speed, left of the road, and their reflections on it.
static void add_lights(struct rects *to)
{
    static const double every = 60, nearest = 6, up = 0.65, half = 0.7; // metres
    static const float light[3] = {255, 250, 235};
    const double first = road_line_offset(to->scene, 0) - 3, period = ONCOMING * every;
    for (int i = 0; i < 2 * ONCOMING; i++) {
        const double come = fmod(2 * to->scene->way + (i / 2) * every, period), z = nearest + period - come;
        const double x = road_middle(to->scene, z) + first + (i % 2 ? half : -half);
        double px, py, ground_x, ground_y;
        road_project(to->scene, x, up, z, &px, &py);
        road_project(to->scene, x, 0, z, &ground_x, &ground_y);
        const double size = 0.12 * to->scene->focal / z + 1, far = 2 * (ground_y - py);
        add_rect(to, px - size, ground_y, px + size, ground_y + far, 0.25, light);
        for (int ring = 3; ring > 0; ring--)
            add_rect(to, px - ring * size, py - ring * size, px + ring * size, py + ring * size, 0.9 / (ring * ring),
                     light);
    }
}

// Computes the rectangles of a frame, in the order in which they are drawn. Returns their number.
static int road_rects(const struct road_scene *scene, int width, int height, struct road_rect rects[ROAD_RECTS])
{
    struct rects to = {.scene = scene, .width = width, .height = height, .rect = rects};
    for (int i = 0; i < scene->cars; i++)
        add_car(&to, &scene->car[i]);
    if (scene->level == ROAD_RAIN)
        add_rain(&to);
    if (scene->level == ROAD_NIGHT)
        add_lights(&to);
    return to.count;
}

// ---- spans ----

// The numbers at one end of a span. Between the ends they are linear.
struct end {
    double x, z, middle;
    float spots, light, trees, haze; // haze: its share of the light
};

// A stripe in one span.
struct stripe {
    float offset, half, share; // share: how much of the row's length on the road is painted
    float wear;                // 0 to 1: paint that is left, on average
    bool yellow;
};

// What the pixels of a span share.
struct row_span {
    struct end ends[2];
    struct stripe stripe[ROAD_STRIPES];
    int stripes;
    float wide, length; // size of a pixel on the road, across and along
    float left, right;  // edges of the asphalt
};

struct road_painter {
    struct road_spec spec;
    struct road_scene scene;
    struct road_look look;
    double left, right; // edges of the asphalt, from the middle of the own lane
    float glare_x, glare_y, glare;
    struct road_rect rect[ROAD_RECTS];
    int rects;
    float table[TABLE][TABLE]; // random numbers from 0 to 1
    float *row;                // RGB
};

// The terms of a row: each is linear in the pixel.
struct terms {
    double down, down_step, ahead, ahead_step, across, across_step;
};

static float mix(float a, float b, float share)
{
    return a + (b - a) * share;
}

static float clamp(float value)
{
    return fminf(fmaxf(value, 0), 1);
}

// Returns the whole number below; x >= -2^52. The library's floor is slow on processors without an instruction for it.
static int64_t floor_of(double x)
{
    const int64_t whole = (int64_t)x;
    return whole - (x < (double)whole);
}

// Smooth noise from 0 to 1, with one random value per unit of x and y.
static float noise_at(const struct road_painter *p, double x, double y)
{
    const int64_t i = floor_of(x), k = floor_of(y);
    float u = (float)(x - (double)i), v = (float)(y - (double)k);
    const float *upper = p->table[k & (TABLE - 1)], *lower = p->table[(k + 1) & (TABLE - 1)];
    const int left = i & (TABLE - 1), right = (i + 1) & (TABLE - 1);
    u *= u * (3 - 2 * u);
    v *= v * (3 - 2 * v);
    return mix(mix(upper[left], upper[right], u), mix(lower[left], lower[right], u), v);
}

// ---- light ----

// Returns the light of the sun, or of the headlights, on a point of the road.
static float light_at(const struct road_painter *p, double x, double z)
{
    if (p->scene.level != ROAD_NIGHT)
        return 1;
    const double beam = x / (1.6 + 0.22 * z), along = z / 30;
    return (float)(0.05 + 1.1 / ((1 + along * along) * (1 + beam * beam * beam * beam)));
}

// Returns how densely trees stand around a point.
static float trees_at(const struct road_painter *p, double offset, double way)
{
    return 0.5f * noise_at(p, way / 45, 7) + 0.75f * noise_at(p, way / 8, offset / 6 + 90);
}

// Returns the share of light that trees and bridges leave.
static float shadow_at(const struct road_painter *p, float trees, double offset, double way)
{
    static const double bridge_every = 230, bridge_long = 14;
    const double bridge = way - (double)floor_of(way / bridge_every) * bridge_every - 100;
    if (bridge > 0 && bridge < bridge_long)
        return 0.3f;
    return 1 - 0.62f * clamp((0.45f * noise_at(p, way / 2.6, offset / 2.1 + 40) + trees - 0.85f) * 9);
}

// ---- the ground ----

static struct end end_at(const struct road_painter *p, const struct terms *t, int px)
{
    const double down = fmax(t->down + t->down_step * px, ROAD_CAMERA_HEIGHT / far_away);
    struct end end = {.x = (t->across + t->across_step * px) * ROAD_CAMERA_HEIGHT / down,
                      .z = (t->ahead + t->ahead_step * px) * ROAD_CAMERA_HEIGHT / down};
    end.middle = road_middle(&p->scene, end.z);
    const double way = p->scene.way + end.z;
    end.spots = p->look.uneven * (2 * noise_at(p, way / 9, (end.x - end.middle) / 2.5) - 1);
    end.trees = p->scene.level == ROAD_SHADOWS ? trees_at(p, end.x - end.middle, way) : 0;
    end.light = light_at(p, end.x, end.z);
    end.haze = (float)(end.z / (end.z + p->look.haze_m));
    return end;
}

// Returns the share of dashes between two distances on the road.
static double dashed_share(const struct road_scene *scene, double from, double to)
{
    double painted[2];
    for (int i = 0; i < 2; i++) {
        const double at = (i ? to : from) / scene->period, whole = floor(at);
        painted[i] = whole * scene->dash + fmin((at - whole) * scene->period, scene->dash);
    }
    return (painted[1] - painted[0]) / (to - from);
}

// Adds the stripes that cross the span. Far away, a span is so long that its ends say too little about the pixels.
static void find_stripes(const struct road_painter *p, struct row_span *span)
{
    const struct end *ends = span->ends;
    const double a = ends[0].x - ends[0].middle, b = ends[1].x - ends[1].middle, half = span->length / 2;
    const double z = (ends[0].z + ends[1].z) / 2, way = p->scene.way + z, margin = 0.3 + fabs(b - a) / SPAN;
    for (int i = 0; i < p->scene.stripes && fmax(ends[0].z, ends[1].z) < paint_ends; i++) {
        const struct road_stripe *stripe = &p->scene.stripe[i];
        const double moved = road_line_at(&p->scene, stripe->line, z) - road_line_offset(&p->scene, stripe->line);
        const double offset = stripe->offset + moved;
        if (offset < fmin(a, b) - margin || offset > fmax(a, b) + margin)
            continue;
        const double share = stripe->dashed ? dashed_share(&p->scene, way - half, way + half) : 1;
        const float left = noise_at(p, way / 11, 5.3 * stripe->line + 0.5);
        span->stripe[span->stripes++] = (struct stripe){.offset = (float)offset,
                                                        .half = (float)(stripe->width / 2),
                                                        .share = (float)share,
                                                        .wear = p->scene.level == ROAD_WORN ? clamp(1.5f * left) : 1,
                                                        .yellow = stripe->yellow};
    }
}

static struct row_span span_at(const struct road_painter *p, const struct terms *t, int px)
{
    struct row_span span = {.ends = {end_at(p, t, px), end_at(p, t, px + SPAN)}};
    const double z = (span.ends[0].z + span.ends[1].z) / 2;
    const double bend = 0.15 * noise_at(p, (p->scene.way + z) / 1.7, 20.5);
    span.wide = (float)(hypot(z, ROAD_CAMERA_HEIGHT) / p->scene.focal);
    span.length = (float)(span.wide * (z + 0.1) / ROAD_CAMERA_HEIGHT);
    span.left = (float)(p->left + bend);
    span.right = (float)(p->right - bend);
    find_stripes(p, &span);
    return span;
}

// Returns the share of a pixel that is painted.
static float painted(const struct road_painter *p, const struct row_span *span, const struct stripe *s, float offset,
                     double way)
{
    const float inside = s->half + span->wide / 2 - fabsf(offset - s->offset);
    const float share = s->share * clamp((inside < 2 * s->half ? inside : 2 * s->half) / span->wide);
    if (share <= 0 || s->wear >= 1)
        return share;
    const float holes = noise_at(p, way * 3, offset * 16), fine = clamp(0.3f / span->length);
    return 0.85f * share * clamp(0.5f + 4 * (s->wear - mix(0.5f, 1.15f * holes, fine)));
}

// Returns how much brighter a repaired patch of asphalt is. Each 20 m of the road have one at most.
static float patch_at(const struct road_painter *p, double offset, double way)
{
    const int64_t cell = floor_of(way / 20);
    const double at = way - (double)cell * 20;
    const uint32_t hash = road_hash(p->spec.seed, FOR_PATCH, (uint32_t)cell);
    const double left = p->left + (p->right - p->left) * (hash % 64 / 64.0), wide = 1 + hash / 64 % 16 / 8.0;
    const double begin = hash / 1024 % 16 / 2.0, length = 2 + hash / 16384 % 16 / 2.0;
    const bool there = hash >> 29 < 4 && offset > left && offset < left + wide && at > begin && at < begin + length;
    if (!there)
        return 0;
    return hash >> 28 & 1 ? 11 : -20;
}

// Writes the colour of the road's surface without light.
static void surface_at(const struct road_painter *p, const struct row_span *span, float offset, double way, float spots,
                       float rgb[3])
{
    static const float grass[3] = {66, 82, 44};
    const float fine = 0.02f / (0.02f + span->length);
    const int64_t row = (int64_t)(way * 90), column = (int64_t)(offset * 90 + 8192);
    const float grain = fine * (p->table[row & (TABLE - 1)][column & (TABLE - 1)] - 0.5f);
    if (offset < span->left || offset > span->right) {
        const float tuft = 40 * (noise_at(p, way / 3, offset / 1.5) - 0.5f) * (0.3f + 0.7f * fine) + 60 * grain;
        for (int c = 0; c < 3; c++)
            rgb[c] = grass[c] + tuft;
        return;
    }
    float grey = p->look.asphalt + spots + 44 * grain;
    if (p->scene.level == ROAD_WORN || p->scene.level == ROAD_EMPTY)
        grey += patch_at(p, offset, way);
    rgb[0] = rgb[1] = grey;
    rgb[2] = grey + 3;
    for (int i = 0; i < span->stripes; i++) {
        const struct stripe *stripe = &span->stripe[i];
        const float share = painted(p, span, stripe, offset, way);
        if (share <= 0)
            continue;
        rgb[0] = mix(rgb[0], p->look.paint, share);
        rgb[1] = mix(rgb[1], p->look.paint * (stripe->yellow ? 0.82f : 1), share);
        rgb[2] = mix(rgb[2], p->look.paint * (stripe->yellow ? 0.35f : 1), share);
    }
}

static void draw_ground(struct road_painter *p, const struct terms *t, int px, int count)
{
    const struct row_span span = span_at(p, t, px);
    const bool hard = p->scene.level >= ROAD_CONCRETE && p->scene.level <= ROAD_STREET;
    const struct end *a = &span.ends[0], *b = &span.ends[1];
    for (int i = 0; i < count; i++) {
        const float at = (float)i / SPAN;
        const double down = t->down + t->down_step * (px + i), scale = ROAD_CAMERA_HEIGHT / down;
        float *rgb = p->row + 3 * (px + i);
        if (down < ROAD_CAMERA_HEIGHT / far_away) // the sky
            continue;
        const double x = (t->across + t->across_step * (px + i)) * scale;
        const double way = p->scene.way + (t->ahead + t->ahead_step * (px + i)) * scale;
        const float offset = (float)(x - a->middle - (b->middle - a->middle) * at);
        surface_at(p, &span, offset, way, mix(a->spots, b->spots, at), rgb);
        if (hard) {
            const struct road_point point = {.offset = (double)offset,
                                             .way = way,
                                             .left = (double)span.left,
                                             .right = (double)span.right,
                                             .wide = span.wide,
                                             .length = span.length};
            road_hard(&p->scene, &point, rgb);
        }
        float light = mix(a->light, b->light, at);
        if (p->scene.level == ROAD_SHADOWS)
            light *= shadow_at(p, mix(a->trees, b->trees, at), offset, way);
        const float haze = mix(a->haze, b->haze, at);
        for (int c = 0; c < 3; c++)
            rgb[c] = mix(rgb[c] * light, p->look.haze[c], haze);
    }
}

// ---- the sky ----

static void draw_sky(struct road_painter *p, const struct terms *t, int px, int count)
{
    static const float forest[3] = {44, 60, 46};
    const double turn = p->scene.way / 900 + 30 * road_middle(&p->scene, 30) / 900;
    for (int i = 0; i < count; i++) {
        const double up = -(t->down + t->down_step * (px + i)), across = t->across + t->across_step * (px + i) + turn;
        const double trees = 0.012 + 0.035 * noise_at(p, across * 14, 3) + 0.012 * noise_at(p, across * 90, 9);
        float *rgb = p->row + 3 * (px + i);
        const float height = clamp((float)(up / 0.4)), cloud = clamp(2.4f * noise_at(p, across * 5, up * 16 + 60) - 1);
        for (int c = 0; c < 3; c++) {
            const float sky = mix(mix(p->look.haze[c], p->look.sky[c], height), 1.12f * p->look.haze[c], 0.6f * cloud);
            const float wood = p->scene.level == ROAD_NIGHT ? 0.06f * forest[c] : mix(forest[c], p->look.haze[c], 0.3f);
            rgb[c] = up < trees ? wood : sky;
        }
    }
}

// ---- rows ----

static struct terms terms_of(const struct road_painter *p, int y)
{
    const struct road_scene *s = &p->scene;
    const double u = -s->centre_x / s->focal, v = (y - s->centre_y) / s->focal, step = 1 / s->focal;
    const double below = v * s->cos_roll - u * s->sin_roll, below_step = -step * s->sin_roll;
    return (struct terms){.down = below * s->cos_pitch + s->sin_pitch,
                          .down_step = below_step * s->cos_pitch,
                          .ahead = s->cos_pitch - below * s->sin_pitch,
                          .ahead_step = -below_step * s->sin_pitch,
                          .across = u * s->cos_roll + v * s->sin_roll,
                          .across_step = step * s->cos_roll};
}

static void draw_rects(struct road_painter *p, int y)
{
    for (int i = 0; i < p->rects; i++) {
        const struct road_rect *rect = &p->rect[i];
        if (y < rect->y0 || y >= rect->y1)
            continue;
        const float shift = rect->slant * (float)(y - rect->y0);
        const int x0 = (int)fmaxf(rect->x0 + shift + 0.5f, 0);
        const int x1 = (int)fminf(rect->x1 + shift + 1, (float)p->spec.width);
        for (int x = x0; x < x1; x++) {
            for (int c = 0; c < 3; c++)
                p->row[3 * x + c] = mix(p->row[3 * x + c], rect->color[c], rect->opacity);
        }
    }
}

static void add_glare(struct road_painter *p, int y)
{
    const float size = 0.28f * (float)p->spec.height, dy = ((float)y - p->glare_y) / size;
    for (int x = 0; x < p->spec.width; x++) {
        const float dx = ((float)x - p->glare_x) / size, light = p->glare / (1 + dx * dx + dy * dy);
        for (int c = 0; c < 3; c++)
            p->row[3 * x + c] += light;
    }
}

// Adds the noise of the sensor and rounds.
static void finish_row(const struct road_painter *p, int y, uint8_t *rgba)
{
    const float middle = p->look.contrast < 1 ? 130 : 0, scale = p->look.noise / 128;
    uint32_t state = road_hash(p->spec.seed + FOR_NOISE, (uint32_t)p->scene.frame, (uint32_t)y);
    for (int x = 0; x < p->spec.width; x++) {
        state = state * 1664525 + 1013904223;
        const float noise = ((float)(state >> 24) + (float)(state >> 16 & 255) - 255) * scale;
        for (int c = 0; c < 3; c++) {
            const float value = middle + (p->row[3 * x + c] - middle) * p->look.contrast + noise;
            rgba[4 * x + c] = (uint8_t)fminf(fmaxf(value, 0), 255);
        }
        rgba[4 * x + 3] = 255;
    }
}

void road_painter_row(struct road_painter *p, int y, uint8_t *rgba)
{
    const struct terms t = terms_of(p, y);
    const double horizon = ROAD_CAMERA_HEIGHT / far_away;
    for (int x = 0; x < p->spec.width; x += SPAN) {
        const int count = p->spec.width - x < SPAN ? p->spec.width - x : SPAN;
        const double left = t.down + t.down_step * x, right = t.down + t.down_step * (x + SPAN);
        if (fmin(left, right) < horizon)
            draw_sky(p, &t, x, count);
        if (fmax(left, right) >= horizon)
            draw_ground(p, &t, x, count);
    }
    if (p->glare > 0)
        add_glare(p, y);
    draw_rects(p, y);
    finish_row(p, y, rgba);
}

void road_painter_begin(struct road_painter *p, uint64_t frame)
{
    struct road_scene *scene = &p->scene;
    road_scene(&p->spec, frame, scene);
    p->look = looks[scene->level];
    p->left = road_line_offset(scene, 0) - 0.6 - 1.6 * road_unit(p->spec.seed, FOR_SHOULDER, 0);
    p->right = road_line_offset(scene, scene->lines - 1) + 0.6 + 1.6 * road_unit(p->spec.seed, FOR_SHOULDER, 1);
    p->rects = road_rects(scene, p->spec.width, p->spec.height, p->rect);
    p->glare = 0;
    if (scene->level == ROAD_SHADOWS) {
        p->glare = 130 * clamp((float)(1.5 * road_noise(p->spec.seed + 7, scene->time / 2, NULL)));
        p->glare_x = (float)(p->spec.width * (0.5 + 0.4 * road_noise(p->spec.seed + 8, scene->time / 9, NULL)));
        p->glare_y = 0.3f * (float)p->spec.height;
    }
}

struct road_painter *road_painter_open(const struct road_spec *spec)
{
    struct road_painter *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->spec = *spec;
    p->row = malloc((size_t)spec->width * 3 * sizeof(*p->row));
    for (uint32_t i = 0; i < TABLE * TABLE; i++)
        p->table[i / TABLE][i % TABLE] = (float)road_unit(spec->seed, FOR_TABLE, i);
    if (p->row)
        return p;
    free(p);
    return NULL;
}

void road_painter_close(struct road_painter *p)
{
    if (!p)
        return;
    free(p->row);
    free(p);
}
