// road_truth.c: see road_truth.h
#include "source/road_truth.h"

#include <math.h>
#include <stddef.h>

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
