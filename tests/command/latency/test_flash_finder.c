// test_flash_finder.c: flashes in small parts of noisy images are found; other changes are not flashes
#include "unit.h"

#include "command/latency/latency.h"
#include "pictures.h"

enum { WIDTH = 160, HEIGHT = 90, LOOKS = 6, ROUNDS = 3, CHANCES = 40 }; // a lamp rarely follows the flash by chance

struct lit_scene {
    int x, y, width, height; // of the flash, pixels
    int background, brightness, noise;
    int flicker; // of a lamp that is independent of the flash
};

static struct random randomness = {7};

static void draw(struct image *picture, const struct lit_scene *scene, bool light)
{
    const int lamp = scene->flicker ? (int)(random_bits(&randomness) % (unsigned)scene->flicker) : 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const bool inside =
                x >= scene->x && x < scene->x + scene->width && y >= scene->y && y < scene->y + scene->height;
            int value = scene->background + lamp + (light && inside ? scene->brightness : 0);
            if (scene->noise)
                value += (int)(random_bits(&randomness) % (unsigned)(2 * scene->noise + 1)) - scene->noise;
            uint8_t *pixel = picture->plane[0] + (size_t)y * picture->stride[0] + 4 * (size_t)x;
            memset(pixel, value < 0 ? 0 : value > 255 ? 255 : value, 3);
            pixel[3] = 255;
        }
}

static bool learn(struct finder *finder, struct image *picture, const struct lit_scene *scene)
{
    struct finder_look look;
    *finder = (struct finder){0};
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2 * LOOKS; i++) {
            draw(picture, scene, i >= LOOKS);
            finder_look(picture, &look);
            finder_learn(finder, i >= LOOKS, &look);
        }
        finder_end_round(finder);
    }
    return finder_ready(finder);
}

static void level_is(const struct finder *finder, struct image *picture, const struct lit_scene *scene, bool light)
{
    struct finder_look look;
    draw(picture, scene, light);
    finder_look(picture, &look);
    const double level = finder_level(finder, &look);
    check_that(&unit, level > (light ? 0.8 : -0.2) && level < (light ? 1.2 : 0.2), "level %.2f in the %s", level,
               light ? "light" : "dark");
}

static void test_found(struct image *picture)
{
    static const struct lit_scene scenes[] = {
        {0, 0, WIDTH, HEIGHT, 20, 200, 0, 0}, // the flash fills the image
        {80, 30, 20, 14, 20, 200, 10, 0},     // a distant window
        {100, 50, 40, 30, 100, 12, 15, 0},    // a bright room, a weak flash
        {10, 10, 50, 50, 60, 60, 5, 8},       // a lamp that flickers less
    };
    struct finder finder;
    for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
        check_that(&unit, learn(&finder, picture, &scenes[i]), "scene %zu is not found, strongest step %.1f", i,
                   (double)finder.strongest);
        const double cells = (double)scenes[i].width * scenes[i].height * FINDER_CELLS / (WIDTH * HEIGHT);
        check_that(&unit, finder.cells <= 1.8 * cells + 6, "scene %zu has %d cells", i, finder.cells);
        level_is(&finder, picture, &scenes[i], false);
        level_is(&finder, picture, &scenes[i], true);
    }
}

static void test_not_found(struct image *picture)
{
    static const struct lit_scene scenes[] = {
        {0, 0, 0, 0, 20, 0, 0, 0},           // no change
        {0, 0, 0, 0, 100, 0, 60, 0},         // a noisy sensor
        {0, 0, 0, 0, 100, 0, 5, 120},        // a lamp
        {0, 0, WIDTH, HEIGHT, 100, 3, 2, 0}, // too weak
        {0, 0, 4, 3, 20, 200, 0, 0},         // too small
    };
    struct finder finder;
    for (size_t i = 0; i < CHANCES * (sizeof(scenes) / sizeof(*scenes)); i++)
        check_that(&unit, !learn(&finder, picture, &scenes[i / CHANCES]), "scene %zu is found in %d cells", i / CHANCES,
                   finder.cells);
    finder = (struct finder){0};
    finder_end_round(&finder);
    CHECK(!finder_ready(&finder));
}

// Any format and size; with fewer pixels than cells, the cells without pixels are dark.
static void test_looks(void)
{
    static const int sizes[][2] = {{2, 2}, {31, 23}, {640, 480}, {1921, 3}};
    for (int format = 0; format < PIXFMT_COUNT; format++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            struct image_shape shape = {
                (enum pixfmt)format, sizes[i][0], sizes[i][1], {COLOR_MATRIX_601, COLOR_RANGE_FULL}, false};
            const char *why;
            if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why))
                continue;
            struct test_frame frame;
            struct finder_look look;
            frame_fill(&frame, &shape, LAYOUT_PADDED, SHAPE_NOISE, &randomness);
            memset(&look, 0xee, sizeof(look));
            finder_look(&frame.image, &look);
            float largest = 0;
            for (int cell = 0; cell < FINDER_CELLS; cell++)
                largest = look.cell[cell] > largest ? look.cell[cell] : largest;
            check_that(&unit, largest > 0 && largest <= 255, "%s %dx%d: brightest cell %.1f",
                       pixfmt_info(shape.format)->name, shape.width, shape.height, (double)largest);
            frame_free(&frame);
        }
}

int main(void)
{
    struct image picture;
    image_alloc(&picture, &(struct image_shape){.width = WIDTH, .height = HEIGHT});
    test_found(&picture);
    test_not_found(&picture);
    test_looks();
    image_free(&picture);
    return check_end(&unit);
}
