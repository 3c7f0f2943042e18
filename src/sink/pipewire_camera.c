// pipewire_camera.c: a virtual camera that is a node of the PipeWire daemon
#include "sink/pipewire_camera.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "image/pipewire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

#define NS_PER_S ((int64_t)1000000000)
#define STARVED_NS (NS_PER_S / 2) // programs keep all buffers for this long: one of them has ended
#define RETRY_NS (NS_PER_S / 2)
enum { BUFFERS = 8, BUFFERS_LEAST = 2, BUFFERS_MOST = 16, RATE_PARTS = 1000, ROOM = 2048 };

struct pipewire_camera {
    char name[128];
    struct image_shape shape;
    size_t bytes; // of a frame
    int64_t period_ns;
    pthread_t thread;
    bool started;
    int wake; // eventfd: the thread must look at the members below

    pthread_mutex_t lock; // guards all members below, and each call of libpipewire
    bool stop;
    struct pipewire *daemon; // NULL: there is none
    struct pw_stream *stream;
    struct spa_hook listener;
    bool streams;        // a program reads the node
    int64_t starved_ns;  // since when there is no free buffer; 0: there was one
    int64_t due_ns;      // when the last frame must be repeated
    struct image own;    // the last frame, if `last` is NULL
    const uint8_t *last; // the last frame, in a buffer
    uint64_t number;
    struct virtual_camera_counts counts;
};

static const struct spa_pod *describe_format(const struct pipewire_camera *camera, struct spa_pod_builder *builder)
{
    const struct spa_rectangle size = SPA_RECTANGLE((uint32_t)camera->shape.width, (uint32_t)camera->shape.height);
    const double rate = (double)NS_PER_S / (double)camera->period_ns;
    const bool whole = rate - (int)(rate + 0.5) < 0.001 && rate - (int)(rate + 0.5) > -0.001;
    const struct spa_fraction fraction =
        whole ? SPA_FRACTION((uint32_t)(rate + 0.5), 1) : SPA_FRACTION((uint32_t)(rate * RATE_PARTS + 0.5), RATE_PARTS);
    return spa_pod_builder_add_object(builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
                                      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                                      SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
                                      SPA_POD_Id(pixfmt_info(camera->shape.format)->spa), SPA_FORMAT_VIDEO_size,
                                      SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&fraction),
                                      SPA_FORMAT_VIDEO_colorMatrix, SPA_POD_Id(SPA_VIDEO_COLOR_MATRIX_BT601),
                                      SPA_FORMAT_VIDEO_colorRange, SPA_POD_Id(SPA_VIDEO_COLOR_RANGE_16_235));
}

static void param_changed(void *context, uint32_t id, const struct spa_pod *param)
{
    struct pipewire_camera *camera = context;
    uint8_t bytes[ROOM];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    const struct spa_pod *params[2];
    if (id != SPA_PARAM_Format || !param)
        return;
    params[0] = spa_pod_builder_add_object(
        &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
        SPA_POD_CHOICE_RANGE_Int(BUFFERS, BUFFERS_LEAST, BUFFERS_MOST), SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1),
        SPA_PARAM_BUFFERS_size, SPA_POD_Int((int)camera->bytes), SPA_PARAM_BUFFERS_stride,
        SPA_POD_Int((int)pixfmt_row_bytes(camera->shape.format, 0, camera->shape.width)), SPA_PARAM_BUFFERS_dataType,
        SPA_POD_CHOICE_FLAGS_Int(1 << SPA_DATA_MemFd));
    params[1] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                           SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                           SPA_POD_Int(sizeof(struct spa_meta_header)));
    pw_stream_update_params(camera->stream, params, 2);
}

static void state_changed(void *context, enum pw_stream_state old, enum pw_stream_state state, const char *error)
{
    struct pipewire_camera *camera = context;
    if (state == PW_STREAM_STATE_ERROR)
        log_warn("virtual camera pipewire (%s): %s", camera->name, text_or(error, "unknown error"));
    camera->streams = state == PW_STREAM_STATE_STREAMING;
    camera->starved_ns = 0;
    camera->due_ns = clock_now_ns(); // a new reader gets the last frame at once
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
    camera->streams = false;
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
    struct pw_buffer *buffer = camera->streams ? pw_stream_dequeue_buffer(camera->stream) : NULL;
    const int64_t now = clock_now_ns();
    camera->due_ns = now + camera->period_ns + camera->period_ns / 2;
    if (!buffer) {
        if (camera->streams && camera->starved_ns == 0)
            camera->starved_ns = now;
        return false;
    }
    camera->starved_ns = 0;
    struct spa_data *data = &buffer->buffer->datas[0];
    struct spa_meta_header *header = spa_buffer_find_meta_data(buffer->buffer, SPA_META_Header, sizeof(*header));
    const bool fits = data->data && data->maxsize >= camera->bytes;
    if (fits) {
        struct image image;
        image_wrap(&image, &camera->shape, data->data);
        image_copy(&image, frame);
        camera->last = data->data;
    }
    data->chunk->offset = 0;
    data->chunk->size = fits ? (uint32_t)camera->bytes : 0;
    data->chunk->stride = (int32_t)pixfmt_row_bytes(camera->shape.format, 0, camera->shape.width);
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
        image_wrap(&last, &camera->shape, (void *)camera->last);
    camera->counts.repeated += send_pixels(camera, &last);
    camera->due_ns = clock_now_ns() + camera->period_ns;
}

