// renderer.h: draws pictures and the overlay with GL, and uploads pictures (main thread, current context)
#pragma once

#include "image/copier.h"
#include "image/image.h"
#include "screen/overlay.h"
#include "screen/window.h"

#include <stdbool.h>

struct renderer;

// What renderer_draw draws. Pictures keep their aspect ratio; they are centred, with black bars around them. A picture
// drawn at 1:1 reaches the framebuffer unchanged: nearest sampling at whole-number scales (else linear), no colour
// conversion, alpha ignored.
struct scene {
    unsigned texture;              // GL texture, RGBA8, first row on top; 0: no picture
    int width, height;             // of the picture
    unsigned right_texture;        // the picture right of the divider, same size; 0: no split
    float divider;                 // 0..1 across the picture
    float zoom;                    // framebuffer pixels per pixel of the picture; 0: the picture fits the window
    float at_x, at_y;              // the place of the picture in the middle of the window, 0..1, if zoomed
    const struct overlay *overlay; // NULL: none
};

struct renderer *renderer_open(void);           // NULL on failure (logged)
void renderer_close(struct renderer *renderer); // accepts NULL

// Copies RGBA pixels to a texture and returns its name; 0 on failure (logged once). `slot` is 0 or 1; each has its own
// texture, which the renderer owns. A picture larger than GL's textures is scaled down (logged once).
unsigned renderer_upload(struct renderer *renderer, int slot, const struct image *rgba);
void renderer_draw(struct renderer *renderer, const struct scene *scene, const struct window_size *size);
// Returns the GPU time of an earlier call of renderer_draw; -1 if unknown.
int64_t renderer_gpu_ns(const struct renderer *renderer);

// Where the picture is in the framebuffer, in pixels from the top left. A zoomed picture can extend beyond the
// framebuffer; a side of it is never inside while the opposite side is outside. All 0 if there is no picture.
struct renderer_box {
    float x, y, width, height;
};
const struct canvas *renderer_canvas(const struct renderer *renderer); // of the frame that was drawn last
struct renderer_box renderer_picture_box(const struct scene *scene, const struct window_size *size);

// The driver reads one buffer while the next picture is written to the other.
struct upload {
    unsigned texture; // 0: none was made, or GL refused it
    unsigned buffer[2];
    int next;
    int width, height; // of the picture
    int step;          // the texture has every `step`th pixel of the picture, in both directions
    bool failed;       // the failure was logged
    struct copier copier;
};

// Copies an RGBA picture. The texture keeps its name when the size changes. If GL accepts no texture of the picture's
// size, the texture has every second pixel, or every third, and so on: `step`. False on failure (logged once per size).
bool upload_picture(struct upload *upload, const struct image *rgba);
// Waits until GL has finished all commands so far. False after one second (not logged).
bool upload_wait(void);
void upload_finish(struct upload *upload); // accepts a zeroed one

// Shows the text until the user closes the window or presses a key, or a signal arrives. Does nothing if no window can
// be opened.
void error_window_show(const char *text);
