// virtual_camera.c: a thread writes frames to a V4L2 output device, and repeats the last one when the next is late
#include "sink/virtual_camera.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "image/convert.h"
#include "image/videodev.h"
#include "sink/pipewire_camera.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, DEFAULT_RATE = 30 };
enum { BUSY_MS = 100 };   // longest time until the thread sees a stop while the device accepts nothing
enum { NODES_MAX = 256 }; // minor numbers of video devices
enum { NODES_TEXT = 160, ADVICE_TEXT = 400 };

// From v4l2loopback.c, version 0.13: V4L2_EVENT_PRI_CLIENT_USAGE. The data of the event is a __u32, the number of
// programs that read the device, or 1 for any number.
enum { EVENT_CLIENT_USAGE = V4L2_EVENT_PRIVATE_START + 0x08E00000 + 1 };

struct virtual_camera {
    struct pipewire_camera *pipewire; // it does all the work; NULL: the camera is a device
    int fd;                           // -1 when closed
    char path[256];
    char name[300];                // "path (card)"
    struct v4l2_pix_format format; // the format that the driver set
    struct image_shape shape;
    size_t bytes;            // of a frame
    struct image picture[2]; // one waits; the thread writes the other, or has written it
    int64_t period_ns;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; // guards the members below, and the picture that waits
    pthread_cond_t changed;
    int waiting; // index of the picture that waits
    bool fresh;  // it was not written yet
    bool stop, failed;
    struct virtual_camera_counts counts;

    bool watched; // the last event: programs read the device
    bool reports; // `watched` is known
};

// Lists the nodes that can be written to, as " /dev/video10 /dev/video11"; the first ones if the text is too short.
static void list_outputs(char text[NODES_TEXT])
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < NODES_MAX && length < NODES_TEXT - 32; i++) {
        struct v4l2_capability about = {0};
        char path[32];
        snprintf(path, sizeof(path), "/dev/video%d", i);
        const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (videodev_ask(fd, VIDIOC_QUERYCAP, &about) == 0 && videodev_abilities(&about) & V4L2_CAP_VIDEO_OUTPUT)
            length += (size_t)snprintf(text + length, NODES_TEXT - length, " %s", path);
        close(fd);
    }
}

// Names the nodes to use instead, or the way to get one.
static void advise(const char *node, char text[ADVICE_TEXT])
{
    char outputs[NODES_TEXT];
    unsigned number = 10;
    sscanf(node, "/dev/video%u", &number);
    list_outputs(outputs);
    if (outputs[0])
        snprintf(text, ADVICE_TEXT, "virtual cameras on this machine:%s", outputs);
    else if (access("/sys/module/v4l2loopback", F_OK) == 0)
        snprintf(text, ADVICE_TEXT, "v4l2loopback is loaded, but monocle can open none of its devices for output");
    else
        snprintf(text, ADVICE_TEXT,
                 "run: sudo modprobe v4l2loopback video_nr=%u exclusive_caps=1 card_label=monocle (package "
                 "v4l2loopback-dkms)",
                 number);
}

static bool is_loopback(const struct v4l2_capability *about)
{
    return strcmp((const char *)about->driver, "v4l2 loopback") == 0;
}

