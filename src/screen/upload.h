// upload.h: pictures from memory to a GL texture, by way of pixel buffers
#pragma once

#include "image/image.h"

#include <stdbool.h>

// Two buffers take turns: the driver reads one while the next picture goes into the other.
struct upload {
    unsigned texture;
    unsigned buffer[2];
    int next;
    int width, height; // of the texture
};

// RGBA. The texture keeps its name when the size changes. False on failure (logged).
bool upload_picture(struct upload *upload, const struct image *rgba);
void upload_finish(struct upload *upload); // takes a zeroed one
