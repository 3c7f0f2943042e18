// pipewire.c: a camera of the PipeWire daemon as a source: lends the producer's buffers, or copies or decodes them
#include "image/pipewire.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "image/codec/codec.h"
#include "source/camera_decoder.h"
#include "source/camera_signal.h"
#include "source/kind.h"
#include "source/pipewire_nodes.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/dma-buf.h>
#include <pipewire/pipewire.h>
#include <spa/param/video/format-utils.h>

#define STALE_NS (10 * NS_PER_S)       // a time stamp further off than this belongs to another clock
#define OPEN_NS (5 * NS_PER_S)         // for the daemon to connect the stream, and for the first compressed frame
#define DELAY_FIRST_NS (NS_PER_S / 20) // before the first attempt to reconnect; doubles up to the longest
#define DELAY_LONGEST_NS (NS_PER_S / 2)
// SOURCE_LENT buffers may be lent; the producer fills one and needs one more to continue.
enum { BUFFERS = SOURCE_LENT + 2, BUFFERS_MOST = 32 };
enum { MEMORIES = BUFFERS_MOST + 2 * SOURCE_LENT };

// The memory of a buffer. A lent one outlives its buffer.
struct memory {
    struct pw_buffer *buffer; // NULL: the producer has removed it
    bool used, lent, returned;
    bool borrowed; // libpipewire owns a mapping of private memory, so that frames must be copied
    int count;     // of `map`; 0: they cannot be mapped
    struct pipewire_map map[PIXFMT_PLANES];
    struct pipewire_data data[PIXFMT_PLANES]; // of the last frame
};

// The capture thread uses all members, and any thread sets `resting`. The slot of a frame is a slot of the pool, or
// POOL_SLOTS and the number of a memory.
struct viewer {
    struct source_setup setup;
    struct camera_signal signal;
    struct pipewire_nodes *nodes; // NULL: no connection to the daemon
    struct pipewire_node node;    // the node that was opened; a reconnection looks for the same camera
    struct pw_stream *stream;     // NULL: the node is not connected
    struct spa_hook listener;
    bool formatted; // the stream has a format: `got`
    struct pipewire_mode got;
    struct color said;
    double rate;
    char failed[CAMERA_WHY]; // why the stream cannot continue; "" while it can
    int64_t retry_ns, delay_ns;

    struct pipewire_mode mode; // of the source's frames
    struct image_shape shape;
    struct camera_decoder *decoder; // NULL: the frames are not compressed
    const char *dropped;            // why buffers since the last valid frame were dropped; NULL: none was
    bool reshaped;                  // the frames have a new shape: `got`, `next_shape`
    struct image_shape next_shape;
    atomic_bool resting;

    pthread_mutex_t lock; // guards `memory`
    struct memory memory[MEMORIES];
    int buffers;
};

// Only the thread that takes frames holds the connection. NULL: there is none.
static struct pipewire *daemon_of(const struct viewer *viewer)
{
    return viewer->nodes ? pipewire_nodes_daemon(viewer->nodes) : NULL;
}

// ---- memory ----

static void unmap(struct memory *memory)
{
    for (int i = 0; i < memory->count; i++)
        pipewire_unmap(&memory->map[i]);
    *memory = (struct memory){0};
}

static void add_buffer(void *context, struct pw_buffer *buffer)
{
    struct viewer *viewer = context;
    int i = 0;
    pthread_mutex_lock(&viewer->lock);
    while (i < MEMORIES && viewer->memory[i].used)
        i++;
    buffer->user_data = NULL;
    if (i < MEMORIES) {
        struct memory *memory = buffer->user_data = &viewer->memory[i];
        *memory = (struct memory){.used = true, .buffer = buffer};
        const struct spa_buffer *from = buffer->buffer;
        bool ok = from->n_datas <= PIXFMT_PLANES;
        for (; ok && memory->count < (int)from->n_datas; memory->count++)
            ok = pipewire_map(&from->datas[memory->count], &memory->map[memory->count]);
        for (int k = 0; k < memory->count; k++)
            memory->borrowed = memory->borrowed || !memory->map[k].pages;
        while (!ok && memory->count > 0)
            pipewire_unmap(&memory->map[--memory->count]);
        viewer->buffers++;
    }
    pthread_mutex_unlock(&viewer->lock);
}

