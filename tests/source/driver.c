// driver.c: a fake V4L2 driver: one camera, /dev/video0, and v4l2loopback
#include "driver.h"

#include "source/camera_device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFERS = 8, PENDING = 16, LENGTH = DRIVER_LENGTH };
static const char node[] = "/dev/video0", memory_name[] = "driver-buffers";

struct driver driver;

struct buffer {
    bool queued;
    uint8_t *memory[PIXFMT_PLANES];
};

static struct {
    int ready; // eventfd: readable while frames are pending or the camera is gone
    int memfd; // of the driver's own memory
    uint8_t *own;
    struct buffer buffer[BUFFERS];
    pthread_mutex_t lock; // guards the frames
    struct driver_frame pending[PENDING];
    int first, count;
    int told; // readers of the last event; -1: none yet
} state = {.ready = -1, .memfd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .told = -1};

enum { EVENT_CLIENT_USAGE = 0x08000000 + 0x08E00000 + 1 }; // of v4l2loopback

static const struct v4l2_queryctrl controls[DRIVER_CONTROLS] = {
    {.id = V4L2_CID_BRIGHTNESS,
     .type = V4L2_CTRL_TYPE_INTEGER,
     .name = "Brightness",
     .minimum = -64,
     .maximum = 64,
     .step = 1},
    {.id = V4L2_CID_AUTO_WHITE_BALANCE,
     .type = V4L2_CTRL_TYPE_BOOLEAN,
     .name = "White Balance, Automatic",
     .maximum = 1,
     .step = 1,
     .default_value = 1},
    {.id = V4L2_CID_POWER_LINE_FREQUENCY,
     .type = V4L2_CTRL_TYPE_MENU,
     .name = "Power Line Frequency",
     .maximum = 2,
     .step = 1,
     .default_value = 1},
    {.id = V4L2_CID_WHITE_BALANCE_TEMPERATURE,
     .type = V4L2_CTRL_TYPE_INTEGER,
     .name = "White Balance Temperature",
     .minimum = 2800,
     .maximum = 6500,
     .step = 10,
     .default_value = 4000},
};

void driver_start(uint32_t fourcc, int memories)
{
    driver = (struct driver){.there = true,
                             .fourcc = fourcc,
                             .memories = memories,
                             .width = DRIVER_WIDTH,
                             .height = DRIVER_HEIGHT,
                             .length = LENGTH};
    for (int i = 0; i < DRIVER_CONTROLS; i++)
        driver.control[i] = controls[i].default_value;
    state.told = -1;
    state.ready = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK | EFD_CLOEXEC);
    state.memfd = memfd_create(memory_name, MFD_CLOEXEC);
    if (state.ready < 0 || state.memfd < 0 || ftruncate(state.memfd, BUFFERS * PIXFMT_PLANES * LENGTH) != 0)
        abort();
    state.own = mmap(NULL, BUFFERS * PIXFMT_PLANES * LENGTH, PROT_READ | PROT_WRITE, MAP_SHARED, state.memfd, 0);
    memset(state.buffer, 0, sizeof(state.buffer));
    state.count = 0;
}

void driver_finish(void)
{
    munmap(state.own, BUFFERS * PIXFMT_PLANES * LENGTH);
    close(state.memfd);
    close(state.ready);
    driver = (struct driver){0};
}

void driver_send(const struct driver_frame *frame)
{
    pthread_mutex_lock(&state.lock);
    if (state.count == PENDING)
        abort();
    state.pending[(state.first + state.count++) % PENDING] = *frame;
    eventfd_write(state.ready, 1);
    pthread_mutex_unlock(&state.lock);
}

bool driver_has_room(void)
{
    pthread_mutex_lock(&state.lock);
    const bool room = state.count < PENDING;
    pthread_mutex_unlock(&state.lock);
    return room;
}

void driver_wake(void)
{
    eventfd_write(state.ready, 1);
}

int driver_scribble(void)
{
    memset(state.own, 0xee, BUFFERS * PIXFMT_PLANES * LENGTH);
    int mapped = -1; // the driver's own
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        mapped += strstr(line, memory_name) != NULL;
    if (maps)
        fclose(maps);
    return mapped;
}

// ---- functions that the program calls ----

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    if (strcmp(path, node) != 0)
        return __real_access(path, mode);
    errno = ENOENT;
    return driver.there ? 0 : -1;
}

