// camera_stream.c: a camera that streams into buffers of its driver's
#include "source/camera_stream.h"

#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>

bool camera_stream_failed(const struct camera_stream *stream, const char *doing, char why[CAMERA_WHY])
{
    const int error = errno;
    snprintf(why, CAMERA_WHY, "cannot %s camera %s (%s): %s", doing, stream->device.path, stream->device.card,
             v4l2_advice(error));
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
    if (v4l2_ask(device->fd, VIDIOC_QUERY_DV_TIMINGS, &timings) == 0)
        v4l2_ask(device->fd, VIDIOC_S_DV_TIMINGS, &timings);
    else if (v4l2_ask(device->fd, VIDIOC_QUERYSTD, &standard) == 0 && standard != V4L2_STD_UNKNOWN)
        v4l2_ask(device->fd, VIDIOC_S_STD, &standard);
    if (v4l2_ask(device->fd, VIDIOC_G_INPUT, &input) == 0)
        changes.id = (uint32_t)input;
    v4l2_ask(device->fd, VIDIOC_SUBSCRIBE_EVENT, &changes);
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
    while (v4l2_ask(stream->device.fd, VIDIOC_DQEVENT, &event) == 0)
        changed |= event.type == V4L2_EVENT_SOURCE_CHANGE;
    return changed;
}

void camera_stream_stop(struct camera_stream *stream)
{
    int type = (int)stream->device.type;
    if (stream->streaming && v4l2_ask(stream->device.fd, VIDIOC_STREAMOFF, &type) != 0 &&
        stream->kind == V4L2_MEMORY_USERPTR)
        camera_device_close(&stream->device);
    stream->streaming = false;
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
    struct v4l2_streamparm parameters = {.type = stream->device.type};
    struct v4l2_fract *interval = &parameters.parm.capture.timeperframe;
    *interval = mode->interval;
    if (interval->numerator == 0 && rate > 0)
        *interval = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION)};
    if (interval->numerator == 0)
        return v4l2_ask(stream->device.fd, VIDIOC_G_PARM, &parameters) == 0 ? camera_mode_rate(*interval) : 0;
    if (v4l2_ask(stream->device.fd, VIDIOC_S_PARM, &parameters) != 0)
        return camera_mode_rate(mode->interval);
    return camera_mode_rate(*interval);
}

// Asks for the mode; stream->format is then what the driver says, in the words of the single-planar API.
static bool ask_format(struct camera_stream *stream, const struct camera_mode *mode)
{
    struct v4l2_format wanted = {.type = stream->device.type};
    struct v4l2_pix_format *single = &wanted.fmt.pix;
    struct v4l2_pix_format_mplane *multi = &wanted.fmt.pix_mp;
    const struct v4l2_pix_format asked = {.width = (uint32_t)mode->width,
                                          .height = (uint32_t)mode->height,
                                          .pixelformat = mode->fourcc,
                                          .field = V4L2_FIELD_NONE};
    if (stream->device.multi)
        *multi = (struct v4l2_pix_format_mplane){
            .width = asked.width, .height = asked.height, .pixelformat = asked.pixelformat, .field = asked.field};
    else
        *single = asked;
    if (v4l2_ask(stream->device.fd, VIDIOC_S_FMT, &wanted) != 0)
        return false;
    stream->format = *single;
    stream->memories = 1;
    if (!stream->device.multi)
        return true;
    stream->memories = multi->num_planes;
    for (int i = 0; i < PIXFMT_PLANES; i++)
        stream->stride[i] = multi->plane_fmt[i].bytesperline;
    stream->format = (struct v4l2_pix_format){.width = multi->width,
                                              .height = multi->height,
                                              .pixelformat = multi->pixelformat,
                                              .field = multi->field,
                                              .bytesperline = stream->stride[0],
                                              .colorspace = multi->colorspace,
                                              .priv = V4L2_PIX_FMT_PRIV_MAGIC,
                                              .ycbcr_enc = multi->ycbcr_enc,
                                              .quantization = multi->quantization};
    return true;
}

// One memory for a whole picture, or one for each plane.
static bool memories_ok(const struct camera_stream *stream, const char **why)
{
    const struct camera_mode *mode = &stream->mode;
    *why = "monocle does not support this plane layout";
    return stream->memories == 1 || (!mode->compressed && stream->memories == pixfmt_info(mode->format)->planes);
}

// The driver may give something else than asked; what it gave counts.
bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY])
{
    const char *path = stream->device.path;
    if (!ask_format(stream, mode))
        return camera_stream_failed(stream, "set the format of", why);
    const struct v4l2_pix_format *got = &stream->format;
    struct camera_mode *given = &stream->mode;
    const char *reason = "monocle does not support this pixel format";
    if (!camera_mode_known(got->pixelformat, given) || got->width > INT_MAX || got->height > INT_MAX ||
        !pixfmt_size_ok(given->format, (int)got->width, (int)got->height, &reason) || !memories_ok(stream, &reason)) {
        snprintf(why, CAMERA_WHY,
                 "cannot use camera %s with %ux%u pixels in format %.4s: %s; try another --size or --pixel-format",
                 path, got->width, got->height, (const char *)&got->pixelformat, reason);
        errno = EPROTO;
        return false;
    }
    given->width = (int)got->width;
    given->height = (int)got->height;
    given->interval = mode->interval;
    if (given->width != mode->width || given->height != mode->height || given->fourcc != mode->fourcc)
        log_info("camera %s chose %dx%d %s instead of %dx%d %s", path, given->width, given->height,
                 camera_mode_name(given), mode->width, mode->height, camera_mode_name(mode));
    if (got->field != V4L2_FIELD_NONE && got->field != V4L2_FIELD_ANY)
        log_info("camera %s delivers interlaced frames", path);
    stream->rate = set_rate(stream, rate, mode);
    return true;
}
