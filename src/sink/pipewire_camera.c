// pipewire_camera.c: a virtual camera that is a node of the PipeWire daemon
#include "sink/virtual_kind.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "image/pipewire.h"
#include "image/y4m.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

#define STARVED_NS (NS_PER_S / 2) // programs keep all buffers for this long: one of them has ended
#define RETRY_NS (NS_PER_S / 2)
#define OLD_NS (NS_PER_S / 2) // patience for the frame of virtual_camera_lacks
enum { BUFFERS = 8, BUFFERS_MOST = 16, ROOM = 2048 };

struct pipewire_camera {
    struct virtual_node is; // its lock guards all members, and each call of libpipewire
    char name[128];
    size_t bytes;            // of a frame
    int wake;                // eventfd: the thread must look at the members
    struct pipewire *daemon; // NULL: there is none
    struct pw_stream *stream;
    struct spa_hook listener;
    int64_t starved_ns;  // since when there is no free buffer; 0: there was one
    int64_t due_ns;      // when the last frame must be repeated
    int64_t retry_ns;    // without a daemon: when it is tried again
    struct image own;    // the last frame, if `last` is NULL; an older one, if is.at.lacks is true
    const uint8_t *last; // the last frame, in a buffer
    uint64_t number;
};

static const struct spa_pod *describe_format(const struct pipewire_camera *camera, struct spa_pod_builder *builder)
{
    const struct spa_rectangle size =
        SPA_RECTANGLE((uint32_t)camera->is.shape.width, (uint32_t)camera->is.shape.height);
    static const uint32_t matrices[] = {[COLOR_MATRIX_601] = SPA_VIDEO_COLOR_MATRIX_BT601,
                                        [COLOR_MATRIX_709] = SPA_VIDEO_COLOR_MATRIX_BT709,
                                        [COLOR_MATRIX_2020] = SPA_VIDEO_COLOR_MATRIX_BT2020};
    int number, of;
    y4m_rate((double)NS_PER_S / (double)camera->is.period_ns, &number, &of);
    const struct spa_fraction rate = SPA_FRACTION((uint32_t)number, (uint32_t)of);
    return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
                                      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                                      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
                                      SPA_POD_Id(pixfmt_info(camera->is.shape.format)->spa), SPA_FORMAT_VIDEO_size,
                                      SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&rate),
                                      SPA_FORMAT_VIDEO_colorMatrix, SPA_POD_Id(matrices[camera->is.shape.color.matrix]),
                                      SPA_FORMAT_VIDEO_colorRange, SPA_POD_Id(SPA_VIDEO_COLOR_RANGE_16_235));
}

static void param_changed(void *context, uint32_t id, const struct spa_pod *param)
{
    struct pipewire_camera *camera = context;
    if (id == SPA_PARAM_Format && param)
        pipewire_request_buffers(camera->stream, BUFFERS, BUFFERS_MOST, 1 << SPA_DATA_MemFd, &camera->is.shape);
}

static void state_changed(void *context, enum pw_stream_state old, enum pw_stream_state state, const char *error)
{
    struct pipewire_camera *camera = context;
    if (state == PW_STREAM_STATE_ERROR)
        log_warn("virtual camera %s: %s", camera->is.name, text_or(error, "unknown error"));
    // An error that libpipewire only reports leaves the stream's state.
    camera->is.at.watched = pw_stream_get_state(camera->stream, NULL) == PW_STREAM_STATE_STREAMING;
    camera->starved_ns = 0;
    camera->due_ns = clock_now_ns() + (camera->is.at.lacks ? OLD_NS : 0); // a new reader gets the last frame at once
}

// The last frame must outlive its buffer.
static void remove_buffer(void *context, struct pw_buffer *buffer)
{
    struct pipewire_camera *camera = context;
    const uint8_t *at = buffer->buffer->datas[0].data;
    if (!camera->last || camera->last != at)
        return;
    memcpy(camera->own.plane[0], at, camera->bytes);
    camera->last = NULL;
}

