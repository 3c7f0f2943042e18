// driver.c: a fake V4L2 driver: one camera, /dev/video0, other nodes, and v4l2loopback
#include "driver.h"

#include "base/clock.h"
#include "source/camera_device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUFFERS = 32, PENDING = 16, MEMORIES = BUFFERS * PIXFMT_PLANES, MEMORY_BYTES = DRIVER_LENGTH_MOST };
static const char memory_name[] = "driver-buffers", by_id[] = "/dev/v4l/by-id";

struct driver driver;
static atomic_int haste = 1;     // of the program's clock
enum { OTHER_MARK = 1000 };      // of the socket of driver.nodes[0]
static atomic_int twin_at[1024]; // number of the twin's node, by descriptor

struct buffer {
    unsigned queued; // number of VIDIOC_QBUF; 0: the program has it
    uint8_t *memory[PIXFMT_PLANES];
};

static struct {
    int ready;           // eventfd: readable while frames are pending, the camera is gone or its signal has changed
    int memfd[MEMORIES]; // the driver's own memory
    uint8_t *own[MEMORIES];
    struct buffer buffer[BUFFERS];
    pthread_mutex_t lock; // guards the frames and `ready`
    struct driver_frame pending[PENDING];
    int first, count;
    unsigned queued;        // number of buffers queued so far
    uint32_t granted, turn; // number of buffers; number of the next one that in_order gives out
    bool subscribed;        // to changes of the signal
    bool another;           // event follows a change
    int told;               // readers of the last event; -1: none yet
} state = {.ready = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .told = -1};

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
                             .name = "uvcvideo",
                             .card = "played",
                             .bus = "port 0",
                             .fourcc = fourcc,
                             .memories = memories,
                             .width = DRIVER_WIDTH,
                             .height = DRIVER_HEIGHT,
                             .length = DRIVER_LENGTH,
                             .rate = 30,
                             .field = V4L2_FIELD_NONE};
    for (int i = 0; i < DRIVER_CONTROLS; i++)
        driver.control[i] = controls[i].default_value;
    state.told = -1;
    state.ready = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    for (int i = 0; i < MEMORIES; i++) {
        state.memfd[i] = memfd_create(memory_name, MFD_CLOEXEC);
        if (state.ready < 0 || state.memfd[i] < 0 || ftruncate(state.memfd[i], MEMORY_BYTES) != 0)
            abort();
        state.own[i] = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, state.memfd[i], 0);
    }
    memset(state.buffer, 0, sizeof(state.buffer));
    state.count = 0;
}

void driver_finish(void)
{
    for (int i = 0; i < MEMORIES; i++) {
        munmap(state.own[i], MEMORY_BYTES);
        close(state.memfd[i]);
    }
    close(state.ready);
    driver = (struct driver){0};
}

// Makes `ready` readable, or not. The caller holds the lock.
static void refresh(void)
{
    eventfd_t last;
    eventfd_read(state.ready, &last);
    if (state.count > 0 || driver.ask_error || driver.changed)
        eventfd_write(state.ready, 1);
}

void driver_send(const struct driver_frame *frame)
{
    pthread_mutex_lock(&state.lock);
    if (state.count == PENDING)
        abort();
    state.pending[(state.first + state.count++) % PENDING] = *frame;
    refresh();
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
    pthread_mutex_lock(&state.lock);
    refresh();
    pthread_mutex_unlock(&state.lock);
}

int driver_scribble(void)
{
    int mapped = -MEMORIES; // the driver's own
    for (int i = 0; i < MEMORIES; i++)
        memset(state.own[i], 0xee, DRIVER_LENGTH);
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        mapped += strstr(line, memory_name) != NULL;
    if (maps)
        fclose(maps);
    return mapped;
}

// ---- functions that the program calls ----

// Returns the number of a twin's node; 0: the path is another one.
static int twin_of(const char *path)
{
    int number = 0;
    return sscanf(path, "/dev/video%d", &number) == 1 && number <= driver.twins ? number : 0;
}

static int number_of(const char *path)
{
    int number = -1;
    char end;
    return sscanf(path, "/dev/video%d%c", &number, &end) == 1 ? number : -1;
}

