// camera_output.c: pictures to a V4L2 output device, by a thread that repeats the last one when the next is late
#include "source/camera_output.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "image/encode.h"
#include "source/camera_mode.h"
#include "source/camera_output_node.h"
#include "source/kind.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, BUSY_MS = 100 }; // how soon a stop is noticed while the device takes nothing

// Three pictures go round: one is filled, one waits to be written, one is being written or was.
enum { PICTURES = 3 };

struct camera_output {
    struct camera_device device;
    char name[sizeof(((struct camera_device *)NULL)->path) + 40];
    struct v4l2_pix_format format; // what the driver gave
    struct image_shape shape;
    size_t bytes; // of a picture
    struct image picture[PICTURES];
    void *memory[PICTURES];
    int filling, waiting, written;
    int64_t period_ns;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; // over the members below, `waiting` and `written`
    pthread_cond_t changed;
    bool fresh; // `waiting` holds a picture
    bool stop, failed;
    struct camera_output_counts counts;
};

// Formats in order of preference: fewer bytes first, in planes that programs take without repacking.
static const enum pixfmt formats[] = {PIXFMT_NV12, PIXFMT_YUYV, PIXFMT_YU12};
enum { FORMATS = sizeof(formats) / sizeof(*formats) };

// Asks for a format; what the driver gives is in output->format. Whether it is what was asked for.
static bool try_format(struct camera_output *output, enum pixfmt wanted, int width, int height)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    struct v4l2_pix_format *pix = &format.fmt.pix;
    pix->width = (uint32_t)width;
    pix->height = (uint32_t)height;
    pix->pixelformat = pixfmt_info(wanted)->fourcc;
    pix->field = V4L2_FIELD_NONE;
    pix->priv = V4L2_PIX_FMT_PRIV_MAGIC;
    pix->colorspace = V4L2_COLORSPACE_SRGB;
    pix->ycbcr_enc = V4L2_YCBCR_ENC_601;
    pix->quantization = V4L2_QUANTIZATION_LIM_RANGE;
    if (camera_device_ask(&output->device, VIDIOC_S_FMT, &format) != 0)
        return false;
    output->format = *pix;
    return pix->pixelformat == pixfmt_info(wanted)->fourcc && pix->width == (uint32_t)width &&
           pix->height == (uint32_t)height;
}

static bool choose_format(struct camera_output *output, int width, int height)
{
    output->format = (struct v4l2_pix_format){0};
    errno = 0;
    for (int i = 0; i < FORMATS; i++) {
        if (try_format(output, formats[i], width, height)) {
            struct color color = camera_mode_color(&output->format, false);
            color.range = COLOR_RANGE_LIMITED;
            if (color.matrix == COLOR_MATRIX_DEFAULT)
                color.matrix = COLOR_MATRIX_601;
            output->shape = (struct image_shape){formats[i], width, height, color};
            return true;
        }
    }
    const struct v4l2_pix_format *got = &output->format;
    if (got->width == 0)
        log_error("cannot set the format of the virtual camera %s: %s", output->name,
                  errno == EBUSY ? "another program writes to it; close that program first" : strerror(errno));
    else if (got->width != (uint32_t)width || got->height != (uint32_t)height)
        log_error(
            "the virtual camera %s is fixed at %ux%u pixels, but the frames have %dx%d: close the programs that have "
            "it open, or use --size %ux%u",
            output->name, got->width, got->height, width, height, got->width, got->height);
    else
        log_error("the virtual camera %s is fixed at the format %.4s, but monocle writes nv12, yuyv or yu12: close the "
                  "programs that have it open",
                  output->name, (const char *)&got->pixelformat);
    return false;
}

// v4l2loopback 0.12 takes only this as the sign of a writer; without it, and with exclusive_caps=1, the node could not
// be written to a second time. Where buffers would have to be queued first it is refused, and write does without.
static void announce_writer(struct camera_output *output)
{
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    if (camera_device_ask(&output->device, VIDIOC_STREAMON, &type) != 0)
        log_debug("%s starts with its first frame: %s", output->name, strerror(errno));
}

// Readers ask the device for its rate; one that can't keep it is none the worse.
static void set_rate(struct camera_output *output, double rate)
{
    enum { PRECISION = 1000 };
    if (!(rate > 0))
        rate = SOURCE_DEFAULT_RATE;
    output->period_ns = (int64_t)(NS_PER_S / rate);
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    parameters.parm.output.timeperframe = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION + 0.5)};
    if (camera_device_ask(&output->device, VIDIOC_S_PARM, &parameters) != 0)
        log_info("cannot set the frame rate of the virtual camera %s: %s", output->name, strerror(errno));
}

// Black, and the first to be written: a device with no picture yet looks to other programs as if it were broken.
static bool make_pictures(struct camera_output *output)
{
    struct image black;
    const struct image_shape rgba = {.width = output->shape.width, .height = output->shape.height};
    output->bytes = camera_mode_bytes(&output->format, &output->shape);
    bool ok = image_alloc(&black, &rgba);
    if (ok)
        memset(black.memory, 0, image_bytes(&rgba));
    for (int i = 0; ok && i < PICTURES; i++) {
        output->memory[i] = calloc(1, output->bytes);
        ok = output->memory[i] != NULL;
        if (ok) {
            camera_mode_lay_out(&output->format, &output->shape, output->memory[i], &output->picture[i]);
            encode_image(&output->picture[i], &black);
        }
    }
    image_free(&black);
    if (!ok)
        log_error("cannot allocate frames for the virtual camera %s: out of memory", output->name);
    output->filling = 0;
    output->waiting = 1;
    output->written = 2;
    output->fresh = true;
    return ok;
}