static void remove_buffer(void *context, struct pw_buffer *buffer)
{
    struct viewer *viewer = context;
    struct memory *memory = buffer->user_data;
    if (!memory)
        return;
    pthread_mutex_lock(&viewer->lock);
    viewer->buffers--;
    memory->buffer = NULL;
    if (!memory->lent || memory->returned)
        unmap(memory);
    pthread_mutex_unlock(&viewer->lock);
}

// Begins or ends the reads of a buffer.
static void sync_caches(const struct memory *memory, uint64_t flag)
{
    struct dma_buf_sync sync = {.flags = DMA_BUF_SYNC_READ | flag};
    for (int i = 0; i < memory->count; i++)
        if (memory->map[i].dma >= 0)
            ioctl(memory->map[i].dma, DMA_BUF_IOCTL_SYNC, &sync);
}

// Gives the returned buffers back to the producer.
static void tidy(struct viewer *viewer)
{
    pthread_mutex_lock(&viewer->lock);
    for (int i = 0; i < MEMORIES; i++) {
        struct memory *memory = &viewer->memory[i];
        if (!memory->returned)
            continue;
        memory->lent = memory->returned = false;
        sync_caches(memory, DMA_BUF_SYNC_END);
        if (memory->buffer)
            pw_stream_queue_buffer(viewer->stream, memory->buffer);
        else
            unmap(memory);
    }
    pthread_mutex_unlock(&viewer->lock);
}

// ---- negotiation ----

// Room for the parameters of a stream
struct room {
    uint8_t bytes[4096];
    struct spa_pod_builder builder;
    const struct spa_pod *param[3];
    uint32_t count;
};

static struct spa_fraction fraction_of(double rate)
{
    enum { PARTS = 1000 };
    return SPA_FRACTION((uint32_t)(rate * PARTS + 0.5), PARTS);
}

// Adds a description of formats: the mode itself, or all raw or compressed formats if `mode` is NULL.
static void add_format(struct room *room, const struct source_setup *setup, const struct pipewire_mode *mode,
                       bool compressed)
{
    static const double exact = 0.001;
    const struct spa_rectangle any[] = {{1280, 720}, {1, 1}, {IMAGE_MAX_SIDE, IMAGE_MAX_SIDE}};
    struct spa_rectangle wanted =
        setup->width > 0 ? SPA_RECTANGLE((uint32_t)setup->width, (uint32_t)setup->height) : any[0];
    struct spa_fraction rate[] = {fraction_of(setup->rate > 0 ? setup->rate : SOURCE_DEFAULT_RATE), {0, 1}, {1000, 1}};
    struct spa_pod_builder *b = &room->builder;
    struct spa_pod_frame object, choice;
    struct pipewire_format format;
    spa_pod_builder_push_object(b, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
    spa_pod_builder_add(b, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype,
                        SPA_POD_Id(compressed ? SPA_MEDIA_SUBTYPE_mjpg : SPA_MEDIA_SUBTYPE_raw), 0);
    if (!compressed) {
        spa_pod_builder_prop(b, SPA_FORMAT_VIDEO_format, 0);
        spa_pod_builder_push_choice(b, &choice, SPA_CHOICE_Enum, 0);
        spa_pod_builder_id(b, mode ? mode->format.spa : SPA_VIDEO_FORMAT_UNKNOWN); // the default is listed twice
        for (int i = 0; pipewire_format(i, &format); i++)
            if (format.spa &&
                (mode ? format.spa == mode->format.spa : !setup->has_format || format.format == setup->format))
                spa_pod_builder_id(b, format.spa);
        spa_pod_builder_pop(b, &choice);
    }
    const double rated = mode ? camera_mode_rate(mode->is.interval) : 0;
    if (rated > 0) {
        rate[0] = fraction_of(rated);
        rate[1] = fraction_of(rated * (1 - exact));
        rate[2] = fraction_of(rated * (1 + exact));
    }
    if (mode) {
        wanted = SPA_RECTANGLE((uint32_t)mode->is.width, (uint32_t)mode->is.height);
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_Rectangle(&wanted), 0);
    } else {
        spa_pod_builder_add(b, SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&wanted, &any[1], &any[2]), 0);
    }
    spa_pod_builder_add(b, SPA_FORMAT_VIDEO_framerate, SPA_POD_CHOICE_RANGE_Fraction(&rate[0], &rate[1], &rate[2]), 0);
    room->param[room->count++] = spa_pod_builder_pop(b, &object);
}