static bool is_camera(const char *path)
{
    return number_of(path) == driver.number && number_of(path) >= 0;
}

static const struct driver_node *other_of(const char *path)
{
    for (int i = 0; i < driver.node_count; i++)
        if (driver.nodes[i].number == number_of(path))
            return &driver.nodes[i];
    return NULL;
}

static bool is_node(const char *path)
{
    return is_camera(path) || twin_of(path) || other_of(path);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    if (!is_camera(path))
        return is_node(path) ? 0 : __real_access(path, mode);
    errno = ENOENT;
    return driver.there ? 0 : -1;
}

static int open_camera(void)
{
    const bool fails = driver.opens_ns == 0 || driver_clock.now_ns() < driver.opens_ns;
    errno = !driver.there ? ENOENT : fails ? driver.open_error : 0;
    state.subscribed = false;
    return errno ? -1 : fcntl(state.ready, F_DUPFD_CLOEXEC, 0);
}

// Returns false if another node wakes up at the same time.
static bool wake_up(void)
{
    static atomic_int awaking, ever;
    const int before = ++ever;
    const bool alone = ++awaking == 1;
    driver_clock.sleep_until_ns(driver_clock.now_ns() + 200 * (int64_t)1000000);
    awaking--;
    errno = EBUSY;
    return alone && ever == before;
}

// Only the descriptors of twins and of other nodes are sockets.
static int open_node(const char *path)
{
    if (is_camera(path))
        return open_camera();
    const struct driver_node *other = other_of(path);
    if (other && other->asleep && !wake_up())
        return -1;
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int mark = other ? OTHER_MARK + (int)(other - driver.nodes) : 1;
    if (fd >= 0) {
        twin_at[fd] = twin_of(path);
        setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof(mark));
    }
    return fd;
}

// The node of a descriptor, which may be a duplicate: the socket has its mark.
static const struct driver_node *other_at(int fd)
{
    int mark = 0;
    socklen_t size = sizeof(mark);
    getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &mark, &size);
    return mark >= OTHER_MARK ? &driver.nodes[mark - OTHER_MARK] : NULL;
}

// Opens the file of sysfs with the node's number among those of its device.
static int open_index(int number)
{
    char path[32], text[16];
    snprintf(path, sizeof(path), "/dev/video%d", number);
    const struct driver_node *other = other_of(path);
    const int fd = memfd_create("index", MFD_CLOEXEC);
    snprintf(text, sizeof(text), "%d\n", other ? other->index : driver.index);
    if (fd < 0 || write(fd, text, strlen(text)) < 0 || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

static int open_file(const char *path)
{
    int number = 0;
    errno = ENOENT;
    if (sscanf(path, "/sys/class/video4linux/video%d/index", &number) == 1)
        return driver.index >= 0 ? open_index(number) : -1;
    return open_node(path);
}

static bool is_played(const char *path)
{
    return is_node(path) || strncmp(path, "/sys/class/video4linux/", 23) == 0;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_played(path) ? open_file(path) : __real_open(path, flags, mode);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return is_played(path) ? open_file(path) : __real_open64(path, flags, mode);
}

static bool is_link(const char *path)
{
    return driver.by_id && strncmp(path, by_id, strlen(by_id)) == 0;
}

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);
DIR *__wrap_opendir(const char *path)
{
    return __real_opendir(is_link(path) ? driver.by_id : path);
}

static int age_of(const char *path, struct stat *status)
{
    *status = (struct stat){.st_mode = S_IFCHR,
                            .st_rdev = (dev_t)(is_link(path) ? driver.id_at : number_of(path)),
                            .st_ctim.tv_sec = time(NULL) - (driver.new ? 0 : 3600)};
    return 0;
}

int __real_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status);
int __wrap_stat(const char *path, struct stat *status)
{
    return is_node(path) || is_link(path) ? age_of(path, status) : __real_stat(path, status);
}

int __real_stat64(const char *path, struct stat *status);
int __wrap_stat64(const char *path, struct stat *status);
int __wrap_stat64(const char *path, struct stat *status)
{
    return is_node(path) || is_link(path) ? age_of(path, status) : __real_stat64(path, status);
}

