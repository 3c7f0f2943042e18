// test_gl_window.c: the gl path in a window: the framebuffer has the pixels of the cpu path, also while a thread builds
#include "path/path.h"
#include "screen_test.h"

#include <pthread.h>
#include <stdlib.h>

enum { FRAMES_WHILE_BUILDING = 4 };

static const struct image_shape shape = {.format = PIXFMT_RGBA, .width = 123, .height = 77};
static const char *const chains[] = {"blur=2,gray,emboss", "none", "median,blur=5", "mirror,sobel", "gamma=2,flip"};
enum { CHAINS = sizeof(chains) / sizeof(*chains) };

static void parse(struct screen_test *test, struct chain *chain, const char *text)
{
    char error[CHAIN_ERROR];
    check_that(test->check, chain_parse(chain, text, error), "%s", error);
}

static struct path *open_path(struct screen_test *test, enum path_kind kind, const char *text)
{
    struct chain chain;
    char *error = NULL;
    parse(test, &chain, text);
    struct path *path = path_open(
        &(struct path_setup){
            .kind = kind, .input = shape, .chain = &chain, .gl = window_gl(test->window), .textures = kind == PATH_GL},
        &error);
    if (!check_that(test->check, path != NULL, "%s: %s", text, error))
        exit(1);
    return path;
}

static struct path_result run(struct screen_test *test, struct path *path, const struct image *frame)
{
    struct path_result result = {0};
    check_that(test->check, path_submit(path, frame, NULL) && path_collect(path, &result), "a frame runs");
    return result;
}

// Draws a frame and compares it with that of the cpu path.
static void check_chain(struct screen_test *test, struct path *path, const struct image *frame, const char *text)
{
    struct path *cpu = open_path(test, PATH_CPU, text);
    const struct path_result want = run(test, cpu, frame), result = run(test, path, frame);
    const struct scene scene = {.texture = result.texture, .width = shape.width, .height = shape.height};
    gl_software_lock(window_gl(test->window));
    struct image got = screen_test_draw(test, &scene);
    window_swap(test->window);
    gl_software_unlock(window_gl(test->window));
    check_same(test, &got, 0, 0, &want.image, text);
    image_free(&got);
    path_close(cpu);
}

struct building {
    struct path *path;
    struct chain chain;
    bool ok;
};

static void *build(void *context)
{
    struct building *building = context;
    building->ok = path_prepare(building->path, &building->chain, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    struct check check = {.name = "test_gl_window"};
    struct screen_test test = {.check = &check};
    screen_test_options(&test, argv);
    screen_test_open(&test, shape.width, shape.height);
    struct image frame = noise_image(shape.width, shape.height, 0, 1);
    for (size_t i = 3; i < image_bytes(&shape); i += 4)
        frame.plane[0][i] = 255;
    struct path *path = open_path(&test, PATH_GL, chains[0]);
    check_chain(&test, path, &frame, chains[0]);
    for (int i = 1; i < 2 * CHAINS; i++) {
        struct building building = {.path = path};
        pthread_t thread;
        parse(&test, &building.chain, chains[i % CHAINS]);
        if (pthread_create(&thread, NULL, build, &building) != 0)
            return CHECK_SKIP;
        for (int k = 0; k < FRAMES_WHILE_BUILDING; k++)
            check_chain(&test, path, &frame, chains[(i - 1) % CHAINS]);
        pthread_join(thread, NULL);
        check_that(&check, building.ok, "%s is built", chains[i % CHAINS]);
        path_swap(path);
        check_chain(&test, path, &frame, chains[i % CHAINS]);
    }
    path_close(path);
    image_free(&frame);
    screen_test_close(&test);
    return check_end(&check);
}