static const struct pw_stream_events events = {.version = PW_VERSION_STREAM_EVENTS,
                                               .state_changed = state_changed,
                                               .param_changed = param_changed,
                                               .remove_buffer = remove_buffer};

static void disconnect(struct pipewire_camera *camera)
{
    if (camera->stream)
        pw_stream_destroy(camera->stream);
    pipewire_close(camera->daemon);
    camera->stream = NULL;
    camera->daemon = NULL;
    camera->is.at.watched = false;
}

static bool connect_daemon(struct pipewire_camera *camera, char why[PIPEWIRE_WHY])
{
    uint8_t bytes[ROOM];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    if (!(camera->daemon = pipewire_open(why)))
        return false;
    camera->stream =
        pw_stream_new(pipewire_core(camera->daemon), camera->name,
                      pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture",
                                        PW_KEY_MEDIA_CLASS, "Video/Source", PW_KEY_MEDIA_ROLE, "Camera",
                                        PW_KEY_NODE_NAME, "monocle", PW_KEY_NODE_DESCRIPTION, camera->name, NULL));
    const struct spa_pod *format = describe_format(camera, &builder);
    int result = -ENOMEM;
    if (camera->stream) {
        pw_stream_add_listener(camera->stream, &camera->listener, &events, camera);
        result = pw_stream_connect(camera->stream, PW_DIRECTION_OUTPUT, PW_ID_ANY,
                                   PW_STREAM_FLAG_DRIVER | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_NO_CONVERT,
                                   &format, 1);
    }
    pipewire_release(camera->daemon);
    if (result < 0)
        snprintf(why, PIPEWIRE_WHY, "PipeWire refuses the node: %s", strerror(-result));
    return result >= 0;
}

// Makes the buffers anew: before version 1, the daemon does not give back those of a program that has ended.
static void renew(struct pipewire_camera *camera)
{
    uint8_t bytes[ROOM];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    const struct spa_pod *format = describe_format(camera, &builder);
    pw_stream_update_params(camera->stream, &format, 1);
    camera->starved_ns = 0;
}

// Copies a frame to a free buffer and sends it. Returns false if no program reads the node, or none has a free buffer.
// The caller holds the lock.
static bool send_pixels(struct pipewire_camera *camera, const struct image *frame)
{
    struct pw_buffer *buffer = camera->is.at.watched ? pw_stream_dequeue_buffer(camera->stream) : NULL;
    const int64_t now = clock_now_ns();
    camera->due_ns = now + camera->is.period_ns + camera->is.period_ns / 2;
    if (!buffer) {
        if (camera->is.at.watched && camera->starved_ns == 0)
            camera->starved_ns = now;
        return false;
    }
    camera->starved_ns = 0;
    struct spa_data *data = &buffer->buffer->datas[0];
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(*header));
    const bool fits = data->data && data->maxsize >= camera->bytes;
    if (fits) {
        struct image image;
        image_wrap(&image, &camera->is.shape, data->data);
        image_copy(&image, frame);
        camera->last = data->data;
    }
    data->chunk->offset = 0;
    data->chunk->size = fits ? (uint32_t)camera->bytes : 0;
    data->chunk->stride = (int32_t)pixfmt_row_bytes(camera->is.shape.format, 0, camera->is.shape.width);
    if (header)
        *header = (struct spa_meta_header){.pts = now, .seq = camera->number};
    camera->number++;
    pw_stream_queue_buffer(camera->stream, buffer);
    pw_stream_trigger_process(camera->stream);
    return fits;
}

// Repeats the last frame. The caller holds the lock.
static void repeat(struct pipewire_camera *camera)
{
    struct image last = camera->own;
    if (camera->last)
        image_wrap(&last, &camera->is.shape, (void *)camera->last);
    camera->is.at.repeated += send_pixels(camera, &last);
    camera->due_ns = clock_now_ns() + camera->is.period_ns;
}

// Returns why the node must be made again; NULL: it need not.
static const char *lost(const struct pipewire_camera *camera)
{
    const char *daemon = pipewire_lost(camera->daemon), *error = NULL;
    const enum pw_stream_state state = pw_stream_get_state(camera->stream, &error);
    if (daemon || (state != PW_STREAM_STATE_ERROR && state != PW_STREAM_STATE_UNCONNECTED))
        return daemon;
    return text_or(error, "PipeWire has removed it");
}

