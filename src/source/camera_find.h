// camera_find.h: which cameras there are, and which one a name means
#pragma once

#include <stdbool.h>

enum { CAMERA_NODE = 32, CAMERA_ID = 192, CAMERA_WHY = 512 };

struct camera_node {
    char path[CAMERA_NODE]; // "/dev/video0"
    char card[32];          // what the driver calls the camera
    char driver[16];
    char bus[32];        // where it is plugged in
    char id[CAMERA_ID];  // its name in /dev/v4l/by-id, "" where there is none
    bool opened, usable; // usable: it captures pictures
    const char *why;     // why not
};

// The next video node from number *next on, which is set behind it. False where there are no more.
bool camera_node_next(int *next, struct camera_node *node);

// Finds the node for `text`: a path, a number, a stable id, the bus, or a part of these or of the camera's name. NULL
// or
// "" means the first node that captures. False if no such node can be used; `why` is then a whole message.
bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY]);
// The same camera again, by its id, where it is plugged in, or its name, whatever its number now is.
bool camera_find_again(const struct camera_node *known, struct camera_node *node, char why[CAMERA_WHY]);