// Returns why this node cannot be a virtual camera; NULL if it can.
static const char *unfit(const struct v4l2_capability *about)
{
    const uint32_t can = videodev_abilities(about);
    if (can & V4L2_CAP_VIDEO_OUTPUT)
        return can & V4L2_CAP_READWRITE ? NULL : "its driver does not support write()";
    if (is_loopback(about) && can & V4L2_CAP_VIDEO_CAPTURE)
        return "another program writes to it already; close that program first";
    if (can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
        return "it is a camera, not a virtual camera";
    if (can & V4L2_CAP_META_CAPTURE)
        return "it is a metadata node of a camera";
    if (can & V4L2_CAP_VIDEO_OUTPUT_MPLANE)
        return "its driver supports only the multi-planar API";
    return "it is not a video output device";
}

// Opens the node without blocking. Returns the reason on failure, else NULL.
static const char *try_node(struct virtual_camera *camera, struct v4l2_capability *about)
{
    camera->fd = open(camera->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (camera->fd < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO))
        return "there is no such device";
    if (camera->fd < 0)
        return errno == EBUSY ? "too many programs have it open" : videodev_advice(errno);
    if (videodev_ask(camera->fd, VIDIOC_QUERYCAP, about) != 0)
        return "it is not a V4L2 device";
    return unfit(about);
}

static bool open_node(struct virtual_camera *camera, const char *node)
{
    struct v4l2_capability about = {0};
    const bool number = node[0] && node[strspn(node, "0123456789")] == '\0';
    snprintf(camera->path, sizeof(camera->path), "%s%s", number ? "/dev/video" : "", node);
    const char *why = try_node(camera, &about);
    if (why) {
        char advice[ADVICE_TEXT];
        const bool denied = camera->fd < 0 && errno == EACCES;
        advise(camera->path, advice);
        log_error("cannot open the virtual camera %s: %s%s%s", camera->path, why, text_if(!denied, "; "),
                  text_if(!denied, advice));
        return false;
    }
    snprintf(camera->name, sizeof(camera->name), "%s (%s)", camera->path, (const char *)about.card);
    if (is_loopback(&about) && videodev_abilities(&about) & V4L2_CAP_VIDEO_CAPTURE)
        log_info("browsers list %s only if v4l2loopback was loaded with exclusive_caps=1", camera->path);
    return true;
}

// Sets a format. Returns true if the driver accepts it; camera->format is the driver's choice in either case.
static bool try_format(struct virtual_camera *camera, enum pixfmt wanted, int width, int height)
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
    if (videodev_ask(camera->fd, VIDIOC_S_FMT, &format) != 0)
        return false;
    camera->format = *pix;
    return pix->pixelformat == pixfmt_info(wanted)->fourcc && pix->width == (uint32_t)width &&
           pix->height == (uint32_t)height;
}

static bool choose_format(struct virtual_camera *camera, int width, int height)
{
    // In order of preference: fewer bytes first, in planes that programs read without repacking.
    static const enum pixfmt formats[] = {PIXFMT_NV12, PIXFMT_YUYV, PIXFMT_YU12};
    errno = 0;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if (try_format(camera, formats[i], width, height)) {
            struct color color = videodev_color(&camera->format, false);
            color.range = COLOR_RANGE_LIMITED;
            if (color.matrix == COLOR_MATRIX_DEFAULT)
                color.matrix = COLOR_MATRIX_601;
            camera->shape =
                (struct image_shape){.format = formats[i], .width = width, .height = height, .color = color};
            return true;
        }
    }
    const struct v4l2_pix_format *got = &camera->format;
    if (got->width == 0)
        log_error("cannot set the format of the virtual camera %s: %s", camera->name,
                  errno == EBUSY ? "another program writes to it; close that program first" : strerror(errno));
    else if (got->width != (uint32_t)width || got->height != (uint32_t)height)
        log_error(
            "the virtual camera %s is fixed at %ux%u pixels, but the frames have %dx%d: close the programs that have "
            "it open, or use --size %ux%u",
            camera->name, got->width, got->height, width, height, got->width, got->height);
    else
        log_error("the virtual camera %s is fixed at the format %.4s, but monocle writes nv12, yuyv or yu12: close the "
                  "programs that have it open",
                  camera->name, (const char *)&got->pixelformat);
    return false;
}

// v4l2loopback 0.12 recognises a writer only by this call. Without it, and with exclusive_caps=1, the node can be
// written to only once. Drivers that need queued buffers first refuse the call, and write() works without it.
static void announce_writer(struct virtual_camera *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    if (videodev_ask(camera->fd, VIDIOC_STREAMON, &type) != 0)
        log_debug("%s starts with its first frame: %s", camera->name, strerror(errno));
}

// Readers ask the device for its rate. A device that does not store the rate works as well.
static void set_rate(struct virtual_camera *camera, double rate)
{
    enum { PRECISION = 1000 };
    if (!(rate > 0))
        rate = DEFAULT_RATE;
    camera->period_ns = (int64_t)(NS_PER_S / rate);
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    parameters.parm.output.timeperframe = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION + 0.5)};
    if (videodev_ask(camera->fd, VIDIOC_S_PARM, &parameters) != 0)
        log_info("cannot set the frame rate of the virtual camera %s: %s", camera->name, strerror(errno));
}

// Makes the image that waits black. The caller holds the lock, or the thread does not run yet. False: out of memory.
static bool blacken(struct virtual_camera *camera)
{
    struct image black;
    const struct image_shape rgba = {.width = camera->shape.width, .height = camera->shape.height};
    const bool ok = image_alloc(&black, &rgba);
    if (ok) {
        memset(black.memory, 0, image_bytes(&rgba));
        encode_image(&camera->picture[camera->waiting], &black);
        camera->fresh = true;
    }
    image_free(&black);
    return ok;
}

