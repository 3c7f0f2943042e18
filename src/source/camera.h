// camera.h: the state of a camera source, and the functions that its files share
#pragma once

#include "source/camera_decoder.h"
#include "source/camera_stream.h"
#include "source/pool.h"

enum { CAMERA_LENT = 2 * SOURCE_LENT, CAMERA_STAMPS = 32, CAMERA_CHANGES = 64 };

// The last value of a control that source_control changed
struct camera_change {
    uint32_t id;
    int value;
};

// A driver's buffer that is lent as a frame
struct camera_loan {
    bool used;
    bool returned; // the capture thread must queue it
    bool orphaned; // its stream is closed: camera_return must free the memory
    int index;     // number of the buffer
    struct camera_memory memory[PIXFMT_PLANES];
};

struct camera {
    struct source *source;
    struct camera_node node;   // the node that was opened; a reconnection looks for the same camera
    struct source_setup setup; // the setup that was opened; its `text` is not kept
    struct camera_mode wanted; // the mode that monocle chose
    struct camera_mode mode;   // the mode that the driver set for it
    struct image_shape shape;

    bool lock_ready;
    // Guards the members up to the blank line. No thread asks the device while it holds the lock: a stalled device may
    // take seconds to answer, and the other threads would wait.
    pthread_mutex_t lock;
    int control_fd; // duplicate of the device's descriptor, for its controls; -1 while disconnected
    struct camera_loan loan[CAMERA_LENT];
    struct source_health health;
    struct camera_change change[CAMERA_CHANGES];
    int changes;
    int64_t stamp_ns[CAMERA_STAMPS]; // ring of the capture times of the latest frames
    uint64_t stamps;

    struct camera_stream stream;    // used by the capture thread only, once it runs
    struct camera_decoder *decoder; // decodes compressed frames; NULL for other modes
    struct pool pool;               // memory of copies, made on demand; slot i of the pool is slot CAMERA_LENT + i of a
                                    // frame

    // The capture thread uses these members.
    bool connected;
    bool reshaped; // the frames have a new shape: `next_mode`, `next_shape`
    struct camera_mode next_mode;
    struct image_shape next_shape;
    int64_t heard_ns;           // time of the latest valid frame, or of the latest start of the stream
    const char *left_out;       // why buffers since the last valid frame were dropped; NULL: none was
    int64_t lost_ns;            // when the signal was lost; 0: there is a signal
    bool restarted;             // the stream was restarted since the last valid frame
    bool closed;                // the stream was closed since the last valid frame
    int64_t retry_ns, delay_ns; // time of the next attempt to reconnect; delay before the attempt after it
    bool counting;              // `sequence` is the sequence number of the last frame of this stream
    bool any;                   // a frame has arrived
    uint32_t sequence;
    uint64_t number;
};

// camera_shape.c: the shape of a camera's frames
// Finds the shape of the frames of the stream's mode. For a compressed mode, this decodes the header of the first
// frame: the stream must run, and the call waits up to 5 s. If no frame arrives, the shape has the mode's size in 422p.
// Returns false, with the reason in `why`, if the frames cannot be decoded.
bool camera_shape_see(struct camera *camera, struct image_shape *shape, char why[CAMERA_WHY]);
// Returns true if the stream's mode has the same frames as the camera had before.
bool camera_shape_same(const struct camera *camera);
// Returns true if the compressed frames have changed their shape, although the mode is the same. *shape is then the new
// shape.
bool camera_shape_changed(const struct camera *camera, struct image_shape *shape);

// camera_link.c: connects to the camera, detects faults and reconnects; call on the capture thread
// Opens the node, sets its controls and mode, and starts the stream. Returns false on failure; `why` has the message
// and errno the cause.
bool camera_link_make(struct camera *camera, char why[CAMERA_WHY]);
// Marks the camera as connected. Call it when the stream runs.
void camera_link_opened(struct camera *camera);
// Closes the stream. Lent frames stay valid.
void camera_link_close(struct camera *camera);
// Sets the controls of the setup. Returns false if one cannot be set; `why` has the message.
bool camera_link_control(const struct camera *camera, char why[CAMERA_WHY]);
// As source_control. On any thread.
bool camera_link_adjust(struct camera *camera, int index, int steps, struct source_control *control);
// The signal is lost: closes the stream. Lent frames keep their contents.
void camera_link_lose(struct camera *camera, const char *why);
// Waits until the next attempt is due or the deadline has passed; if it is due, searches for the camera and connects to
// it.
void camera_link_retry(struct camera *camera, int64_t deadline_ns);
// The stream has a fault: restarts it, or closes it if it was already restarted since the last valid frame.
void camera_link_mend(struct camera *camera, const char *why);
// Longest time between two frames, in nanoseconds; after it, the camera has stalled.
int64_t camera_link_patience_ns(const struct camera *camera);
// Returns the recent frame rate, in frames per second; 0: unknown. The caller holds the lock.
double camera_link_rate(const struct camera *camera);
// Records the capture time of a new frame. Returns the frame's number.
uint64_t camera_link_number(struct camera *camera, uint32_t sequence, int64_t captured_ns);
// A valid frame has arrived: ends an outage.
void camera_link_well(struct camera *camera);
// The frames have the shape `next_shape` from now on: source_next reports SOURCE_RESHAPED until camera_reshape.
void camera_link_reshape(struct camera *camera);
