// road_objects.c: see road_objects.h
#include "source/road_objects.h"

#include <math.h>
#include <stddef.h>

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
    to->rect[to->count++] = (struct road_rect){.y0 = (int)(y0 < 0 ? 0 : y0),
                                               .y1 = (int)(y1 > to->height ? to->height : y1),
                                               .x0 = (float)x0,
                                               .x1 = (float)x1,
                                               .opacity = (float)opacity,
                                               .color = {color[0], color[1], color[2]}};
}

// A flat part of a car that faces the camera, in shares of its width (from the left) and height (from the top).
struct part {
    double x0, y0, x1, y1;
    float color[3];
    bool dyed; // in the car's own colour
};
static const struct part parts[] = {
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
        const struct part *part = &parts[i];
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

int road_rects(const struct road_scene *scene, int width, int height, struct road_rect rects[ROAD_RECTS])
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
