// screen_test.h: a window with a renderer for tests, and images to show in it
#pragma once

#include "check.h"
#include "image/image.h"
#include "screen/renderer.h"
#include "screen/window.h"

#include <stdint.h>

struct screen_test {
    struct check *check;
    bool es, egl; // as requested
    int opened;   // number of windows so far; only the first may lack a display
    struct window *window;
    struct renderer *renderer;
    struct window_size size;
};

// Reads the context from the program's first argument: "core" (default), "es", "core-egl" or "es-egl".
void screen_test_options(struct screen_test *test, char **argv);
// Opens a window and its renderer. From then on, a GL error is a failed check.
void screen_test_open(struct screen_test *test, int width, int height);
void screen_test_close(struct screen_test *test);

// Makes an image of noise from the seed, with `padding` bytes of garbage after every row. The caller frees it.
struct image noise_image(int width, int height, size_t padding, uint32_t seed);
// Draws without swapping and reads the framebuffer back.
struct image screen_test_draw(struct screen_test *test, const struct scene *scene);
// Makes one check: at (x, y), `got` has the colours of `want`, with alpha 255.
void check_same(struct screen_test *test, const struct image *got, int x, int y, const struct image *want,
                const char *what);
