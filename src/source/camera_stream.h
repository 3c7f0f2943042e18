// camera_stream.h: a camera's stream of buffers; call on one thread at a time
#pragma once

#include "source/camera_find.h"
#include "source/camera_mode.h"

// SOURCE_LENT buffers may be lent; the driver fills one and needs one more to continue. More buffers do not add delay,
// because only the newest frame is shown.
enum { CAMERA_BUFFERS = SOURCE_LENT + 2 };

enum camera_buffer_state {
    CAMERA_BUFFER_IDLE, // must be queued
    CAMERA_BUFFER_QUEUED,
    CAMERA_BUFFER_TAKEN,
};

// The memory of a frame, or of one plane of a frame
struct camera_memory {
    uint8_t *at;
    size_t length;             // 0: none
    size_t start, filled;      // offset and number of the bytes that the driver has filled
    struct pages_owner *owner; // owner of our memory, NULL: the system; or the owner that imported the driver's memory
    bool adopted;              // `owner` has imported the driver's memory
};

struct camera_buffer {
    struct camera_memory memory[PIXFMT_PLANES];
    enum camera_buffer_state state;
};

struct camera_stream {
    struct camera_device device;
    struct camera_mode mode;        // mode that the driver set; an uncompressed format is always a supported one
    struct v4l2_pix_format format;  // the driver's description of the same
    uint32_t kind;                  // V4L2_MEMORY_MMAP (the driver's memory) or V4L2_MEMORY_USERPTR (ours)
    int memories;                   // memories per frame: 1, or one per plane
    uint32_t stride[PIXFMT_PLANES]; // bytes from row to row of planes with a memory each
    double rate;                    // frames per second; 0: unknown
    struct camera_buffer buffer[CAMERA_BUFFERS];
    int buffers;
    bool streaming;
    struct pages_owner *owner;   // wanted owner of our memory; NULL: the system
    struct pages_owner *refused; // the driver refused this owner's memory, or this owner cannot import the driver's
};

// Opens the node. Returns false on failure; `why` has the message. Call camera_stream_close in either case.
bool camera_stream_open(struct camera_stream *stream, const char *path, char why[CAMERA_WHY]);
// Returns true if the video signal of a capture card has changed since the last call.
bool camera_stream_changed(struct camera_stream *stream);
// Sets the mode. The driver may change size and rate: stream->mode and stream->rate then differ. `rate` applies if the
// mode has no interval. Returns false on failure; `why` has the message.
bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY]);
// Stops the stream, so that the driver writes to no buffer any more. Closes a device that uses our memory and cannot be
// stopped because it was unplugged. Blocks until the device answers.
void camera_stream_stop(struct camera_stream *stream);
void camera_stream_close(struct camera_stream *stream); // stops the stream, frees the buffers, closes the node
// Writes "cannot start camera ...: reason" to `why`, with the reason from errno. Keeps errno. Returns false.
bool camera_stream_failed(const struct camera_stream *stream, const char *doing, char why[CAMERA_WHY]);

// camera_buffer.c
// Frees all buffers that are not taken. Taken buffers keep their address and contents; the caller must have copied
// their camera_memory, and frees it with camera_stream_free.
void camera_stream_leave(struct camera_stream *stream);
void camera_stream_free(struct camera_memory memory[PIXFMT_PLANES]);
// Allocates buffers that hold at least one frame each, and starts the stream. Uses our memory if the driver accepts it,
// because it is cached, and lent frames need no copy when the stream closes. Returns false on failure; `why` has the
// message.
bool camera_stream_start(struct camera_stream *stream, char why[CAMERA_WHY]);
// Stops and starts the stream with the same buffers. Returns false on failure; `why` has the message.
bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY]);

// Takes a filled buffer without blocking. Returns 0 or the error number: EAGAIN if no buffer is filled.
int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer);
// camera_stream_whole returns true if a taken buffer holds a complete frame, according to bytesused.
// camera_stream_picture points `image` to the frame's pixels.
bool camera_stream_whole(const struct camera_stream *stream, int index);
void camera_stream_picture(const struct camera_stream *stream, int index, const struct image_shape *shape,
                           struct image *image);
void camera_stream_give(struct camera_stream *stream, int index);
// The buffer is no longer taken; unlike camera_stream_give, does not queue it.
void camera_stream_drop(struct camera_stream *stream, int index);
// Queues the buffers that camera_stream_give could not queue.
void camera_stream_tidy(struct camera_stream *stream);
