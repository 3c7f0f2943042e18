// cameras.h: finds the cameras, the camera that a name means, and the modes of each; on any thread, each call opens
// nodes
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CAMERA_NODE = 32, CAMERA_ID = 192, CAMERA_WHY = 512, CAMERA_CODES = 64 };
enum { CAMERA_MODES = 512, CAMERA_RATES = 16 };
enum { CAMERA_NODES = 256 }; // minor numbers of video devices

struct camera_node {
    char path[CAMERA_NODE]; // "/dev/video0"
    char card[32];          // name of the camera, from the driver
    char driver[16];
    char bus[32];       // port of the camera
    char id[CAMERA_ID]; // name in /dev/v4l/by-id; "" if it has none
    bool opened;
    const char *why;              // why it cannot capture video; NULL if it can
    int index;                    // number among the nodes of the same device; -1: unknown
    char codes[CAMERA_CODES];     // its first formats: "YUYV MJPG"
    bool readable;                // monocle or libv4l2 reads one of its formats
    bool converted;               // libv4l2 does
    bool color;                   // one of these formats has colours
    const struct camera_isp *isp; // the image processor that it belongs to; NULL: none
    bool rivals;                  // camera_find has taken it without a trial, and there are other cameras
    char passed[CAMERA_WHY];      // why it gives no picture; "" if it does, or if this is not known
};

struct camera_offer {
    char format[8]; // "yuyv", "mjpeg"; the V4L2 code of an unsupported format
    bool usable;
    int width, height; // the largest size if the driver offers a range
    int width_least, height_least;
    double rate[CAMERA_RATES]; // frames per second, in the driver's order; of a range the highest and the lowest
    int rates;
};

struct camera_offers {
    struct camera_offer offer[CAMERA_MODES];
    int count;
};

// Describes all video nodes, in the order of their numbers, and sets *count. Waits at most 0.5 s for a node before it
// asks the next one, and 2 s in all; a node whose driver does not answer has this reason in `why`. A camera that
// libcamera's layer shows as several nodes is listed once. Free the result; NULL if there are no nodes, or no memory.
struct camera_node *camera_nodes(int *count);
// A driver may block in any call. Calls work(context) in a thread, and waits for its end until the deadline. Returns
// false if it has not ended: late(context) follows it there. `path` is the node that it works on.
bool camera_try(const char *path, void (*work)(void *context), void (*late)(void *context), void *context,
                int64_t deadline_ns);
extern const char camera_no_answer[]; // the reason, with advice
// Lists the modes of a node.
void camera_offers(const char *path, struct camera_offers *offers);

// Finds the node for `text`: a path, a number, a stable id, the bus, or a part of the id, the bus or the camera's name.
// NULL or "" means the first node that gives a picture: nodes of image processors are the last, colours come before
// grey, formats that monocle reads before formats that libv4l2 converts, and a smaller number before a larger one; this
// takes at most 3.5 s. Returns false if no such node is usable; `why` is then a complete message. If the text is no
// path or number, *node is then the first node that cannot be opened (it may be the camera); its path is "" if there is
// no such node. node->why is then set if there are nodes, but none gives a picture.
bool camera_find(const char *text, struct camera_node *node, char why[CAMERA_WHY]);
// Returns how well a camera fits a name: 2 exactly, 1 in part, 0 not.
int camera_fits_name(const struct camera_node *node, const char *text);
// Cameras that did not start.
struct camera_skip {
    char path[CAMERA_NODES][CAMERA_NODE];
    int count;
};
// As camera_find without a text, among the other cameras.
bool camera_find_next(const struct camera_skip *skip, struct camera_node *node, char why[CAMERA_WHY]);
// Returns true if a camera that fails to start with this error works: another program uses it, or permission, bandwidth
// or memory is missing.
bool camera_error_is_outside(int error);
// The buses of other cameras of the same model and driver.
struct camera_twins {
    char bus[CAMERA_NODES][32];
    int count;
};
// Finds the other connected cameras of the same model and driver.
void camera_find_twins(const struct camera_node *known, struct camera_twins *twins);
// Finds the same camera again by its bus, else by its id, else by its name, driver and place among the nodes of its
// device (or formats, if the place is not known). Its node number may have changed. Equal cameras without a serial
// number have the same id, and only one of them has the link. Ignores cameras with another id and those on the bus of a
// twin. Returns false if the camera is not connected; `why` then has the reason.
bool camera_find_again(const struct camera_node *known, const struct camera_twins *twins, struct camera_node *node,
                       char why[CAMERA_WHY]);
