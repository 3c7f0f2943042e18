// upload.h: pictures from memory to a GL texture, by way of pixel buffers
#pragma once

#include "image/image.h"

#include <stdbool.h>

// Two buffers take turns: the driver reads one while the next picture goes into the other.
struct upload {
    unsigned texture; // 0: none, or none could be made
    unsigned buffer[2];
    int next;
    int width, height; // of the picture
    int step;          // every how many pixels of the picture, either way, one is in the texture
    bool failed;       // which has been said
};

// RGBA. The texture keeps its name when the size changes. Where GL takes no texture as large as the picture it holds
// every second pixel, or third, and so on: `step`. False on failure (logged once, until the size changes).
bool upload_picture(struct upload *upload, const struct image *rgba);
void upload_finish(struct upload *upload); // takes a zeroed one
