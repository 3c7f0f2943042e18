// camera_link.h: the connection to a camera: opens it, detects faults, reconnects, and keeps its health and controls
#pragma once

#include "source/camera_signal.h"
#include "source/camera_stream.h"
#include "source/kind.h"

enum { CAMERA_CHANGES = 64 };

// The capture thread calls all functions but the last two, which any thread may call.
struct camera_link {
    struct camera_node node;   // the node that was opened; a reconnection looks for the same camera
    struct source_setup setup; // the setup that was opened; its `text` is not kept
    struct camera_mode wanted; // the mode that monocle chose
    struct camera_stream stream;
    bool opened;          // camera_link_open has started the stream
    char why[CAMERA_WHY]; // otherwise the message
    bool broken;          // otherwise: the camera did not start, for no reason outside it
    bool connected;

    // signal.lock also guards the members up to the blank line. No thread asks the device while it holds the lock: a
    // stalled device may take seconds to answer, and the other threads would wait.
    struct camera_signal signal;
    int control_fd; // duplicate of the device's descriptor, for its controls; -1 while disconnected
    struct v4l2_control change[CAMERA_CHANGES]; // last values of the controls that source_set_control set
    int changes;

    const char *shut;           // reason: the privacy switch was on when the stream was restarted; NULL: it was not
    bool restarted;             // the stream was restarted since the last valid frame
    struct camera_twins twins;  // other cameras of the same model when the signal was lost
    bool closed;                // the stream was closed since the last valid frame
    int64_t retry_ns, delay_ns; // time of the next attempt to reconnect; delay before the attempt after it
};

// Finds the camera of `text` (as camera_find), sets its controls, chooses its mode and starts the stream. Waits at most
// 10 s for the driver, or 2.5 s if other cameras may take its place: without a text, or if setup->rivals. A camera that
// does not start is then passed over (logged). Returns NULL on failure (logged).
struct camera_link *camera_link_open(const struct source_setup *setup, const char *text);
void camera_link_close(struct camera_link *link); // accepts NULL; all frames must have been returned

// The caller accepts the frames of a started stream: marks the camera as connected.
void camera_link_accept(struct camera_link *link);
// Closes a started stream that the caller does not accept. `why`: see camera_link_lose; NULL: there is no fault.
void camera_link_reject(struct camera_link *link, const char *why);
// Waits until the next attempt is due or the deadline has passed; if it is due, searches for the camera and starts its
// stream. Returns true if the stream runs: call camera_link_accept or camera_link_reject.
bool camera_link_retry(struct camera_link *link, int64_t deadline_ns);

// The signal is lost: reports `why` and closes the stream. Lent frames keep their contents.
void camera_link_lose(struct camera_link *link, const char *why);
// The stream has a fault: restarts it, or loses it if it was already restarted since the last valid frame.
void camera_link_restart(struct camera_link *link, const char *why);
void camera_link_rest(struct camera_link *link); // closes the stream; camera_link_retry opens it again, at once
// A valid frame has arrived: ends an outage.
void camera_link_frame_arrived(struct camera_link *link);
// Records the capture time of a new frame. Returns the frame's number.
uint64_t camera_link_number(struct camera_link *link, uint32_t sequence, int64_t captured_ns);

// As source_controls and source_set_control.
int camera_link_controls(struct camera_link *link, struct source_control control[SOURCE_CONTROLS]);
bool camera_link_set(struct camera_link *link, const char *setting, char why[SOURCE_SET_WHY]);
