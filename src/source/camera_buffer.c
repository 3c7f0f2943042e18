// camera_buffer.c: the buffers that a camera's driver fills, in both of V4L2's APIs
#include "base/log.h"
#include "source/camera_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BUFFERS_NEEDED = 2 };

// V4L2's word for a buffer. `planes` belong to it in the multi-planar API.
static struct v4l2_buffer word(const struct camera_stream *stream, int index, struct v4l2_plane planes[PIXFMT_PLANES])
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

// Bytes from row to row of a plane that has a memory of its own.
static size_t own_stride(const struct camera_stream *stream, int plane)
{
    const size_t row = pixfmt_row_bytes(stream->mode.format, plane, stream->mode.width);
    return stream->stride[plane] > row ? stream->stride[plane] : row;
}

// Bytes that a picture takes of each memory.
static size_t bytes_needed(const struct camera_stream *stream, int memory)
{
    const struct image_shape shape = camera_mode_shape(&stream->mode);
    if (stream->mode.compressed)
        return 1;
    if (stream->memories == 1)
        return v4l2_lay_out(&stream->format, &shape, NULL, NULL);
    return own_stride(stream, memory) * (size_t)(pixfmt_rows(shape.format, memory, shape.height) - 1) +
           pixfmt_row_bytes(shape.format, memory, shape.width);
}

// Puts memory of our own with the same contents in the place of the driver's, in one step for whoever reads there: the
// driver's keeps a device alive that was unplugged, so that its node cannot come back.
static void keep_contents(void *memory, size_t length)
{
    void *copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED)
        return;
    memcpy(copy, memory, length);
    if (mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == MAP_FAILED)
        munmap(copy, length);
}

// Memory of ours; NULL where there is none. The system's is not pages_alloc's: a driver may have a hold on it when it
// goes (munmap leaves it the pages, free would hand them to others), and freed blocks that begin at a page are hardly
// ever found again by malloc, so that every camera that comes back would leave some behind.
static void *take_memory(struct pages_owner *owner, size_t length)
{
    void *memory = owner ? pages_take(owner, length)
                         : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void free_memory(struct camera_memory *memory)
{
    if (memory->owner && !memory->adopted)
        pages_give(memory->owner, memory->at);
    else if (memory->length > 0)
        munmap(memory->at, memory->length);
    *memory = (struct camera_memory){0};
}

static void disown(struct camera_memory *memory)
{
    if (memory->adopted)
        memory->owner->give(memory->owner, memory->at);
    memory->owner = NULL;
    memory->adopted = false;
}

void camera_stream_leave(struct camera_stream *stream)
{
    for (int i = 0; i < stream->buffers; i++) {
        for (int k = 0; k < PIXFMT_PLANES; k++) {
            struct camera_memory *memory = &stream->buffer[i].memory[k];
            const bool ours = stream->kind == V4L2_MEMORY_USERPTR;
            const bool taken = stream->buffer[i].state == CAMERA_BUFFER_TAKEN;
            if (!ours)
                disown(memory);
            if (ours && !taken)
                free_memory(memory);
            else if (memory->length > 0 && !taken)
                munmap(memory->at, memory->length);
            else if (memory->length > 0 && !ours)
                keep_contents(memory->at, memory->length);
        }
        stream->buffer[i] = (struct camera_buffer){0};
    }
    stream->buffers = 0;
}

void camera_stream_free(struct camera_memory memory[PIXFMT_PLANES])
{
    for (int i = 0; i < PIXFMT_PLANES; i++)
        free_memory(&memory[i]);
}

static bool map_buffer(struct camera_stream *stream, int index, char why[CAMERA_WHY])
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    struct v4l2_buffer buffer = word(stream, index, planes);
    if (v4l2_ask(stream->device.fd, VIDIOC_QUERYBUF, &buffer) != 0)
        return camera_stream_failed(stream, "allocate buffers for", why);
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
            return camera_stream_failed(stream, "map the buffers of", why);
        stream->buffer[index].memory[i] = (struct camera_memory){.at = memory, .length = length};
    }
    return true;
}

static bool map_buffers(struct camera_stream *stream, char why[CAMERA_WHY])
{
    struct v4l2_requestbuffers request = {.count = CAMERA_BUFFERS, .type = stream->device.type, .memory = stream->kind};
    if (v4l2_ask(stream->device.fd, VIDIOC_REQBUFS, &request) != 0)
        return camera_stream_failed(stream, "allocate buffers for", why);
    if (request.count < BUFFERS_NEEDED) {
        errno = ENOMEM;
        return camera_stream_failed(stream, "allocate buffers for", why);
    }
    if (request.count < CAMERA_BUFFERS)
        log_info("camera %s has only %u buffers; monocle copies its frames", stream->device.path, request.count);
    for (int i = 0; i < (int)request.count && i < CAMERA_BUFFERS; i++) {
        if (!map_buffer(stream, i, why))
            return false;
    }
    return true;
}

