// screen_test.c: a window with a renderer for tests, and images to show in it
#include "screen_test.h"

#include <epoxy/gl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void screen_test_options(struct screen_test *test, char **argv)
{
    static const char *const kinds[] = {"core", "es", "core-egl", "es-egl", NULL};
    const int kind = check_name(argv[1], kinds);
    test->es = kind & 1;
    test->egl = kind & 2;
}

static void on_message(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length, const GLchar *message,
                       const void *context)
{
    if (type == GL_DEBUG_TYPE_ERROR || type == GL_DEBUG_TYPE_UNDEFINED_BEHAVIOR)
        check_that((struct check *)context, false, "GL reports: %.*s", (int)length, message);
}

void screen_test_open(struct screen_test *test, int width, int height)
{
    char why[256] = "";
    const struct window_setup setup = {
        .title = "monocle test", .width = width, .height = height, .es = test->es, .egl = test->egl, .debug = true};
    test->window = window_open(&setup, why);
    if (!test->window && test->opened == 0) {
        fprintf(stderr, "skipped: no window: %s\n", why);
        exit(CHECK_SKIP);
    }
    if (!check_that(test->check, test->window != NULL, "window %d does not open: %s", test->opened, why))
        exit(1);
    test->opened++;
    check_that(test->check, !epoxy_is_desktop_gl() || !test->es, "asked for ES, got %s", window_gl_name(test->window));
    if (epoxy_has_gl_extension("GL_KHR_debug")) {
        glEnable(GL_DEBUG_OUTPUT);
        glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
        glDebugMessageCallback(on_message, test->check);
    }
    test->renderer = renderer_open();
    if (!check_that(test->check, test->renderer != NULL, "the renderer opens"))
        exit(1);
    test->size = window_size(test->window);
}

void screen_test_close(struct screen_test *test)
{
    const GLenum error = glGetError();
    check_that(test->check, error == GL_NO_ERROR, "GL error 0x%04x is left", error);
    renderer_close(test->renderer);
    window_close(test->window);
}

struct image noise_image(int width, int height, size_t padding, uint32_t seed)
{
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = width, .height = height};
    struct image image = {.shape = shape};
    const size_t stride = (size_t)width * 4 + padding;
    image.memory = malloc(stride * (size_t)height);
    if (!image.memory)
        abort();
    image.plane[0] = image.memory;
    image.stride[0] = stride;
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < stride * (size_t)height; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; // Knuth's MMIX generator
        image.plane[0][i] = (uint8_t)(state >> 56);
    }
    return image;
}

// Reads the framebuffer as it was drawn: first row on top, alpha 255.
static struct image read_framebuffer(const struct screen_test *test)
{
    const int width = test->size.width, height = test->size.height;
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = width, .height = height};
    const size_t row = (size_t)width * 4;
    struct image got = {0};
    uint8_t *pixels = malloc(row * (size_t)height);
    if (!check_that(test->check, pixels && image_alloc(&got, &shape), "there is memory for the framebuffer"))
        exit(1);
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glReadBuffer(GL_BACK);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int y = 0; y < height; y++) // GL's first row is at the bottom
        memcpy(got.plane[0] + got.stride[0] * (size_t)(height - 1 - y), pixels + row * (size_t)y, row);
    for (size_t i = 3; i < got.stride[0] * (size_t)height; i += 4)
        got.plane[0][i] = 255;
    free(pixels);
    return got;
}

struct image screen_test_draw(struct screen_test *test, const struct scene *scene)
{
    renderer_draw(test->renderer, scene, &test->size);
    return read_framebuffer(test);
}

void check_same(struct screen_test *test, const struct image *got, int x, int y, const struct image *want,
                const char *what)
{
    int wrong = 0, first_x = 0, first_y = 0;
    for (int row = 0; row < want->shape.height; row++) {
        const uint8_t *a = got->plane[0] + (size_t)(y + row) * got->stride[0] + (size_t)x * 4;
        const uint8_t *b = want->plane[0] + (size_t)row * want->stride[0];
        for (int column = 0; column < want->shape.width; column++, a += 4, b += 4) {
            if (memcmp(a, b, 3) == 0 && a[3] == 255)
                continue;
            if (wrong++ == 0) {
                first_x = column;
                first_y = row;
            }
        }
    }
    check_that(test->check, wrong == 0, "%s, %dx%d: %d pixels differ, the first at %d,%d", what, want->shape.width,
               want->shape.height, wrong, first_x, first_y);
}
