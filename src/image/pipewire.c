// pipewire.c: PipeWire helpers for cameras and virtual cameras: connection, errors, formats and the layout of buffers
#include "image/pipewire.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "image/videodev.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <pipewire/pipewire.h>
#include <spa/param/buffers.h>
#include <spa/param/video/raw.h>
#include <spa/pod/builder.h>

struct pipewire {
    struct pw_loop *loop;
    struct pw_context *context;
    struct pw_core *core;
    struct spa_hook listener;
    bool held;
    int asked, answered; // numbers of the latest pw_core_sync, and of the latest answer
    char lost[PIPEWIRE_WHY];
};

static void core_done(void *context, uint32_t id, int number)
{
    struct pipewire *pipewire = context;
    if (id == PW_ID_CORE)
        pipewire->answered = number;
}

// Errors of other objects than the core reach their own listeners.
static void core_error(void *context, uint32_t id, int number, int result, const char *message)
{
    struct pipewire *pipewire = context;
    if (id == PW_ID_CORE && (result == -EPIPE || result == -ENOTCONN || result == -ECONNRESET))
        snprintf(pipewire->lost, PIPEWIRE_WHY, "the PipeWire daemon has ended");
}

static const struct pw_core_events core_events = {
    .version = PW_VERSION_CORE_EVENTS, .done = core_done, .error = core_error};

