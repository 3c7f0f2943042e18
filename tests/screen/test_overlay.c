// test_overlay.c: the overlay is visible, legible, inside the window and the same every time
//
// test_overlay CONTEXT [DIRECTORY]   writes the images as PPM files to DIRECTORY
#include "screen/keys.h"
#include "screen_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 8 };
static const struct {
    int width, height;
    float scale;
} sizes[SIZES] = {{200, 133, 1},  {240, 160, 1},   {320, 240, 1},     {640, 480, 1},
                  {1280, 720, 1}, {1920, 1080, 1}, {1280, 960, 1.5f}, {1920, 1200, 2}};

// Light and dark, plain and detailed backgrounds: the text must be legible on each.
static struct image backdrop(int width, int height)
{
    struct image image = noise_image(width, height, 0, 5);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            uint8_t *pixel = image.plane[0] + (size_t)y * image.stride[0] + (size_t)x * 4;
            const int stripe = x * 8 / width;
            const uint8_t level = (uint8_t)(255 - y * 200 / height);
            pixel[0] = stripe & 1 ? level : (uint8_t)(level / 4 + (pixel[0] & 31));
            pixel[1] = stripe & 2 ? level : (uint8_t)(level / 3 + (pixel[1] & 31));
            pixel[2] = stripe & 4 ? level : (uint8_t)(level / 2 + (pixel[2] & 31));
        }
    }
    return image;
}

static void add_stage(struct overlay *overlay, const char *name, bool device, double ms)
{
    struct overlay_stage *stage = &overlay->stage[overlay->stages];
    snprintf(stage->name, sizeof(stage->name), "%s", name);
    stage->device = device;
    stage->ms = ms;
    stage->p95_ms = ms * 1.4;
    stage->history_count = OVERLAY_HISTORY;
    for (int i = 0; i < OVERLAY_HISTORY; i++) {
        const double wave =
            1 + 0.25 * sin(i * 0.13 + overlay->stages) + 0.15 * ((i * 7919 + overlay->stages * 31) % 11) / 11;
        stage->history[i] = (float)(i % 53 == 40 ? ms * 3 : ms * wave);
    }
    overlay->stages++;
}

static void fill(struct overlay *overlay)
{
    overlay->budget_ms = 33.3;
    overlay_line(overlay, OVERLAY_STRONG, "29.97 fps");
    overlay_line(overlay, OVERLAY_PLAIN, "1%% low\t27.4 fps");
    overlay_line(overlay, OVERLAY_PLAIN, "age\t41 ms     skipped 3 of 1842");
    overlay_line(overlay, OVERLAY_PLAIN, "source\t/dev/video0 Integrated Camera, NV21 1280x720 @ 30");
    overlay_line(overlay, OVERLAY_PLAIN, "path\tzerocopy, sharing mapped");
    overlay_line(overlay, OVERLAY_WARNING,
                 "\tno cl_khr_gl_sharing on this device, so the texture is filled from mapped memory");
    overlay_line(overlay, OVERLAY_PLAIN, "device\tpthread-haswell-AMD EPYC 9R14 (Portable Computing Language)");
    overlay_line(overlay, OVERLAY_PLAIN, "chain\tblur=2,convolve=sharpen,gray");
    overlay_line(overlay, OVERLAY_STRONG, "chosen\tblur radius = 2   (1..15)");
    add_stage(overlay, "capture", false, 1.84);
    add_stage(overlay, "upload", true, 0.42);
    add_stage(overlay, "pass nv21+blur", true, 6.31);
    add_stage(overlay, "pass convolve+gray+threshold+contrast", true, 14.25);
    add_stage(overlay, "download", true, 0.38);
    add_stage(overlay, "texture upload", false, 0.71);
    add_stage(overlay, "draw", true, 0.12);
    add_stage(overlay, "swap", false, 25.9);
}

// Returns a hash of all pixels.
static uint64_t hash(const struct image *image)
{
    uint64_t sum = 14695981039346656037u; // FNV-1a
    for (size_t i = 0; i < image->stride[0] * (size_t)image->shape.height; i++)
        sum = (sum ^ image->plane[0][i]) * 1099511628211u;
    return sum;
}

