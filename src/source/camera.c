// camera.c: a V4L2 camera as a source: the driver's own buffers, mapped and lent, or decoded
#include "source/camera.h"

#include "base/clock.h"
#include "base/log.h"
#include "source/camera_control.h"
#include "source/kind.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };
#define STALE_NS ((int64_t)10 * NS_PER_S) // a time stamp further off than this is of another clock

static bool choose_mode(struct camera *camera, const struct source_setup *setup)
{
    char offered[128];
    const struct camera_device *device = &camera->stream.device;
    if (camera_mode_choose(device, setup, &camera->wanted))
        return true;
    camera_mode_list(device, offered);
    if (offered[0] != '\0')
        log_error("camera %s (%s) does not offer the pixel format %s; choose one of these with --pixel-format: %s",
                  device->path, device->card, setup->compressed ? "mjpeg" : pixfmt_info(setup->format)->name, offered);
    else
        log_error(
            "camera %s (%s) offers no pixel format that monocle supports; let ffmpeg convert its frames: ffmpeg -f "
            "v4l2 -i %s -f yuv4mpegpipe - | monocle live -",
            device->path, device->card, device->path);
    return false;
}

// Some errors pass: a driver that was just closed by another program may need a second try.
static bool start(struct camera *camera)
{
    enum { TRIES = 2 };
    char why[CAMERA_WHY];
    bool ok = true;
    for (int i = 0; ok && i < TRIES; i++) {
        ok = i == 0 ? camera_stream_set(&camera->stream, &camera->wanted, camera->setup.rate, why) &&
                          camera_stream_start(&camera->stream, why)
                    : camera_link_make(camera, why);
        camera->heard_ns = clock_now_ns();
        if (ok && !(ok = camera_shape_see(camera, &camera->shape, why)))
            break;
        if (ok)
            return true;
        const bool passing = errno == EINVAL || errno == EIO || errno == EAGAIN;
        camera_stream_close(&camera->stream);
        ok = passing && i + 1 < TRIES;
    }
    log_error("%s", why);
    return false;
}

// Where the driver has few buffers none can be lent: it needs them all to go on.
static bool must_copy(const struct camera *camera)
{
    return camera->stream.buffers < CAMERA_BUFFERS;
}

// What stands on the mode and shape: the decoder, and what the source is.
static bool settle(struct camera *camera)
{
    struct source_info *info = &camera->source->info;
    if (camera->mode.compressed && !(camera->decoder = camera_decoder_open(camera->source, &camera->shape,
                                                                           camera_mode_most_pixels(&camera->mode))))
        return false;
    info->shape = camera->shape;
    info->rate = camera->stream.rate;
    snprintf(info->name, sizeof(info->name), "%s (%s)%s", camera->node.card, camera->node.path,
             camera->mode.compressed ? ", mjpeg" : "");
    log_info("camera %s (%s): %dx%d %s at %.3g fps", camera->node.path, camera->node.card, camera->shape.width,
             camera->shape.height, camera_mode_name(&camera->mode), info->rate);
    return true;
}

static bool camera_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct camera *camera = source->state;
    char why[CAMERA_WHY];
    camera->source = source;
    camera->stream.device.fd = camera->control_fd = -1;
    camera->setup = *setup;
    source->info.live = true;
    pthread_mutex_init(&camera->lock, NULL);
    camera->lock_ready = true;
    if (!camera_find(text, &camera->node, why) || !camera_stream_open(&camera->stream, camera->node.path, why) ||
        !camera_link_control(camera, why)) {
        log_error("%s", why);
        return false;
    }
    if (!choose_mode(camera, setup) || !start(camera))
        return false;
    camera->mode = camera->stream.mode;
    if (!settle(camera) ||
        (!camera->mode.compressed && must_copy(camera) && !pool_init(&camera->pool, source, &camera->shape)))
        return false;
    camera_link_opened(camera);
    return true;
}

static void camera_close(struct source *source)
{
    struct camera *camera = source->state;
    if (!camera->lock_ready)
        return;
    camera_link_close(camera);
    camera_decoder_close(camera->decoder);
    pool_finish(&camera->pool);
    pthread_mutex_destroy(&camera->lock);
}

