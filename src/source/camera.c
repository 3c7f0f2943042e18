// camera.c: a V4L2 camera as a source: lends the driver's buffers, or copies or decodes them
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "image/codec/codec.h"
#include "source/camera_control.h"
#include "source/camera_decoder.h"
#include "source/camera_link.h"
#include "source/kind.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>

#define STALE_NS (10 * NS_PER_S)        // a time stamp further off than this belongs to another clock
#define FIRST_PICTURE_NS (5 * NS_PER_S) // how long the first compressed frame may take

// The capture thread uses all members. Any thread sets `resting`. camera_return and camera_health use `link`, `decoder`
// and the source's pool, which have locks; `decoder` changes only in source_reshape, when no other thread uses the
// source. The slot of a frame is a slot of the pool, or POOL_SLOTS and a loan of the stream.
struct camera {
    struct camera_link *link;
    struct camera_mode mode; // the mode of the source's frames
    struct image_shape shape;
    struct camera_decoder *decoder; // decodes compressed frames; NULL for other modes
    const char *dropped;            // why buffers since the last valid frame were dropped; NULL: none was
    int held;                       // slot of the pool with the older field of the next frame; -1: none
    int64_t held_ns;                // time of this field
    bool reshaped;                  // the frames have a new shape: `next_mode`, `next_shape`
    struct camera_mode next_mode;
    struct image_shape next_shape;
    atomic_bool resting; // see source_rest
};

static struct codec_bytes jpeg_in(const struct camera_stream *stream, uint32_t index)
{
    const struct camera_memory *memory = stream->buffer[index].memory;
    return camera_decoder_find(memory->at + memory->start, memory->filled);
}

// Waits for the first compressed frame and reads its size and chroma. If none arrives, the shape stays the mode's, and
// camera_next reports the missing frames. Returns false (logged) if the frames that arrive cannot be decoded.
static bool see_first_frame(struct camera_link *link, struct image_shape *shape)
{
    struct camera_stream *stream = &link->stream;
    const struct camera_mode *mode = &stream->mode;
    const int64_t deadline = clock_now_ns() + FIRST_PICTURE_NS;
    struct codec_error refused = {.fault = CODEC_FINE};
    struct codec_head head;
    struct codec *codec = codec_open();
    bool seen = false, removed = false;
    while (!seen && !removed && clock_now_ns() < deadline && !source_given_up(&link->setup)) {
        struct v4l2_buffer buffer;
        struct pollfd ready = {.fd = stream->device.fd, .events = POLLIN};
        poll(&ready, 1, 100);
        const int error = camera_stream_take(stream, &buffer);
        removed = error == ENODEV || error == ENXIO;
        if (error != 0) {
            nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
            continue;
        }
        const struct codec_bytes jpeg = jpeg_in(stream, buffer.index);
        if (!(buffer.flags & V4L2_BUF_FLAG_ERROR) && jpeg.size > 0)
            seen =
                codec_head_of(codec, CODEC_JPEG, jpeg.data, jpeg.size, camera_mode_most_pixels(mode), &head, &refused);
        camera_stream_give(stream, (int)buffer.index);
    }
    if (!seen && !removed)
        link->signal.slow_start = 2; // the stream has run for 5 s already: 8 s
    if (seen) {
        *shape = head.shape;
        link->signal.heard_ns = clock_now_ns();
    }
    const bool ok = seen || removed || refused.fault == CODEC_FINE;
    if (!ok)
        log_error("cannot decode the frames of camera %s (%s): %s; try another --pixel-format", link->node.path,
                  link->node.card, refused.why);
    codec_close(codec);
    return ok;
}

static struct color color_of(const struct camera_link *link, const struct image_shape *shape)
{
    const struct camera_stream *stream = &link->stream;
    return source_color(&link->setup, videodev_color(&stream->format, stream->mode.compressed), shape);
}

// Returns true if the stream has the same frames as before. The shape of compressed frames counts as the same until the
// decoder sees another one.
static bool same_shape(const struct camera *camera)
{
    const struct camera_mode *now = &camera->link->stream.mode, *then = &camera->mode;
    struct image_shape shape = now->compressed ? camera->shape : camera_mode_shape(now);
    shape.color = color_of(camera->link, &shape);
    return now->compressed == then->compressed && now->width == then->width && now->height == then->height &&
           image_shape_equal(&shape, &camera->shape);
}