// Makes the images. The thread writes a black one at once: a device without a frame looks broken to other programs.
static bool make_pictures(struct virtual_camera *camera)
{
    camera->bytes = videodev_lay_out(&camera->format, &camera->shape, NULL, NULL);
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        void *memory = calloc(1, camera->bytes);
        ok = memory != NULL;
        if (ok)
            videodev_lay_out(&camera->format, &camera->shape, memory, &camera->picture[i]);
    }
    ok = ok && blacken(camera);
    if (!ok)
        log_error("cannot allocate frames for the virtual camera %s: out of memory", camera->name);
    return ok;
}

// Waits for the next frame, or until the last one must be repeated. Returns false when the thread must end.
static bool wait_picture(struct virtual_camera *camera, int64_t due_ns, bool *repeat)
{
    pthread_mutex_lock(&camera->lock);
    while (!camera->stop && !camera->fresh)
        if (!thread_wait(&camera->changed, &camera->lock, due_ns))
            break;
    const bool go_on = camera->fresh || !camera->stop; // the last frame is not lost
    *repeat = !camera->fresh;
    camera->waiting ^= camera->fresh;
    camera->fresh = false;
    pthread_mutex_unlock(&camera->lock);
    return go_on;
}

static bool write_picture(struct virtual_camera *camera)
{
    const struct image *picture = &camera->picture[!camera->waiting]; // only this thread changes `waiting`
    while (write(camera->fd, picture->plane[0], camera->bytes) < 0) {
        struct pollfd room = {.fd = camera->fd, .events = POLLOUT};
        if (errno == EAGAIN)
            poll(&room, 1, BUSY_MS);
        else if (errno != EINTR)
            return false;
        pthread_mutex_lock(&camera->lock);
        const bool stop = camera->stop;
        pthread_mutex_unlock(&camera->lock);
        if (stop)
            break;
    }
    return true;
}

// The thread repeats the last frame when the next one is half a period late, and then once per period.
static void *camera_run(void *context)
{
    struct virtual_camera *camera = context;
    int64_t due_ns = INT64_MAX;
    bool repeat;
    while (wait_picture(camera, due_ns, &repeat)) {
        const int64_t begun_ns = clock_now_ns();
        const bool ok = write_picture(camera);
        const int error = errno;
        due_ns = (repeat ? due_ns : begun_ns + camera->period_ns / 2) + camera->period_ns;
        due_ns = due_ns > begun_ns ? due_ns : begun_ns + camera->period_ns;
        pthread_mutex_lock(&camera->lock);
        camera->counts.repeated += repeat;
        camera->failed = !ok;
        pthread_mutex_unlock(&camera->lock);
        if (ok)
            continue;
        log_error("cannot write more frames to the virtual camera %s: %s", camera->name, strerror(error));
        break;
    }
    return NULL;
}

// Returns the name of a camera of PipeWire, if the node is "pipewire" or "pipewire:NAME". NULL: it is a device.
static const char *pipewire_name(const char *node)
{
    static const char word[] = "pipewire";
    if (strncmp(node, word, sizeof(word) - 1) != 0)
        return NULL;
    node += sizeof(word) - 1;
    return node[0] == '\0' || strcmp(node, ":") == 0 ? "monocle" : node[0] == ':' ? node + 1 : NULL;
}

static bool open_pipewire(struct virtual_camera *camera, const char *name, int width, int height, double rate)
{
    const struct image_shape shape = {.format = PIXFMT_NV12,
                                      .width = width,
                                      .height = height,
                                      .color = {COLOR_MATRIX_601, COLOR_RANGE_LIMITED}}; // as without PipeWire
    camera->shape = shape;
    camera->reports = true;
    camera->period_ns = (int64_t)(NS_PER_S / (rate > 0 ? rate : DEFAULT_RATE));
    snprintf(camera->name, sizeof(camera->name), "pipewire (%.200s)", name);
    void *memory = calloc(1, image_bytes(&shape));
    image_wrap(&camera->picture[0], &shape, memory);
    if (memory && blacken(camera))
        camera->pipewire = pipewire_camera_open(name, &camera->picture[0], camera->period_ns);
    else
        log_error("cannot allocate frames for the virtual camera %s: out of memory", camera->name);
    return camera->pipewire;
}

