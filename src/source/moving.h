// moving.h: finds out if an image file contains an animation or a video. On any thread.
#pragma once

#include <stdbool.h>

// Returns true if a GIF has more than one picture. False also if the file cannot be read.
bool moving_gif(const char *path);
bool moving_png(const char *path); // the same for a PNG (APNG)
// Returns true if the file is a sequence of JPEGs of one size, such as a raw MJPEG stream of a camera. False for a
// photograph that other pictures follow (MPF: MPO files, gain maps), and if the file cannot be read.
bool moving_jpeg(const char *path);