// Handles events and the time. Returns when it must be called again.
static int64_t turn(struct pipewire_camera *camera)
{
    char why[PIPEWIRE_WHY];
    if (camera->daemon) {
        pipewire_hold(camera->daemon);
        pipewire_turn(camera->daemon);
        pipewire_release(camera->daemon);
        const char *reason = lost(camera);
        if (reason) {
            log_warn("virtual camera %s: %s; reconnecting", camera->is.name, reason);
            disconnect(camera);
            camera->retry_ns = clock_now_ns() + RETRY_NS;
        }
    }
    const int64_t now = clock_now_ns();
    if (!camera->daemon && now < camera->retry_ns)
        return camera->retry_ns;
    if (!camera->daemon && !connect_daemon(camera, why)) {
        disconnect(camera);
        return camera->retry_ns = now + RETRY_NS;
    }
    if (!camera->is.at.watched)
        return INT64_MAX;
    if (camera->starved_ns && now - camera->starved_ns > STARVED_NS)
        renew(camera);
    if (now >= camera->due_ns)
        repeat(camera);
    return camera->due_ns;
}

static void *camera_run(void *context)
{
    struct pipewire_camera *camera = context;
    for (;;) {
        eventfd_t wakes;
        pthread_mutex_lock(&camera->is.lock);
        const bool stop = camera->is.stop;
        const int64_t next_ns = stop ? 0 : turn(camera);
        struct pollfd ready[] = {{.fd = camera->wake, .events = POLLIN},
                                 {.fd = camera->daemon ? pipewire_fd(camera->daemon) : -1, .events = POLLIN}};
        pthread_mutex_unlock(&camera->is.lock);
        if (stop)
            return NULL;
        poll(ready, 2, next_ns == INT64_MAX ? -1 : clock_ms_until(next_ns));
        if (ready[0].revents)
            eventfd_read(camera->wake, &wakes);
    }
}

static bool camera_open(struct virtual_node *node, const char *text, bool chosen)
{
    struct pipewire_camera *camera = (struct pipewire_camera *)node;
    char why[PIPEWIRE_WHY];
    snprintf(camera->name, sizeof(camera->name), "%s", text);
    snprintf(node->name, sizeof(node->name), "pipewire (%s)", camera->name);
    camera->bytes = image_bytes(&node->shape);
    camera->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (camera->wake < 0) {
        log_error("cannot make a virtual camera of PipeWire: %s", strerror(errno));
        return false;
    }
    if (!image_alloc(&camera->own, &node->shape)) {
        log_error("cannot allocate frames for the virtual camera %s: out of memory", node->name);
        return false;
    }
    if (connect_daemon(camera, why))
        return true;
    log_error("cannot make a virtual camera of PipeWire: %s", why);
    return false;
}

static void camera_wake(struct virtual_node *node)
{
    eventfd_write(((struct pipewire_camera *)node)->wake, 1);
}

static void camera_close(struct virtual_node *node)
{
    struct pipewire_camera *camera = (struct pipewire_camera *)node;
    disconnect(camera);
    if (camera->wake >= 0)
        close(camera->wake);
    image_free(&camera->own);
}

// Without readers, copies only a black frame.
static bool camera_send(struct virtual_node *node, const struct image *frame, bool counts)
{
    struct pipewire_camera *camera = (struct pipewire_camera *)node;
    const bool sent = send_pixels(camera, frame);
    node->at.lacks = !sent && counts && !node->at.watched;
    node->at.skipped += !sent && counts && node->at.watched;
    if (!sent && !node->at.lacks) {
        image_copy(&camera->own, frame);
        camera->last = NULL;
    }
    return true;
}

const struct virtual_kind virtual_pipewire = {.bytes = sizeof(struct pipewire_camera),
                                              .open = camera_open,
                                              .run = camera_run,
                                              .wake = camera_wake,
                                              .close = camera_close,
                                              .send = camera_send};