struct virtual_camera *virtual_camera_open(const char *node, int width, int height, double rate)
{
    struct virtual_camera *camera = xalloc(sizeof(*camera));
    struct v4l2_event_subscription usage = {.type = EVENT_CLIENT_USAGE, .flags = V4L2_EVENT_SUB_FL_SEND_INITIAL};
    camera->fd = -1;
    pthread_mutex_init(&camera->lock, NULL);
    thread_condition_init(&camera->changed);
    width &= ~1;
    height &= ~1;
    if (width == 0 || height == 0) {
        log_error("a virtual camera needs frames of at least 2x2 pixels; choose a larger --size");
        goto fail;
    }
    const char *name = pipewire_name(node);
    if (name && open_pipewire(camera, name, width, height, rate))
        return camera;
    if (name || !open_node(camera, node) || !choose_format(camera, width, height) || !make_pictures(camera))
        goto fail;
    set_rate(camera, rate);
    announce_writer(camera);
    camera->reports = videodev_ask(camera->fd, VIDIOC_SUBSCRIBE_EVENT, &usage) == 0;
    camera->started = thread_start(&camera->thread, camera_run, camera, "virtual camera");
    if (!camera->started)
        goto fail;
    log_info("virtual camera %s: %dx%d %s, matrix %s, %.4g fps", camera->name, width, height,
             pixfmt_info(camera->shape.format)->name, color_matrix_name(camera->shape.color.matrix),
             (double)NS_PER_S / (double)camera->period_ns);
    return camera;
fail:
    virtual_camera_close(camera);
    return NULL;
}

void virtual_camera_close(struct virtual_camera *camera)
{
    if (!camera)
        return;
    if (camera->pipewire)
        pipewire_camera_close(camera->pipewire);
    if (camera->started) {
        pthread_mutex_lock(&camera->lock);
        camera->stop = true;
        pthread_cond_signal(&camera->changed);
        pthread_mutex_unlock(&camera->lock);
        pthread_join(camera->thread, NULL);
    }
    if (camera->fd >= 0)
        close(camera->fd);
    for (int i = 0; i < 2; i++)
        free(camera->picture[i].plane[0]);
    pthread_cond_destroy(&camera->changed);
    pthread_mutex_destroy(&camera->lock);
    free(camera);
}

const char *virtual_camera_name(const struct virtual_camera *camera)
{
    return camera->name;
}

const struct image_shape *virtual_camera_shape(const struct virtual_camera *camera)
{
    return &camera->shape;
}

bool virtual_camera_send(struct virtual_camera *camera, const struct image *frame)
{
    if (camera->pipewire) {
        pipewire_camera_send(camera->pipewire, frame);
        return true;
    }
    pthread_mutex_lock(&camera->lock);
    image_copy(&camera->picture[camera->waiting], frame);
    camera->counts.skipped += camera->fresh && camera->counts.sent > 0;
    camera->counts.sent++;
    camera->fresh = true;
    const bool ok = !camera->failed;
    pthread_cond_signal(&camera->changed);
    pthread_mutex_unlock(&camera->lock);
    return ok;
}

bool virtual_camera_reports(const struct virtual_camera *camera)
{
    if (camera->reports)
        return true;
    log_error("the virtual camera %s does not report whether programs read it; v4l2loopback does since version 0.13; "
              "update it, or leave out --on-demand",
              camera->name);
    return false;
}

int virtual_camera_watched(struct virtual_camera *camera)
{
    if (camera->pipewire)
        return pipewire_camera_watched(camera->pipewire);
    struct v4l2_event event = {0};
    uint32_t readers;
    while (camera->reports && videodev_ask(camera->fd, VIDIOC_DQEVENT, &event) == 0) {
        memcpy(&readers, &event.u, sizeof(readers));
        if (event.type == EVENT_CLIENT_USAGE)
            camera->watched = readers > 0;
    }
    return camera->reports ? camera->watched : -1;
}

void virtual_camera_blank(struct virtual_camera *camera)
{
    pthread_mutex_lock(&camera->lock);
    const bool black = blacken(camera); // else the thread repeats the last frame
    if (camera->pipewire && black)
        pipewire_camera_send(camera->pipewire, &camera->picture[0]);
    else if (black)
        pthread_cond_signal(&camera->changed);
    pthread_mutex_unlock(&camera->lock);
}

struct virtual_camera_counts virtual_camera_counts(const struct virtual_camera *camera)
{
    if (camera->pipewire)
        return pipewire_camera_counts(camera->pipewire);
    struct virtual_camera *locked = (struct virtual_camera *)camera; // for its lock
    pthread_mutex_lock(&locked->lock);
    const struct virtual_camera_counts counts = camera->counts;
    pthread_mutex_unlock(&locked->lock);
    return counts;
}