// Handles events and the time. Returns when it must be called again.
static int64_t turn(struct pipewire_camera *camera)
{
    char why[PIPEWIRE_WHY];
    if (camera->daemon) {
        pipewire_hold(camera->daemon);
        pipewire_turn(camera->daemon);
        pipewire_release(camera->daemon);
        const char *lost = pipewire_lost(camera->daemon);
        if (lost) {
            log_warn("virtual camera pipewire (%s): %s; reconnecting", camera->name, lost);
            disconnect(camera);
        }
    }
    const int64_t now = clock_now_ns();
    if (!camera->daemon && !connect_daemon(camera, why)) {
        disconnect(camera);
        return now + RETRY_NS;
    }
    if (!camera->streams)
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
        pthread_mutex_lock(&camera->lock);
        const bool stop = camera->stop;
        const int64_t next_ns = stop ? 0 : turn(camera);
        struct pollfd ready[] = {{.fd = camera->wake, .events = POLLIN},
                                 {.fd = camera->daemon ? pipewire_fd(camera->daemon) : -1, .events = POLLIN}};
        pthread_mutex_unlock(&camera->lock);
        if (stop)
            return NULL;
        poll(ready, 2, next_ns == INT64_MAX ? -1 : clock_ms_until(next_ns));
        if (ready[0].revents)
            eventfd_read(camera->wake, &wakes);
    }
}

struct pipewire_camera *pipewire_camera_open(const char *name, const struct image *black, int64_t period_ns)
{
    struct pipewire_camera *camera = xalloc(sizeof(*camera));
    char why[PIPEWIRE_WHY];
    pthread_mutex_init(&camera->lock, NULL);
    camera->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(camera->name, sizeof(camera->name), "%s", name);
    camera->shape = black->shape;
    camera->bytes = image_bytes(&camera->shape);
    camera->period_ns = period_ns;
    if (camera->wake < 0 || !image_alloc(&camera->own, &camera->shape)) {
        log_error("cannot allocate frames for the virtual camera pipewire: out of memory");
    } else if (!connect_daemon(camera, why)) {
        log_error("cannot make a virtual camera of PipeWire: %s", why);
    } else {
        image_copy(&camera->own, black);
        camera->started = thread_start(&camera->thread, camera_run, camera, "virtual camera");
    }
    if (camera->started)
        return camera;
    pipewire_camera_close(camera);
    return NULL;
}

void pipewire_camera_close(struct pipewire_camera *camera)
{
    if (!camera)
        return;
    pthread_mutex_lock(&camera->lock);
    camera->stop = true;
    pthread_mutex_unlock(&camera->lock);
    if (camera->started) {
        eventfd_write(camera->wake, 1);
        pthread_join(camera->thread, NULL);
    }
    disconnect(camera);
    if (camera->wake >= 0)
        close(camera->wake);
    image_free(&camera->own);
    pthread_mutex_destroy(&camera->lock);
    free(camera);
}

void pipewire_camera_send(struct pipewire_camera *camera, const struct image *frame)
{
    pthread_mutex_lock(&camera->lock);
    const bool sent = send_pixels(camera, frame);
    if (!sent) {
        image_copy(&camera->own, frame);
        camera->last = NULL;
    }
    camera->counts.sent++;
    camera->counts.skipped += !sent && camera->streams;
    pthread_mutex_unlock(&camera->lock);
}

bool pipewire_camera_watched(struct pipewire_camera *camera)
{
    pthread_mutex_lock(&camera->lock);
    const bool streams = camera->streams;
    pthread_mutex_unlock(&camera->lock);
    return streams;
}

struct virtual_camera_counts pipewire_camera_counts(struct pipewire_camera *camera)
{
    pthread_mutex_lock(&camera->lock);
    const struct virtual_camera_counts counts = camera->counts;
    pthread_mutex_unlock(&camera->lock);
    return counts;
}