static int64_t time_of(const struct v4l2_buffer *buffer, int64_t now)
{
    const int64_t stamp = (int64_t)buffer->timestamp.tv_sec * NS_PER_S + (int64_t)buffer->timestamp.tv_usec * 1000;
    const bool monotonic = (buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    return monotonic && stamp <= now && now - stamp < STALE_NS ? stamp : now;
}

// Lends a buffer as it is. False where too many are out.
static bool lend(struct camera *camera, int index, struct frame *frame)
{
    pthread_mutex_lock(&camera->lock);
    int slot = 0;
    while (slot < CAMERA_LENT && camera->loan[slot].used)
        slot++;
    if (slot < CAMERA_LENT) {
        camera->loan[slot] = (struct camera_loan){.used = true, .index = index};
        memcpy(camera->loan[slot].memory, camera->stream.buffer[index].memory, sizeof(camera->loan[slot].memory));
        camera_stream_picture(&camera->stream, index, &camera->shape, &frame->image);
        frame->slot = slot;
    }
    pthread_mutex_unlock(&camera->lock);
    if (slot == CAMERA_LENT)
        camera_stream_give(&camera->stream, index);
    return slot < CAMERA_LENT;
}

// Lends a copy.
static bool copy(struct camera *camera, int index, struct frame *frame)
{
    struct image from;
    if (!camera->pool.ready && !pool_init(&camera->pool, camera->source, &camera->shape))
        pool_finish(&camera->pool);
    const int slot = camera->pool.ready ? pool_take(&camera->pool, clock_now_ns()) : -1;
    if (slot >= 0) {
        camera_stream_picture(&camera->stream, index, &camera->shape, &from);
        image_copy(&camera->pool.image[slot], &from);
        frame->image = camera->pool.image[slot];
        frame->image.memory = NULL;
        frame->slot = CAMERA_LENT + slot;
    }
    camera_stream_give(&camera->stream, index);
    return slot >= 0;
}

// A filled buffer: a frame, or something for the decoder. False where there is nothing to show yet.
static bool use_buffer(struct camera *camera, const struct v4l2_buffer *buffer, struct frame *frame)
{
    const int index = (int)buffer->index;
    const bool compressed = camera->mode.compressed;
    const bool whole = camera_stream_whole(&camera->stream, index);
    if (buffer->flags & V4L2_BUF_FLAG_ERROR || !whole) {
        camera->left_out = whole ? "the driver reported damaged data" : "the driver filled too few bytes";
        log_debug("camera %s: dropped frame %u: %s", camera->node.path, buffer->sequence, camera->left_out);
        pthread_mutex_lock(&camera->lock);
        camera->health.damaged++;
        pthread_mutex_unlock(&camera->lock);
        camera_stream_give(&camera->stream, index);
        return false;
    }
    const int64_t now = clock_now_ns();
    *frame = (struct frame){.ready_ns = now, .captured_ns = time_of(buffer, now)};
    frame->number = camera_link_number(camera, buffer->sequence, frame->captured_ns);
    if (!compressed) {
        camera_link_well(camera);
        return must_copy(camera) ? copy(camera, index, frame) : lend(camera, index, frame);
    }
    char left_out[CAMERA_WHY / 2];
    camera_decoder_why(camera->decoder, left_out, sizeof(left_out));
    if (left_out[0] == '\0')
        camera->heard_ns = now; // a slow decoder is no stall
    const struct camera_memory *memory = camera->stream.buffer[index].memory;
    camera_decoder_put(camera->decoder, memory->at + memory->start, memory->filled, frame);
    camera_stream_give(&camera->stream, index);
    return false;
}

// Waits for the camera and the decoder. True where the camera has more to say than a picture.
static bool wait_ready(const struct camera *camera, int64_t deadline_ns)
{
    const int64_t left_ms = (deadline_ns - clock_now_ns() + NS_PER_MS - 1) / NS_PER_MS;
    struct pollfd ready[] = {{.fd = camera->stream.device.fd, .events = POLLIN | POLLPRI},
                             {.fd = camera->decoder ? camera_decoder_fd(camera->decoder) : -1, .events = POLLIN}};
    poll(ready, 2, left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms);
    if (ready[0].revents & POLLERR) // poll would return at once, again and again
        nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    return ready[0].revents & POLLPRI;
}

// Gives the driver the buffers that have come back.
static void give_returned(struct camera *camera)
{
    int index[CAMERA_LENT], count = 0;
    pthread_mutex_lock(&camera->lock);
    for (int i = 0; i < CAMERA_LENT; i++) {
        struct camera_loan *loan = &camera->loan[i];
        if (loan->returned) {
            index[count++] = loan->index;
            *loan = (struct camera_loan){0};
        }
    }
    pthread_mutex_unlock(&camera->lock);
    const bool lent = !camera->mode.compressed && !must_copy(camera); // else it is a pool's slots that move
    camera->stream.owner = lent ? camera->source->owner : NULL;
    for (int i = 0; i < count; i++)
        camera_stream_give(&camera->stream, index[i]);
    camera_stream_tidy(&camera->stream);
}

static void mend_stalled(struct camera *camera)
{
    char why[CAMERA_WHY], left_out[CAMERA_WHY / 2] = "";
    if (camera->decoder)
        camera_decoder_why(camera->decoder, left_out, sizeof(left_out));
    if (left_out[0] == '\0' && camera->left_out)
        snprintf(left_out, sizeof(left_out), "%s", camera->left_out);
    snprintf(why, sizeof(why), "no %sframe arrived for %.0f s%s%s", left_out[0] != '\0' ? "valid " : "",
             (double)camera_link_patience_ns(camera) / 1e9, left_out[0] != '\0' ? ": " : "", left_out);
    camera_link_mend(camera, why);
}

// One turn with a connected camera. True where a frame came.
static bool take(struct camera *camera, struct frame *frame, int64_t deadline_ns)
{
    struct v4l2_buffer buffer;
    const int64_t stalled_ns = camera->heard_ns + camera_link_patience_ns(camera);
    if (wait_ready(camera, deadline_ns < stalled_ns ? deadline_ns : stalled_ns) &&
        camera_stream_changed(&camera->stream)) {
        camera_link_lose(camera, "its video signal has changed its size or timing");
        return false;
    }
    if (camera->decoder && camera_decoder_take(camera->decoder, frame)) {
        camera_link_well(camera);
        return true;
    }
    if (camera_shape_changed(camera, &camera->next_shape)) {
        camera_link_reshape(camera);
        return false;
    }
    give_returned(camera);
    const int error = camera_stream_take(&camera->stream, &buffer);
    if (error == 0)
        return use_buffer(camera, &buffer, frame);
    if (error == ENODEV || error == ENXIO) {
        camera_link_lose(camera, v4l2_advice(error));
    } else if (error != EAGAIN) {
        camera_link_mend(camera, v4l2_advice(error));
    } else if (clock_now_ns() >= stalled_ns) {
        mend_stalled(camera);
    }
    return false;
}

static enum source_status camera_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct camera *camera = source->state;
    do {
        if (!camera->connected)
            camera_link_retry(camera, deadline_ns);
        else if (take(camera, frame, deadline_ns))
            return SOURCE_FRAME;
        if (camera->reshaped)
            return SOURCE_RESHAPED;
    } while (clock_now_ns() < deadline_ns);
    return SOURCE_TIMEOUT;
}