static bool queue_as_is(struct camera_stream *stream, int index)
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    struct v4l2_buffer buffer = word(stream, index, planes);
    const bool ok = v4l2_ask(stream->device.fd, VIDIOC_QBUF, &buffer) == 0;
    stream->buffer[index].state = ok ? CAMERA_BUFFER_QUEUED : CAMERA_BUFFER_IDLE;
    return ok;
}

// The driver may be given other memory to fill each time. What it does not take, or the owner does not have, is not
// tried again: the buffer stays where it is.
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
        camera_stream_free(old.memory);
        return true;
    }
    *buffer = old;
    camera_stream_free(moved.memory);
    if (!queue_as_is(stream, index))
        return false;
    stream->refused = owner;
    log_info("camera %s cannot write to memory pinned by the OpenCL device; monocle copies its frames",
             stream->device.path);
    return true;
}

// The driver's own memory stays where it is; who adopts it reads there.
static void share(struct camera_stream *stream, int index, struct pages_owner *owner)
{
    struct camera_memory *memory = &stream->buffer[index].memory[0];
    struct v4l2_exportbuffer export = {
        .type = stream->device.type, .index = (uint32_t)index, .flags = O_RDWR | O_CLOEXEC};
    disown(memory);
    if (!owner)
        return;
    const bool exported = v4l2_ask(stream->device.fd, VIDIOC_EXPBUF, &export) == 0;
    if (!exported)
        log_info("camera %s cannot export its buffers as dma-buf (%s); monocle copies its frames", stream->device.path,
                 strerror(errno));
    memory->adopted = exported && owner->adopt(owner, memory->at, memory->length, export.fd);
    if (memory->adopted)
        memory->owner = owner;
    else
        stream->refused = owner;
}

static bool queue(struct camera_stream *stream, int index)
{
    const bool ours = stream->kind == V4L2_MEMORY_USERPTR;
    struct pages_owner *owner = stream->owner, *has = stream->buffer[index].memory[0].owner;
    if (owner && !(ours ? owner->take != NULL : owner->adopt && stream->memories == 1))
        owner = NULL;
    if (owner == has || (owner && owner == stream->refused))
        return queue_as_is(stream, index);
    if (ours)
        return queue_moved(stream, index, owner);
    share(stream, index, owner);
    return queue_as_is(stream, index);
}

static bool switch_on(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int queued = 0, type = (int)stream->device.type;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_QUEUED ||
            (stream->buffer[i].state == CAMERA_BUFFER_IDLE && queue(stream, i)))
            queued++;
    if (queued == 0)
        return camera_stream_failed(stream, "queue buffers for", why);
    if (v4l2_ask(stream->device.fd, VIDIOC_STREAMON, &type) != 0)
        return camera_stream_failed(stream, "start", why);
    stream->streaming = true;
    return true;
}

// Whether the driver fills memory of ours: known when it has taken some.
static bool use_ours(struct camera_stream *stream)
{
    char why[CAMERA_WHY];
    stream->kind = V4L2_MEMORY_USERPTR;
    if (map_buffers(stream, why) && queue(stream, 0))
        return true;
    struct v4l2_requestbuffers none = {.type = stream->device.type, .memory = stream->kind};
    camera_stream_leave(stream);
    v4l2_ask(stream->device.fd, VIDIOC_REQBUFS, &none);
    return false;
}

bool camera_stream_start(struct camera_stream *stream, char why[CAMERA_WHY])
{
    if (!use_ours(stream)) {
        stream->kind = V4L2_MEMORY_MMAP;
        if (!map_buffers(stream, why))
            return false;
    }
    return switch_on(stream, why);
}

// STREAMOFF takes every queued buffer from the driver.
bool camera_stream_restart(struct camera_stream *stream, char why[CAMERA_WHY])
{
    int type = (int)stream->device.type;
    if (v4l2_ask(stream->device.fd, VIDIOC_STREAMOFF, &type) != 0)
        return camera_stream_failed(stream, "stop", why);
    stream->streaming = false;
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_QUEUED)
            stream->buffer[i].state = CAMERA_BUFFER_IDLE;
    return switch_on(stream, why);
}

int camera_stream_take(struct camera_stream *stream, struct v4l2_buffer *buffer)
{
    struct v4l2_plane planes[PIXFMT_PLANES];
    *buffer = word(stream, 0, planes);
    if (v4l2_ask(stream->device.fd, VIDIOC_DQBUF, buffer) != 0)
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
        v4l2_lay_out(&stream->format, shape, memory->at + memory->start, image);
        // A mapping goes to the end of its last page.
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

void camera_stream_give(struct camera_stream *stream, int index)
{
    if (!queue(stream, index))
        log_debug("cannot queue a buffer of camera %s: %s", stream->device.path, v4l2_advice(errno));
}

void camera_stream_drop(struct camera_stream *stream, int index)
{
    stream->buffer[index].state = CAMERA_BUFFER_IDLE;
}

void camera_stream_tidy(struct camera_stream *stream)
{
    for (int i = 0; i < stream->buffers; i++)
        if (stream->buffer[i].state == CAMERA_BUFFER_IDLE)
            queue(stream, i);
}