// The frames have the shape `next_shape` from now on: source_next reports SOURCE_RESHAPED until camera_reshape, because
// the paths were built for the old shape.
static void announce_shape(struct camera *camera)
{
    camera->next_mode = camera->link->stream.mode;
    camera->reshaped = true;
    camera_log_shapes(&camera->link->node, &camera->next_shape, camera_mode_name(&camera->next_mode), &camera->shape,
                      camera_mode_name(&camera->mode));
}

// Opens the decoder and fills source->info, according to the mode and the shape.
static bool use_mode(struct source *source)
{
    struct camera *camera = source->state;
    struct source_info *info = &source->info;
    const struct camera_node *node = &camera->link->node;
    if (camera->mode.compressed &&
        !(camera->decoder = camera_decoder_open(source, &camera->shape, camera_mode_most_pixels(&camera->mode))))
        return false;
    info->shape = camera->shape;
    info->rate = camera->link->signal.rate = camera->link->stream.rate;
    info->claimed = info->rate > 0;
    snprintf(info->name, sizeof(info->name), "%s (%s)%s", node->card, node->path,
             camera->mode.compressed ? ", mjpeg" : "");
    log_info("camera %s (%s): %dx%d %s at %.3g fps", node->path, node->card, camera->shape.width, camera->shape.height,
             camera_mode_name(&camera->mode), info->rate);
    return true;
}

static bool camera_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct camera *camera = source->state;
    source->info.live = true;
    source->unsettled = setup->settle;
    camera->held = -1;
    struct camera_link *link = camera->link = camera_link_open(setup, text);
    if (!link)
        return false;
    camera->mode = link->stream.mode;
    camera->shape = camera_mode_shape(&camera->mode);
    if (camera->mode.compressed && !see_first_frame(link, &camera->shape))
        return false;
    camera->shape.color = color_of(link, &camera->shape);
    if (!use_mode(source) || (!camera->mode.compressed && camera_stream_must_copy(&link->stream) &&
                              !pool_init(&source->pool, source, &camera->shape)))
        return false;
    camera_link_accept(link);
    return true;
}

static void camera_close(struct source *source)
{
    struct camera *camera = source->state;
    camera_link_close(camera->link);
    camera_decoder_close(camera->decoder);
}