const char *__wrap_camera_device_open(struct camera_device *device, const char *path);
const char *__wrap_camera_device_open(struct camera_device *device, const char *path)
{
    const int error = strcmp(path, node) != 0 || !driver.there ? ENOENT : driver.open_error;
    const bool multi = driver.memories > 1;
    *device = (struct camera_device){
        .fd = error ? -1 : fcntl(state.ready, F_DUPFD_CLOEXEC, 0),
        .multi = multi,
        .type = multi ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .card = "played",
        .driver = "driver",
    };
    snprintf(device->path, sizeof(device->path), "%s", path);
    return error ? videodev_advice(error) : NULL;
}

void *__wrap_camera_device_map(const struct camera_device *device, size_t length, off_t offset);
void *__wrap_camera_device_map(const struct camera_device *device, size_t length, off_t offset)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, state.memfd, offset);
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int set_format(struct v4l2_format *format)
{
    if (driver.memories > 1)
        format->fmt.pix_mp = (struct v4l2_pix_format_mplane){.width = driver.width,
                                                             .height = driver.height,
                                                             .pixelformat = driver.fourcc,
                                                             .num_planes = (uint8_t)driver.memories};
    else
        format->fmt.pix = (struct v4l2_pix_format){
            .width = driver.width, .height = driver.height, .pixelformat = driver.fourcc, .field = V4L2_FIELD_NONE};
    return 0;
}

static int query_buffer(struct v4l2_buffer *buffer)
{
    buffer->length = driver.length;
    buffer->m.offset = buffer->index * PIXFMT_PLANES * LENGTH;
    return 0;
}

static int query_planes(struct v4l2_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->length; i++) {
        buffer->m.planes[i].length = driver.length;
        buffer->m.planes[i].m.mem_offset = (buffer->index * PIXFMT_PLANES + i) * LENGTH;
    }
    return 0;
}

static int queue_buffer(const struct v4l2_buffer *buffer)
{
    struct buffer *queued = &state.buffer[buffer->index];
    queued->queued = true;
    for (int i = 0; i < driver.memories; i++) {
        const unsigned long ours = driver.memories > 1 ? buffer->m.planes[i].m.userptr : buffer->m.userptr;
        queued->memory[i] = buffer->memory == V4L2_MEMORY_USERPTR
                                ? (uint8_t *)ours
                                : state.own + (buffer->index * PIXFMT_PLANES + (size_t)i) * LENGTH;
    }
    return 0;
}

static void fill_buffer(const struct driver_frame *frame, struct v4l2_buffer *buffer)
{
    for (int i = 0; i < driver.memories; i++) {
        uint8_t *to = state.buffer[buffer->index].memory[i];
        if (frame->data)
            memcpy(to, frame->data, frame->used[i]);
        else
            memset(to, frame->fill, LENGTH);
        if (driver.memories == 1)
            continue;
        buffer->m.planes[i].bytesused = frame->used[i];
        buffer->m.planes[i].data_offset = frame->start[i];
    }
    buffer->bytesused = driver.memories == 1 ? frame->used[0] : 0;
    buffer->flags = frame->flags;
    buffer->sequence = frame->sequence;
    buffer->timestamp.tv_sec = frame->stamp_ns / 1000000000;
    buffer->timestamp.tv_usec = frame->stamp_ns / 1000 % 1000000;
}

static int take_frame(struct v4l2_buffer *buffer)
{
    eventfd_t one;
    uint32_t index = 0;
    if (driver.take_error)
        return refuse(driver.take_error);
    while (index < BUFFERS && !state.buffer[index].queued)
        index++;
    if (index == BUFFERS || state.count == 0)
        return refuse(EAGAIN);
    eventfd_read(state.ready, &one);
    buffer->index = index;
    state.buffer[index].queued = false;
    fill_buffer(&state.pending[state.first], buffer);
    buffer->index += driver.index_error;
    state.first = (state.first + 1) % PENDING;
    state.count--;
    return 0;
}

static int dequeue_buffer(struct v4l2_buffer *buffer)
{
    pthread_mutex_lock(&state.lock);
    const int result = take_frame(buffer);
    const int error = errno;
    pthread_mutex_unlock(&state.lock);
    errno = error;
    return result;
}

static int stop(void)
{
    driver.streams = false;
    for (int i = 0; i < BUFFERS; i++)
        state.buffer[i].queued = false;
    return 0;
}

static int find_control(uint32_t id)
{
    int i = 0;
    while (i < DRIVER_CONTROLS && controls[i].id != id)
        i++;
    return i;
}

