// camera_find.h: finds the cameras, and the camera that a name means
#pragma once

#include <stdbool.h>

enum { CAMERA_NODE = 32, CAMERA_ID = 192, CAMERA_WHY = 512 };

struct camera_node {
    char path[CAMERA_NODE]; // "/dev/video0"
    char card[32];          // name of the camera, from the driver
    char driver[16];
    char bus[32];        // port of the camera
    char id[CAMERA_ID];  // name in /dev/v4l/by-id; "" if it has none
    bool opened, usable; // usable: it can capture video
    const char *why;     // why it is not usable; NULL if it is
};

// Returns the next video node, beginning with number *next, and advances *next. Returns false if there are no more.
bool camera_node_next(int *next, struct camera_node *node);

// Finds the node for `text`: a path, a number, a stable id, the bus, or a part of the id, the bus or the camera's name.
// NULL or "" means the first node that captures. Returns false if no such node is usable; `why` is then a complete
// message.
bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY]);
// Finds the same camera again by its id, else by its name, driver and preferably its bus. Its node number may have
// changed. Returns false if it is not there; `why` then has the reason.
bool camera_find_again(const struct camera_node *known, struct camera_node *node, char why[CAMERA_WHY]);