static void write_ppm(const struct image *image, const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s-%dx%d.ppm", directory, name, image->shape.width, image->shape.height);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "P6\n%d %d\n255\n", image->shape.width, image->shape.height);
    for (size_t i = 0; i < image->stride[0] * (size_t)image->shape.height; i += 4)
        fwrite(image->plane[0] + i, 1, 3, file);
    fclose(file);
}

struct view {
    const char *name;
    enum overlay_size size;
    bool help, error;
    const char *message;
};

static const char compile_error[] =
    "blur.cl does not compile; the old program runs on\n"
    "blur.cl:12:18: error: use of undeclared identifier 'radius'\n"
    "    for (int dy = -radius; dy <= radius; dy++)\n"
    "                   ^\n"
    "blur.cl:19:5: warning: expression result unused, which is what happens when a line of a kernel is so long that "
    "the compiler's message about it does not fit into one line of the window\n"
    "1 error and 1 warning generated.";

static const struct view views[] = {
    {"small", OVERLAY_SMALL, false, false, "saved monocle-0001.png"},
    {"full", OVERLAY_FULL, false, false, "path: zerocopy (mapped)"},
    {"large", OVERLAY_LARGE, false, false, ""},
    {"help", OVERLAY_FULL, true, false, ""},
    {"error", OVERLAY_FULL, false, true, compile_error},
    {"off", OVERLAY_OFF, false, false, "overlay off"},
};
enum { VIEWS = sizeof(views) / sizeof(*views) };

struct counts {
    long changed, bright;   // pixels that differ from the image's; light ones among them
    long edge, bright_edge; // the same at the window's edge
    long bright_left;       // light pixels in the left eighth
};

static struct counts compare(const struct image *got, const struct image *plain)
{
    struct counts counts = {0};
    const int width = got->shape.width, height = got->shape.height;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            const size_t at = (size_t)y * got->stride[0] + (size_t)x * 4;
            const uint8_t *pixel = got->plane[0] + at;
            if (memcmp(pixel, plain->plane[0] + at, 3) == 0)
                continue;
            counts.changed++;
            const bool bright = pixel[0] > 200 && pixel[1] > 200 && pixel[2] > 200;
            counts.bright += bright;
            counts.bright_left += bright && x < width / 8;
            const bool edge = x < 4 || y < 4 || x >= width - 4 || y >= height - 4;
            counts.edge += edge;
            counts.bright_edge += edge && bright;
        }
    }
    return counts;
}

static void test_view(struct screen_test *test, struct scene scene, const struct view *view, const struct image *plain,
                      const char *directory)
{
    struct keys all, keys;
    keys_default(&all);
    keys_list(&all, &keys);
    keys.row[keys.count++] = (struct key_row){.help = "a row that is too long for two blocks of 640x480"};
    struct overlay overlay = {.size = view->size, .help = view->help, .message_is_error = view->error, .keys = &keys};
    fill(&overlay);
    snprintf(overlay.message, sizeof(overlay.message), "%s", view->message);
    scene.overlay = &overlay;
    struct image got = screen_test_draw(test, &scene);
    struct image again = screen_test_draw(test, &scene);
    const struct counts counts = compare(&got, plain);
    check_that(test->check, hash(&got) == hash(&again), "%s: drawn twice it differs", view->name);
    check_that(test->check, counts.bright > 20 && counts.changed > 8 * counts.bright,
               "%s at %dx%d: %ld light pixels of %ld", view->name, got.shape.width, got.shape.height, counts.bright,
               counts.changed);
    check_that(test->check, (view->help ? counts.bright_edge : counts.edge) == 0,
               "%s at %dx%d touches the window's edge", view->name, got.shape.width, got.shape.height);
    check_that(test->check, !view->help || got.shape.width != 640 || counts.bright_left > 0, "help in one block");
    if (directory)
        write_ppm(&got, directory, view->name);
    image_free(&again);
    image_free(&got);
}