// What was lent is back, so that the decoder and the copies can go.
static bool camera_reshape(struct source *source)
{
    struct camera *camera = source->state;
    if (camera->decoder)
        camera->health.damaged += camera_decoder_damaged(camera->decoder);
    camera_decoder_close(camera->decoder);
    camera->decoder = NULL;
    pool_finish(&camera->pool);
    camera->mode = camera->next_mode;
    camera->shape = camera->next_shape;
    camera->reshaped = false;
    camera->retry_ns = 0;
    camera->heard_ns = clock_now_ns(); // where the stream has gone on
    return settle(camera);
}

static void camera_return(struct source *source, const struct frame *frame)
{
    struct camera *camera = source->state;
    if (camera->decoder) {
        camera_decoder_give(camera->decoder, frame);
        return;
    }
    if (frame->slot >= CAMERA_LENT) {
        pool_give(&camera->pool, frame->slot - CAMERA_LENT);
        return;
    }
    pthread_mutex_lock(&camera->lock);
    struct camera_loan *loan = &camera->loan[frame->slot], orphan = {0};
    loan->returned = !loan->orphaned;
    if (loan->orphaned) {
        orphan = *loan;
        *loan = (struct camera_loan){0};
    }
    pthread_mutex_unlock(&camera->lock);
    camera_stream_free(orphan.memory);
}

static void camera_health(struct source *source, struct source_health *health)
{
    struct camera *camera = source->state;
    pthread_mutex_lock(&camera->lock);
    *health = camera->health;
    health->rate = camera_link_rate(camera);
    pthread_mutex_unlock(&camera->lock);
    if (camera->decoder)
        health->damaged += camera_decoder_damaged(camera->decoder);
}

static bool camera_control(struct source *source, int index, int steps, struct source_control *control)
{
    return camera_link_adjust(source->state, index, steps, control);
}

static bool camera_claims(const struct source_target *target, const struct source_setup *setup)
{
    enum { VIDEO_MAJOR = 81 }; // the kernel's devices.txt
    return target->type == S_IFCHR && major(target->device) == VIDEO_MAJOR;
}

extern const struct source_kind source_camera;
const struct source_kind source_camera = {
    .name = "camera",
    .help =
        {"camera[:NAME]\ta V4L2 camera by node, number, id or part of its name; --size, --pixel-format and the rate "
         "choose its mode"},
    .word = true,
    .endless = true,
    .decodes = true,
    .claims = camera_claims,
    .state_bytes = sizeof(struct camera),
    .open = camera_open,
    .close = camera_close,
    .next = camera_next,
    .give_back = camera_return,
    .reshape = camera_reshape,
    .health = camera_health,
    .control = camera_control,
    .print_controls = camera_control_print,
};