// Answers for the control itself, or with V4L2_CTRL_FLAG_NEXT_CTRL for the next one; they are in order.
static int query_control(struct v4l2_queryctrl *about)
{
    const uint32_t id = about->id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    int i = 0;
    while (i < DRIVER_CONTROLS && (about->id == id ? controls[i].id != id : controls[i].id <= id))
        i++;
    if (i == DRIVER_CONTROLS)
        return refuse(EINVAL);
    *about = controls[i];
    if (i == DRIVER_WHITE && driver.control[DRIVER_AUTO])
        about->flags = V4L2_CTRL_FLAG_INACTIVE;
    return 0;
}

static int query_item(struct v4l2_querymenu *item)
{
    static const char *const names[] = {"Disabled", "50 Hz", "60 Hz"};
    if (item->id != controls[DRIVER_LINE].id || item->index >= sizeof(names) / sizeof(*names))
        return refuse(EINVAL);
    snprintf((char *)item->name, sizeof(item->name), "%s", names[item->index]);
    return 0;
}

static int access_control(struct v4l2_control *control, bool set)
{
    const int i = find_control(control->id);
    if (i == DRIVER_CONTROLS)
        return refuse(EINVAL);
    if (set && i == DRIVER_WHITE && driver.control[DRIVER_AUTO])
        return refuse(EBUSY);
    if (set)
        driver.control[i] = control->value;
    control->value = driver.control[i];
    return 0;
}

static int next_event(struct v4l2_event *event)
{
    if (state.told == driver.readers)
        return refuse(ENOENT);
    state.told = driver.readers;
    *event = (struct v4l2_event){.type = EVENT_CLIENT_USAGE};
    memcpy(&event->u, &state.told, sizeof(state.told));
    return 0;
}

// Answers for v4l2loopback.
static int ask_loopback(unsigned long request, void *argument)
{
    struct v4l2_capability *about = argument;
    const struct v4l2_event_subscription *events = argument;
    switch (request) {
    case VIDIOC_QUERYCAP:
        *about = (struct v4l2_capability){.driver = "v4l2 loopback",
                                          .card = "played output",
                                          .capabilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_READWRITE};
        return 0;
    case VIDIOC_S_FMT:
    case VIDIOC_S_PARM:
    case VIDIOC_STREAMON:
        return 0;
    case VIDIOC_SUBSCRIBE_EVENT:
        return events->type == EVENT_CLIENT_USAGE && events->flags & V4L2_EVENT_SUB_FL_SEND_INITIAL && !driver.no_events
                   ? 0
                   : refuse(EINVAL);
    case VIDIOC_DQEVENT:
        return next_event(argument);
    default:
        return refuse(ENOTTY);
    }
}

static bool is_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int __wrap_videodev_ask(int fd, unsigned long request, void *argument);
int __wrap_videodev_ask(int fd, unsigned long request, void *argument)
{
    struct v4l2_fmtdesc *offer = argument;
    struct v4l2_frmsizeenum *size = argument;
    struct v4l2_frmivalenum *interval = argument;
    const struct v4l2_requestbuffers *buffers = argument;
    if (is_file(fd))
        return ask_loopback(request, argument);
    if (driver.ask_error)
        return refuse(driver.ask_error);
    if (request == driver.busy)
        return refuse(EBUSY);
    switch (request) {
    case VIDIOC_QUERYCAP:
    case VIDIOC_S_PARM:
        return 0;
    case VIDIOC_STREAMON:
        driver.streams = true;
        return 0;
    case VIDIOC_QUERYCTRL:
        return query_control(argument);
    case VIDIOC_QUERYMENU:
        return query_item(argument);
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL:
        return access_control(argument, request == VIDIOC_S_CTRL);
    case VIDIOC_ENUM_FMT:
        offer->pixelformat = driver.fourcc;
        return offer->index == 0 ? 0 : refuse(EINVAL);
    case VIDIOC_ENUM_FRAMESIZES:
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete = (struct v4l2_frmsize_discrete){driver.width, driver.height};
        return size->index == 0 ? 0 : refuse(EINVAL);
    case VIDIOC_ENUM_FRAMEINTERVALS:
        interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        interval->discrete = (struct v4l2_fract){1, 30};
        return interval->index == 0 ? 0 : refuse(EINVAL);
    case VIDIOC_S_FMT:
        return set_format(argument);
    case VIDIOC_REQBUFS:
        return buffers->memory == V4L2_MEMORY_USERPTR && driver.own_memory ? refuse(EINVAL) : 0;
    case VIDIOC_QUERYBUF:
        return driver.memories > 1 ? query_planes(argument) : query_buffer(argument);
    case VIDIOC_QBUF:
        return queue_buffer(argument);
    case VIDIOC_DQBUF:
        return dequeue_buffer(argument);
    case VIDIOC_STREAMOFF:
        return stop();
    default:
        return refuse(ENOTTY);
    }
}
