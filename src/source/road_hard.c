// road_hard.c: see road_hard.h
#include "source/road_hard.h"

#include <math.h>
#include <stddef.h>

enum { FOR_DIRT = 300 };

static const double joint_every = 5, arrow_every = 45, crossing_every = 90;                    // metres along the road
static const double barrier_high = 0.8, barrier_joints = 6, rail_low = 0.44, rail_high = 0.75; // metres
static const float wave = 40.5f;                                                               // radians per metre
static const float seam_dark = -58, arrow_paint = 214;
static const float kerb[3] = {158, 156, 150}, pavement[3] = {132, 128, 122}, rail[3] = {176, 180, 186};
static const float barrier[3] = {150, 148, 144}, barrier_top[3] = {190, 188, 182};

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

// A point of a vertical plane along the road.
struct wall_point {
    double up, way;     // metres: above the road; along it
    float high, length; // size of the pixel on the plane: up, and along the road
};

// Finds where the pixel's ray meets the plane, `edge` metres beside the middle of the own lane: at `share`, 0 to 1, of
// its way to the ground. The distances are then `share` times those of the ground's point. False: it does not meet it.
static bool meet_wall(const struct road_scene *scene, const struct road_point *at, double edge, struct wall_point *wall)
{
    const double x = at->offset + at->middle, z = at->way - scene->way;
    double share = (edge + at->middle) / x;
    for (int i = 0; i < 2 && share > 0 && share < 1; i++) // a bend: the road's middle is elsewhere there
        share = (edge + road_middle(scene, share * z)) / x;
    *wall = (struct wall_point){.up = ROAD_CAMERA_HEIGHT * (1 - share),
                                .way = scene->way + share * z,
                                .high = (float)(at->wide * share),
                                .length = (float)(at->length * share)};
    return share > 0 && share < 1;
}

// Returns the brightness of dirt along a wall, around 1, with a dark joint every `every` metres.
static float dirt_at(const struct road_scene *scene, const struct wall_point *wall, double every)
{
    const float dirt = 1 + 0.1f * (float)road_noise(scene->seed + FOR_DIRT, wall->way / 1.5, NULL);
    return dirt * (1 - 0.5f * cover(remainder(wall->way, every), 0.02, wall->length));
}

static void blend_dirty(float rgb[3], const float color[3], float light, float share)
{
    const float dirty[3] = {light * color[0], light * color[1], light * color[2]};
    blend(rgb, dirty, share);
}

// A concrete barrier, 0.9 m to the left of the left line. It is 80 cm high, and its top is 20 cm wide.
static void draw_barrier(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    const double edge = road_line_offset(scene, 0) - 0.9;
    struct wall_point front, back;
    if (!meet_wall(scene, at, edge, &front) || front.up > barrier_high + 0.3)
        return;
    if (front.up < barrier_high)
        blend_dirty(rgb, barrier, dirt_at(scene, &front, barrier_joints), 1);
    else if (meet_wall(scene, at, edge - 0.2, &back) && back.up < barrier_high)
        blend_dirty(rgb, barrier_top, dirt_at(scene, &back, barrier_joints), 1);
}

// A guard rail on posts, 1 m to the right of the right line. It has two waves, from 44 to 75 cm above the road.
static void draw_rail(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    struct wall_point wall;
    if (!meet_wall(scene, at, road_line_offset(scene, scene->lanes) + 1, &wall) || wall.up > rail_high)
        return;
    blend_dirty(rgb, rail, 0.45f, cover(remainder(wall.way, 2), 0.07, wall.length));
    if (wall.up > rail_low)
        blend_dirty(rgb, rail, dirt_at(scene, &wall, 4) * (1 - 0.3f * cosf(wave * (float)(wall.up - rail_low))), 1);
}

void road_hard(const struct road_scene *scene, const struct road_point *at, float rgb[3])
{
    if (scene->level == ROAD_CONCRETE) {
        draw_seams(scene, at, rgb);
    } else if (scene->level == ROAD_STREET) {
        draw_kerbs(at, rgb);
        draw_arrow(scene, at, rgb);
        draw_crossing(scene, at, rgb);
    } else if (scene->level == ROAD_RAILS) {
        if (at->offset < 0)
            draw_barrier(scene, at, rgb);
        else
            draw_rail(scene, at, rgb);
    }
}
