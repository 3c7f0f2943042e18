// test_lane_aim.c: finds the pitch of the camera in drawn pictures
#include "lane/aim.h"
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
            memset(image_row(image, 0, (int)left[1]) + (size_t)column * 4, PAINT, 4);
    }
}

static void draw_lines(struct image *image, double pitch, const double *x, int lines, double dash)
{
    struct lane_camera camera = lane_camera_default();
    struct lane_map map;
    char error[LANE_ERROR];
    camera.pitch = pitch;
    CHECK(lane_map_init(&map, &camera, WIDTH, HEIGHT, error));
    for (int i = 0; i < lines; i++)
        draw_line(image, &map, x[i], dash);
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
    memset(image_row(image, 0, 0), ROAD, image_bytes(&shape));
}

// A search finds each pitch within 15 degrees of the default, 4 degrees.
static void test_range(struct image *image)
{
    static const double lines[] = {-5.4, -1.8, 1.8, 5.4};
    static const double pitches[] = {-10, -4, 10, 18};
    for (int i = 0; i < 4; i++) {
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

int main(void)
{
    struct image image;
    CHECK(image_alloc(&image, &shape));
    test_range(&image);
    test_texture(&image);
    image_free(&image);
    return check_end(&unit);
}
