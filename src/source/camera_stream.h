// camera_stream.h: a camera's stream: format, rate, buffers, and the buffers that are lent as frames
#pragma once

#include "source/camera_mode.h"
#include "source/cameras.h"

#include <pthread.h>

// SOURCE_LENT buffers may be lent; the driver fills one and needs one more to continue. More buffers do not add delay,
// because only the newest frame is shown.
enum { CAMERA_BUFFERS = SOURCE_LENT + 2 };
enum { CAMERA_BUFFERS_MOST = 32 }; // a driver or a layer may give more than the requested ones; all of them are used
enum { CAMERA_LENT = 2 * SOURCE_LENT }; // of this stream, and of the stream before the last reconnection

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
    struct pages_owner *owner; // owner of our memory; NULL: the system
    bool converted;            // libv4l2 has mapped it
};

struct camera_buffer {
    struct camera_memory memory[PIXFMT_PLANES];
    enum camera_buffer_state state;
};

// A buffer that is lent as a frame
struct camera_loan {
    bool used;
    bool returned;                              // must be queued
    int index;                                  // number of the buffer; -1: its stream is closed
    struct camera_memory memory[PIXFMT_PLANES]; // memory of the closed stream's buffer
};

// The last buffer of V4L2_FIELD_ALTERNATE, whose buffers have a field each
struct camera_field {
    bool any;                  // there was one since the stream began
    bool waits;                // it is the older field of its frame
    uint32_t parity, sequence; // V4L2_FIELD_TOP or V4L2_FIELD_BOTTOM; the driver's number
    uint32_t first;            // number of the first field
    int apart; // how often a field had the number after that of the field before; 0 after two with one number
};

// What a taken buffer holds
enum camera_part {
    CAMERA_WHOLE, // a frame
    CAMERA_OLDER, // the older field of a frame, as far as is known
    CAMERA_NEWER, // the other field of the same frame
    CAMERA_STRAY, // a field of unknown parity
};

// All functions but camera_stream_return: one thread at a time.
struct camera_stream {
    struct camera_device device;
    struct camera_mode mode;        // mode that the driver set, with the size of frames, not of fields; an uncompressed
                                    // format is always a supported one
    struct v4l2_pix_format format;  // the driver's description of the same
    uint32_t kind;                  // V4L2_MEMORY_MMAP (the driver's memory) or V4L2_MEMORY_USERPTR (ours)
    int memories;                   // memories per frame: 1, or one per plane
    uint32_t stride[PIXFMT_PLANES]; // bytes from row to row of planes with a memory each
    double rate;                    // frames per second; 0: unknown
    struct camera_buffer buffer[CAMERA_BUFFERS_MOST];
    int buffers;
    bool streaming;
    struct camera_field field;
    struct pages_owner *owner;   // wanted owner of our memory; NULL: the system
    struct pages_owner *refused; // the driver refused this owner's memory
    pthread_mutex_t lock;        // guards `loan`
    struct camera_loan loan[CAMERA_LENT];
};

void camera_stream_init(struct camera_stream *stream);
void camera_stream_finish(struct camera_stream *stream); // closes the stream; all frames must have been returned

// Opens the node. Returns false on failure; `why` has the message. Call camera_stream_close in either case.
bool camera_stream_open(struct camera_stream *stream, const char *path, char why[CAMERA_WHY]);
// Sets the mode. The driver may change size and rate: stream->mode and stream->rate then differ. `rate` applies if the
// mode has no interval. Returns false on failure; `why` has the message.
bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY]);
// Allocates buffers that hold at least one frame each, and starts the stream. Uses our memory if the driver accepts it,
// because it is cached, and lent frames need no copy when the stream closes. Returns false on failure; `why` has the
// message.
bool camera_stream_start(struct camera_stream *stream, char why[CAMERA_WHY]);
// Stops and starts the stream with the same buffers. Returns false on failure; `why` has the message.
bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY]);
// Stops the stream, frees its buffers and closes the node. Lent frames keep their address and contents. Blocks until
// the device answers.
void camera_stream_close(struct camera_stream *stream);

// Returns true if the video signal of a capture card has changed since the last call.
bool camera_stream_changed(struct camera_stream *stream);
// Takes a filled buffer without blocking. Returns 0 or the error number: EAGAIN if no buffer is filled. The caller
// gives or lends a taken buffer.
int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer);
// Returns true if a taken buffer holds a complete frame, according to bytesused.
bool camera_stream_whole(const struct camera_stream *stream, int index);
// Returns true if frames cannot be lent: the driver has so few buffers that it needs them all, libv4l2 owns them, each
// field of a frame is a picture of its own, or libcamera's layer for V4L2 is between. That layer gives buffers out in
// the order of their numbers, although it fills them in the order in which they were queued: both orders are equal only
// if each buffer is queued before the next one is taken.
bool camera_stream_must_copy(const struct camera_stream *stream);
// Says what the buffer holds that was taken last. *number: the driver's number of the frame. Drivers count frames, as
// V4L2 asks for, or fields: four fields show which.
enum camera_part camera_stream_part(struct camera_stream *stream, const struct v4l2_buffer *buffer, uint32_t *number);
// Copies the buffer that was taken last to `image`, which has the shape of the frames: weaves fields. A buffer with one
// field fills only its rows.
void camera_stream_copy(const struct camera_stream *stream, int index, struct image *image);
// Points `image` to the pixels of a taken buffer.
void camera_stream_picture(const struct camera_stream *stream, int index, const struct image_shape *shape,
                           struct image *image);
void camera_stream_give(struct camera_stream *stream, int index); // queues a taken buffer
// Lends a taken buffer and points `image` to its pixels. Returns the number of the loan; -1: too many are lent, and the
// buffer was queued.
int camera_stream_lend(struct camera_stream *stream, int index, const struct image_shape *shape, struct image *image);
void camera_stream_return(struct camera_stream *stream, int number); // on any thread
// Queues the returned buffers, and those that camera_stream_give could not queue.
void camera_stream_tidy(struct camera_stream *stream);
