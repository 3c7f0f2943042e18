// quads.h: a batch of coloured rectangles, drawn over the picture in one call
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { QUADS_MAX = 16384 }; // a full overlay takes 8000

struct quad {
    int16_t x, y, width, height;                         // framebuffer pixels from the top left
    int16_t atlas_x, atlas_y, atlas_width, atlas_height; // what covers it; negative sizes mirror
    uint8_t tint[4];                                     // RGBA, not premultiplied
};

struct quads {
    struct quad *quad;
    int count;
    unsigned program, array, buffer; // GL names
    int framebuffer;                 // uniform
};

bool quads_init(struct quads *quads, bool es); // false on failure (logged)
void quads_finish(struct quads *quads);        // takes a zeroed one

void quads_add(struct quads *quads, struct quad quad); // dropped when full
// Draws all in the order added, blended over what is there, and empties the batch.
void quads_draw(struct quads *quads, unsigned atlas, int width, int height);
