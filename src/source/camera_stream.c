// camera_stream.c: a camera's stream: format, rate, buffers, and the buffers that are lent as frames
#include "source/camera_stream.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BUFFERS_NEEDED = 2 };
enum { COUNTS_FIELDS = 4 }; // camera_field.apart of a driver that counts fields

// Writes "cannot start camera ...: reason" to `why`, with the reason from errno. Keeps errno. Returns false.
static bool failed(const struct camera_stream *stream, const char *doing, char why[CAMERA_WHY])
{
    const int error = errno;
    const char *advice = camera_device_advice(&stream->device, error);
    const bool gone = error == ENODEV || error == ENXIO;
    snprintf(why, CAMERA_WHY, "cannot %s camera %s (%s): %s%s", doing, stream->device.path, stream->device.card, advice,
             text_if(!strchr(advice, ';'), gone ? "; plug it in again"
                                                : "; try another --size or --pixel-format, or "
                                                  "unplug the camera and plug it in again"));
    errno = error;
    return false;
}

static int ask(const struct camera_stream *stream, unsigned long request, void *argument)
{
    return camera_device_ask(&stream->device, request, argument);
}

// The signal of a grabber may have any size. The driver uses its timings, or its TV standard, only on request, and
// reports when they change. Cameras support neither.
static void follow_signal(const struct camera_stream *stream)
{
    struct v4l2_dv_timings timings = {0};
    v4l2_std_id standard = V4L2_STD_UNKNOWN;
    struct v4l2_event_subscription changes = {.type = V4L2_EVENT_SOURCE_CHANGE};
    int input = 0;
    if (ask(stream, VIDIOC_QUERY_DV_TIMINGS, &timings) == 0)
        ask(stream, VIDIOC_S_DV_TIMINGS, &timings);
    else if (ask(stream, VIDIOC_QUERYSTD, &standard) == 0 && standard != V4L2_STD_UNKNOWN)
        ask(stream, VIDIOC_S_STD, &standard);
    if (ask(stream, VIDIOC_G_INPUT, &input) == 0)
        changes.id = (uint32_t)input;
    ask(stream, VIDIOC_SUBSCRIBE_EVENT, &changes);
}

void camera_stream_init(struct camera_stream *stream)
{
    *stream = (struct camera_stream){.device.fd = -1};
    pthread_mutex_init(&stream->lock, NULL);
}

void camera_stream_finish(struct camera_stream *stream)
{
    camera_stream_close(stream);
    pthread_mutex_destroy(&stream->lock);
}

// Lets libv4l2 convert the frames if the camera offers no format that monocle reads.
static void convert_others(struct camera_device *device)
{
    char offered[128];
    camera_mode_list(device, offered);
    if (offered[0] == '\0' && camera_device_convert(device))
        log_info("camera %s offers no pixel format that monocle reads; libv4l2 converts its frames", device->path);
}

bool camera_stream_open(struct camera_stream *stream, const char *path, char why[CAMERA_WHY])
{
    stream->owner = stream->refused = NULL;
    const char *reason = camera_device_open(&stream->device, path);
    if (reason) {
        snprintf(why, CAMERA_WHY, "cannot open camera %s: %s", path, reason);
        return false;
    }
    follow_signal(stream); // first: a driver may offer no format before
    convert_others(&stream->device);
    return true;
}

bool camera_stream_changed(struct camera_stream *stream)
{
    struct v4l2_event event;
    bool changed = false;
    while (ask(stream, VIDIOC_DQEVENT, &event) == 0)
        changed |= event.type == V4L2_EVENT_SOURCE_CHANGE;
    return changed;
}

// Returns the rate that the driver sets; 0 if it does not report one.
static double set_rate(struct camera_stream *stream, double rate, const struct camera_mode *mode)
{
    enum { PRECISION = 1000 };
    struct v4l2_streamparm parameters = {.type = stream->device.type};
    struct v4l2_fract *interval = &parameters.parm.capture.timeperframe;
    *interval = mode->interval;
    if (interval->numerator == 0 && rate > 0)
        *interval = (struct v4l2_fract){PRECISION, (uint32_t)(rate * PRECISION)};
    if (interval->numerator == 0)
        return ask(stream, VIDIOC_G_PARM, &parameters) == 0 ? camera_mode_rate(*interval) : 0;
    if (ask(stream, VIDIOC_S_PARM, &parameters) != 0)
        return camera_mode_rate(mode->interval);
    return camera_mode_rate(*interval);
}