// The panel leaves the scope's place free: there the picture is the same with and without a panel.
static void test_scope(struct screen_test *test, struct scene scene, const struct image *plain, const char *directory)
{
    struct overlay overlay = {.size = OVERLAY_FULL, .scope = {.name = "column sums", .curves = 1, .points = 1}};
    overlay.scope.curve[0][0] = 0.5f;
    scene.overlay = &overlay;
    struct image alone = screen_test_draw(test, &scene);
    fill(&overlay);
    struct image both = screen_test_draw(test, &scene);
    long scope = 0, covered = 0;
    for (size_t at = 0; at < plain->stride[0] * (size_t)plain->shape.height; at += 4) {
        if (memcmp(alone.plane[0] + at, plain->plane[0] + at, 3) == 0)
            continue;
        scope++;
        covered += memcmp(alone.plane[0] + at, both.plane[0] + at, 3) != 0;
    }
    check_that(test->check, covered == 0, "the panel at %dx%d covers %ld of the scope's %ld pixels", both.shape.width,
               both.shape.height, covered, scope);
    check_that(test->check, scope > 0 || both.shape.width < 640, "there is no scope at %dx%d", both.shape.width,
               both.shape.height);
    if (directory)
        write_ppm(&both, directory, "scope");
    image_free(&both);
    image_free(&alone);
}

static void test_views(struct screen_test *test, const char *directory)
{
    for (int i = 0; i < SIZES; i++) {
        screen_test_open(test, sizes[i].width, sizes[i].height);
        test->size.scale = sizes[i].scale;
        struct image image = backdrop(sizes[i].width, sizes[i].height);
        struct scene scene = {.texture = renderer_upload(test->renderer, 0, &image),
                              .width = image.shape.width,
                              .height = image.shape.height};
        struct image plain = screen_test_draw(test, &scene);
        for (int v = 0; v < VIEWS; v++)
            test_view(test, scene, &views[v], &plain, directory);
        test_scope(test, scene, &plain, directory);
        const struct overlay off = {0};
        scene.overlay = &off;
        struct image got = screen_test_draw(test, &scene);
        check_that(test->check, hash(&got) == hash(&plain), "an overlay that is off draws something");
        image_free(&got);
        image_free(&plain);
        image_free(&image);
        screen_test_close(test);
    }
}

// All fields full, with invalid UTF-8 and invalid times, in tiny windows.
static void test_extremes(struct screen_test *test)
{
    static const int sides[][2] = {{1, 1}, {40, 300}, {300, 40}, {1000, 700}};
    static struct overlay overlay;
    struct keys keys;
    keys_default(&keys);
    overlay = (struct overlay){.keys = &keys, .budget_ms = 1e-9};
    for (int i = 0; i < OVERLAY_LINES + 3; i++)
        overlay_line(&overlay, OVERLAY_WARNING, "%*s\t%0*d\xff\xc3", i, "label", 2 * i, i);
    check_that(test->check, overlay.lines == OVERLAY_LINES, "%d lines are kept", overlay.lines);
    for (int i = 0; i < OVERLAY_STAGES; i++) {
        add_stage(&overlay, "a stage of a name so long that it has to be cut off somewhere", i & 1, 1e12);
        overlay.stage[i].history[i] = i & 1 ? NAN : i & 2 ? INFINITY : -1;
    }
    memset(overlay.message, 'm', sizeof(overlay.message) - 1);
    for (size_t s = 0; s < sizeof(sides) / sizeof(*sides); s++) {
        screen_test_open(test, sides[s][0], sides[s][1]);
        for (int size = OVERLAY_SMALL; size < OVERLAY_SIZES; size++) {
            overlay.size = (enum overlay_size)size;
            for (int help = 0; help < 2; help++) {
                overlay.help = help;
                const struct scene scene = {.overlay = &overlay};
                struct image got = screen_test_draw(test, &scene);
                image_free(&got);
            }
        }
        screen_test_close(test);
    }
}

int main(int argc, char **argv)
{
    struct check check = {.name = "overlay"};
    struct screen_test test = {.check = &check};
    screen_test_options(&test, argv);
    test_views(&test, argc > 2 ? argv[2] : NULL);
    test_extremes(&test);
    return check_end(&check);
}
