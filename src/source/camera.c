// camera.c: a V4L2 camera as a source: the driver's own buffers, mapped and lent
#include "base/clock.h"
#include "base/log.h"
#include "source/camera_mode.h"
#include "source/kind.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    // So many frames may be lent, and the driver needs one to fill and one to go on with. Only the newest is shown, so
    // that more buffers do not mean more delay.
    BUFFERS_WANTED = SOURCE_LENT + 2,
    BUFFERS_NEEDED = 2,
    ERRORS_MAX = 8, // failed dequeues in a row that are taken for passing trouble
    NS_PER_MS = 1000000,
    NS_PER_S = 1000000000,
};
#define STALE_NS ((int64_t)10 * NS_PER_S) // a time stamp further off than this is of another clock

struct camera {
    struct camera_device device;
    struct v4l2_pix_format format; // what the driver gave
    struct {
        void *memory;
        size_t length;
    } buffer[BUFFERS_WANTED];
    unsigned buffers;
    bool streaming;
    int errors; // failed dequeues in a row
    bool any;   // a frame has come
    uint32_t sequence;
    uint64_t number;
};

// The logged reason for a failed step.
static bool failed(const struct camera *camera, const char *doing)
{
    log_error("cannot %s camera %s (%s): %s", doing, camera->device.path, camera->device.card,
              camera_device_advice(errno));
    return false;
}

static bool choose_mode(struct camera *camera, const struct source_setup *setup, struct camera_mode *mode)
{
    char offered[128];
    if (camera_mode_choose(&camera->device, setup, mode))
        return true;
    camera_mode_list(&camera->device, offered);
    if (offered[0] != '\0') {
        log_error("camera %s (%s) does not offer %s; it has: %s", camera->device.path, camera->device.card,
                  pixfmt_info(setup->format)->name, offered);
        return false;
    }
    // Only compressed or unusual formats: libv4l2 decodes them, best to RGB, since it doesn't say which range the YUV
    // of a JPEG has.
    struct source_setup decoded = *setup;
    if (!setup->has_format)
        decoded.format = PIXFMT_RGB24;
    decoded.has_format = true;
    if (camera_device_convert(&camera->device) && camera_mode_choose(&camera->device, &decoded, mode)) {
        log_info("camera %s has no uncompressed format known here: libv4l2 converts", camera->device.path);
        return true;
    }
    log_error("camera %s (%s) offers no pixel format that can be used", camera->device.path, camera->device.card);
    return false;
}

// The driver may give something else than asked; what it gave counts.
static bool set_format(struct camera *camera, const struct camera_mode *mode, enum pixfmt *format)
{
    struct v4l2_format wanted = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    wanted.fmt.pix.width = (uint32_t)mode->width;
    wanted.fmt.pix.height = (uint32_t)mode->height;
    wanted.fmt.pix.pixelformat = pixfmt_info(mode->format)->fourcc;
    wanted.fmt.pix.field = V4L2_FIELD_NONE;
    if (camera_device_ask(&camera->device, VIDIOC_S_FMT, &wanted) != 0)
        return failed(camera, "set the mode of");
    const struct v4l2_pix_format *got = &wanted.fmt.pix;
    const char *why = "its format is not known here";
    if (!pixfmt_from_fourcc(got->pixelformat, format) || got->width > INT_MAX || got->height > INT_MAX ||
        !pixfmt_size_ok(*format, (int)got->width, (int)got->height, &why)) {
        log_error("camera %s gave %ux%u pixels, format %.4s: %s", camera->device.path, got->width, got->height,
                  (const char *)&got->pixelformat, why);
        return false;
    }
    if (got->width != (uint32_t)mode->width || got->height != (uint32_t)mode->height || *format != mode->format)
        log_info("camera %s gave %ux%u %s instead of %dx%d %s", camera->device.path, got->width, got->height,
                 pixfmt_info(*format)->name, mode->width, mode->height, pixfmt_info(mode->format)->name);
    if (got->field != V4L2_FIELD_NONE && got->field != V4L2_FIELD_ANY)
        log_info("camera %s delivers interlaced pictures", camera->device.path);
    camera->format = *got;
    return true;
}