// Sets the mode. stream->format is then the driver's choice, as a structure of the single-planar API.
static bool ask_format(struct camera_stream *stream, const struct camera_mode *mode)
{
    struct v4l2_format wanted = {.type = stream->device.type}; // the whole union is 0
    // Both APIs' structures begin with these members.
    wanted.fmt.pix.width = (uint32_t)mode->width;
    wanted.fmt.pix.height = (uint32_t)mode->height;
    wanted.fmt.pix.pixelformat = mode->fourcc;
    wanted.fmt.pix.field = V4L2_FIELD_NONE;
    const struct v4l2_pix_format_mplane *multi = &wanted.fmt.pix_mp;
    if (ask(stream, VIDIOC_S_FMT, &wanted) != 0)
        return false;
    stream->format = wanted.fmt.pix;
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

// Returns true if each buffer has one field of a frame.
static bool alternates(const struct camera_stream *stream)
{
    return stream->format.field == V4L2_FIELD_ALTERNATE && !stream->mode.compressed;
}

// A frame has one memory, or one for each plane.
static bool memories_ok(const struct camera_stream *stream, const char **why)
{
    const struct camera_mode *mode = &stream->mode;
    *why = "monocle does not support this plane layout";
    return stream->memories == 1 || (!mode->compressed && stream->memories == pixfmt_info(mode->format)->planes);
}

bool camera_stream_set(struct camera_stream *stream, const struct camera_mode *mode, double rate, char why[CAMERA_WHY])
{
    const char *path = stream->device.path;
    if (!ask_format(stream, mode))
        return failed(stream, "set the format of", why);
    const struct v4l2_pix_format *got = &stream->format;
    struct camera_mode *given = &stream->mode;
    const char *reason = "monocle does not support this pixel format";
    const bool known = camera_mode_known(got->pixelformat, given);
    const uint32_t fields = alternates(stream) ? 2 : 1;
    if (!known || got->width > INT_MAX || got->height > INT_MAX / fields ||
        !pixfmt_size_ok(given->format, (int)got->width, (int)(fields * got->height), &reason) ||
        !memories_ok(stream, &reason)) {
        snprintf(why, CAMERA_WHY,
                 "cannot use camera %s with %ux%u pixels in format %.4s: %s; try another --size or --pixel-format",
                 path, got->width, got->height, (const char *)&got->pixelformat, reason);
        errno = EPROTO;
        return false;
    }
    given->width = (int)got->width;
    given->height = (int)(fields * got->height);
    given->interval = mode->interval;
    if (given->width != mode->width || given->height != mode->height || given->fourcc != mode->fourcc)
        log_info("camera %s chose %dx%d %s instead of %dx%d %s", path, given->width, given->height,
                 camera_mode_name(given), mode->width, mode->height, camera_mode_name(mode));
    if (V4L2_FIELD_HAS_BOTH(got->field) || got->field == V4L2_FIELD_ALTERNATE)
        log_info("camera %s delivers interlaced frames; add -f deinterlace", path);
    stream->rate = set_rate(stream, rate, mode);
    return true;
}

// Describes a buffer for the driver. In the multi-planar API the description includes `planes`.
static struct v4l2_buffer describe(const struct camera_stream *stream, int index,
                                   struct v4l2_plane planes[PIXFMT_PLANES])
{
    struct v4l2_buffer buffer = {.index = (uint32_t)index, .type = stream->device.type, .memory = stream->kind};
    memset(planes, 0, PIXFMT_PLANES * sizeof(*planes));
    if (stream->device.multi) {
        buffer.m.planes = planes;
        buffer.length = (uint32_t)stream->memories;
    }
    const struct camera_memory *memory = stream->buffer[index].memory;
    for (int i = 0; stream->kind == V4L2_MEMORY_USERPTR && i < stream->memories; i++) {
        planes[i].m.userptr = (unsigned long)memory[i].at;
        planes[i].length = (uint32_t)memory[i].length;
    }
    if (stream->kind == V4L2_MEMORY_USERPTR && !stream->device.multi) {
        buffer.m.userptr = planes[0].m.userptr;
        buffer.length = planes[0].length;
    }
    return buffer;
}

// Returns the bytes from row to row of a plane with its own memory.
static size_t own_stride(const struct camera_stream *stream, int plane)
{
    const size_t row = pixfmt_row_bytes(stream->mode.format, plane, stream->mode.width);
    return stream->stride[plane] > row ? stream->stride[plane] : row;
}

// Returns the bytes that a frame, or a field of its own, needs in a memory.
static size_t bytes_needed(const struct camera_stream *stream, int memory)
{
    struct image_shape shape = camera_mode_shape(&stream->mode);
    shape.height = (int)stream->format.height;
    if (stream->mode.compressed)
        return 1;
    if (stream->memories == 1)
        return videodev_lay_out(&stream->format, &shape, NULL, NULL);
    return own_stride(stream, memory) * (size_t)(pixfmt_rows(shape.format, memory, shape.height) - 1) +
           pixfmt_row_bytes(shape.format, memory, shape.width);
}

// Replaces the driver's memory by ours with the same contents, in one step for threads that read it. A mapping of the
// driver's memory would keep an unplugged device alive, and its node could not come back.
static void keep_contents(void *memory, size_t length)
{
    void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, memory, length);
    if (mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED)
        munmap(copy, length);
}

