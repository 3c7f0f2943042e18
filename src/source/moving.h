// moving.h: whether an image file holds a film: several pictures, one after the other
#pragma once

#include <stdbool.h>

// Returns true if a GIF has more than one picture. False also if the file cannot be read.
bool moving_gif(const char *path);
// Returns true if JPEGs of one size follow each other, as raw MJPEG streams of cameras. Not for photographs with other
// pictures behind the first one (MPF: MPO files, gain maps).
bool moving_jpeg(const char *path);
