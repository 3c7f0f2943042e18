// camera_stream.c: a camera that streams into buffers of its driver's
#include "source/camera_stream.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BUFFERS_NEEDED = 2 };

static bool failed(const struct camera_stream *stream, const char *doing, char why[CAMERA_WHY])
{
    const int error = errno;
    snprintf(why, CAMERA_WHY, "cannot %s camera %s (%s): %s", doing, stream->device.path, stream->device.card,
             camera_device_advice(error));
    errno = error;
    return false;
}

// What is plugged into a grabber may have any size: the driver takes its timings, or its TV standard, only when told
// to, and tells when they change. Cameras know neither.
static void follow_signal(const struct camera_device *device)
{
    struct v4l2_dv_timings timings = {0};
    v4l2_std_id standard = V4L2_STD_UNKNOWN;
    struct v4l2_event_subscription changes = {.type = V4L2_EVENT_SOURCE_CHANGE};
    int input = 0;
    if (camera_device_ask(device, VIDIOC_QUERY_DV_TIMINGS, &timings) == 0)
        camera_device_ask(device, VIDIOC_S_DV_TIMINGS, &timings);
    else if (camera_device_ask(device, VIDIOC_QUERYSTD, &standard) == 0 && standard != V4L2_STD_UNKNOWN)
        camera_device_ask(device, VIDIOC_S_STD, &standard);
    if (camera_device_ask(device, VIDIOC_G_INPUT, &input) == 0)
        changes.id = (uint32_t)input;
    camera_device_ask(device, VIDIOC_SUBSCRIBE_EVENT, &changes);
}

bool camera_stream_open(struct camera_stream *stream, const char *path, char why[CAMERA_WHY])
{
    *stream = (struct camera_stream){0};
    const char *reason = camera_device_open(&stream->device, path);
    if (reason)
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", path, reason);
    else
        follow_signal(&stream->device);
    return !reason;
}

bool camera_stream_changed(struct camera_stream *stream)
{
    struct v4l2_event event;
    bool changed = false;
    while (camera_device_ask(&stream->device, VIDIOC_DQEVENT, &event) == 0)
        changed |= event.type == V4L2_EVENT_SOURCE_CHANGE;
    return changed;
}

// Puts memory of our own with the same contents in the place of the driver's, in one step for whoever reads there: the
// driver's keeps a device alive that was unplugged, so that its node cannot come back.
static void keep_contents(void *memory, size_t length)
{
    void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, memory, length);
    if (mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED)
        munmap(copy, length);
}

void camera_stream_stop(struct camera_stream *stream)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (stream->streaming)
        camera_device_ask(&stream->device, VIDIOC_STREAMOFF, &type);
    stream->streaming = false;
}

void camera_stream_leave(struct camera_stream *stream)
{
    for (int i = 0; i < stream->buffers; i++) {
        if (stream->buffer[i].state == CAMERA_BUFFER_TAKEN)
            keep_contents(stream->buffer[i].memory, stream->buffer[i].length);
        else
            camera_device_unmap(&stream->device, stream->buffer[i].memory, stream->buffer[i].length);
    }
    stream->buffers = 0;
}

void camera_stream_close(struct camera_stream *stream)
{
    camera_stream_stop(stream);
    camera_stream_leave(stream);
    camera_device_close(&stream->device);
}

// Returns the rate that the driver settles on, 0 when it doesn't say.
static double set_rate(struct camera_stream *stream, double rate, const struct camera_mode *mode)
{
    enum { PRECISION = 1000 };
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_fract *interval = &parameters.parm.capture.timeperframe;
    *interval = mode->interval;
    if (interval->numerator == 0 && rate > 0)
        *interval = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION)};
    if (interval->numerator == 0)
        return camera_device_ask(&stream->device, VIDIOC_G_PARM, &parameters) == 0 ? camera_mode_rate(*interval) : 0;
    if (camera_device_ask(&stream->device, VIDIOC_S_PARM, &parameters) != 0)
        return camera_mode_rate(mode->interval);
    return camera_mode_rate(*interval);
}

