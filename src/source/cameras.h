// cameras.h: lists the cameras with their formats
#pragma once

#include <stdbool.h>

enum { CAMERA_MODES = 512, CAMERA_RATES = 16 };

struct camera_offer {
    char format[8]; // "yuyv", "mjpeg"; the V4L2 code of an unsupported format
    bool usable;
    int width, height; // the largest size if the driver offers a range
    int width_least, height_least;
    double rate[CAMERA_RATES]; // frames per second, in the driver's order; of a range the highest and the lowest
    int rates;
};

struct camera_about {
    char path[32], name[32], driver[16], bus[32], id[192];
    const char *why; // why it cannot be opened; NULL: it can
    struct camera_offer offer[CAMERA_MODES];
    int offers;
};

// Returns the next camera, beginning with node number *next, and advances *next. Includes nodes that cannot be opened,
// and leaves out other nodes that do not capture video. Returns false if there are no more.
bool cameras_next(int *next, struct camera_about *about);

// Returns true if there is a camera, also if it cannot be opened.
bool cameras_present(void);
