// camera_link.c: the connection to a camera: opens it, detects faults, reconnects, and keeps its health and controls
#include "source/camera_link.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "source/camera_control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DELAY_FIRST_NS (NS_PER_S / 4) // before the first attempt to reconnect; doubles up to the longest
#define DELAY_LONGEST_NS (2 * NS_PER_S)
#define START_NS (10 * NS_PER_S) // for a driver to open and start a camera
#define START_HURRY_NS (5 * NS_PER_S / 2)
#define BUSY_NS (NS_PER_S / 20)
#define UNPLUGGED_NS (NS_PER_S / 2) // for a driver to release an unplugged camera

static bool set_controls(const struct camera_link *link, char why[CAMERA_WHY])
{
    return camera_control_set(&link->stream.device, link->setup.controls, link->setup.control_count, why);
}

// Sets the controls again that were changed while the camera ran. A control that has disappeared is no failure.
static void change_again(struct camera_link *link)
{
    struct v4l2_control change[CAMERA_CHANGES];
    pthread_mutex_lock(&link->signal.lock);
    const int changes = link->changes;
    memcpy(change, link->change, sizeof(change));
    pthread_mutex_unlock(&link->signal.lock);
    for (int i = 0; i < changes; i++)
        if (camera_device_ask(&link->stream.device, VIDIOC_S_CTRL, &change[i]) != 0)
            log_info("cannot set a control of camera %s again: %s", link->node.path, videodev_advice(errno));
}

static bool start(struct camera_link *link, char why[CAMERA_WHY])
{
    return camera_stream_set(&link->stream, &link->wanted, link->setup.rate, why) &&
           camera_stream_start(&link->stream, why);
}

// Opens the node, sets its controls and mode, and starts the stream. `errno` is the cause of a failure.
static bool open_again(struct camera_link *link, char why[CAMERA_WHY])
{
    if (!camera_stream_open(&link->stream, link->node.path, why))
        return false;
    if (!set_controls(link, why))
        log_info("%s", why);
    change_again(link);
    return start(link, why);
}

// As start(), but tries again after a temporary error: a driver that another program has just closed may need a second
// try, and other programs may try a new camera for a moment.
static bool start_patiently(struct camera_link *link, char why[CAMERA_WHY])
{
    const int64_t deadline_ns = clock_now_ns() + NS_PER_S;
    bool ok = start(link, why), again = errno == EINVAL || errno == EIO || errno == EAGAIN;
    while (!ok && (again || (errno == EBUSY && camera_device_is_new(link->node.path)))) {
        if (!again)
            clock_sleep_until_ns(clock_now_ns() + BUSY_NS);
        camera_stream_close(&link->stream);
        ok = open_again(link, why);
        again = false;
        if (clock_now_ns() >= deadline_ns)
            break;
    }
    return ok;
}

static void open_link(void *context)
{
    struct camera_link *link = context;
    struct camera_stream *stream = &link->stream;
    const bool ready = camera_stream_open(stream, link->node.path, link->why) && set_controls(link, link->why) &&
                       camera_mode_choose(&stream->device, &link->setup, &link->wanted, link->why);
    link->opened = ready && start_patiently(link, link->why);
    link->broken = ready && !link->opened && !camera_error_is_outside(errno);
}

static void close_late(void *context)
{
    camera_link_close(context);
}

// Opens a camera and starts its stream. Returns NULL on failure, with the message in `why`. *broken is then true if it
// did not start, for no reason outside it.
static struct camera_link *open_camera(const struct source_setup *setup, const struct camera_node *node, bool *broken,
                                       char why[CAMERA_WHY])
{
    struct camera_link *link = xalloc(sizeof(*link));
    camera_stream_init(&link->stream);
    camera_signal_init(&link->signal);
    link->setup = *setup;
    link->node = *node;
    link->control_fd = -1;
    *broken = true;
    if (!camera_try(node->path, open_link, close_late, link,
                    clock_now_ns() + (node->rivals ? START_HURRY_NS : START_NS))) {
        snprintf(why, CAMERA_WHY, "cannot start camera %s (%s): %s", node->path, node->card, camera_no_answer);
        return NULL;
    }
    if (!link->opened) {
        *broken = link->broken;
        memcpy(why, link->why, sizeof(link->why));
        camera_link_close(link);
        return NULL;
    }
    snprintf(link->signal.health.hint, SOURCE_TROUBLE, "%.255s", link->node.passed); // until a frame arrives
    link->signal.heard_ns = clock_now_ns();
    return link;
}