// Reads the format of the stream. Returns false if monocle does not read it.
static bool read_format(struct viewer *viewer, const struct spa_pod *param)
{
    struct spa_video_info info = {0};
    struct spa_rectangle size;
    struct spa_fraction rate;
    struct pipewire_format format;
    const char *why;
    if (spa_format_parse(param, &info.media_type, &info.media_subtype) < 0 || info.media_type != SPA_MEDIA_TYPE_video)
        return false;
    const bool compressed = info.media_subtype == SPA_MEDIA_SUBTYPE_mjpg;
    if (compressed
            ? spa_format_video_mjpg_parse(param, &info.info.mjpg) < 0
            : info.media_subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_video_raw_parse(param, &info.info.raw) < 0)
        return false;
    size = compressed ? info.info.mjpg.size : info.info.raw.size;
    rate = compressed ? info.info.mjpg.framerate : info.info.raw.framerate;
    if (!pipewire_format_of(compressed ? 0 : info.info.raw.format, &format) || size.width > IMAGE_MAX_SIDE ||
        size.height > IMAGE_MAX_SIDE || !pixfmt_size_ok(format.format, (int)size.width, (int)size.height, &why))
        return false;
    viewer->got = (struct pipewire_mode){
        .format = format,
        .is = {
            .compressed = compressed, .format = format.format, .width = (int)size.width, .height = (int)size.height}};
    viewer->rate = rate.denom > 0 ? (double)rate.num / rate.denom : 0;
    if (viewer->rate < 0.01 || viewer->rate > PIPEWIRE_RATE_MOST)
        viewer->rate = 0; // unknown
    viewer->said = compressed ? (struct color){COLOR_MATRIX_601, COLOR_RANGE_FULL}
                              : pipewire_color(info.info.raw.color_matrix, info.info.raw.color_range);
    return true;
}

static void param_changed(void *context, uint32_t id, const struct spa_pod *param)
{
    struct viewer *viewer = context;
    if (id != SPA_PARAM_Format)
        return;
    viewer->formatted = param && read_format(viewer, param);
    if (viewer->formatted)
        pipewire_request_buffers(viewer->stream, BUFFERS, BUFFERS_MOST,
                                 1 << SPA_DATA_MemFd | 1 << SPA_DATA_MemPtr | 1 << SPA_DATA_DmaBuf, NULL);
    else if (param)
        snprintf(viewer->failed, sizeof(viewer->failed), "monocle does not read its format");
}

static void state_changed(void *context, enum pw_stream_state old, enum pw_stream_state state, const char *error)
{
    struct viewer *viewer = context;
    if (state == PW_STREAM_STATE_ERROR)
        snprintf(viewer->failed, sizeof(viewer->failed), "PipeWire cannot connect it: %.200s",
                 text_or(error, "unknown error"));
    else if (state == PW_STREAM_STATE_UNCONNECTED && old != PW_STREAM_STATE_UNCONNECTED)
        snprintf(viewer->failed, sizeof(viewer->failed), "PipeWire has disconnected it");
}

static const struct pw_stream_events events = {.version = PW_VERSION_STREAM_EVENTS,
                                               .state_changed = state_changed,
                                               .param_changed = param_changed,
                                               .add_buffer = add_buffer,
                                               .remove_buffer = remove_buffer};

static void disconnect(struct viewer *viewer)
{
    if (viewer->stream) {
        tidy(viewer);
        pw_stream_destroy(viewer->stream);
    }
    viewer->stream = NULL;
    viewer->formatted = false;
    viewer->failed[0] = '\0';
    viewer->signal.counting = false;
}

