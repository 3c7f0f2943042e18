// sketch.h: rectangles and letters, drawn into an RGBA image in memory, without GL
#pragma once

#include "image/font.h"
#include "image/image.h"
#include "screen/canvas.h"

struct sketch {
    struct image *image; // RGBA; borrowed
    struct font font;
};

// Letters are `height` pixels from line to line, 8 to 128. False on failure (logged).
bool sketch_init(struct sketch *sketch, struct image *image, int height);
void sketch_finish(struct sketch *sketch); // accepts a zeroed one

// Shapes are cut at the edges of the image. Paint blends over the pixels; their alpha stays.
void sketch_fill(const struct sketch *sketch, struct rect rect, struct paint paint);
// `x` is the left end and `y` the top of the line.
void sketch_text(const struct sketch *sketch, int x, int y, const char *text, struct paint paint);
