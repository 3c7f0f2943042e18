// virtual_camera.c: the virtual cameras of a run, and the kind for V4L2 output devices, with its thread
#include "sink/virtual_camera.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "image/convert.h"
#include "image/videodev.h"
#include "sink/virtual_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_RATE = 30 };
enum { BUSY_MS = 100 };   // longest time until the thread sees a stop while the device accepts nothing
enum { NODES_MAX = 256 }; // minor numbers of video devices
enum { NODES_TEXT = 160, ADVICE_TEXT = 400 };

// From v4l2loopback.c, version 0.13: V4L2_EVENT_PRI_CLIENT_USAGE. The data of the event is a __u32, the number of
// programs that read the device, or 1 for any number.
enum { EVENT_CLIENT_USAGE = V4L2_EVENT_PRIVATE_START + 0x08E00000 + 1 };

struct output_device {
    struct virtual_node is; // its lock guards the members from `waiting` on, and the picture that waits
    int fd;                 // -1 when closed
    char path[256];
    struct v4l2_pix_format format; // the format that the driver set
    size_t bytes;                  // of a frame
    struct image picture[2];       // one waits; the thread writes the other, or has written it
    pthread_cond_t changed;
    int waiting; // index of the picture that waits
    bool fresh;  // it was not written yet, and
    bool counts; // it is counted if it never is
    bool failed;
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
static const char *try_node(struct output_device *camera, struct v4l2_capability *about)
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

static bool open_device(struct output_device *camera, const char *node)
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
    snprintf(camera->is.name, sizeof(camera->is.name), "%s (%s)", camera->path, (const char *)about.card);
    if (is_loopback(&about) && videodev_abilities(&about) & V4L2_CAP_VIDEO_CAPTURE)
        log_info("browsers list %s only if v4l2loopback was loaded with exclusive_caps=1", camera->path);
    return true;
}

// Sets a format. Returns true if the driver accepts it; camera->format is the driver's choice in either case.
static bool try_format(struct output_device *camera, enum pixfmt wanted, int width, int height)
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

// `chosen`: as for open.
static bool choose_format(struct output_device *camera, bool chosen)
{
    const struct image_shape wanted = camera->is.shape;
    const int width = wanted.width, height = wanted.height;
    // In order of preference: fewer bytes first, in planes that programs read without repacking.
    static const enum pixfmt formats[] = {PIXFMT_NV12, PIXFMT_YUYV, PIXFMT_YU12};
    errno = 0;
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        if ((chosen && formats[i] != wanted.format) || !try_format(camera, formats[i], width, height))
            continue;
        struct color color = videodev_color(&camera->format, false);
        color.range = COLOR_RANGE_LIMITED;
        if (color.matrix == COLOR_MATRIX_DEFAULT)
            color.matrix = COLOR_MATRIX_601;
        camera->is.shape = (struct image_shape){.format = formats[i], .width = width, .height = height, .color = color};
        if (!chosen || image_shape_equal(&camera->is.shape, &wanted))
            return true;
    }
    const struct v4l2_pix_format *got = &camera->format;
    if (got->width == 0)
        log_error("cannot set the format of the virtual camera %s: %s", camera->is.name,
                  errno == EBUSY ? "another program writes to it; close that program first" : strerror(errno));
    else if (got->width != (uint32_t)width || got->height != (uint32_t)height)
        log_error(
            "the virtual camera %s is fixed at %ux%u pixels, but the frames have %dx%d: close the programs that have "
            "it open, or use --size %ux%u",
            camera->is.name, got->width, got->height, width, height, got->width, got->height);
    else
        log_error("the virtual camera %s is fixed at the format %.4s, but monocle writes nv12, yuyv or yu12: close the "
                  "programs that have it open",
                  camera->is.name, (const char *)&got->pixelformat);
    return false;
}

// v4l2loopback 0.12 recognises a writer only by this call. Without it, and with exclusive_caps=1, the node can be
// written to only once. Drivers that need queued buffers first refuse the call, and write() works without it.
static void announce_writer(struct output_device *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_OUTPUT;
    if (videodev_ask(camera->fd, VIDIOC_STREAMON, &type) != 0)
        log_debug("%s starts with its first frame: %s", camera->is.name, strerror(errno));
}

