// road_hard.c: see road_hard.h
#include "source/road_hard.h"

#include <math.h>

static const double joint_every = 5, arrow_every = 45, crossing_every = 90; // metres along the road
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

// A concrete barrier, 80 cm high, is 0.4 m behind the left edge; a guard rail, 50 to 75 cm high, is 0.4 m behind the
// right edge. The pixel's ray meets them before the ground.
static void draw_rails(const struct road_point *at, float rgb[3])
{
    const double x = at->offset + at->middle;
    const double plane = (x < 0 ? at->left - 0.4 : at->right + 0.4) + at->middle, reached = plane / x;
    const double up = ROAD_CAMERA_HEIGHT * (1 - reached);
    if (!(reached > 0 && reached < 1))
        return;
    if (x < 0 && up < 0.8)
        blend(rgb, up > 0.74 ? barrier_top : barrier, 1);
    else if (x > 0 && up > 0.5 && up < 0.75)
        blend(rgb, rail, up > 0.6 && up < 0.66 ? 0.5f : 1);
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
        draw_rails(at, rgb);
    }
}
