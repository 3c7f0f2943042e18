// camera_shape.c: what a camera's pictures are
#include "base/clock.h"
#include "image/codec/codec.h"
#include "source/camera.h"
#include "source/kind.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>

enum { NS_PER_MS = 1000000 };
#define FIRST_PICTURE_NS ((int64_t)5 * 1000000000) // how long the first compressed picture may take

// The size and chroma of compressed pictures are known when the first one has come. While none comes, the mode's size
// and the usual chroma stand in for them: camera_next waits for it and reports why it does not come, as for a raw
// camera. False where pictures come but none can be decoded, and why.
static bool see_first_picture(struct camera *camera, struct image_shape *shape, char why[CAMERA_WHY])
{
    const struct camera_mode *mode = &camera->stream.mode;
    const int64_t deadline = clock_now_ns() + FIRST_PICTURE_NS;
    struct codec_error refused = {.why = "out of memory"};
    struct codec_head head;
    struct codec *codec = codec_open();
    bool seen = false, removed = false;
    while (codec && !seen && !removed && clock_now_ns() < deadline) {
        struct v4l2_buffer buffer;
        struct pollfd ready = {.fd = camera->stream.device.fd, .events = POLLIN};
        poll(&ready, 1, 100);
        const int error = camera_stream_take(&camera->stream, &buffer);
        removed = error == ENODEV || error == ENXIO;
        if (error != 0) {
            nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
            continue;
        }
        const struct camera_memory *memory = camera->stream.buffer[buffer.index].memory;
        if (!(buffer.flags & V4L2_BUF_FLAG_ERROR) && memory->filled > 0)
            seen = codec_head_of(codec, CODEC_JPEG, memory->at + memory->start, memory->filled,
                                 camera_mode_most_pixels(mode), &head, &refused);
        camera_stream_give(&camera->stream, (int)buffer.index);
    }
    *shape = (struct image_shape){.format = PIXFMT_422P, .width = mode->width, .height = mode->height};
    if (seen) {
        *shape = head.shape;
        camera->heard_ns = clock_now_ns();
    }
    const bool ok = codec && (seen || removed || refused.fault == CODEC_FINE);
    if (!ok)
        snprintf(why, CAMERA_WHY, "cannot decode the frames of camera %s (%s): %s; try another --pixel-format",
                 camera->node.path, camera->node.card, refused.why);
    codec_close(codec);
    return ok;
}

static struct color color_of(const struct camera *camera, const struct image_shape *shape)
{
    const struct camera_stream *stream = &camera->stream;
    return source_color(&camera->setup, v4l2_color(&stream->format, stream->mode.compressed), shape->format,
                        shape->width, shape->height);
}

bool camera_shape_see(struct camera *camera, struct image_shape *shape, char why[CAMERA_WHY])
{
    *shape = camera_mode_shape(&camera->stream.mode);
    if (camera->stream.mode.compressed && !see_first_picture(camera, shape, why))
        return false;
    shape->color = color_of(camera, shape);
    return true;
}

bool camera_shape_changed(const struct camera *camera, struct image_shape *shape)
{
    if (!camera->decoder || !camera_decoder_changed(camera->decoder, shape))
        return false;
    shape->color = color_of(camera, shape);
    return true;
}

bool camera_shape_same(const struct camera *camera)
{
    const struct camera_mode *now = &camera->stream.mode, *then = &camera->mode;
    // Compressed pictures of one mode are taken to be alike until one is seen: the decoder tells.
    struct image_shape shape = now->compressed ? camera->shape : camera_mode_shape(now);
    shape.color = color_of(camera, &shape);
    return now->compressed == then->compressed && now->width == then->width && now->height == then->height &&
           image_shape_equal(&shape, &camera->shape);
}