// Returns memory for the driver to fill; NULL if there is none. Without an owner it comes from mmap, not pages_alloc. A
// driver may still hold pages when they are freed: munmap leaves them to the driver, free would reuse them. And malloc
// hardly ever reuses page-aligned blocks, so every reconnection would leak some.
static void *take_memory(struct pages_owner *owner, size_t length)
{
    void *memory = owner ? pages_take(owner, length)
                         : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void free_memories(struct camera_memory memory[PIXFMT_PLANES])
{
    for (int i = 0; i < PIXFMT_PLANES; i++) {
        if (memory[i].owner)
            pages_give(memory[i].owner, memory[i].at);
        else if (memory[i].length > 0)
            camera_device_unmap(memory[i].at, memory[i].length, memory[i].converted);
        memory[i] = (struct camera_memory){0};
    }
}

static bool map_buffer(struct camera_stream *stream, int index, char why[CAMERA_WHY])
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    struct v4l2_buffer buffer = describe(stream, index, planes);
    if (ask(stream, VIDIOC_QUERYBUF, &buffer) != 0)
        return failed(stream, "allocate buffers for", why);
    stream->buffers = index + 1;
    for (int i = 0; i < stream->memories; i++) {
        const bool ours = stream->kind == V4L2_MEMORY_USERPTR;
        uint32_t length = stream->device.multi ? planes[i].length : buffer.length;
        const uint32_t offset = stream->device.multi ? planes[i].m.mem_offset : buffer.m.offset;
        if (length < bytes_needed(stream, i)) {
            snprintf(
                why, CAMERA_WHY,
                "cannot use camera %s: its driver gives buffers of %u bytes, but a frame needs %zu bytes; try another "
                "--size or --pixel-format",
                stream->device.path, length, bytes_needed(stream, i));
            errno = EPROTO;
            return false;
        }
        length += ours ? IMAGE_SPARE_BYTES : 0;
        void *memory = ours ? take_memory(NULL, length) : camera_device_map(&stream->device, length, offset);
        if (!memory || memory == MAP_FAILED)
            return failed(stream, "map the buffers of", why);
        stream->buffer[index].memory[i] =
            (struct camera_memory){.at = memory, .length = length, .converted = !ours && stream->device.converts};
    }
    return true;
}