// The driver may give something else than asked; what it gave counts.
bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY])
{
    const char *path = stream->device.path;
    struct v4l2_format wanted = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    wanted.fmt.pix.width = (uint32_t)mode->width;
    wanted.fmt.pix.height = (uint32_t)mode->height;
    wanted.fmt.pix.pixelformat = mode->fourcc;
    wanted.fmt.pix.field = V4L2_FIELD_NONE;
    if (camera_device_ask(&stream->device, VIDIOC_S_FMT, &wanted) != 0)
        return failed(stream, "set the mode of", why);
    const struct v4l2_pix_format *got = &wanted.fmt.pix;
    struct camera_mode *given = &stream->mode;
    const char *reason = "its format is not known here";
    if (!camera_mode_known(got->pixelformat, given) || got->width > INT_MAX || got->height > INT_MAX ||
        (!given->compressed && !pixfmt_size_ok(given->format, (int)got->width, (int)got->height, &reason))) {
        snprintf(why, CAMERA_WHY, "camera %s gave %ux%u pixels, format %.4s: %s", path, got->width, got->height,
                 (const char *)&got->pixelformat, reason);
        errno = EPROTO;
        return false;
    }
    given->width = (int)got->width;
    given->height = (int)got->height;
    given->interval = mode->interval;
    if (given->width != mode->width || given->height != mode->height || given->fourcc != mode->fourcc)
        log_info("camera %s gave %dx%d %s instead of %dx%d %s", path, given->width, given->height,
                 camera_mode_name(given), mode->width, mode->height, camera_mode_name(mode));
    if (got->field != V4L2_FIELD_NONE && got->field != V4L2_FIELD_ANY)
        log_info("camera %s delivers interlaced pictures", path);
    stream->format = *got;
    stream->rate = set_rate(stream, rate, mode);
    return true;
}

static bool map_buffers(struct camera_stream *stream, size_t needed, char why[CAMERA_WHY])
{
    struct v4l2_requestbuffers request = {
        .count = CAMERA_BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (camera_device_ask(&stream->device, VIDIOC_REQBUFS, &request) != 0)
        return failed(stream, "get buffers of", why);
    if (request.count < BUFFERS_NEEDED) {
        errno = ENOMEM;
        return failed(stream, "get buffers of", why);
    }
    if (request.count < CAMERA_BUFFERS)
        log_info("camera %s has only %u buffers: its pictures are copied", stream->device.path, request.count);
    for (unsigned i = 0; i < request.count && i < CAMERA_BUFFERS; i++) {
        struct v4l2_buffer buffer = {.index = i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        if (camera_device_ask(&stream->device, VIDIOC_QUERYBUF, &buffer) != 0)
            return failed(stream, "get buffers of", why);
        if (buffer.length < needed) {
            snprintf(why, CAMERA_WHY, "cannot use camera %s: its buffers hold %u bytes, a picture needs %zu",
                     stream->device.path, buffer.length, needed);
            errno = EPROTO;
            return false;
        }
        void *memory = camera_device_map(&stream->device, buffer.length, buffer.m.offset);
        if (memory == MAP_FAILED)
            return failed(stream, "map the buffers of", why);
        stream->buffer[i].memory = memory;
        stream->buffer[i].length = buffer.length;
        stream->buffer[i].state = CAMERA_BUFFER_IDLE;
        stream->buffers = (int)i + 1;
    }
    return true;
}

static bool queue(struct camera_stream *stream, int index)
{
    struct v4l2_buffer buffer = {
        .index = (uint32_t)index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    const bool ok = camera_device_ask(&stream->device, VIDIOC_QBUF, &buffer) == 0;
    stream->buffer[index].state = ok ? CAMERA_BUFFER_QUEUED : CAMERA_BUFFER_IDLE;
    return ok;
}

static bool switch_on(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int queued = 0, type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_IDLE && queue(stream, i))
            queued++;
    if (queued == 0)
        return failed(stream, "hand buffers to", why);
    if (camera_device_ask(&stream->device, VIDIOC_STREAMON, &type) != 0)
        return failed(stream, "start", why);
    stream->streaming = true;
    return true;
}

bool camera_stream_start(struct camera_stream *stream, size_t needed, char why[CAMERA_WHY])
{
    return map_buffers(stream, needed, why) && switch_on(stream, why);
}

// STREAMOFF takes every queued buffer from the driver.
bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (camera_device_ask(&stream->device, VIDIOC_STREAMOFF, &type) != 0)
        return failed(stream, "stop", why);
    stream->streaming = false;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_QUEUED)
            stream->buffer[i].state = CAMERA_BUFFER_IDLE;
    return switch_on(stream, why);
}

int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer)
{
    *buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (camera_device_ask(&stream->device, VIDIOC_DQBUF, buffer) != 0)
        return errno;
    if (buffer->index >= (uint32_t)stream->buffers)
        return EPROTO;
    stream->buffer[buffer->index].state = CAMERA_BUFFER_TAKEN;
    return 0;
}

void camera_stream_give(struct camera_stream *stream, int index)
{
    if (!queue(stream, index))
        log_debug("camera %s does not take a buffer back: %s", stream->device.path, camera_device_advice(errno));
}

void camera_stream_drop(struct camera_stream *stream, int index)
{
    stream->buffer[index].state = CAMERA_BUFFER_IDLE;
}

void camera_stream_tidy(struct camera_stream *stream)
{
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_IDLE)
            queue(stream, i);
}