// Returns true if a daemon may run: the loading of PipeWire's modules takes milliseconds.
static bool has_socket(void)
{
    const char *const folders[] = {getenv("PIPEWIRE_RUNTIME_DIR"), getenv("XDG_RUNTIME_DIR"), getenv("USERPROFILE"),
                                   "/run/pipewire"};
    const char *remote = getenv("PIPEWIRE_REMOTE");
    char path[PATH_MAX];
    if (remote && remote[0])
        return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
        snprintf(path, sizeof(path), "%s/pipewire-0", folders[i] ? folders[i] : "");
        if (folders[i] && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static void init_library(void)
{
    pw_init(NULL, NULL); // for the life of the process
}

struct pipewire *pipewire_open(char why[PIPEWIRE_WHY])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    snprintf(why, PIPEWIRE_WHY,
             "the PipeWire daemon does not run; start it with: systemctl --user start pipewire "
             "wireplumber");
    if (!has_socket())
        return NULL;
    pthread_once(&once, init_library);
    struct pipewire *pipewire = xalloc(sizeof(*pipewire));
    pipewire->loop = pw_loop_new(NULL);
    pipewire->context = pipewire->loop ? pw_context_new(pipewire->loop, NULL, 0) : NULL;
    pipewire->core = pipewire->context ? pw_context_connect(pipewire->context, NULL, 0) : NULL;
    if (!pipewire->core) {
        if (errno != ECONNREFUSED && errno != EHOSTDOWN) // a daemon that has ended leaves its socket
            snprintf(why, PIPEWIRE_WHY, "cannot connect to the PipeWire daemon: %s", strerror(errno));
        pipewire_close(pipewire);
        return NULL;
    }
    pw_core_add_listener(pipewire->core, &pipewire->listener, &core_events, pipewire);
    pipewire_hold(pipewire);
    return pipewire;
}

void pipewire_close(struct pipewire *pipewire)
{
    if (!pipewire)
        return;
    if (pipewire->core) {
        spa_hook_remove(&pipewire->listener);
        pw_core_disconnect(pipewire->core);
    }
    if (pipewire->context)
        pw_context_destroy(pipewire->context);
    pipewire_release(pipewire);
    if (pipewire->loop)
        pw_loop_destroy(pipewire->loop);
    free(pipewire);
}

struct pw_core *pipewire_core(const struct pipewire *pipewire)
{
    return pipewire->core;
}

void pipewire_hold(struct pipewire *pipewire)
{
    if (!pipewire || pipewire->held)
        return;
    pw_loop_enter(pipewire->loop);
    pipewire->held = true;
}

void pipewire_release(struct pipewire *pipewire)
{
    if (!pipewire || !pipewire->held)
        return;
    pw_loop_leave(pipewire->loop);
    pipewire->held = false;
}

int pipewire_fd(const struct pipewire *pipewire)
{
    return pw_loop_get_fd(pipewire->loop);
}

void pipewire_turn(struct pipewire *pipewire)
{
    while (pw_loop_iterate(pipewire->loop, 0) > 0)
        ;
}

const char *pipewire_lost(const struct pipewire *pipewire)
{
    return pipewire->lost[0] ? pipewire->lost : NULL;
}

bool pipewire_sync(struct pipewire *pipewire, int64_t deadline_ns)
{
    pipewire->asked = pw_core_sync(pipewire->core, PW_ID_CORE, 0);
    while (!pipewire->lost[0]) {
        pipewire_turn(pipewire);
        if (pipewire->answered == pipewire->asked)
            return true;
        if (clock_now_ns() >= deadline_ns)
            return false;
        poll(&(struct pollfd){.fd = pipewire_fd(pipewire), .events = POLLIN}, 1, clock_ms_until(deadline_ns));
    }
    return false;
}

// ---- formats ----

_Static_assert(SPA_VIDEO_FORMAT_I420 == 2 && SPA_VIDEO_FORMAT_NV12 == 23 && SPA_VIDEO_FORMAT_GRAY8 == 25,
               "the numbers of pixfmt.c are those of PipeWire");

bool pipewire_format(int index, struct pipewire_format *format)
{
    static const struct pipewire_format others[] = {{SPA_VIDEO_FORMAT_RGBx, PIXFMT_RGBA, {0, 1, 2}},
                                                    {SPA_VIDEO_FORMAT_BGRx, PIXFMT_RGBA, {2, 1, 0}},
                                                    {0, PIXFMT_RGBA, {0, 0, 0}}};
    enum { OTHERS = sizeof(others) / sizeof(*others) };
    if (index >= PIXFMT_COUNT + OTHERS)
        return false;
    if (index >= PIXFMT_COUNT)
        *format = others[index - PIXFMT_COUNT];
    else
        *format = (struct pipewire_format){pixfmt_info((enum pixfmt)index)->spa, (enum pixfmt)index, {0, 0, 0}};
    return true;
}

bool pipewire_format_of(uint32_t spa, struct pipewire_format *format)
{
    for (int i = 0; pipewire_format(i, format); i++)
        if (format->spa == spa && (spa || i >= PIXFMT_COUNT))
            return true;
    return false;
}

const char *pipewire_format_name(const struct pipewire_format *format)
{
    if (format->place[1])
        return format->place[0] ? "bgrx" : "rgbx";
    return format->spa ? pixfmt_info(format->format)->name : "mjpeg";
}

struct color pipewire_color(unsigned matrix, unsigned range)
{
    struct color color = {0};
    if (matrix == SPA_VIDEO_COLOR_MATRIX_BT601 || matrix == SPA_VIDEO_COLOR_MATRIX_BT709)
        color.matrix = matrix == SPA_VIDEO_COLOR_MATRIX_BT601 ? COLOR_MATRIX_601 : COLOR_MATRIX_709;
    else if (matrix == SPA_VIDEO_COLOR_MATRIX_BT2020)
        color.matrix = COLOR_MATRIX_2020;
    if (range == SPA_VIDEO_COLOR_RANGE_0_255 || range == SPA_VIDEO_COLOR_RANGE_16_235)
        color.range = range == SPA_VIDEO_COLOR_RANGE_0_255 ? COLOR_RANGE_FULL : COLOR_RANGE_LIMITED;
    return color;
}

void pipewire_copy(const struct pipewire_format *format, struct image *to, const struct image *from)
{
    const uint8_t *place = format->place;
    if (!place[1]) {
        image_copy(to, from);
        return;
    }
    for (int y = 0; y < to->shape.height; y++) {
        const uint8_t *source = image_row(from, 0, y);
        uint8_t *row = image_row(to, 0, y);
        for (size_t x = 0; x < 4 * (size_t)to->shape.width; x += 4) {
            row[x] = source[x + place[0]];
            row[x + 1] = source[x + place[1]];
            row[x + 2] = source[x + place[2]];
            row[x + 3] = 255;
        }
    }
}

// ---- buffers ----

void pipewire_request_buffers(struct pw_stream *stream, int wanted, int most, int memories,
                              const struct image_shape *shape)
{
    enum { LEAST = 2, ROOM = 1024 };
    uint8_t bytes[ROOM];
    struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(bytes, sizeof(bytes));
    struct spa_pod_frame object;
    const struct spa_pod *params[2];
    spa_pod_builder_push_object(&builder, &object, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers);
    spa_pod_builder_add(&builder, SPA_PARAM_BUFFERS_buffers, SPA_POD_CHOICE_RANGE_Int(wanted, LEAST, most),
                        SPA_PARAM_BUFFERS_dataType, SPA_POD_CHOICE_FLAGS_Int(memories), 0);
    if (shape)
        spa_pod_builder_add(&builder, SPA_PARAM_BUFFERS_blocks, SPA_POD_Int(1), SPA_PARAM_BUFFERS_size,
                            SPA_POD_Int((int)image_bytes(shape)), SPA_PARAM_BUFFERS_stride,
                            SPA_POD_Int((int)pixfmt_row_bytes(shape->format, 0, shape->width)), 0);
    params[0] = spa_pod_builder_pop(&builder, &object);
    params[1] = spa_pod_builder_add_object(&builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type,
                                           SPA_POD_Id(SPA_META_Header), SPA_PARAM_META_size,
                                           SPA_POD_Int(sizeof(struct spa_meta_header)));
    pw_stream_update_params(stream, params, 2);
}

// Maps the pages of libpipewire's mapping, which ends with the buffer, once more. That fails for private memory.
static void map_again(struct pipewire_map *map)
{
    const size_t skip = (uintptr_t)map->at % (size_t)sysconf(_SC_PAGESIZE);
    void *pages = map->at ? mremap(map->at - skip, 0, map->length + skip, MREMAP_MAYMOVE) : MAP_FAILED;
    if (pages == MAP_FAILED)
        return;
    map->pages = pages;
    map->page_bytes = map->length + skip;
    map->at = (uint8_t *)pages + skip;
}

// Checks the file's size: a read beyond the end of a file ends the process. PipeWire seals its own memory, so its size
// stays.
bool pipewire_map(const struct spa_data *from, struct pipewire_map *map)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = from->mapoffset % page;
    *map = (struct pipewire_map){.length = from->maxsize, .dma = -1};
    if (from->type == SPA_DATA_MemPtr) {
        map->at = from->data;
        map_again(map);
        return map->at;
    }
    if ((from->type != SPA_DATA_MemFd && from->type != SPA_DATA_DmaBuf) || from->fd < 0 || from->fd > INT_MAX)
        return false;
    const off_t end = lseek((int)from->fd, 0, SEEK_END);
    if (from->maxsize == 0 || end < 0 || (uint64_t)from->mapoffset + from->maxsize > (uint64_t)end)
        return false;
    void *pages = mmap(NULL, from->maxsize + skip, PROT_READ, MAP_SHARED, (int)from->fd, from->mapoffset - skip);
    if (pages == MAP_FAILED)
        return false;
    map->pages = pages;
    map->page_bytes = from->maxsize + skip;
    map->at = (uint8_t *)pages + skip;
    if (from->type == SPA_DATA_DmaBuf)
        map->dma = dup((int)from->fd);
    return true;
}

