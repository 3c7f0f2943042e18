// picture.h: draws the scene's pictures into their box
#pragma once

#include "screen/renderer.h"

#include <stdbool.h>

struct picture {
    unsigned program, array;
    unsigned nearest, linear; // samplers: a shared texture's own parameters are left alone
    int box;                  // uniform
    unsigned reader;          // framebuffer to copy textures from; 0 where they are always drawn
};

bool picture_init(struct picture *picture, bool es); // false on failure (logged)
void picture_finish(struct picture *picture);        // takes a zeroed one
void picture_draw(const struct picture *picture, const struct scene *scene, const struct window_size *size);
// Whether nothing but copied pixels will be seen. Where the CPU draws, clearing them first takes as long again.
bool picture_covers(const struct picture *picture, const struct scene *scene, const struct window_size *size);
// The column of the framebuffer where the right picture begins.
int picture_split(const struct scene *scene, const struct renderer_box *box);
