// camera_stream.h: a camera that streams into buffers of its driver's
#pragma once

#include "source/camera_find.h"
#include "source/camera_mode.h"

// So many frames may be lent, and the driver needs one to fill and one to go on with. Only the newest is shown, so that
// more buffers do not mean more delay.
enum { CAMERA_BUFFERS = SOURCE_LENT + 2 };

enum camera_buffer_state {
    CAMERA_BUFFER_IDLE, // waits to be queued
    CAMERA_BUFFER_QUEUED,
    CAMERA_BUFFER_TAKEN,
};

// A picture lies in one memory, or each of its planes in one.
struct camera_memory {
    uint8_t *at;
    size_t length;             // 0: none
    size_t start, filled;      // bytes that the driver has filled, and the offset of the first
    struct pages_owner *owner; // whose memory ours is; NULL: the system's. Or, of the driver's, ...
    bool adopted;              // ... who has adopted it
};

struct camera_buffer {
    struct camera_memory memory[PIXFMT_PLANES];
    enum camera_buffer_state state;
};

struct camera_stream {
    struct camera_device device;
    struct camera_mode mode;        // what the driver gave; its format, where not compressed, is one of ours
    struct v4l2_pix_format format;  // the same as the driver says it
    uint32_t kind;                  // of the memory: the driver's (V4L2_MEMORY_MMAP), or ours (V4L2_MEMORY_USERPTR)
    int memories;                   // of a picture: 1, or as many as planes
    uint32_t stride[PIXFMT_PLANES]; // of planes that have a memory each, as the driver says it
    double rate;                    // frames per second, 0 where unknown
    struct camera_buffer buffer[CAMERA_BUFFERS];
    int buffers;
    bool streaming;
    struct pages_owner *owner;   // whose memory ours shall be, where the driver takes that; NULL: the system's
    struct pages_owner *refused; // the owner whose memory it did not take, or who did not adopt its own
};

// Opens the node. False on failure, and why; close it all the same.
bool camera_stream_open(struct camera_stream *stream, const char *path, char why[CAMERA_WHY]);
// Whether the signal of what is plugged into the device has changed since it was opened.
bool camera_stream_changed(struct camera_stream *stream);
// Sets the mode, whose size and rate the driver may change; `rate` is wanted where the mode has none.
bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY]);
// Stops, so that the driver fills nothing any more: one that cannot be told to (the camera was unplugged) is closed.
// May take as long as the device does.
void camera_stream_stop(struct camera_stream *stream);
void camera_stream_close(struct camera_stream *stream); // stops, gives up the buffers, closes the node
// "cannot start camera ...: what errno means", which is kept. False.
bool camera_stream_failed(const struct camera_stream *stream, const char *doing, char why[CAMERA_WHY]);

// camera_buffer.c
// Gives up the buffers. Those still taken are left behind at their place with their contents, as memory of the caller's
// (camera_stream_free); all others are unmapped.
void camera_stream_leave(struct camera_stream *stream);
void camera_stream_free(struct camera_memory memory[PIXFMT_PLANES]);
// Gets buffers, each large enough for a picture, and starts. They are memory of ours where the driver takes that: it
// is as fast to read as any, and needs no copy when the driver goes.
bool camera_stream_start(struct camera_stream *stream, char why[CAMERA_WHY]);
// Stops and starts again, with the same buffers.
bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY]);

// Takes a filled buffer; never waits. 0, or the error number: EAGAIN where there is none.
int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer);
// Whether a taken buffer holds a whole picture, by bytesused, which every driver must set; and where its pixels are.
bool camera_stream_whole(const struct camera_stream *stream, int index);
void camera_stream_picture(const struct camera_stream *stream, int index, const struct image_shape *shape,
                           struct image *image);
void camera_stream_give(struct camera_stream *stream, int index);
// No longer taken, but not to be filled again either.
void camera_stream_drop(struct camera_stream *stream, int index);
// Queues what could not be queued when it was given.
void camera_stream_tidy(struct camera_stream *stream);
