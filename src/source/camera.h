// camera.h: what the files of the camera source share
#pragma once

#include "source/camera_decoder.h"
#include "source/camera_stream.h"
#include "source/pool.h"

enum { CAMERA_LENT = 2 * SOURCE_LENT, CAMERA_STAMPS = 32, CAMERA_CHANGES = 64 };

// A control that was moved while the camera ran.
struct camera_change {
    uint32_t id;
    int value;
};

// A buffer of the driver's that is lent as a picture.
struct camera_loan {
    bool used;
    bool returned; // waits for the capture thread
    bool orphaned; // its stream is gone: the memory is ours
    int index;     // of the buffer
    struct camera_memory memory[PIXFMT_PLANES];
};

struct camera {
    struct source *source;
    struct camera_node node;   // as it was named; found again by it
    struct source_setup setup; // as it was opened; its text is not kept
    struct camera_mode wanted; // the mode that was chosen
    struct camera_mode mode;   // the one that the driver gave for it
    struct image_shape shape;

    bool lock_ready;
    // Of the members up to the blank line. Nobody asks the device while holding it: one that has stalled may take
    // seconds to answer, and other threads must not wait for that.
    pthread_mutex_t lock;
    int control_fd; // a second hold on the device, for its controls; -1 while it is away
    struct camera_loan loan[CAMERA_LENT];
    struct source_health health;
    struct camera_change change[CAMERA_CHANGES];
    int changes;
    int64_t stamp_ns[CAMERA_STAMPS]; // when the latest pictures were taken, a ring
    uint64_t stamps;

    struct camera_stream stream;    // the capture thread's, once it runs
    struct camera_decoder *decoder; // compressed pictures go through it
    bool converts;                  // libv4l2 does, whose buffers go when it does: its pictures are copied
    struct pool pool;               // of copies; made when they are needed. Their slots stand behind those of loans

    // The capture thread's.
    bool connected;
    bool reshaped; // the camera gives other pictures: `next_mode`, `next_shape`
    struct camera_mode next_mode;
    struct image_shape next_shape;
    int64_t heard_ns;           // when the last picture came that can, or may, be shown, or the stream was started
    const char *left_out;       // why buffers since the last picture were left out; NULL where none was
    int64_t lost_ns;            // when the signal was lost, 0 while it is there
    bool restarted;             // the stream, since the last picture
    bool closed;                // the stream was closed since the last picture
    int64_t retry_ns, delay_ns; // when to try to open it again, and how long to wait after that
    bool counting;              // `sequence` is that of the frame before
    bool any;                   // a frame has come
    uint32_t sequence;
    uint64_t number;
};

// camera_shape.c: what a camera's pictures are
// Finds the shape of the frames of the stream's mode. For a compressed mode, this decodes the first frame: the stream
// must run, and the call waits up to 5 s. If no frame arrives, the shape is 422p. Returns false, with the reason in
// `why`, if the frames cannot be decoded.
bool camera_shape_see(struct camera *camera, struct image_shape *shape, char why[CAMERA_WHY]);
// Whether the stream's mode brings the pictures that the camera had before.
bool camera_shape_same(const struct camera *camera);
// Whether compressed pictures have another shape than they had, though the mode is the same: that one.
bool camera_shape_changed(const struct camera *camera, struct image_shape *shape);

// camera_link.c: the connection with the camera: made, watched, mended
// The node, its mode and the stream. errno tells the cause.
bool camera_link_make(struct camera *camera, char why[CAMERA_WHY]);
// The stream runs: the camera is connected.
void camera_link_opened(struct camera *camera);
// Closes the stream; the pictures that are lent outlive it.
void camera_link_close(struct camera *camera);
// Sets the controls that the user has asked for. False where one cannot be set, and why.
bool camera_link_control(const struct camera *camera, char why[CAMERA_WHY]);
// As source_control.
bool camera_link_adjust(struct camera *camera, int index, int steps, struct source_control *control);
// The camera is gone: gives up its stream. Lent pictures keep their contents.
void camera_link_lose(struct camera *camera, const char *why);
// Tries, when it is time, to find and start the camera again; waits until then or the deadline.
void camera_link_retry(struct camera *camera, int64_t deadline_ns);
// Something is wrong with the stream: starts it anew, or gives it up where that has not helped.
void camera_link_mend(struct camera *camera, const char *why);
// How long without a picture is too long.
int64_t camera_link_patience_ns(const struct camera *camera);
// Pictures per second of late, 0 while unknown. The lock is held.
double camera_link_rate(const struct camera *camera);
// A picture came: its number.
uint64_t camera_link_number(struct camera *camera, uint32_t sequence, int64_t captured_ns);
// A picture can be shown: all is well again.
void camera_link_well(struct camera *camera);
// The stream's pictures are no longer what they were, but of `next_shape`: the source waits for camera_reshape.
void camera_link_reshape(struct camera *camera);