// Asks for the node's modes and begins to connect it. Returns false, with the reason in `why`, on failure.
static bool connect_node(struct viewer *viewer, char why[CAMERA_WHY])
{
    const struct source_setup *setup = &viewer->setup;
    struct room room = {.count = 0};
    struct pipewire_mode wanted;
    struct pipewire *daemon = daemon_of(viewer);
    if (!pipewire_nodes_ask(viewer->nodes, &viewer->node, setup, NULL, &wanted, clock_now_ns() + NS_PER_S, why))
        return false;
    viewer->stream = pw_stream_new(pipewire_core(daemon), "monocle",
                                   pw_properties_new(PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture",
                                                     PW_KEY_MEDIA_ROLE, "Camera", PW_KEY_TARGET_OBJECT,
                                                     strchr(viewer->node.about.path, ':') + 1, NULL));
    if (!viewer->stream) {
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", viewer->node.about.path, strerror(errno));
        return false;
    }
    pw_stream_add_listener(viewer->stream, &viewer->listener, &events, viewer);
    spa_pod_builder_init(&room.builder, room.bytes, sizeof(room.bytes));
    add_format(&room, setup, &wanted, wanted.is.compressed); // the best one, if no other program uses the camera
    if (!setup->compressed)
        add_format(&room, setup, NULL, false);
    if (!setup->has_format)
        add_format(&room, setup, NULL, true);
    const int result = pw_stream_connect(
        viewer->stream, PW_DIRECTION_INPUT, PW_ID_ANY,
        PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_DONT_RECONNECT | PW_STREAM_FLAG_NO_CONVERT, room.param, room.count);
    if (result < 0) {
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", viewer->node.about.path, strerror(-result));
        return false;
    }
    viewer->signal.heard_ns = clock_now_ns();
    return true;
}

// Handles the daemon's events. Returns why the stream cannot continue; NULL if it can.
static const char *turn(struct viewer *viewer)
{
    pipewire_turn(daemon_of(viewer));
    const char *lost = pipewire_lost(daemon_of(viewer));
    if (lost)
        return lost;
    if (!pipewire_nodes_has(viewer->nodes, viewer->node.id))
        return "the camera was removed";
    return viewer->failed[0] ? viewer->failed : NULL;
}

static void wait_events(const struct viewer *viewer, int64_t deadline_ns)
{
    struct pollfd ready[] = {{.fd = pipewire_fd(daemon_of(viewer)), .events = POLLIN},
                             {.fd = viewer->decoder ? camera_decoder_fd(viewer->decoder) : -1, .events = POLLIN}};
    poll(ready, 2, clock_ms_until(deadline_ns));
}

// ---- frames ----

// Reads what the producer says about a buffer. Returns why it cannot be used; NULL if it can.
static const char *inspect(struct memory *memory, int64_t now, struct frame *frame)
{
    const struct spa_buffer *from = memory->buffer->buffer;
    const struct spa_meta_header *header = spa_buffer_find_meta_data(from, SPA_META_Header, sizeof(*header));
    if (memory->count == 0)
        return "its memory cannot be mapped";
    for (int i = 0; i < memory->count; i++) {
        const struct spa_chunk *chunk = from->datas[i].chunk;
        if (chunk->flags & SPA_CHUNK_FLAG_CORRUPTED)
            return "the producer reported damaged data";
        memory->data[i] =
            (struct pipewire_data){memory->map[i].at, memory->map[i].length, chunk->offset, chunk->size, chunk->stride};
    }
    *frame = (struct frame){.ready_ns = now, .captured_ns = now};
    const int64_t pts = header ? header->pts : 0; // the producer may write it at any time
    if (pts > 0 && pts <= now && now - pts < STALE_NS)
        frame->captured_ns = pts;
    return header && header->flags & SPA_META_HEADER_FLAG_CORRUPTED ? "the producer reported damaged data" : NULL;
}

// Returns the JPEG of a buffer; empty if the producer's numbers are wrong.
static struct codec_bytes jpeg_in(const struct memory *memory)
{
    const struct pipewire_data *data = &memory->data[0];
    if (data->start > data->length || data->bytes > data->length - data->start)
        return (struct codec_bytes){0};
    return camera_decoder_find(data->at + data->start, data->bytes);
}