// Returns the rate that the driver settles on, 0 when it doesn't say.
static double set_rate(struct camera *camera, const struct source_setup *setup, const struct camera_mode *mode)
{
    enum { PRECISION = 1000 };
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    struct v4l2_fract *interval = &parameters.parm.capture.timeperframe;
    *interval = mode->interval;
    if (interval->numerator == 0 && setup->rate > 0)
        *interval = (struct v4l2_fract){PRECISION, (uint32_t)(setup->rate * PRECISION)};
    if (interval->numerator == 0)
        return camera_device_ask(&camera->device, VIDIOC_G_PARM, &parameters) == 0 ? camera_mode_rate(*interval) : 0;
    if (camera_device_ask(&camera->device, VIDIOC_S_PARM, &parameters) != 0)
        return camera_mode_rate(mode->interval);
    return camera_mode_rate(*interval);
}

static bool map_buffers(struct camera *camera, size_t needed)
{
    struct v4l2_requestbuffers request = {
        .count = BUFFERS_WANTED, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (camera_device_ask(&camera->device, VIDIOC_REQBUFS, &request) != 0)
        return failed(camera, "get buffers of");
    if (request.count < BUFFERS_NEEDED) {
        errno = ENOMEM;
        return failed(camera, "get buffers of");
    }
    for (unsigned i = 0; i < request.count && i < BUFFERS_WANTED; i++) {
        struct v4l2_buffer buffer = {.index = i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        if (camera_device_ask(&camera->device, VIDIOC_QUERYBUF, &buffer) != 0)
            return failed(camera, "get buffers of");
        if (buffer.length < needed) {
            log_error("cannot use camera %s: its buffers hold %u bytes, a picture needs %zu", camera->device.path,
                      buffer.length, needed);
            return false;
        }
        void *memory = camera_device_map(&camera->device, buffer.length, buffer.m.offset);
        if (memory == MAP_FAILED)
            return failed(camera, "map the buffers of");
        camera->buffer[i].memory = memory;
        camera->buffer[i].length = buffer.length;
        camera->buffers = i + 1;
    }
    return true;
}

static bool queue(const struct camera *camera, unsigned index)
{
    struct v4l2_buffer buffer = {.index = index, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    return camera_device_ask(&camera->device, VIDIOC_QBUF, &buffer) == 0;
}

static bool start(struct camera *camera)
{
    for (unsigned i = 0; i < camera->buffers; i++)
        if (!queue(camera, i))
            return failed(camera, "hand buffers to");
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (camera_device_ask(&camera->device, VIDIOC_STREAMON, &type) != 0)
        return failed(camera, "start");
    camera->streaming = true;
    return true;
}

static bool camera_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct camera *camera = source->state;
    struct camera_mode mode;
    struct source_info *info = &source->info;
    struct image_shape *shape = &info->shape;
    if (!camera_device_open(&camera->device, text) || !choose_mode(camera, setup, &mode) ||
        !set_format(camera, &mode, &shape->format))
        return false;
    shape->width = (int)camera->format.width;
    shape->height = (int)camera->format.height;
    shape->color = source_color(setup, camera_mode_color(&camera->format), shape->format, shape->width, shape->height);
    info->rate = set_rate(camera, setup, &mode);
    info->live = true;
    snprintf(info->name, sizeof(info->name), "%s (%.200s)", camera->device.card, camera->device.path);
    return map_buffers(camera, camera_mode_bytes(&camera->format, shape)) && start(camera);
}

static void camera_close(struct source *source)
{
    struct camera *camera = source->state;
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (camera->streaming)
        camera_device_ask(&camera->device, VIDIOC_STREAMOFF, &type);
    for (unsigned i = 0; i < camera->buffers; i++)
        camera_device_unmap(&camera->device, camera->buffer[i].memory, camera->buffer[i].length);
    camera_device_close(&camera->device);
}

// Waits for the device. SOURCE_FRAME: there is something to dequeue.
static enum source_status wait_ready(struct camera *camera, int64_t deadline_ns)
{
    const int64_t left_ms = (deadline_ns - clock_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
    struct pollfd ready = {.fd = camera->device.fd, .events = POLLIN};
    const int count = poll(&ready, 1, left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);
    return count > 0 ? SOURCE_FRAME : SOURCE_TIMEOUT; // a signal, too, is for the caller to look at
}

// One filled buffer. SOURCE_TIMEOUT: nothing usable came, but something may.
static enum source_status dequeue(struct camera *camera, size_t needed, struct v4l2_buffer *buffer)
{
    *buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    if (camera_device_ask(&camera->device, VIDIOC_DQBUF, buffer) != 0) {
        if (errno == ENODEV || (errno != EAGAIN && ++camera->errors >= ERRORS_MAX)) {
            failed(camera, "go on with");
            return SOURCE_FAILED;
        }
        nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL); // poll may return at once, again and again
        return SOURCE_TIMEOUT;
    }
    camera->errors = 0;
    const bool cut_short = buffer->bytesused > 0 && buffer->bytesused < needed;
    if (buffer->index < camera->buffers && !(buffer->flags & V4L2_BUF_FLAG_ERROR) && !cut_short)
        return SOURCE_FRAME;
    log_debug("camera %s: frame %u is %s and left out", camera->device.path, buffer->sequence,
              cut_short ? "cut short" : "damaged");
    queue(camera, buffer->index);
    return SOURCE_TIMEOUT;
}

// The driver's count, made to grow: some drivers repeat or reset it.
static uint64_t next_number(struct camera *camera, uint32_t sequence)
{
    const uint32_t step = sequence - camera->sequence;
    if (camera->any)
        camera->number += step == 0 || step > INT32_MAX ? 1 : step;
    camera->any = true;
    camera->sequence = sequence;
    return camera->number;
}

static int64_t time_of(const struct v4l2_buffer *buffer, int64_t now)
{
    const int64_t stamp = (int64_t)buffer->timestamp.tv_sec * NS_PER_S + (int64_t)buffer->timestamp.tv_usec * 1000;
    const bool monotonic = (buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    return monotonic && stamp <= now && now - stamp < STALE_NS ? stamp : now;
}

static enum source_status camera_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct camera *camera = source->state;
    const struct image_shape *shape = &source->info.shape;
    const size_t needed = camera_mode_bytes(&camera->format, shape);
    struct v4l2_buffer buffer;
    enum source_status status = SOURCE_TIMEOUT;
    while (status == SOURCE_TIMEOUT) {
        if (wait_ready(camera, deadline_ns) != SOURCE_FRAME)
            return SOURCE_TIMEOUT;
        status = dequeue(camera, needed, &buffer);
        if (status == SOURCE_TIMEOUT && clock_now_ns() >= deadline_ns)
            return status;
    }
    if (status != SOURCE_FRAME)
        return status;
    *frame = (struct frame){
        .number = next_number(camera, buffer.sequence), .ready_ns = clock_now_ns(), .slot = (int)buffer.index};
    frame->captured_ns = time_of(&buffer, frame->ready_ns);
    camera_mode_lay_out(&camera->format, shape, camera->buffer[buffer.index].memory, &frame->image);
    return SOURCE_FRAME;
}

// A failure shows at the next dequeue.
static void camera_return(struct source *source, const struct frame *frame)
{
    const struct camera *camera = source->state;
    queue(camera, (unsigned)frame->slot);
}

const struct source_kind source_camera = {"camera",     sizeof(struct camera), camera_open,
                                          camera_close, camera_next,           camera_return};