void pipewire_unmap(struct pipewire_map *map)
{
    if (map->pages)
        munmap(map->pages, map->page_bytes);
    if (map->pages && map->dma >= 0)
        close(map->dma);
    *map = (struct pipewire_map){.dma = -1};
}

static const char too_short[] = "the buffer is shorter than a frame";

// Returns NULL if `rows` rows of `row` bytes are in the memory.
static const char *check_rows(const struct pipewire_data *data, size_t row, int rows)
{
    if (data->stride < 0 || (data->stride > 0 && (size_t)data->stride < row))
        return "its rows are shorter than those of a frame";
    const uint64_t stride = data->stride ? (uint64_t)data->stride : row;
    if (!data->at || data->start > data->length || data->bytes > data->length - data->start)
        return "its chunk lies outside the buffer";
    return stride * (uint64_t)(rows - 1) + row > data->bytes ? too_short : NULL;
}

const char *pipewire_lay_out(const struct pipewire_data *data, int count, const struct image_shape *shape,
                             struct image *image)
{
    const int planes = pixfmt_info(shape->format)->planes;
    *image = (struct image){.shape = *shape};
    if (count != 1 && count != planes)
        return "it has another number of planes than its format";
    for (int i = 0; i < count; i++) {
        const size_t row = pixfmt_row_bytes(shape->format, i, shape->width);
        const char *why = check_rows(&data[i], row, pixfmt_rows(shape->format, i, shape->height));
        if (why)
            return why;
        image->plane[i] = data[i].at + data[i].start;
        image->stride[i] = data[i].stride ? (size_t)data[i].stride : row;
    }
    if (planes > 1 && count == 1) {
        const struct v4l2_pix_format format = {.bytesperline = (uint32_t)data->stride, .sizeimage = data->bytes};
        if (videodev_lay_out(&format, shape, data->at + data->start, image) > data->bytes)
            return too_short;
    }
    if (count == 1)
        image->reach_bytes = data->length - data->start;
    return NULL;
}