static bool must_copy(const struct viewer *viewer, const struct memory *memory)
{
    return viewer->buffers < BUFFERS || memory->borrowed || viewer->mode.format.place[1];
}

// Copies the pixels. Returns true if it lends the copy.
static bool copy(struct source *source, const struct image *from, struct frame *frame)
{
    const struct viewer *viewer = source->state;
    struct pool *pool = &source->pool;
    if (!pool->ready && !pool_init(pool, source, &viewer->shape))
        pool_finish(pool);
    const int slot = pool->ready ? pool_take(pool, clock_now_ns()) : -1;
    if (slot < 0)
        return false;
    pipewire_copy(&viewer->mode.format, &pool->image[slot], from);
    pool_lend(pool, slot, frame->number, frame->captured_ns, frame);
    return true;
}

static void frame_arrived(struct viewer *viewer)
{
    camera_signal_arrive(&viewer->signal, viewer->node.about.path, viewer->node.about.card);
    viewer->dropped = NULL;
    viewer->delay_ns = DELAY_FIRST_NS;
}

// Uses a filled buffer: as a frame, or for the decoder. Returns true if it lends a frame; *lent: also the buffer.
static bool use_memory(struct source *source, struct memory *memory, struct frame *frame, bool *lent)
{
    struct viewer *viewer = source->state;
    struct image image = {0};
    const int64_t now = clock_now_ns();
    bool due;
    const char *fault = inspect(memory, now, frame);
    if (!fault && !viewer->mode.is.compressed)
        fault = pipewire_lay_out(memory->data, memory->count, &viewer->shape, &image);
    else if (!fault && jpeg_in(memory).size == 0)
        fault = "its chunk lies outside the buffer, or is empty";
    if (fault) {
        viewer->dropped = fault;
        log_debug("camera %s: dropped a frame: %s", viewer->node.about.path, fault);
        camera_signal_add_damaged(&viewer->signal, 1);
        return false;
    }
    frame->number = camera_signal_number(&viewer->signal, viewer->signal.sequence + 1, frame->captured_ns, &due);
    if (viewer->mode.is.compressed) {
        const struct codec_bytes jpeg = jpeg_in(memory);
        if (camera_decoder_state(viewer->decoder).why[0] == '\0')
            viewer->signal.heard_ns = now; // a slow decoder is no stall
        camera_decoder_put(viewer->decoder, jpeg.data, jpeg.size, frame);
        return false;
    }
    frame_arrived(viewer);
    if (must_copy(viewer, memory))
        return copy(source, &image, frame);
    frame->image = image;
    frame->slot = POOL_SLOTS + (int)(memory - viewer->memory);
    return *lent = memory->lent = true;
}

// Takes the next filled buffer, if there is one. Returns true if it lends a frame.
static bool take(struct source *source, struct frame *frame)
{
    struct viewer *viewer = source->state;
    tidy(viewer);
    struct pw_buffer *buffer = viewer->formatted ? pw_stream_dequeue_buffer(viewer->stream) : NULL;
    if (!buffer)
        return false;
    struct memory *memory = buffer->user_data;
    bool lent = false, got = false;
    if (memory && !viewer->reshaped) {
        sync_caches(memory, DMA_BUF_SYNC_START);
        got = use_memory(source, memory, frame, &lent);
        if (!lent)
            sync_caches(memory, DMA_BUF_SYNC_END);
    }
    if (!lent)
        pw_stream_queue_buffer(viewer->stream, buffer);
    return got;
}

// ---- the source ----

static void resolve_color(const struct viewer *viewer, struct image_shape *shape)
{
    shape->opaque = true;
    shape->color = source_color(&viewer->setup, viewer->said, shape);
}