static int64_t time_of(const struct v4l2_buffer *buffer, int64_t now)
{
    const int64_t stamp = (int64_t)buffer->timestamp.tv_sec * NS_PER_S + (int64_t)buffer->timestamp.tv_usec * 1000;
    const bool monotonic = (buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC;
    return monotonic && stamp <= now && now - stamp < STALE_NS ? stamp : now;
}

// Returns a slot for a copy; -1 if all are lent or there is no memory.
static int take_slot(struct source *source)
{
    struct camera *camera = source->state;
    struct pool *pool = &source->pool;
    const int held = camera->held;
    camera->held = -1;
    if (held >= 0)
        return held;
    if (!pool->ready && !pool_init(pool, source, &camera->shape))
        pool_finish(pool);
    return pool->ready ? pool_take(pool, clock_now_ns()) : -1;
}

// Copies a buffer. Lends the copy, unless it has only the older field of its frame. Returns true if it lends.
static bool copy(struct source *source, int index, enum camera_part part, struct frame *frame)
{
    struct camera *camera = source->state;
    struct camera_stream *stream = &camera->link->stream;
    struct pool *pool = &source->pool;
    const int slot = part == CAMERA_NEWER && camera->held < 0 ? -1 : take_slot(source);
    if (slot >= 0)
        camera_stream_copy(stream, index, &pool->image[slot]);
    if (part == CAMERA_OLDER)
        camera->held = slot;
    else if (slot >= 0)
        pool_lend(pool, slot, frame->number, frame->captured_ns, frame);
    camera_stream_give(stream, index);
    return part != CAMERA_OLDER && slot >= 0;
}

static void frame_arrived(struct camera *camera)
{
    camera_link_frame_arrived(camera->link);
    camera->dropped = NULL;
}

// Finds out what a filled buffer holds. Returns why it cannot be used; NULL if it can.
static const char *inspect(struct camera_stream *stream, const struct v4l2_buffer *buffer, enum camera_part *part,
                           uint32_t *number)
{
    if (!camera_stream_whole(stream, (int)buffer->index))
        return "the driver filled too few bytes";
    if (buffer->flags & V4L2_BUF_FLAG_ERROR)
        return "the driver reported damaged data";
    *part = camera_stream_part(stream, buffer, number);
    return *part == CAMERA_STRAY ? "the driver does not say which field it filled" : NULL;
}

// Uses a filled buffer: as a frame, as a field, or for the decoder. Returns true if it lends a frame.
static bool use_buffer(struct source *source, const struct v4l2_buffer *buffer, struct frame *frame)
{
    struct camera *camera = source->state;
    struct camera_link *link = camera->link;
    struct camera_stream *stream = &link->stream;
    const int index = (int)buffer->index;
    enum camera_part part;
    uint32_t number;
    const char *fault = inspect(stream, buffer, &part, &number);
    if (fault) {
        camera->dropped = fault;
        log_debug("camera %s: dropped frame %u: %s", link->node.path, buffer->sequence, fault);
        camera_signal_add_damaged(&link->signal, 1);
        camera_stream_give(stream, index);
        return false;
    }
    const int64_t now = clock_now_ns();
    *frame =
        (struct frame){.ready_ns = now, .captured_ns = part == CAMERA_NEWER ? camera->held_ns : time_of(buffer, now)};
    if (part == CAMERA_OLDER) {
        camera->held_ns = frame->captured_ns;
        camera->dropped = "one field of each frame is missing";
        return copy(source, index, part, frame);
    }
    frame->number = camera_link_number(link, number, frame->captured_ns);
    if (!camera->mode.compressed) {
        frame_arrived(camera);
        if (camera_stream_must_copy(stream))
            return copy(source, index, part, frame);
        const int loan = camera_stream_lend(stream, index, &camera->shape, &frame->image);
        frame->slot = POOL_SLOTS + loan;
        return loan >= 0;
    }
    if (camera_decoder_state(camera->decoder).why[0] == '\0')
        link->signal.heard_ns = now; // a slow decoder is no stall
    const struct codec_bytes jpeg = jpeg_in(stream, buffer->index);
    camera_decoder_put(camera->decoder, jpeg.data, jpeg.size, frame);
    camera_stream_give(stream, index);
    return false;
}

// Waits for the camera and the decoder. Returns true if the camera has an event.
static bool wait_ready(const struct camera *camera, int64_t deadline_ns)
{
    struct pollfd ready[] = {{.fd = camera->link->stream.device.fd, .events = POLLIN | POLLPRI},
                             {.fd = camera->decoder ? camera_decoder_fd(camera->decoder) : -1, .events = POLLIN}};
    poll(ready, 2, clock_ms_until(deadline_ns));
    if (ready[0].revents & POLLERR) // poll returns at once until the error is gone
        nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
    return ready[0].revents & POLLPRI;
}

static void restart_stalled(struct camera *camera)
{
    char why[CAMERA_WHY];
    const struct camera_decoder_state decoder = camera_decoder_state(camera->decoder);
    camera_signal_give_up(&camera->link->signal, decoder.why[0] ? decoder.why : camera->dropped, why);
    camera_link_restart(camera->link, why);
}

// Waits for a frame or an event of a connected camera. Returns true if it lends a frame.
static bool wait_frame(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct camera *camera = source->state;
    struct camera_link *link = camera->link;
    struct v4l2_buffer buffer;
    const int64_t stalled_ns = link->signal.heard_ns + camera_signal_patience_ns(&link->signal);
    if (wait_ready(camera, deadline_ns < stalled_ns ? deadline_ns : stalled_ns) &&
        camera_stream_changed(&link->stream)) {
        camera_link_lose(link, "its video signal has changed its size or timing");
        return false;
    }
    if (camera->decoder && camera_decoder_take(camera->decoder, frame)) {
        frame_arrived(camera);
        return true;
    }
    const struct camera_decoder_state state = camera_decoder_state(camera->decoder);
    if (state.changed) {
        camera->next_shape = state.shape;
        camera->next_shape.color = color_of(link, &state.shape);
        announce_shape(camera);
        return false;
    }
    const bool lends =
        !camera->mode.compressed && !camera_stream_must_copy(&link->stream); // otherwise the pool's slots move
    link->stream.owner = lends ? source->owner : NULL;
    camera_stream_tidy(&link->stream);
    const int error = camera_stream_take(&link->stream, &buffer);
    if (error == 0)
        return use_buffer(source, &buffer, frame);
    if (error == ENODEV || error == ENXIO)
        camera_link_lose(link, videodev_advice(error));
    else if (error != EAGAIN)
        camera_link_restart(link, videodev_advice(error));
    else if (clock_now_ns() >= stalled_ns)
        restart_stalled(camera);
    return false;
}

static void reconnect(struct source *source, int64_t deadline_ns)
{
    struct camera *camera = source->state;
    struct frame old;
    if (!camera_link_retry(camera->link, deadline_ns))
        return;
    if (!same_shape(camera)) {
        camera->next_shape = camera_mode_shape(&camera->link->stream.mode);
        camera->next_shape.color = color_of(camera->link, &camera->next_shape);
        announce_shape(camera);
        camera_link_reject(camera->link, NULL);
        return;
    }
    if (camera->decoder && camera_decoder_take(camera->decoder, &old)) // from before the signal was lost
        pool_give(&source->pool, old.slot);
    camera_link_accept(camera->link);
}

// Closes the camera, and waits for the end of the rest or for the deadline.
static void rest(struct camera *camera, int64_t deadline_ns)
{
    enum { LOOK_NS = 20 * NS_PER_MS };
    const int64_t look_ns = clock_now_ns() + LOOK_NS;
    if (camera->link->connected)
        camera_link_rest(camera->link);
    clock_sleep_until_ns(look_ns < deadline_ns ? look_ns : deadline_ns);
}

static enum source_status camera_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct camera *camera = source->state;
    do {
        if (camera->resting)
            rest(camera, deadline_ns);
        else if (!camera->link->connected)
            reconnect(source, deadline_ns);
        else if (wait_frame(source, frame, deadline_ns))
            return SOURCE_FRAME;
        if (camera->reshaped)
            return SOURCE_RESHAPED;
    } while (clock_now_ns() < deadline_ns);
    return SOURCE_TIMEOUT;
}