// Readers ask the device for its rate. A device that does not store the rate works as well.
static void set_rate(struct output_device *camera)
{
    enum { PRECISION = 1000 };
    const double rate = (double)NS_PER_S / (double)camera->is.period_ns;
    struct v4l2_streamparm parameters = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    parameters.parm.output.timeperframe = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION + 0.5)};
    if (videodev_ask(camera->fd, VIDIOC_S_PARM, &parameters) != 0)
        log_info("cannot set the frame rate of the virtual camera %s: %s", camera->is.name, strerror(errno));
}

static bool make_pictures(struct output_device *camera)
{
    camera->bytes = videodev_lay_out(&camera->format, &camera->is.shape, NULL, NULL);
    bool ok = true;
    for (int i = 0; ok && i < 2; i++) {
        void *memory = calloc(1, camera->bytes);
        ok = memory != NULL;
        if (ok)
            videodev_lay_out(&camera->format, &camera->is.shape, memory, &camera->picture[i]);
    }
    if (!ok)
        log_error("cannot allocate frames for the virtual camera %s: out of memory", camera->is.name);
    return ok;
}

// Waits for the next frame, or until the last one must be repeated. Returns false when the thread must end.
static bool wait_picture(struct output_device *camera, int64_t due_ns, bool *repeat)
{
    pthread_mutex_lock(&camera->is.lock);
    while (!camera->is.stop && !camera->fresh)
        if (!thread_wait(&camera->changed, &camera->is.lock, due_ns))
            break;
    const bool go_on = camera->fresh || !camera->is.stop; // the last frame is not lost
    *repeat = !camera->fresh;
    camera->waiting ^= camera->fresh;
    camera->fresh = false;
    pthread_mutex_unlock(&camera->is.lock);
    return go_on;
}

static bool write_picture(struct output_device *camera)
{
    const struct image *picture = &camera->picture[!camera->waiting]; // only this thread changes `waiting`
    while (write(camera->fd, picture->plane[0], camera->bytes) < 0) {
        struct pollfd room = {.fd = camera->fd, .events = POLLOUT};
        if (errno == EAGAIN)
            poll(&room, 1, BUSY_MS);
        else if (errno != EINTR)
            return false;
        pthread_mutex_lock(&camera->is.lock);
        const bool stop = camera->is.stop;
        pthread_mutex_unlock(&camera->is.lock);
        if (stop)
            break;
    }
    return true;
}

// The thread repeats the last frame when the next one is half a period late, and then once per period.
static void *device_run(void *context)
{
    struct output_device *camera = context;
    int64_t due_ns = INT64_MAX;
    bool repeat;
    while (wait_picture(camera, due_ns, &repeat)) {
        const int64_t begun_ns = clock_now_ns();
        const bool ok = write_picture(camera);
        const int error = errno;
        due_ns = (repeat ? due_ns : begun_ns + camera->is.period_ns / 2) + camera->is.period_ns;
        due_ns = due_ns > begun_ns ? due_ns : begun_ns + camera->is.period_ns;
        pthread_mutex_lock(&camera->is.lock);
        camera->is.at.repeated += repeat;
        camera->failed = !ok;
        pthread_mutex_unlock(&camera->is.lock);
        if (ok)
            continue;
        log_error("cannot write more frames to the virtual camera %s: %s", camera->is.name, strerror(error));
        break;
    }
    return NULL;
}

static bool device_open(struct virtual_node *node, const char *text, bool chosen)
{
    struct output_device *camera = (struct output_device *)node;
    struct v4l2_event_subscription usage = {.type = EVENT_CLIENT_USAGE, .flags = V4L2_EVENT_SUB_FL_SEND_INITIAL};
    camera->fd = -1;
    thread_condition_init(&camera->changed);
    if (!open_device(camera, text) || !choose_format(camera, chosen) || !make_pictures(camera))
        return false;
    set_rate(camera);
    announce_writer(camera);
    node->at.watched = videodev_ask(camera->fd, VIDIOC_SUBSCRIBE_EVENT, &usage) == 0 ? 0 : -1;
    return true;
}