// Waits for the first compressed frame, and reads its size and chroma. Without one, the shape stays the mode's, and the
// missing frames are reported.
static void see_first_frame(struct viewer *viewer, int64_t deadline_ns)
{
    struct codec_error refused;
    struct codec_head head;
    struct frame about;
    struct codec *codec = codec_open();
    bool seen = false;
    while (!seen && !turn(viewer) && clock_now_ns() < deadline_ns && !source_given_up(&viewer->setup)) {
        struct pw_buffer *buffer = viewer->formatted ? pw_stream_dequeue_buffer(viewer->stream) : NULL;
        if (!buffer) {
            wait_events(viewer, clock_now_ns() + NS_PER_S / 10);
            continue;
        }
        if (buffer->user_data && !inspect(buffer->user_data, clock_now_ns(), &about)) {
            sync_caches(buffer->user_data, DMA_BUF_SYNC_START);
            const struct codec_bytes jpeg = jpeg_in(buffer->user_data);
            seen = jpeg.size > 0 && codec_head_of(codec, CODEC_JPEG, jpeg.data, jpeg.size,
                                                  camera_mode_most_pixels(&viewer->got.is), &head, &refused);
            sync_caches(buffer->user_data, DMA_BUF_SYNC_END);
        }
        pw_stream_queue_buffer(viewer->stream, buffer);
    }
    if (seen)
        viewer->shape = head.shape;
    codec_close(codec);
}

static bool use_mode(struct source *source)
{
    struct viewer *viewer = source->state;
    struct source_info *info = &source->info;
    const struct camera_node *node = &viewer->node.about;
    viewer->mode = viewer->got;
    if (viewer->mode.is.compressed &&
        !(viewer->decoder = camera_decoder_open(source, &viewer->shape, camera_mode_most_pixels(&viewer->mode.is))))
        return false;
    info->shape = viewer->shape;
    info->rate = viewer->signal.rate = viewer->rate;
    info->claimed = info->rate > 0;
    snprintf(info->name, sizeof(info->name), "%s (%s)%s", node->card, node->path,
             text_if(viewer->mode.is.compressed, ", mjpeg"));
    log_info("camera %s (%s): %dx%d %s at %.3g fps", node->path, node->card, viewer->shape.width, viewer->shape.height,
             pipewire_format_name(&viewer->mode.format), info->rate);
    return true;
}

// Connects to the daemon and to the camera of this name. Returns false, with the message in `why`, on failure.
static bool open_camera(struct viewer *viewer, const char *text, char why[CAMERA_WHY])
{
    const int64_t deadline_ns = clock_now_ns() + OPEN_NS;
    char reason[CAMERA_WHY];
    viewer->nodes = pipewire_nodes_open(deadline_ns, reason);
    if (!viewer->nodes) {
        snprintf(why, CAMERA_WHY, "cannot open camera pipewire:%.60s: %.300s", text_or(text, ""), reason);
        return false;
    }
    const struct pipewire_node *node = pipewire_nodes_find(viewer->nodes, text);
    if (!node) {
        snprintf(why, CAMERA_WHY, "PipeWire has no camera%s%.100s; to list the cameras, run: monocle cameras",
                 text_if(text && text[0], " named "), text_or(text, ""));
        return false;
    }
    viewer->node = *node;
    if (!connect_node(viewer, why))
        return false;
    const char *lost = NULL;
    while (!viewer->formatted && !lost && clock_now_ns() < deadline_ns) {
        wait_events(viewer, deadline_ns);
        lost = turn(viewer);
    }
    if (!viewer->formatted)
        snprintf(why, CAMERA_WHY, "cannot start camera %s (%s): %.300s", viewer->node.about.path,
                 viewer->node.about.card,
                 text_or(lost, "PipeWire does not connect it; is wireplumber, the session manager, running?"));
    return viewer->formatted;
}

static bool pipewire_source_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct viewer *viewer = source->state;
    char why[CAMERA_WHY];
    source->info.live = true;
    source->unsettled = setup->settle;
    viewer->setup = *setup;
    viewer->delay_ns = DELAY_FIRST_NS;
    camera_signal_init(&viewer->signal);
    pthread_mutex_init(&viewer->lock, NULL);
    if (setup->control_count > 0)
        log_warn("PipeWire's cameras have no controls; --control has no effect");
    const bool ok = open_camera(viewer, text, why);
    if (!ok)
        log_error("%s", why);
    viewer->shape = camera_mode_shape(&viewer->got.is);
    if (ok && viewer->got.is.compressed)
        see_first_frame(viewer, clock_now_ns() + OPEN_NS);
    resolve_color(viewer, &viewer->shape);
    pipewire_release(daemon_of(viewer));
    return ok && use_mode(source);
}

