// upload.h: copies pictures from memory to a GL texture through pixel buffers (main thread, current context)
#pragma once

#include "image/copier.h"

#include <stdbool.h>

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