static void device_wake(struct virtual_node *node)
{
    pthread_cond_signal(&((struct output_device *)node)->changed);
}

static void device_close(struct virtual_node *node)
{
    struct output_device *camera = (struct output_device *)node;
    if (camera->fd >= 0)
        close(camera->fd);
    for (int i = 0; i < 2; i++)
        free(camera->picture[i].plane[0]);
    pthread_cond_destroy(&camera->changed);
}

static bool device_send(struct virtual_node *node, const struct image *frame, bool counts)
{
    struct output_device *camera = (struct output_device *)node;
    image_copy(&camera->picture[camera->waiting], frame);
    node->at.skipped += camera->fresh && camera->counts;
    camera->fresh = true;
    camera->counts = counts;
    pthread_cond_signal(&camera->changed);
    return !camera->failed;
}

static void device_look(struct virtual_node *node)
{
    struct v4l2_event event = {0};
    uint32_t readers;
    while (node->at.watched >= 0 && videodev_ask(((struct output_device *)node)->fd, VIDIOC_DQEVENT, &event) == 0) {
        memcpy(&readers, &event.u, sizeof(readers));
        if (event.type == EVENT_CLIENT_USAGE)
            node->at.watched = readers > 0;
    }
}

static const struct virtual_kind device = {.bytes = sizeof(struct output_device),
                                           .open = device_open,
                                           .run = device_run,
                                           .wake = device_wake,
                                           .close = device_close,
                                           .send = device_send,
                                           .look = device_look};

// ---- all nodes of a run ----

#ifdef HAVE_PIPEWIRE
static const struct virtual_kind *const pipewire = &virtual_pipewire;
#else
static const struct virtual_kind *const pipewire = NULL;
#endif

struct virtual_camera {
    struct image_shape shape;
    char *name; // "first, second"
    uint64_t sent;
    bool failed; // a node has failed, and is closed
    int count;
    struct virtual_node *node[OPTION_TEXTS_MAX];
};

static void close_node(struct virtual_node *node)
{
    if (node->started) {
        pthread_mutex_lock(&node->lock);
        node->stop = true;
        node->kind->wake(node);
        pthread_mutex_unlock(&node->lock);
        pthread_join(node->thread, NULL);
    }
    node->kind->close(node);
    pthread_mutex_destroy(&node->lock);
    free(node);
}

static void name_nodes(struct virtual_camera *camera)
{
    char *names = NULL;
    for (int i = 0; i < camera->count; i++) {
        char *longer = xprintf("%s%s%s", text_or(names, ""), text_if(names, ", "), camera->node[i]->name);
        free(names);
        names = longer;
    }
    free(camera->name);
    camera->name = names;
}

// Closes nodes that fail. Returns false if the last one has failed.
static bool send_all(struct virtual_camera *camera, const struct image *frame, bool counts)
{
    for (int i = 0; i < camera->count; i++) {
        struct virtual_node *node = camera->node[i];
        pthread_mutex_lock(&node->lock);
        const bool ok = node->kind->send(node, frame, counts);
        pthread_mutex_unlock(&node->lock);
        if (!ok && camera->count == 1)
            return false;
        if (ok)
            continue;
        close_node(node);
        camera->count--;
        memmove(&camera->node[i], &camera->node[i + 1], (size_t)(camera->count - i) * sizeof(node));
        i--;
        camera->failed = true;
        name_nodes(camera);
    }
    return true;
}

bool virtual_camera_send(struct virtual_camera *camera, const struct image *frame)
{
    camera->sent++;
    return send_all(camera, frame, true);
}

void virtual_camera_blank(struct virtual_camera *camera)
{
    struct image rgba, black = {0};
    const struct image_shape shape = {.width = camera->shape.width, .height = camera->shape.height};
    if (image_alloc(&rgba, &shape) && image_alloc(&black, &camera->shape)) {
        memset(rgba.memory, 0, image_bytes(&shape));
        encode_image(&black, &rgba);
        send_all(camera, &black, false);
    }
    image_free(&black);
    image_free(&rgba);
}

