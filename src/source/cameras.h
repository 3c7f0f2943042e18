// cameras.h: which cameras there are and what they offer, for listing
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CAMERA_MODES = 512, CAMERA_RATES = 16 };

struct camera_offer {
    char format[8]; // "yuyv", "mjpeg", or the V4L2 code where monocle cannot use it
    bool usable;
    int width, height; // the largest where a range of sizes is offered
    int width_least, height_least;
    double rate[CAMERA_RATES]; // per second, as the driver lists them; of a range the highest and the lowest
    int rates;
};

struct camera_about {
    char path[32], name[32], driver[16], bus[32], id[192];
    const char *why; // why it cannot be opened; NULL where it can
    struct camera_offer offer[CAMERA_MODES];
    int offers;
};

// The next camera from number *next on, which is set behind it: nodes that capture pictures, and those that cannot be
// opened to see whether they do. False where there are no more.
bool cameras_next(int *next, struct camera_about *about);

// Prints the controls of the camera that a source's text means (NULL: the first): for people with their limits, or as
// settings "name=value", one in a line, those that can be set. False on failure (logged).
bool cameras_print_controls(const char *text, FILE *out, bool settings);
