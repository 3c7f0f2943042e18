// renderer.h: draws pictures and the overlay with GL (main thread, current context)
#pragma once

#include "image/image.h"
#include "screen/overlay.h"
#include "screen/window.h"

struct renderer;

// What is drawn. Pictures keep their aspect, centred, black around; drawn at 1:1 their bytes reach the framebuffer as
// they are (nearest sampling at whole-number scales, linear otherwise; no colour conversion, alpha ignored).
struct scene {
    unsigned texture;              // GL texture, RGBA8, first row on top; 0 draws nothing
    int width, height;             // of the picture
    unsigned right_texture;        // the picture right of the divider, same size; 0: no split
    float divider;                 // 0..1 across the picture
    const struct overlay *overlay; // NULL: none
};

struct renderer *renderer_open(bool es);        // NULL on failure (logged)
void renderer_close(struct renderer *renderer); // takes NULL

// RGBA pixels to a texture through a pixel buffer. `slot` 0 or 1 tells independent pictures apart. The texture stays
// the renderer's, and is smaller than a picture that GL can't take whole (said once). 0 on failure (logged once).
unsigned renderer_upload(struct renderer *renderer, int slot, const struct image *rgba);
void renderer_draw(struct renderer *renderer, const struct scene *scene, const struct window_size *size);
// GPU time of an earlier frame's drawing, from a timer query; -1 when unknown.
int64_t renderer_gpu_ns(const struct renderer *renderer);

// The framebuffer as it was drawn (before the swap), first row on top, as RGBA with alpha 255; image_free it.
bool renderer_read(struct renderer *renderer, const struct window_size *size, struct image *rgba);

// Where the picture lies in the framebuffer: for mapping the pointer to the divider.
struct renderer_box {
    float x, y, width, height;
}; // pixels, from the top left
struct renderer_box renderer_picture_box(const struct scene *scene, const struct window_size *size);