// A program may wait for seconds; a test need not. Clocks of other programs are as usual.
static int64_t hasty_now_ns(void)
{
    static _Atomic int64_t first_ns;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t begin_ns = 0;
    haste = DRIVER_HASTE;
    if (atomic_compare_exchange_strong(&first_ns, &begin_ns, now_ns))
        begin_ns = now_ns;
    return begin_ns + (now_ns - begin_ns) * DRIVER_HASTE;
}

static void hasty_sleep_until_ns(int64_t when_ns)
{
    const int64_t left_ns = (when_ns - hasty_now_ns()) / DRIVER_HASTE;
    if (left_ns > 0)
        nanosleep(&(struct timespec){.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000}, NULL);
}

int __real_poll(struct pollfd *files, nfds_t count, int timeout_ms);
static int hasty_poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    return __real_poll(files, count, timeout_ms > 0 ? (timeout_ms + haste - 1) / haste : timeout_ms);
}

struct driver_clock driver_clock = {hasty_now_ns, hasty_sleep_until_ns, hasty_poll};

int64_t __wrap_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void)
{
    return driver_clock.now_ns();
}

void __wrap_clock_sleep_until_ns(int64_t when_ns);
void __wrap_clock_sleep_until_ns(int64_t when_ns)
{
    driver_clock.sleep_until_ns(when_ns);
}

// Only the camera's descriptor is asked for POLLPRI.
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout_ms);
int __wrap_poll(struct pollfd *files, nfds_t count, int timeout_ms)
{
    int ready = driver_clock.poll(files, count, timeout_ms);
    for (nfds_t i = 0; i < count && ready > 0; i++) {
        if (!(files[i].events & POLLPRI))
            continue;
        files[i].revents |= driver.changed && state.subscribed ? POLLPRI : 0;
        files[i].revents |= driver.ask_error ? POLLERR : 0;
    }
    return ready;
}

void *__wrap_camera_device_map(const struct camera_device *device, size_t length, off_t offset);
void *__wrap_camera_device_map(const struct camera_device *device, size_t length, off_t offset)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, state.memfd[offset / MEMORY_BYTES % MEMORIES], 0);
}

static int refuse(int error)
{
    errno = error;
    return -1;
}

static int describe_node(struct v4l2_capability *about, const char *name, const char *card, const char *bus)
{
    snprintf((char *)about->driver, sizeof(about->driver), "%s", name);
    snprintf((char *)about->card, sizeof(about->card), "%s", card);
    snprintf((char *)about->bus_info, sizeof(about->bus_info), "%s", bus);
    return 0;
}

static int describe_camera(struct v4l2_capability *about, int twin)
{
    const uint32_t kind = driver.memories > 1 ? V4L2_CAP_VIDEO_CAPTURE_MPLANE : V4L2_CAP_VIDEO_CAPTURE;
    char port[32];
    snprintf(port, sizeof(port), "port %d", twin);
    *about = (struct v4l2_capability){.capabilities = kind | V4L2_CAP_STREAMING};
    return describe_node(about, driver.name, driver.card, twin ? port : driver.bus);
}

static int set_format(struct v4l2_format *format)
{
    if (driver.memories > 1)
        format->fmt.pix_mp = (struct v4l2_pix_format_mplane){
            .width = driver.width,
            .height = driver.height,
            .pixelformat = driver.fourcc,
            .colorspace = driver.colorspace,
            .field = driver.field,
            .num_planes = (uint8_t)driver.memories,
            .plane_fmt = {{.bytesperline = driver.stride}, {.bytesperline = driver.stride}}};
    else
        format->fmt.pix = (struct v4l2_pix_format){.width = driver.width,
                                                   .height = driver.height,
                                                   .pixelformat = driver.fourcc,
                                                   .bytesperline = driver.stride,
                                                   .colorspace = driver.colorspace,
                                                   .field = driver.field};
    return 0;
}

static int query_buffer(struct v4l2_buffer *buffer)
{
    buffer->length = driver.length;
    buffer->m.offset = buffer->index * PIXFMT_PLANES * MEMORY_BYTES;
    return 0;
}