static void pipewire_source_close(struct source *source)
{
    struct viewer *viewer = source->state;
    pipewire_hold(daemon_of(viewer));
    disconnect(viewer);
    pipewire_nodes_close(viewer->nodes);
    camera_decoder_close(viewer->decoder);
    pthread_mutex_destroy(&viewer->lock);
    camera_signal_finish(&viewer->signal);
}

// The signal is lost: closes the stream, and the connection of a daemon that has ended.
static void lose(struct viewer *viewer, const char *why)
{
    camera_signal_lose(&viewer->signal, viewer->node.about.path, viewer->node.about.card, why, NULL);
    const bool ended = pipewire_lost(daemon_of(viewer));
    disconnect(viewer);
    if (ended) {
        pipewire_nodes_close(viewer->nodes);
        viewer->nodes = NULL;
    }
    viewer->retry_ns = clock_now_ns() + viewer->delay_ns;
    viewer->delay_ns = 2 * viewer->delay_ns < DELAY_LONGEST_NS ? 2 * viewer->delay_ns : DELAY_LONGEST_NS;
}

// Waits until the camera is there and the next attempt is due, and begins to connect it.
static void reconnect(struct viewer *viewer, int64_t deadline_ns)
{
    char why[CAMERA_WHY];
    if (clock_now_ns() < viewer->retry_ns) {
        clock_sleep_until_ns(viewer->retry_ns < deadline_ns ? viewer->retry_ns : deadline_ns);
        return;
    }
    if (!viewer->nodes && !(viewer->nodes = pipewire_nodes_open(clock_now_ns() + NS_PER_S, why))) {
        viewer->retry_ns = clock_now_ns() + DELAY_LONGEST_NS / 2;
        return;
    }
    const struct pipewire_node *node = pipewire_nodes_again(viewer->nodes, &viewer->node);
    if (!node) {
        wait_events(viewer, deadline_ns);
        turn(viewer);
    }
    if (pipewire_lost(daemon_of(viewer))) {
        lose(viewer, pipewire_lost(daemon_of(viewer)));
    } else if (node) {
        viewer->node = *node;
        if (!connect_node(viewer, why))
            lose(viewer, why);
    }
}

// Compares the format of a stream with the source's frames. Compressed frames count as the same until the decoder sees
// another shape.
static bool same_shape(const struct viewer *viewer)
{
    struct image_shape shape = camera_mode_shape(&viewer->got.is);
    if (viewer->got.is.compressed && viewer->mode.is.compressed)
        return viewer->got.is.width == viewer->mode.is.width && viewer->got.is.height == viewer->mode.is.height;
    resolve_color(viewer, &shape);
    return viewer->got.format.spa == viewer->mode.format.spa && image_shape_equal(&shape, &viewer->shape);
}

static void announce_shape(struct viewer *viewer)
{
    viewer->reshaped = true;
    camera_log_shapes(&viewer->node.about, &viewer->next_shape, pipewire_format_name(&viewer->got.format),
                      &viewer->shape, pipewire_format_name(&viewer->mode.format));
}

static void report_stall(struct viewer *viewer)
{
    char why[CAMERA_WHY];
    const struct camera_decoder_state decoder = camera_decoder_state(viewer->decoder);
    camera_signal_give_up(&viewer->signal, decoder.why[0] ? decoder.why : viewer->dropped, why);
    lose(viewer, why);
}

