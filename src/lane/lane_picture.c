// lane_picture.c: lane lines in the coordinates of the camera's picture
#include "lane/lane_picture.h"

#include <math.h>

enum { STEPS = 200 };
static const double first_z = 2, last_z = 62; // metres: farther parts of a line are not reported

void lane_samples(int height, int y[LANE_SAMPLES])
{
    for (int i = 0; i < LANE_SAMPLES; i++)
        y[i] = (16 + i) * height / 72;
}

void lane_to_picture(const struct lane_map *map, const struct lane_shape *shape, double offset, int width, int rows,
                     const int y[], double x[])
{
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