// Returns the name of a node of PipeWire: the text is "pipewire" or "pipewire:NAME". NULL: it is a device.
static const char *pipewire_name(const char *text)
{
    static const char word[] = "pipewire";
    if (strncmp(text, word, sizeof(word) - 1) != 0)
        return NULL;
    text += sizeof(word) - 1;
    return text[0] == '\0' || strcmp(text, ":") == 0 ? "monocle" : text[0] == ':' ? text + 1 : NULL;
}

static bool open_node(struct virtual_camera *camera, const struct virtual_kind *kind, const char *text,
                      int64_t period_ns)
{
    if (!kind) {
        log_error("this monocle was built without pipewire; install the package libpipewire-0.3-dev and build monocle "
                  "again, or name a node such as /dev/video10");
        return false;
    }
    struct virtual_node *node = camera->node[camera->count++] = xalloc(kind->bytes);
    node->kind = kind;
    node->shape = camera->shape;
    node->period_ns = period_ns;
    pthread_mutex_init(&node->lock, NULL);
    node->started =
        kind->open(node, text, camera->count > 1) && thread_start(&node->thread, kind->run, node, "virtual camera");
    if (!node->started)
        return false;
    name_nodes(camera);
    camera->shape = node->shape;
    log_info("virtual camera %s: %dx%d %s, matrix %s, %.4g fps", node->name, node->shape.width, node->shape.height,
             pixfmt_info(node->shape.format)->name, color_matrix_name(node->shape.color.matrix),
             (double)NS_PER_S / (double)period_ns);
    return true;
}

struct virtual_camera *virtual_camera_open(const struct option_texts *nodes, int width, int height, double rate)
{
    struct virtual_camera *camera = xalloc(sizeof(*camera));
    const int64_t period_ns = (int64_t)(NS_PER_S / (rate > 0 ? rate : DEFAULT_RATE));
    camera->shape = (struct image_shape){.format = PIXFMT_NV12,
                                         .width = width & ~1,
                                         .height = height & ~1,
                                         .color = {COLOR_MATRIX_601, COLOR_RANGE_LIMITED}};
    bool ok = camera->shape.width > 0 && camera->shape.height > 0;
    if (!ok)
        log_error("a virtual camera needs frames of at least 2x2 pixels; choose a larger --size");
    for (int i = 0; ok && i < 2 * nodes->count; i++) { // first the devices: PipeWire's nodes can have any format
        const char *text = nodes->text[i % nodes->count], *name = pipewire_name(text);
        if ((name == NULL) == (i < nodes->count))
            ok = open_node(camera, name ? pipewire : &device, name ? name : text, period_ns);
    }
    if (!ok) {
        virtual_camera_close(camera);
        return NULL;
    }
    virtual_camera_blank(camera); // a device without a frame looks broken to other programs
    return camera;
}

void virtual_camera_close(struct virtual_camera *camera)
{
    if (!camera)
        return;
    for (int i = 0; i < camera->count; i++)
        close_node(camera->node[i]);
    free(camera->name);
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

static struct virtual_camera_state state_of(struct virtual_node *node)
{
    pthread_mutex_lock(&node->lock);
    if (node->kind->look)
        node->kind->look(node);
    const struct virtual_camera_state at = node->at;
    pthread_mutex_unlock(&node->lock);
    return at;
}

bool virtual_camera_reports(const struct virtual_camera *camera)
{
    for (int i = 0; i < camera->count; i++) {
        if (state_of(camera->node[i]).watched >= 0)
            continue;
        log_error("the virtual camera %s does not report whether programs read it; v4l2loopback does since version "
                  "0.13; update it, or leave out --on-demand",
                  camera->node[i]->name);
        return false;
    }
    return true;
}

struct virtual_camera_state virtual_camera_state(const struct virtual_camera *camera)
{
    struct virtual_camera_state all = {.sent = camera->sent, .failed = camera->failed};
    for (int i = 0; i < camera->count; i++) {
        const struct virtual_camera_state at = state_of(camera->node[i]);
        all.skipped += at.skipped;
        all.repeated += at.repeated;
        all.watched = all.watched > 0 || at.watched == 0 ? all.watched : at.watched;
        all.lacks = all.lacks || (at.lacks && at.watched > 0);
    }
    return all;
}
