// canvas.h: what the parts of the overlay are drawn with: rectangles, panels and letters in framebuffer pixels
#pragma once

#include "screen/atlas.h"
#include "screen/quads.h"
#include "screen/text.h"

struct canvas {
    struct atlas *atlas;
    struct quads *quads;
    int width, height; // of the framebuffer
    float scale;       // content scale
};

struct paint {
    uint8_t red, green, blue, alpha;
};

struct rect {
    int x, y, width, height;
};

void canvas_fill(struct canvas *canvas, struct rect rect, struct paint paint);
void canvas_round(struct canvas *canvas, struct rect rect, int radius, struct paint paint);
// `x` is the left end, `y` the top of the line; the letters stand in the middle of the line's height.
void canvas_text(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text,
                 struct paint paint);
int canvas_pixels(const struct canvas *canvas, float units); // at least 1