static int query_planes(struct v4l2_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->length; i++) {
        buffer->m.planes[i].length = driver.length;
        buffer->m.planes[i].m.mem_offset = (buffer->index * PIXFMT_PLANES + i) * MEMORY_BYTES;
    }
    return 0;
}

static int queue_buffer(const struct v4l2_buffer *buffer)
{
    if (buffer->index >= BUFFERS)
        return refuse(EINVAL);
    struct buffer *queued = &state.buffer[buffer->index];
    if (driver.in_order && queued->queued) // the camera still owns it
        return refuse(ENOMEM);
    queued->queued = ++state.queued;
    for (int i = 0; i < driver.memories; i++) {
        const unsigned long ours = driver.memories > 1 ? buffer->m.planes[i].m.userptr : buffer->m.userptr;
        queued->memory[i] = buffer->memory == V4L2_MEMORY_USERPTR
                                ? (uint8_t *)ours
                                : state.own[buffer->index * PIXFMT_PLANES + (uint32_t)i];
    }
    return 0;
}

static void fill_buffer(const struct driver_frame *frame, struct v4l2_buffer *buffer)
{
    const uint8_t *from = frame->data;
    for (int i = 0; i < driver.memories; i++) {
        uint8_t *to = state.buffer[buffer->index].memory[i];
        if (from) {
            memcpy(to, from, frame->used[i]);
            from += frame->used[i];
        } else {
            memset(to, frame->fill, driver.length);
        }
        if (driver.memories == 1)
            continue;
        buffer->m.planes[i].bytesused = frame->used[i];
        buffer->m.planes[i].data_offset = frame->start[i];
    }
    buffer->bytesused = driver.memories == 1 ? frame->used[0] : 0;
    buffer->flags = frame->flags;
    buffer->field = frame->field;
    buffer->sequence = frame->sequence;
    buffer->timestamp.tv_sec = frame->stamp_ns / 1000000000;
    buffer->timestamp.tv_usec = frame->stamp_ns / 1000 % 1000000;
}

static int take_frame(struct v4l2_buffer *buffer)
{
    uint32_t index = 0;
    if (driver.take_error)
        return refuse(driver.take_error);
    for (uint32_t i = 1; i < BUFFERS; i++) // the one that has waited longest
        if (state.buffer[i].queued - 1 < state.buffer[index].queued - 1)
            index = i;
    if (!state.buffer[index].queued || state.count == 0)
        return refuse(EAGAIN);
    buffer->index = index;
    state.buffer[index].queued = 0;
    fill_buffer(&state.pending[state.first], buffer);
    if (driver.in_order)
        buffer->index = state.turn++ % state.granted;
    buffer->index += driver.index_error;
    state.first = (state.first + 1) % PENDING;
    state.count--;
    refresh();
    return 0;
}

static int dequeue_buffer(struct v4l2_buffer *buffer)
{
    if (driver.late && driver.streams && driver_has_room() && clock_now_ns() >= driver.started_ns + driver.late_ns)
        driver_send(driver.late);
    pthread_mutex_lock(&state.lock);
    const int result = take_frame(buffer);
    const int error = errno;
    pthread_mutex_unlock(&state.lock);
    errno = error;
    return result;
}

static int export_buffer(struct v4l2_exportbuffer *wanted)
{
    wanted->fd = fcntl(state.memfd[wanted->index * PIXFMT_PLANES], F_DUPFD_CLOEXEC, 0);
    return wanted->fd >= 0 ? 0 : -1;
}