// Waits for the next picture, or until the last one is due again. False when the thread must end.
static bool wait_picture(struct camera_output *output, int64_t due_ns, bool *repeat)
{
    pthread_mutex_lock(&output->lock);
    while (!output->stop && !output->fresh)
        if (!thread_wait(&output->changed, &output->lock, due_ns))
            break;
    const bool go_on = !output->stop;
    *repeat = !output->fresh;
    if (output->fresh) {
        const int last = output->written;
        output->written = output->waiting;
        output->waiting = last;
        output->fresh = false;
    }
    pthread_mutex_unlock(&output->lock);
    return go_on;
}

static bool stopped(struct camera_output *output)
{
    pthread_mutex_lock(&output->lock);
    const bool stop = output->stop;
    pthread_mutex_unlock(&output->lock);
    return stop;
}

static bool write_picture(struct camera_output *output)
{
    while (write(output->device.fd, output->memory[output->written], output->bytes) < 0) {
        struct pollfd room = {.fd = output->device.fd, .events = POLLOUT};
        if (errno == EAGAIN)
            poll(&room, 1, BUSY_MS);
        else if (errno != EINTR)
            return false;
        if (stopped(output))
            break;
    }
    return true;
}

// A picture may be half a period late before the last one takes its place; after that they come period by period.
static void *output_run(void *context)
{
    struct camera_output *output = context;
    int64_t due_ns = INT64_MAX;
    bool repeat;
    while (wait_picture(output, due_ns, &repeat)) {
        const int64_t begun_ns = clock_now_ns();
        const bool ok = write_picture(output);
        const int error = errno;
        due_ns = (repeat ? due_ns : begun_ns + output->period_ns / 2) + output->period_ns;
        due_ns = due_ns > begun_ns ? due_ns : begun_ns + output->period_ns;
        pthread_mutex_lock(&output->lock);
        output->counts.repeated += repeat;
        output->failed = !ok;
        pthread_mutex_unlock(&output->lock);
        if (ok)
            continue;
        log_error("cannot write more frames to the virtual camera %s: %s", output->name, strerror(error));
        break;
    }
    return NULL;
}

struct camera_output *camera_output_open(const char *node, int width, int height, double rate)
{
    struct camera_output *output = calloc(1, sizeof(*output));
    if (!output) {
        log_error("cannot open the virtual camera %s: out of memory", node);
        return NULL;
    }
    output->device.fd = -1;
    pthread_mutex_init(&output->lock, NULL);
    thread_condition_init(&output->changed);
    width &= ~1;
    height &= ~1;
    if (width == 0 || height == 0) {
        log_error("a virtual camera needs frames of at least 2x2 pixels; choose a larger --size");
        goto fail;
    }
    if (!camera_output_node_open(&output->device, node))
        goto fail;
    snprintf(output->name, sizeof(output->name), "%s (%s)", output->device.path, output->device.card);
    if (!choose_format(output, width, height) || !make_pictures(output))
        goto fail;
    set_rate(output, rate);
    announce_writer(output);
    output->started = thread_start(&output->thread, output_run, output, "virtual camera");
    if (!output->started)
        goto fail;
    log_info("virtual camera %s: %dx%d %s, matrix %s, %.4g fps", output->name, width, height,
             pixfmt_info(output->shape.format)->name, color_matrix_name(output->shape.color.matrix),
             (double)NS_PER_S / (double)output->period_ns);
    return output;
fail:
    camera_output_close(output);
    return NULL;
}

void camera_output_close(struct camera_output *output)
{
    if (!output)
        return;
    if (output->started) {
        pthread_mutex_lock(&output->lock);
        output->stop = true;
        pthread_cond_signal(&output->changed);
        pthread_mutex_unlock(&output->lock);
        pthread_join(output->thread, NULL);
    }
    camera_device_close(&output->device);
    for (int i = 0; i < PICTURES; i++)
        free(output->memory[i]);
    pthread_cond_destroy(&output->changed);
    pthread_mutex_destroy(&output->lock);
    free(output);
}

const char *camera_output_name(const struct camera_output *output)
{
    return output->name;
}

const struct image_shape *camera_output_shape(const struct camera_output *output)
{
    return &output->shape;
}

struct image *camera_output_picture(struct camera_output *output)
{
    return &output->picture[output->filling];
}

bool camera_output_send(struct camera_output *output)
{
    pthread_mutex_lock(&output->lock);
    const int filled = output->filling;
    output->filling = output->waiting;
    output->waiting = filled;
    output->counts.skipped += output->fresh && output->counts.sent > 0;
    output->counts.sent++;
    output->fresh = true;
    const bool ok = !output->failed;
    pthread_cond_signal(&output->changed);
    pthread_mutex_unlock(&output->lock);
    return ok;
}

struct camera_output_counts camera_output_counts(const struct camera_output *output)
{
    struct camera_output *locked = (struct camera_output *)output; // only to lock
    pthread_mutex_lock(&locked->lock);
    const struct camera_output_counts counts = output->counts;
    pthread_mutex_unlock(&locked->lock);
    return counts;
}