struct camera_link *camera_link_open(const struct source_setup *setup, const char *text)
{
    char why[CAMERA_WHY];
    struct camera_node node;
    struct camera_skip skip = {.count = 0};
    bool found = camera_find(text, &node, why);
    node.rivals |= setup->rivals;
    while (found) {
        bool broken;
        struct camera_link *link = open_camera(setup, &node, &broken, why);
        if (link)
            return link;
        if (!broken || !node.rivals)
            break;
        log_warn("%s; monocle tries the other cameras", why);
        memcpy(skip.path[skip.count++], node.path, sizeof(node.path));
        found = camera_find_next(&skip, &node, why);
    }
    log_error("%s", why);
    return NULL;
}

// Linux's uvcvideo has crashed in the kernel when it was closed while it released an unplugged camera.
static void wait_unplugged(struct camera_link *link)
{
    struct v4l2_capability capability;
    if (link->connected && camera_device_ask(&link->stream.device, VIDIOC_QUERYCAP, &capability) != 0 &&
        errno == ENODEV)
        clock_sleep_until_ns(clock_now_ns() + UNPLUGGED_NS);
}

static void disconnect(struct camera_link *link)
{
    wait_unplugged(link);
    pthread_mutex_lock(&link->signal.lock);
    const int control_fd = link->control_fd;
    link->control_fd = -1;
    pthread_mutex_unlock(&link->signal.lock);
    if (control_fd >= 0) // first: the kernel closes the device with its last descriptor
        close(control_fd);
    camera_stream_close(&link->stream);
    link->connected = false;
    link->signal.counting = false;
}

void camera_link_close(struct camera_link *link)
{
    if (!link)
        return;
    disconnect(link);
    camera_stream_finish(&link->stream);
    camera_signal_finish(&link->signal);
    free(link);
}

static void schedule_retry(struct camera_link *link)
{
    link->delay_ns = link->delay_ns * 2 < DELAY_LONGEST_NS ? link->delay_ns * 2 : DELAY_LONGEST_NS;
    link->retry_ns = clock_now_ns() + link->delay_ns;
}

// Not F_DUPFD_CLOEXEC: libcamera's and PipeWire's layers for V4L2 replace only dup.
static int duplicate(int fd)
{
    const int copy = dup(fd);
    if (copy >= 0)
        fcntl(copy, F_SETFD, FD_CLOEXEC);
    return copy;
}

void camera_link_accept(struct camera_link *link)
{
    pthread_mutex_lock(&link->signal.lock);
    link->control_fd = duplicate(link->stream.device.fd);
    link->signal.health.userptr = link->stream.kind == V4L2_MEMORY_USERPTR && !link->stream.mode.compressed &&
                                  !camera_stream_must_copy(&link->stream);
    pthread_mutex_unlock(&link->signal.lock);
    link->connected = true;
    link->restarted = link->signal.lost_ns != 0; // if no frame follows a reconnection, the next fault closes the stream
    schedule_retry(link);
}

// Returns the reason of a black picture, or of none: the privacy switch. NULL if it is off.
static const char *find_shut(const struct camera_link *link)
{
    struct v4l2_control shut = {.id = V4L2_CID_PRIVACY};
    return camera_device_ask(&link->stream.device, VIDIOC_G_CTRL, &shut) == 0 && shut.value
               ? "the camera's privacy switch is on: open its shutter, or press its key"
               : NULL;
}

static void report_trouble(struct camera_link *link, const char *why)
{
    camera_signal_lose(&link->signal, link->node.path, link->node.card, why, link->shut);
}

void camera_link_reject(struct camera_link *link, const char *why)
{
    camera_stream_close(&link->stream);
    if (why)
        report_trouble(link, why);
    schedule_retry(link);
}

bool camera_link_retry(struct camera_link *link, int64_t deadline_ns)
{
    if (clock_now_ns() < link->retry_ns) {
        clock_sleep_until_ns(link->retry_ns < deadline_ns ? link->retry_ns : deadline_ns);
        if (clock_now_ns() < link->retry_ns)
            return false;
    }
    char why[CAMERA_WHY];
    struct camera_node found;
    bool ok = camera_find_again(&link->node, &link->twins, &found, why);
    if (ok) {
        pthread_mutex_lock(&link->signal.lock);
        memcpy(link->node.path, found.path, sizeof(found.path));
        pthread_mutex_unlock(&link->signal.lock);
        ok = open_again(link, why);
    }
    link->signal.heard_ns = clock_now_ns();
    if (!ok)
        camera_link_reject(link, why);
    return ok;
}

