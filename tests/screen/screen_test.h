// screen_test.h: a window with a renderer for tests, and images to show in it
#pragma once

#include "check.h"
#include "image/image.h"
#include "screen/renderer.h"
#include "screen/window.h"

#include <stdint.h>

struct screen_test {
    struct check *check;
    bool es, egl; // as asked for
    int opened;   // windows so far; only the first may find that there is no display
    struct window *window;
    struct renderer *renderer;
    struct window_size size;
};

// Reads the context from the program's first argument: "core" (default), "es", "core-egl" or "es-egl".
void screen_test_options(struct screen_test *test, char **argv);
// Opens window and renderer. GL errors the driver reports from then on are failed checks.
void screen_test_open(struct screen_test *test, int width, int height);
void screen_test_close(struct screen_test *test);

// Noise that the seed tells apart; `padding` bytes of garbage behind every row. image_free it.
struct image noise_image(int width, int height, size_t padding, uint32_t seed);
// Draws without swapping and reads the framebuffer back.
struct image screen_test_draw(struct screen_test *test, const struct scene *scene);
// One check: the part of `got` at (x, y) as large as `want` holds the colours of `want`; alpha is 255 in `got`.
void check_same(struct screen_test *test, const struct image *got, int x, int y, const struct image *want,
                const char *what);