static bool map_buffers(struct camera_stream *stream, char why[CAMERA_WHY])
{
    struct v4l2_requestbuffers request = {.count = CAMERA_BUFFERS, .type = stream->device.type, .memory = stream->kind};
    if (ask(stream, VIDIOC_REQBUFS, &request) != 0)
        return failed(stream, "allocate buffers for", why);
    if (request.count < BUFFERS_NEEDED) {
        snprintf(why, CAMERA_WHY,
                 "cannot use camera %s (%s): its driver gives %u buffer, and %d are needed; try a smaller "
                 "--size",
                 stream->device.path, stream->device.card, request.count, BUFFERS_NEEDED);
        errno = EPROTO;
        return false;
    }
    if (request.count < CAMERA_BUFFERS)
        log_info("camera %s has only %u buffers; monocle copies its frames", stream->device.path, request.count);
    for (int i = 0; i < (int)request.count && i < CAMERA_BUFFERS_MOST; i++) {
        if (!map_buffer(stream, i, why))
            return false;
    }
    return true;
}

static bool queue_as_is(struct camera_stream *stream, int index)
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    struct v4l2_buffer buffer = describe(stream, index, planes);
    const bool ok = ask(stream, VIDIOC_QBUF, &buffer) == 0;
    stream->buffer[index].state = ok ? CAMERA_BUFFER_QUEUED : CAMERA_BUFFER_IDLE;
    return ok;
}

// Queues the buffer with other memory: a driver may fill another address each time. If the driver refuses it, or if the
// owner has none, the buffer stays where it is, and this owner is not tried again.
static bool queue_moved(struct camera_stream *stream, int index, struct pages_owner *owner)
{
    struct camera_buffer *buffer = &stream->buffer[index], old = *buffer, moved = old;
    bool ok = true;
    for (int i = 0; i < stream->memories; i++) {
        const size_t length = old.memory[i].length;
        void *memory = ok ? take_memory(owner, length) : NULL;
        ok = memory != NULL;
        moved.memory[i] = (struct camera_memory){.at = memory, .length = ok ? length : 0, .owner = owner};
    }
    *buffer = moved;
    if (ok && queue_as_is(stream, index)) {
        free_memories(old.memory);
        return true;
    }
    *buffer = old;
    free_memories(moved.memory);
    if (!queue_as_is(stream, index))
        return false;
    stream->refused = owner;
    log_info("camera %s cannot write to memory pinned by the OpenCL device; monocle copies its frames",
             stream->device.path);
    return true;
}

static bool queue(struct camera_stream *stream, int index)
{
    struct pages_owner *owner = stream->owner, *has = stream->buffer[index].memory[0].owner;
    if (stream->kind != V4L2_MEMORY_USERPTR || owner == has || (owner && owner == stream->refused))
        return queue_as_is(stream, index);
    return queue_moved(stream, index, owner);
}

static bool switch_on(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int queued = 0, type = (int)stream->device.type;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_QUEUED ||
            (stream->buffer[i].state == CAMERA_BUFFER_IDLE && queue(stream, i)))
            queued++;
    if (queued == 0)
        return failed(stream, "queue buffers for", why);
    if (ask(stream, VIDIOC_STREAMON, &type) != 0)
        return failed(stream, "start", why);
    stream->streaming = true;
    stream->field = (struct camera_field){0};
    return true;
}

// Frees the buffers that are not lent.
static void free_buffers(struct camera_stream *stream)
{
    for (int i = 0; i < stream->buffers; i++) {
        free_memories(stream->buffer[i].memory);
        stream->buffer[i].state = CAMERA_BUFFER_IDLE;
    }
    stream->buffers = 0;
}

// Tries to let the driver fill our memory; only a queued buffer shows that it works.
static bool use_ours(struct camera_stream *stream)
{
    char why[CAMERA_WHY];
    stream->kind = V4L2_MEMORY_USERPTR;
    if (map_buffers(stream, why) && queue(stream, 0))
        return true;
    struct v4l2_requestbuffers none = {.type = stream->device.type, .memory = stream->kind};
    free_buffers(stream);
    ask(stream, VIDIOC_REQBUFS, &none);
    return false;
}

bool camera_stream_start(struct camera_stream *stream, char why[CAMERA_WHY])
{
    if (stream->device.converts || !use_ours(stream)) {
        stream->kind = V4L2_MEMORY_MMAP;
        if (!map_buffers(stream, why))
            return false;
    }
    return switch_on(stream, why);
}

bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int type = (int)stream->device.type;
    if (ask(stream, VIDIOC_STREAMOFF, &type) != 0)
        return failed(stream, "stop", why);
    stream->streaming = false;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_QUEUED)
            stream->buffer[i].state = CAMERA_BUFFER_IDLE;
    return switch_on(stream, why);
}

// Stops the stream, so that the driver writes to no buffer any more. A device that uses our memory and cannot be
// stopped (it was unplugged) is closed instead.
static void stop(struct camera_stream *stream)
{
    int type = (int)stream->device.type;
    if (stream->streaming && ask(stream, VIDIOC_STREAMOFF, &type) != 0 && stream->kind == V4L2_MEMORY_USERPTR)
        camera_device_close(&stream->device);
    stream->streaming = false;
}

// Moves the memory of a lent buffer to its loan.
static void orphan(struct camera_stream *stream, struct camera_loan *loan)
{
    struct camera_memory *memory = stream->buffer[loan->index].memory;
    for (int i = 0; i < stream->memories && stream->kind == V4L2_MEMORY_MMAP; i++)
        keep_contents(memory[i].at, memory[i].length);
    memcpy(loan->memory, memory, sizeof(loan->memory));
    memset(memory, 0, sizeof(loan->memory));
    loan->index = -1;
}

void camera_stream_close(struct camera_stream *stream)
{
    stop(stream);
    pthread_mutex_lock(&stream->lock);
    for (int i = 0; i < CAMERA_LENT; i++) {
        struct camera_loan *loan = &stream->loan[i];
        if (loan->returned)
            *loan = (struct camera_loan){0};
        else if (loan->used && loan->index >= 0)
            orphan(stream, loan);
    }
    free_buffers(stream);
    pthread_mutex_unlock(&stream->lock);
    camera_device_close(&stream->device);
}

int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer)
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    *buffer = describe(stream, 0, planes);
    if (ask(stream, VIDIOC_DQBUF, buffer) != 0)
        return errno;
    if (buffer->index >= (uint32_t)stream->buffers)
        return EPROTO;
    struct camera_buffer *taken = &stream->buffer[buffer->index];
    taken->state = CAMERA_BUFFER_TAKEN;
    for (int i = 0; i < stream->memories; i++) {
        struct camera_memory *memory = &taken->memory[i];
        const size_t start = stream->device.multi ? planes[i].data_offset : 0;
        const size_t end = stream->device.multi ? planes[i].bytesused : buffer->bytesused;
        memory->start = start < memory->length ? start : memory->length;
        memory->filled = (end < memory->length ? end : memory->length) - memory->start;
        if (end <= memory->start)
            memory->filled = 0;
    }
    return 0;
}

bool camera_stream_whole(const struct camera_stream *stream, int index)
{
    for (int i = 0; i < stream->memories; i++) {
        const struct camera_memory *memory = &stream->buffer[index].memory[i];
        if (memory->filled < bytes_needed(stream, i))
            return false;
    }
    return true;
}

void camera_stream_picture(const struct camera_stream *stream, int index, const struct image_shape *shape,
                           struct image *image)
{
    const struct camera_memory *memory = stream->buffer[index].memory;
    if (stream->memories == 1) {
        videodev_lay_out(&stream->format, shape, memory->at + memory->start, image);
        // A mapping extends to the end of its last page.
        const size_t pages = (memory->length + PAGE_BYTES - 1) / PAGE_BYTES;
        image->reach_bytes =
            (stream->kind == V4L2_MEMORY_USERPTR ? memory->length : pages * PAGE_BYTES) - memory->start;
        return;
    }
    *image = (struct image){.shape = *shape};
    for (int i = 0; i < stream->memories; i++) {
        image->plane[i] = memory[i].at + memory[i].start;
        image->stride[i] = own_stride(stream, i);
    }
}

// Returns true if the rows of a field follow one another in a buffer.
static bool has_fields(const struct camera_stream *stream)
{
    return V4L2_FIELD_IS_SEQUENTIAL(stream->format.field) || alternates(stream);
}

bool camera_stream_must_copy(const struct camera_stream *stream)
{
    return stream->buffers < CAMERA_BUFFERS || stream->device.converts || has_fields(stream) ||
           strcmp(stream->device.driver, "libcamera") == 0;
}