void camera_link_lose(struct camera_link *link, const char *why)
{
    report_trouble(link, why);
    camera_find_twins(&link->node, &link->twins);
    disconnect(link);
    if (!link->closed)
        link->delay_ns = DELAY_FIRST_NS;
    link->closed = true;
    link->retry_ns = clock_now_ns() + link->delay_ns;
}

void camera_link_rest(struct camera_link *link)
{
    disconnect(link);
    link->retry_ns = 0;
}

void camera_link_restart(struct camera_link *link, const char *why)
{
    char failed[CAMERA_WHY];
    if (!link->restarted) {
        report_trouble(link, why);
        const bool ok = camera_stream_restart(&link->stream, failed);
        link->restarted = true;
        link->signal.counting = false;
        link->signal.heard_ns = clock_now_ns();
        if (ok && (link->shut = find_shut(link))) // not before, because a stalled device may take seconds to answer
            report_trouble(link, why);
        if (ok)
            return;
        log_info("%s", failed);
    }
    camera_link_lose(link, why);
}

void camera_link_frame_arrived(struct camera_link *link)
{
    link->restarted = false;
    link->shut = NULL;
    if (camera_signal_arrive(&link->signal, link->node.path, link->node.card))
        link->closed = false;
}

// Advises about a picture that is black, or about a low rate: many cameras lower their rate in the dark, unless a
// control forbids it.
static void advise(struct camera_link *link)
{
    static const char dark[] =
        "auto-exposure lowers the frame rate; add light or use --control exposure_dynamic_framerate=0";
    const double enough = 0.8;
    struct v4l2_control allowed = {.id = V4L2_CID_EXPOSURE_AUTO_PRIORITY};
    const char *shut = find_shut(link);
    const bool may = camera_device_ask(&link->stream.device, VIDIOC_G_CTRL, &allowed) == 0 && allowed.value;
    pthread_mutex_lock(&link->signal.lock);
    const double rate = camera_signal_rate(&link->signal);
    const bool slow = may && rate > 0 && rate < enough * link->signal.rate;
    snprintf(link->signal.health.hint, sizeof(link->signal.health.hint), "%s", text_or(shut, text_if(slow, dark)));
    pthread_mutex_unlock(&link->signal.lock);
}

uint64_t camera_link_number(struct camera_link *link, uint32_t sequence, int64_t captured_ns)
{
    bool due;
    const uint64_t number = camera_signal_number(&link->signal, sequence, captured_ns, &due);
    if (due)
        advise(link);
    return number;
}

// Opens the camera for its controls. Returns false while it is away or stalled, because it would block the caller.
static bool open_controls(struct camera_link *link, struct camera_device *device)
{
    pthread_mutex_lock(&link->signal.lock);
    const bool away = link->signal.health.trouble[0] != '\0';
    *device = (struct camera_device){.fd = away ? -1 : duplicate(link->control_fd)};
    memcpy(device->path, link->node.path, sizeof(link->node.path));
    pthread_mutex_unlock(&link->signal.lock);
    return device->fd >= 0;
}

// Keeps a control that was set, for change_again. id 0: none was set.
static void keep_change(struct camera_link *link, const struct v4l2_control *set)
{
    pthread_mutex_lock(&link->signal.lock);
    int i = 0;
    while (i < link->changes && link->change[i].id != set->id)
        i++;
    if (set->id != 0 && i < CAMERA_CHANGES) {
        link->change[i] = *set;
        link->changes += i == link->changes;
    }
    pthread_mutex_unlock(&link->signal.lock);
}

int camera_link_controls(struct camera_link *link, struct source_control control[SOURCE_CONTROLS])
{
    struct camera_device device;
    if (!open_controls(link, &device))
        return 0;
    const int count = camera_control_list(&device, control);
    camera_device_close(&device);
    return count;
}

bool camera_link_set(struct camera_link *link, const char *setting, char why[SOURCE_SET_WHY])
{
    struct v4l2_control set;
    struct camera_device device;
    if (!open_controls(link, &device)) {
        snprintf(why, SOURCE_SET_WHY, "no signal: the camera's controls cannot be set");
        return false;
    }
    const bool ok = camera_control_assign(&device, setting, &set, why);
    camera_device_close(&device);
    keep_change(link, &set);
    return ok;
}
