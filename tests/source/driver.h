// driver.h: a fake V4L2 driver: a camera, /dev/video0, with one mode; the test chooses its frames; other nodes; and
// v4l2loopback
//
// Linked with --wrap=access, opendir, open, open64, stat, stat64, poll, videodev_ask and camera_device_map
// (tests/support/meson.build). With --wrap=v4l2_fd_open, v4l2_ioctl and v4l2_close, it also plays libv4l2.
#pragma once

#include "image/pixfmt.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRIVER_WIDTH = 24, DRIVER_HEIGHT = 16, DRIVER_LENGTH = 8192 }; // of its mode; bytes of a buffer's memory
enum { DRIVER_LENGTH_MOST = 163840 };                                 // 320x240 pixels of YUYV fit

// Brightness, -64 to 64; automatic white balance, on or off; power line frequency, a menu; white balance temperature,
// 2800 to 6500, locked while it is automatic.
enum { DRIVER_BRIGHTNESS, DRIVER_AUTO, DRIVER_LINE, DRIVER_WHITE, DRIVER_CONTROLS };

// An ioctl that fails.
struct driver_refusal {
    unsigned long request; // 0: none
    int error;             // errno
    uint32_t control;      // of VIDIOC_S_CTRL, only this one; 0: all
    int passes;            // number of requests that succeed before; then all fail
    int64_t until_ns;      // time after which they succeed again; 0: never
};

// Another node. It gives no frames.
struct driver_node {
    int number;
    const char *driver, *card, *bus;
    uint32_t fourcc[4];
    int index;       // among the nodes of its device
    int start_error; // errno of VIDIOC_STREAMON; 0: it succeeds
    bool metadata;   // it is no camera
    bool deaf;       // its ioctls wait until driver.answers
    bool stuck;      // its VIDIOC_STREAMON does
    bool endless;    // it ignores the index of every list
    bool controlled; // it has thousands of controls
    bool asleep;     // it opens after 200 ms, unless another sleeping node opens at the same time
};

enum { DRIVER_HASTE = 5 }; // the clock of a program that is linked with --wrap=clock_... is this much faster

struct driver {
    atomic_bool there;               // the node exists
    int number;                      // of the camera's node; default: 0
    const char *card, *bus;          // of the camera; default: "played", "port 0"
    int index;                       // among the nodes of its device; -1: unknown, also that of the other nodes
    const struct driver_node *nodes; // the other nodes
    int node_count;
    atomic_bool answers;   // deaf nodes answer
    bool new;              // all nodes have just been made
    int64_t opens_ns;      // open_error ends at this time; 0: never
    const char *by_id;     // directory that acts as /dev/v4l/by-id; NULL: the system's
    int id_at;             // number of the node that every link in it means
    bool privacy;          // it has the control V4L2_CID_PRIVACY, which is on
    atomic_int twins;      // /dev/video1 to this number exist, too: cameras of the same model at other ports; no frames
    const char *name;      // of the driver; default: uvcvideo
    bool no_sizes;         // it does not list its sizes
    atomic_int open_error; // errno of opening it; 0: it opens
    atomic_int ask_error;  // errno of every ioctl: ENODEV once the camera is removed; 0: they succeed
    atomic_bool deaf;      // ioctls that the device answers wait until this is false
    int take_error;        // errno of VIDIOC_DQBUF
    struct driver_refusal refuse;
    uint32_t fourcc;                   // of its only format
    int memories;                      // of a frame; more than one: the multi-planar API
    atomic_uint width, height;         // of its only mode
    atomic_uint colorspace;            // of its frames: V4L2_COLORSPACE_*
    atomic_uint signal, signal_height; // width and height of a grabber's signal, which becomes its mode on request
    atomic_ullong standard;            // TV standard of the signal; on request the height is 12 (525 lines) or 16
    atomic_bool changed;               // reports V4L2_EVENT_SOURCE_CHANGE, if the program asked for it; driver_wake
    uint32_t stride;                   // bytesperline of each plane; 0: not reported
    uint32_t length;                   // of a buffer's memory, as VIDIOC_QUERYBUF says
    uint32_t rate;                     // frames per second that it claims; default: 30
    uint32_t field;                    // V4L2_FIELD_*; default: NONE
    uint32_t most_buffers;             // that VIDIOC_REQBUFS grants; 0: no limit
    uint32_t least_buffers;            // that VIDIOC_REQBUFS grants, also if fewer are requested
    bool in_order;                   // as libcamera's layer: gives buffers out as 0, 1, 2, ..., 0, whichever it filled
    uint32_t index_error;            // added to the index of a filled buffer
    bool own_memory;                 // refuses V4L2_MEMORY_USERPTR
    atomic_bool streams;             // set by the driver: the stream runs; for any thread
    atomic_llong started_ns;         // set by the driver: time of the last VIDIOC_STREAMON
    const struct driver_frame *late; // it sends this frame again and again; NULL: none
    int64_t late_ns;                 // time from each VIDIOC_STREAMON to the first of them
    int control[DRIVER_CONTROLS];

    // Of every regular file, which acts as an output device of v4l2loopback: a write adds a frame.
    uint32_t output_fourcc;               // its only format; 0: any
    uint32_t output_width, output_height; // its only size; 0: any
    bool no_events;                       // it refuses to report its readers
    atomic_int readers;                   // number of programs that read it; for any thread
};

// The clock of a program that is linked with --wrap=clock_now_ns and --wrap=clock_sleep_until_ns, and how it polls.
extern struct driver_clock {
    int64_t (*now_ns)(void);
    void (*sleep_until_ns)(int64_t when_ns);
    int (*poll)(struct pollfd *files, nfds_t count, int timeout_ms);
} driver_clock;

// The camera. The test may change any member. driver_start sets some members and clears the others.
extern struct driver driver;
void driver_start(uint32_t fourcc, int memories);
void driver_finish(void);

// A filled buffer: its content and the fields that the driver sets.
struct driver_frame {
    const void *data; // copied to the memories, one after the other; NULL: `fill` in all memories
    uint8_t fill;
    uint32_t used[PIXFMT_PLANES], start[PIXFMT_PLANES]; // bytesused and data_offset of each memory
    uint32_t sequence, flags, field;
    int64_t stamp_ns;
};
void driver_send(const struct driver_frame *frame);
bool driver_has_room(void); // driver_send has room; on any thread
void driver_wake(void);     // poll sees a change of ask_error or `changed`; on any thread
// Overwrites the buffers that the driver owns, and returns how often they are mapped besides the driver's own mapping.
int driver_scribble(void);