// Waits for a frame or an event of a connected camera. Returns true if it lends a frame.
static bool wait_frame(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct viewer *viewer = source->state;
    const int64_t stalled_ns = viewer->signal.heard_ns + camera_signal_patience_ns(&viewer->signal);
    const char *lost = turn(viewer);
    if (lost) {
        lose(viewer, lost);
        return false;
    }
    if (viewer->formatted && !same_shape(viewer)) {
        viewer->next_shape = camera_mode_shape(&viewer->got.is);
        resolve_color(viewer, &viewer->next_shape);
        announce_shape(viewer);
        return false;
    }
    if (viewer->decoder && camera_decoder_take(viewer->decoder, frame)) {
        frame_arrived(viewer);
        return true;
    }
    const struct camera_decoder_state state = camera_decoder_state(viewer->decoder);
    if (state.changed) {
        viewer->next_shape = state.shape;
        resolve_color(viewer, &viewer->next_shape);
        announce_shape(viewer);
        return false;
    }
    if (take(source, frame))
        return true;
    if (clock_now_ns() >= stalled_ns)
        report_stall(viewer);
    else
        wait_events(viewer, deadline_ns < stalled_ns ? deadline_ns : stalled_ns);
    return false;
}

// Closes the camera, and waits for the end of the rest or for the deadline.
static void rest(struct viewer *viewer, int64_t deadline_ns)
{
    const int64_t look_ns = clock_now_ns() + NS_PER_S / 50;
    if (viewer->stream)
        disconnect(viewer);
    viewer->retry_ns = 0;
    if (viewer->nodes)
        turn(viewer);
    clock_sleep_until_ns(look_ns < deadline_ns ? look_ns : deadline_ns);
}

static enum source_status pipewire_source_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct viewer *viewer = source->state;
    enum source_status status = SOURCE_TIMEOUT;
    pipewire_hold(daemon_of(viewer));
    do {
        if (viewer->resting)
            rest(viewer, deadline_ns);
        else if (!viewer->stream)
            reconnect(viewer, deadline_ns);
        else if (wait_frame(source, frame, deadline_ns))
            status = SOURCE_FRAME;
        if (viewer->reshaped)
            status = SOURCE_RESHAPED;
    } while (status == SOURCE_TIMEOUT && clock_now_ns() < deadline_ns);
    pipewire_release(daemon_of(viewer));
    return status;
}

static bool pipewire_source_reshape(struct source *source)
{
    struct viewer *viewer = source->state;
    camera_signal_add_damaged(&viewer->signal, camera_decoder_state(viewer->decoder).damaged);
    camera_decoder_close(viewer->decoder);
    viewer->decoder = NULL;
    pool_finish(&source->pool);
    viewer->shape = viewer->next_shape;
    viewer->reshaped = false;
    viewer->signal.heard_ns = clock_now_ns();
    return use_mode(source);
}

static void pipewire_source_return(struct source *source, const struct frame *frame)
{
    struct viewer *viewer = source->state;
    if (frame->slot < POOL_SLOTS) {
        pool_give(&source->pool, frame->slot);
        return;
    }
    struct memory *memory = &viewer->memory[frame->slot - POOL_SLOTS];
    pthread_mutex_lock(&viewer->lock);
    memory->returned = true;
    if (!memory->buffer)
        unmap(memory);
    pthread_mutex_unlock(&viewer->lock);
}

static void pipewire_source_health(struct source *source, struct source_health *health)
{
    struct viewer *viewer = source->state;
    camera_signal_health(&viewer->signal, health);
    health->damaged += camera_decoder_state(viewer->decoder).damaged;
}

static void pipewire_source_rest(struct source *source, bool rest)
{
    struct viewer *viewer = source->state;
    viewer->resting = rest;
}

extern const struct source_kind source_pipewire;
const struct source_kind source_pipewire = {
    .name = "pipewire",
    .help = {"pipewire[:NAME]\ta camera of the PipeWire daemon by number or part of its name; other programs can read "
             "it through PipeWire at the same time"},
    .word = true,
    .endless = true,
    .decodes = true,
    .state_bytes = sizeof(struct viewer),
    .open = pipewire_source_open,
    .close = pipewire_source_close,
    .next = pipewire_source_next,
    .give_back = pipewire_source_return,
    .reshape = pipewire_source_reshape,
    .health = pipewire_source_health,
    .rest = pipewire_source_rest,
    .nodes = pipewire_nodes_list,
    .offers = pipewire_nodes_offers,
};
