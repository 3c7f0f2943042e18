// lens.h: the distortion of a lens, in OpenCV's models (docs/pixels.md section 3)
#pragma once

enum lens_model { LENS_NONE, LENS_RADIAL, LENS_FISHEYE };
enum { LENS_TERMS = 5 };

struct lens {
    enum lens_model model;
    double focal_x, focal_y, centre_x, centre_y; // pixels
    double term[LENS_TERMS];                     // radial: k1 k2 p1 p2 k3; fisheye: k1 k2 k3 k4
};

// Replaces a point on the plane at distance 1 before the camera by its place in the distorted picture, in pixels.
// LENS_NONE changes nothing.
void lens_distort(const struct lens *lens, double point[2]);
