// lane_lens.h: the camera's lens: from the picture without distortion, which the pipeline sees, to the camera's picture
// and back. Points are in pixels; whole numbers are the centres of pixels.
#pragma once

#include "filter/filter.h"

#include <stdbool.h>

enum { LANE_LENS_TEXT = 256 };

// Zeroed is a lens without distortion.
struct lane_lens {
    char text[LANE_LENS_TEXT]; // arguments of the undistort filter; "": none
    struct filter_map map;     // from the picture without distortion to the plane at distance 1, and the lens
    double reach;              // radius on this plane as far as the lens shows no point twice
};

// Reads arguments of the undistort filter. Returns false if they are wrong, with one line of at most `size` bytes in
// `error`; the lens is then undefined.
bool lane_lens_parse(struct lane_lens *lens, const char *text, char *error, size_t size);
bool lane_lens_bends(const struct lane_lens *lens); // false: no distortion
// Moves a point from the picture without distortion to the camera's picture. Returns false if the lens does not show
// it.
bool lane_lens_apply(const struct lane_lens *lens, double point[2]);
// Moves a point from the camera's picture to the picture without distortion. Returns false if the lens shows nothing
// there.
bool lane_lens_remove(const struct lane_lens *lens, double point[2]);