enum camera_part camera_stream_part(struct camera_stream *stream, const struct v4l2_buffer *buffer, uint32_t *number)
{
    struct camera_field *last = &stream->field;
    *number = buffer->sequence;
    if (!alternates(stream))
        return CAMERA_WHOLE;
    if (buffer->field != V4L2_FIELD_TOP && buffer->field != V4L2_FIELD_BOTTOM)
        return CAMERA_STRAY;
    const uint32_t step = buffer->sequence - last->sequence;
    const bool other = last->any && buffer->field != last->parity;
    if (!last->any)
        last->first = buffer->sequence;
    if (other && step == 0)
        last->apart = 0;
    else if (other && step == 1 && last->apart < COUNTS_FIELDS)
        last->apart++;
    uint32_t before = last->sequence;
    if (last->apart == COUNTS_FIELDS) {
        *number = (buffer->sequence - last->first) / 2;
        before = (before - last->first) / 2;
    }
    const bool pair = last->waits && other && *number == before;
    last->any = true;
    last->waits = !pair;
    last->parity = buffer->field;
    last->sequence = buffer->sequence;
    return pair ? CAMERA_NEWER : CAMERA_OLDER;
}

// Copies the rows of a field to their places in a frame. `second`: they follow those of the other field in `from`.
static void weave(struct image *image, const struct image *from, bool bottom, bool second)
{
    const struct image_shape *shape = &image->shape;
    for (int p = 0; p < pixfmt_info(shape->format)->planes; p++) {
        const int rows = pixfmt_rows(shape->format, p, shape->height);
        const int others = bottom ? rows - rows / 2 : rows / 2;
        for (int y = bottom; y < rows; y += 2)
            memcpy(image_row(image, p, y), image_row(from, p, (second ? others : 0) + y / 2),
                   pixfmt_row_bytes(shape->format, p, shape->width));
    }
}

void camera_stream_copy(const struct camera_stream *stream, int index, struct image *image)
{
    struct image_shape shape = image->shape;
    struct image from;
    shape.height = (int)stream->format.height;
    camera_stream_picture(stream, index, &shape, &from);
    if (!has_fields(stream)) {
        image_copy(image, &from);
    } else if (alternates(stream)) {
        weave(image, &from, stream->field.parity == V4L2_FIELD_BOTTOM, false);
    } else {
        const bool bottom_first = stream->format.field == V4L2_FIELD_SEQ_BT;
        weave(image, &from, bottom_first, false);
        weave(image, &from, !bottom_first, true);
    }
}

void camera_stream_give(struct camera_stream *stream, int index)
{
    if (!queue(stream, index))
        log_debug("cannot queue a buffer of camera %s: %s", stream->device.path, videodev_advice(errno));
}

int camera_stream_lend(struct camera_stream *stream, int index, const struct image_shape *shape, struct image *image)
{
    int slot = 0;
    pthread_mutex_lock(&stream->lock);
    while (slot < CAMERA_LENT && stream->loan[slot].used)
        slot++;
    if (slot < CAMERA_LENT)
        stream->loan[slot] = (struct camera_loan){.used = true, .index = index};
    pthread_mutex_unlock(&stream->lock);
    if (slot == CAMERA_LENT) {
        camera_stream_give(stream, index);
        return -1;
    }
    camera_stream_picture(stream, index, shape, image);
    return slot;
}

void camera_stream_return(struct camera_stream *stream, int number)
{
    pthread_mutex_lock(&stream->lock);
    struct camera_loan *loan = &stream->loan[number], orphan = {0};
    if (loan->index >= 0) {
        loan->returned = true;
    } else {
        orphan = *loan;
        *loan = (struct camera_loan){0};
    }
    pthread_mutex_unlock(&stream->lock);
    free_memories(orphan.memory);
}

void camera_stream_tidy(struct camera_stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    for (int i = 0; i < CAMERA_LENT; i++) {
        struct camera_loan *loan = &stream->loan[i];
        if (!loan->returned)
            continue;
        stream->buffer[loan->index].state = CAMERA_BUFFER_IDLE;
        *loan = (struct camera_loan){0};
    }
    pthread_mutex_unlock(&stream->lock);
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_IDLE)
            queue(stream, i);
}