static int stop(void)
{
    driver.streams = false;
    for (int i = 0; i < BUFFERS; i++)
        state.buffer[i].queued = 0;
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
    if (control->id == V4L2_CID_PRIVACY && driver.privacy) {
        control->value = 1;
        return 0;
    }
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

// Another program may have fixed the format.
static int set_output(struct v4l2_pix_format *format)
{
    if (driver.output_fourcc)
        format->pixelformat = driver.output_fourcc;
    if (driver.output_width) {
        format->width = driver.output_width;
        format->height = driver.output_height;
    }
    return 0;
}

// Answers for v4l2loopback.
static int ask_loopback(unsigned long request, void *argument)
{
    struct v4l2_capability *about = argument;
    struct v4l2_format *format = argument;
    const struct v4l2_event_subscription *events = argument;
    switch (request) {
    case VIDIOC_QUERYCAP:
        *about = (struct v4l2_capability){.driver = "v4l2 loopback",
                                          .card = "played output",
                                          .capabilities = V4L2_CAP_VIDEO_OUTPUT | V4L2_CAP_READWRITE};
        return 0;
    case VIDIOC_S_FMT:
        return set_output(&format->fmt.pix);
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

// Answers for the signal of a grabber.
static int ask_signal(unsigned long request, void *argument)
{
    struct v4l2_dv_timings *timings = argument;
    v4l2_std_id *standard = argument;
    struct v4l2_event *event = argument;
    if (request == VIDIOC_QUERY_DV_TIMINGS && driver.signal) {
        timings->bt.width = driver.signal;
        timings->bt.height = driver.signal_height;
        return 0;
    }
    if (request == VIDIOC_S_DV_TIMINGS) {
        driver.width = timings->bt.width;
        driver.height = timings->bt.height;
        return 0;
    }
    if (request == VIDIOC_QUERYSTD && driver.standard) {
        *standard = driver.standard;
        return 0;
    }
    if (request == VIDIOC_S_STD) {
        driver.height = *standard & V4L2_STD_525_60 ? 12 : DRIVER_HEIGHT;
        return 0;
    }
    if (request == VIDIOC_SUBSCRIBE_EVENT) {
        const struct v4l2_event_subscription *wanted = argument;
        state.subscribed = wanted->type == V4L2_EVENT_SOURCE_CHANGE && wanted->id == 0;
        return state.subscribed ? 0 : refuse(EINVAL);
    }
    if (request == VIDIOC_DQEVENT && driver.changed) {
        *event = (struct v4l2_event){.type = V4L2_EVENT_SOURCE_CHANGE};
        driver.changed = false;
        state.another = true;
        driver_wake();
        return 0;
    }
    if (request == VIDIOC_DQEVENT && state.another) {
        *event = (struct v4l2_event){.type = V4L2_EVENT_EOS};
        state.another = false;
        return 0;
    }
    return refuse(request == VIDIOC_DQEVENT ? ENOENT : ENOTTY);
}

static int request_buffers(struct v4l2_requestbuffers *wanted)
{
    if (wanted->memory == V4L2_MEMORY_USERPTR && driver.own_memory)
        return refuse(EINVAL);
    if (driver.most_buffers > 0 && wanted->count > driver.most_buffers)
        wanted->count = driver.most_buffers;
    if (wanted->count > 0 && wanted->count < driver.least_buffers)
        wanted->count = driver.least_buffers;
    state.granted = wanted->count;
    return 0;
}

static bool is_refused(unsigned long request, const void *argument)
{
    struct driver_refusal *fault = &driver.refuse;
    const struct v4l2_control *control = argument;
    if (fault->until_ns > 0 && driver_clock.now_ns() >= fault->until_ns)
        return false;
    return request == fault->request && (!fault->control || control->id == fault->control) && fault->passes-- <= 0;
}

// Returns the type of the file; 0 for an eventfd.
static mode_t type_of(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_mode & S_IFMT : S_IFIFO;
}

static int list_mode(unsigned long request, void *argument)
{
    struct v4l2_fmtdesc *offer = argument;
    struct v4l2_frmsizeenum *size = argument;
    struct v4l2_frmivalenum *interval = argument;
    if (request == VIDIOC_ENUM_FMT) {
        offer->pixelformat = driver.fourcc;
        return offer->index == 0 ? 0 : refuse(EINVAL);
    }
    if (request == VIDIOC_ENUM_FRAMESIZES) {
        if (size->index > 0 || driver.no_sizes)
            return refuse(EINVAL);
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete = (struct v4l2_frmsize_discrete){driver.width, driver.height};
        return 0;
    }
    interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
    interval->discrete = (struct v4l2_fract){1, driver.rate};
    return interval->index == 0 ? 0 : refuse(EINVAL);
}

static int list_control(const struct driver_node *other, struct v4l2_queryctrl *about)
{
    enum { CONTROLS_MOST = 5000 };
    const uint32_t before = about->id & ~V4L2_CTRL_FLAG_NEXT_CTRL;
    *about = controls[0];
    if (other->controlled)
        about->id = before + 1;
    return (other->controlled ? before < CONTROLS_MOST : other->endless) ? 0 : refuse(EINVAL);
}

// Answers for another node.
static int ask_other(const struct driver_node *other, unsigned long request, void *argument)
{
    enum { OTHER_WIDTH = 640, OTHER_HEIGHT = 480, OTHER_BYTES = OTHER_WIDTH * OTHER_HEIGHT * 4 };
    struct v4l2_capability *about = argument;
    struct v4l2_fmtdesc *offer = argument;
    struct v4l2_frmsizeenum *size = argument;
    struct v4l2_frmivalenum *interval = argument;
    struct v4l2_format *format = argument;
    struct v4l2_buffer *buffer = argument;
    while ((other->deaf || (other->stuck && request == VIDIOC_STREAMON)) && !driver.answers)
        driver_clock.sleep_until_ns(driver_clock.now_ns() + 1000000);
    switch (request) {
    case VIDIOC_QUERYCAP:
        *about = (struct v4l2_capability){
            .capabilities = other->metadata ? V4L2_CAP_META_CAPTURE : V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_STREAMING};
        return describe_node(about, other->driver, other->card, other->bus);
    case VIDIOC_ENUM_FMT:
        offer->pixelformat = other->endless ? other->fourcc[0] : offer->index < 4 ? other->fourcc[offer->index] : 0;
        return offer->pixelformat ? 0 : refuse(EINVAL);
    case VIDIOC_ENUM_FRAMESIZES:
        size->type = V4L2_FRMSIZE_TYPE_DISCRETE;
        size->discrete = (struct v4l2_frmsize_discrete){OTHER_WIDTH, OTHER_HEIGHT};
        return size->index == 0 || other->endless ? 0 : refuse(EINVAL);
    case VIDIOC_ENUM_FRAMEINTERVALS:
        interval->type = V4L2_FRMIVAL_TYPE_DISCRETE;
        interval->discrete = (struct v4l2_fract){1, 30};
        return interval->index == 0 || other->endless ? 0 : refuse(EINVAL);
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT:
        format->fmt.pix = (struct v4l2_pix_format){
            .width = OTHER_WIDTH, .height = OTHER_HEIGHT, .pixelformat = other->fourcc[0], .field = V4L2_FIELD_NONE};
        return 0;
    case VIDIOC_QUERYBUF:
        buffer->length = OTHER_BYTES;
        return 0;
    case VIDIOC_STREAMON:
        return other->start_error ? refuse(other->start_error) : 0;
    case VIDIOC_DQBUF:
        return refuse(EAGAIN);
    case VIDIOC_QUERYCTRL:
        return list_control(other, argument);
    case VIDIOC_REQBUFS:
    case VIDIOC_QBUF:
    case VIDIOC_STREAMOFF:
        return 0;
    case VIDIOC_G_CTRL:
        return other->endless || other->controlled ? 0 : refuse(EINVAL);
    default:
        return refuse(ENOTTY);
    }
}

int __real_videodev_ask(int fd, unsigned long request, void *argument);
int __wrap_videodev_ask(int fd, unsigned long request, void *argument);
int __wrap_videodev_ask(int fd, unsigned long request, void *argument)
{
    if (S_ISREG(type_of(fd)))
        return ask_loopback(request, argument);
    if (S_ISSOCK(type_of(fd)) && other_at(fd))
        return ask_other(other_at(fd), request, argument);
    if (S_ISSOCK(type_of(fd)))
        return request == VIDIOC_QUERYCAP ? describe_camera(argument, twin_at[fd]) : refuse(EIO);
    if (type_of(fd) != 0)
        return __real_videodev_ask(fd, request, argument);
    while (driver.deaf && request != VIDIOC_DQBUF && request != VIDIOC_QBUF) // the kernel answers these itself
        clock_sleep_until_ns(clock_now_ns() + 1000000);
    if (driver.ask_error)
        return refuse(driver.ask_error);
    if (is_refused(request, argument))
        return refuse(driver.refuse.error);
    switch (request) {
    case VIDIOC_QUERYCAP:
        return describe_camera(argument, 0);
    case VIDIOC_G_INPUT:
    case VIDIOC_S_PARM:
        return 0;
    case VIDIOC_STREAMON:
        driver.streams = true;
        driver.started_ns = clock_now_ns();
        state.turn = 0;
        return 0;
    case VIDIOC_QUERYCTRL:
        return query_control(argument);
    case VIDIOC_QUERYMENU:
        return query_item(argument);
    case VIDIOC_G_CTRL:
    case VIDIOC_S_CTRL:
        return access_control(argument, request == VIDIOC_S_CTRL);
    case VIDIOC_ENUM_FMT:
    case VIDIOC_ENUM_FRAMESIZES:
    case VIDIOC_ENUM_FRAMEINTERVALS:
        return list_mode(request, argument);
    case VIDIOC_G_FMT:
    case VIDIOC_S_FMT:
    case VIDIOC_TRY_FMT:
        return set_format(argument);
    case VIDIOC_REQBUFS:
        return request_buffers(argument);
    case VIDIOC_QUERYBUF:
        return driver.memories > 1 ? query_planes(argument) : query_buffer(argument);
    case VIDIOC_QBUF:
        return queue_buffer(argument);
    case VIDIOC_DQBUF:
        return dequeue_buffer(argument);
    case VIDIOC_STREAMOFF:
        return stop();
    case VIDIOC_EXPBUF:
        return export_buffer(argument);
    default:
        return ask_signal(request, argument);
    }
}

// ---- libv4l2: it lists four formats more, converts 8 bits of a Bayer sensor, and gives other formats as they are, but
// claims for a USB camera that it would convert them, to no pixels ----

int __wrap_v4l2_fd_open(int fd, int flags);
int __wrap_v4l2_fd_open(int fd, int flags)
{
    enum { PATIENCE = 100000 };
    struct v4l2_fmtdesc offer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    for (; __wrap_videodev_ask(fd, VIDIOC_ENUM_FMT, &offer) == 0; offer.index++)
        if (offer.index == PATIENCE)
            abort(); // the list has no end
    return fd;
}

int __wrap_v4l2_ioctl(int fd, unsigned long request, void *argument);
int __wrap_v4l2_ioctl(int fd, unsigned long request, void *argument)
{
    static const uint32_t emulated[] = {V4L2_PIX_FMT_RGB24, V4L2_PIX_FMT_BGR24, V4L2_PIX_FMT_YUV420,
                                        V4L2_PIX_FMT_YVU420};
    struct v4l2_fmtdesc *offer = argument;
    struct v4l2_format *format = argument, wanted = {0};
    uint32_t native = 0;
    if (request == VIDIOC_S_FMT || request == VIDIOC_TRY_FMT)
        wanted = *format;
    if (__wrap_videodev_ask(fd, request, argument) == 0) {
        struct v4l2_capability about = {0};
        __wrap_videodev_ask(fd, VIDIOC_QUERYCAP, &about);
        const bool reads = wanted.type && format->fmt.pix.pixelformat == V4L2_PIX_FMT_SBGGR8;
        const bool claims = request == VIDIOC_TRY_FMT && strcmp((const char *)about.driver, "uvcvideo") == 0;
        if (reads || claims)
            format->fmt.pix.pixelformat = wanted.fmt.pix.pixelformat;
        if (claims && !reads)
            format->fmt.pix.width = format->fmt.pix.height = 0;
        return 0;
    }
    for (; request == VIDIOC_ENUM_FMT && native < offer->index; native++)
        if (__wrap_videodev_ask(fd, request, &(struct v4l2_fmtdesc){.index = native, .type = offer->type}) != 0)
            break;
    if (request != VIDIOC_ENUM_FMT || offer->index - native >= sizeof(emulated) / sizeof(*emulated))
        return refuse(EINVAL);
    offer->pixelformat = emulated[offer->index - native];
    return 0;
}

int __wrap_v4l2_close(int fd);
int __wrap_v4l2_close(int fd)
{
    return close(fd);
}