// All frames are back, so the decoder and the copies can be freed.
static bool camera_reshape(struct source *source)
{
    struct camera *camera = source->state;
    camera_signal_add_damaged(&camera->link->signal, camera_decoder_state(camera->decoder).damaged);
    camera_decoder_close(camera->decoder);
    camera->decoder = NULL;
    pool_finish(&source->pool);
    camera->held = -1;
    camera->mode = camera->next_mode;
    camera->shape = camera->next_shape;
    camera->reshaped = false;
    camera->link->retry_ns = 0;
    camera->link->signal.heard_ns = clock_now_ns(); // the stream may have continued
    return use_mode(source);
}

static void camera_return(struct source *source, const struct frame *frame)
{
    struct camera *camera = source->state;
    if (frame->slot < POOL_SLOTS)
        pool_give(&source->pool, frame->slot);
    else
        camera_stream_return(&camera->link->stream, frame->slot - POOL_SLOTS);
}

static void camera_health(struct source *source, struct source_health *health)
{
    struct camera *camera = source->state;
    static const char hint[] = "frames arrive cut; use another cable or USB port, or a smaller --size";
    const struct camera_decoder_state decoder = camera_decoder_state(camera->decoder);
    camera_signal_health(&camera->link->signal, health);
    health->damaged += decoder.damaged;
    if (decoder.cut)
        memcpy(health->hint, hint, sizeof(hint));
}

static void camera_rest(struct source *source, bool rest)
{
    struct camera *camera = source->state;
    camera->resting = rest;
}

static int camera_controls(struct source *source, struct source_control control[SOURCE_CONTROLS])
{
    struct camera *camera = source->state;
    return camera_link_controls(camera->link, control);
}

static bool camera_set_control(struct source *source, const char *setting, char why[SOURCE_SET_WHY])
{
    struct camera *camera = source->state;
    return camera_link_set(camera->link, setting, why);
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
    .rest = camera_rest,
    .controls = camera_controls,
    .set_control = camera_set_control,
    .nodes = camera_nodes,
    .offers = camera_offers,
    .print_controls = camera_control_print,
};
