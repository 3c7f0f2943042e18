// camera_link.c: the connection with a camera: made, watched, mended
#include "base/clock.h"
#include "base/log.h"
#include "source/camera.h"
#include "source/camera_control.h"
#include "source/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S ((int64_t)1000000000)
#define DELAY_FIRST_NS (NS_PER_S / 4) // before the camera is looked for again, doubling up to the longest
#define DELAY_LONGEST_NS (2 * NS_PER_S)
#define UNPLUGGED_NS (NS_PER_S / 2) // for a driver to let go of a camera

enum { PERIODS_PATIENT = 10 };           // a camera that misses so many pictures in a row has stalled
#define PATIENCE_LEAST_NS (2 * NS_PER_S) // auto-exposure in the dark, and setting up, take their time
#define PATIENCE_MOST_NS (10 * NS_PER_S)

bool camera_link_control(const struct camera *camera, char why[CAMERA_WHY])
{
    return camera_control_set(&camera->stream.device, camera->setup.controls, camera->setup.control_count, why);
}

// What was changed while the camera ran; a control that has gone is no reason to give up.
static void change_again(struct camera *camera)
{
    struct camera_change change[CAMERA_CHANGES];
    pthread_mutex_lock(&camera->lock);
    const int changes = camera->changes;
    memcpy(change, camera->change, sizeof(change));
    pthread_mutex_unlock(&camera->lock);
    for (int i = 0; i < changes; i++) {
        struct v4l2_control set = {.id = change[i].id, .value = change[i].value};
        if (v4l2_ask(camera->stream.device.fd, VIDIOC_S_CTRL, &set) != 0)
            log_info("cannot set a control of camera %s again: %s", camera->node.path, v4l2_advice(errno));
    }
}

bool camera_link_make(struct camera *camera, char why[CAMERA_WHY])
{
    struct camera_stream *stream = &camera->stream;
    if (!camera_stream_open(stream, camera->node.path, why))
        return false;
    if (!camera_link_control(camera, why))
        log_info("%s", why);
    change_again(camera);
    return camera_stream_set(stream, &camera->wanted, camera->setup.rate, why) && camera_stream_start(stream, why);
}

static void remember_change(struct camera *camera, const struct v4l2_control *set)
{
    int i = 0;
    while (i < camera->changes && camera->change[i].id != set->id)
        i++;
    if (i == CAMERA_CHANGES)
        return;
    camera->change[i] = (struct camera_change){set->id, set->value};
    camera->changes += i == camera->changes;
}

bool camera_link_adjust(struct camera *camera, int index, int steps, struct source_control *control)
{
    struct v4l2_control set;
    pthread_mutex_lock(&camera->lock);
    const bool away = camera->health.trouble[0] != '\0'; // or stalled: it would keep us waiting
    struct camera_device device = {.fd = away ? -1 : fcntl(camera->control_fd, F_DUPFD_CLOEXEC, 0)};
    memcpy(device.path, camera->node.path, sizeof(camera->node.path));
    pthread_mutex_unlock(&camera->lock);
    if (device.fd < 0) {
        snprintf(control->why, sizeof(control->why), "no signal: the camera's controls cannot be set");
        return false;
    }
    const bool ok = camera_control_move(&device, index, steps, control, &set);
    camera_device_close(&device);
    pthread_mutex_lock(&camera->lock);
    if (set.id != 0)
        remember_change(camera, &set);
    pthread_mutex_unlock(&camera->lock);
    return ok;
}

void camera_link_opened(struct camera *camera)
{
    pthread_mutex_lock(&camera->lock);
    camera->control_fd = fcntl(camera->stream.device.fd, F_DUPFD_CLOEXEC, 0);
    camera->health.userptr = camera->stream.kind == V4L2_MEMORY_USERPTR && !camera->mode.compressed &&
                             camera->stream.buffers == CAMERA_BUFFERS;
    pthread_mutex_unlock(&camera->lock);
    camera->connected = true;
}

// Linux's uvcvideo has crashed in the kernel where it was closed while it let go of a camera that was unplugged.
static void wait_unplugged(struct camera *camera)
{
    struct v4l2_capability capability;
    if (camera->connected && v4l2_ask(camera->stream.device.fd, VIDIOC_QUERYCAP, &capability) != 0 && errno == ENODEV)
        clock_sleep_until_ns(clock_now_ns() + UNPLUGGED_NS);
}

void camera_link_close(struct camera *camera)
{
    wait_unplugged(camera);
    pthread_mutex_lock(&camera->lock);
    const int control_fd = camera->control_fd;
    camera->control_fd = -1;
    pthread_mutex_unlock(&camera->lock);
    if (control_fd >= 0) // first: the device is closed when nobody has it any more
        close(control_fd);
    camera_stream_stop(&camera->stream);
    pthread_mutex_lock(&camera->lock);
    for (int i = 0; i < CAMERA_LENT; i++) {
        struct camera_loan *loan = &camera->loan[i];
        if (loan->returned) {
            camera_stream_drop(&camera->stream, loan->index);
            *loan = (struct camera_loan){0};
        }
        loan->orphaned = loan->used;
    }
    camera_stream_leave(&camera->stream);
    pthread_mutex_unlock(&camera->lock);
    camera_stream_close(&camera->stream);
    camera->connected = false;
    camera->counting = false;
}

// What the user is told while no pictures come: once in the log, and on the picture until they do.
static void tell(struct camera *camera, const char *why)
{
    char trouble[SOURCE_TROUBLE];
    snprintf(trouble, sizeof(trouble), "no signal: %.200s; reconnecting", why);
    pthread_mutex_lock(&camera->lock);
    const bool new = strcmp(camera->health.trouble, trouble) != 0;
    memcpy(camera->health.trouble, trouble, sizeof(trouble));
    camera->health.outages += camera->lost_ns == 0;
    pthread_mutex_unlock(&camera->lock);
    if (new)
        log_warn("camera %s (%s): %s", camera->node.path, camera->node.card, trouble);
    if (camera->lost_ns == 0)
        camera->lost_ns = clock_now_ns();
}

void camera_link_lose(struct camera *camera, const char *why)
{
    tell(camera, why);
    camera_link_close(camera);
    if (!camera->closed)
        camera->delay_ns = DELAY_FIRST_NS;
    camera->closed = true;
    camera->retry_ns = clock_now_ns() + camera->delay_ns;
}

// What the paths were built for cannot change under them: other pictures wait until camera_reshape.
void camera_link_reshape(struct camera *camera)
{
    const struct image_shape *new = &camera->next_shape, *old = &camera->shape;
    camera->next_mode = camera->stream.mode;
    camera->reshaped = true;
    log_warn("camera %s (%s): its frames are now %dx%d %s (%s, %s) instead of %dx%d %s (%s, %s)", camera->node.path,
             camera->node.card, new->width, new->height, camera_mode_name(&camera->next_mode),
             color_matrix_name(new->color.matrix), color_range_name(new->color.range), old->width, old->height,
             camera_mode_name(&camera->mode), color_matrix_name(old->color.matrix), color_range_name(old->color.range));
}

static bool connect_again(struct camera *camera, char why[CAMERA_WHY])
{
    struct camera_node found;
    if (!camera_find_again(&camera->node, &found, why))
        return false;
    pthread_mutex_lock(&camera->lock);
    memcpy(camera->node.path, found.path, sizeof(found.path));
    pthread_mutex_unlock(&camera->lock);
    if (camera_link_make(camera, why)) {
        if (camera_shape_same(camera))
            return true;
        if (camera_shape_see(camera, &camera->next_shape, why))
            camera_link_reshape(camera);
    }
    camera_stream_close(&camera->stream);
    return false;
}

void camera_link_retry(struct camera *camera, int64_t deadline_ns)
{
    if (clock_now_ns() < camera->retry_ns) {
        clock_sleep_until_ns(camera->retry_ns < deadline_ns ? camera->retry_ns : deadline_ns);
        if (clock_now_ns() < camera->retry_ns)
            return;
    }
    char why[CAMERA_WHY];
    if (connect_again(camera, why)) {
        struct frame old; // was still being decoded when the signal was lost
        if (camera->decoder && camera_decoder_take(camera->decoder, &old))
            camera_decoder_give(camera->decoder, &old);
        camera_link_opened(camera);
        camera->heard_ns = clock_now_ns();
        camera->restarted = true; // a stream that does not come up again is opened again
    } else if (!camera->reshaped) {
        tell(camera, why);
    }
    camera->delay_ns = camera->delay_ns * 2 < DELAY_LONGEST_NS ? camera->delay_ns * 2 : DELAY_LONGEST_NS;
    camera->retry_ns = clock_now_ns() + camera->delay_ns;
}

void camera_link_mend(struct camera *camera, const char *why)
{
    char failed[CAMERA_WHY];
    if (!camera->restarted) {
        tell(camera, why);
        const bool ok = camera_stream_restart(&camera->stream, failed);
        camera->restarted = true;
        camera->counting = false;
        camera->heard_ns = clock_now_ns();
        if (ok)
            return;
        log_info("%s", failed);
    }
    camera_link_lose(camera, why);
}

int64_t camera_link_patience_ns(const struct camera *camera)
{
    const double rate = camera->source->info.rate;
    const int64_t wanted = rate > 0 ? (int64_t)(PERIODS_PATIENT / rate * 1e9) : 0;
    return wanted < PATIENCE_LEAST_NS ? PATIENCE_LEAST_NS : wanted > PATIENCE_MOST_NS ? PATIENCE_MOST_NS : wanted;
}

// Pictures that would have come since the signal was lost, if it was.
static uint64_t missed(const struct camera *camera, double *gone_s)
{
    const double rate = camera->source->info.rate > 0 ? camera->source->info.rate : SOURCE_DEFAULT_RATE;
    *gone_s = camera->lost_ns != 0 ? (double)(clock_now_ns() - camera->lost_ns) / 1e9 : 0;
    return (uint64_t)(*gone_s * rate);
}

static void end_outage(struct camera *camera)
{
    double gone_s;
    const uint64_t lost = missed(camera, &gone_s);
    log_warn("camera %s (%s): frames arrive again after %.1f s", camera->node.path, camera->node.card, gone_s);
    pthread_mutex_lock(&camera->lock);
    camera->health.trouble[0] = '\0';
    camera->health.lost += lost;
    camera->stamps = 0;
    pthread_mutex_unlock(&camera->lock);
    camera->lost_ns = 0;
    camera->closed = false;
}

double camera_link_rate(const struct camera *camera)
{
    const uint64_t count = camera->stamps < CAMERA_STAMPS ? camera->stamps : CAMERA_STAMPS;
    if (count < 2)
        return 0;
    const int64_t newest = camera->stamp_ns[(camera->stamps - 1) % CAMERA_STAMPS];
    const int64_t oldest = camera->stamp_ns[(camera->stamps - count) % CAMERA_STAMPS];
    return newest > oldest ? (double)(count - 1) * 1e9 / (double)(newest - oldest) : 0;
}

// Many cameras lower their rate in the dark unless they are told not to.
static void explain_rate(struct camera *camera)
{
    static const char hint[] =
        "auto-exposure lowers the frame rate; add light or use --control exposure_dynamic_framerate=0";
    const double enough = 0.8;
    int allowed = 0;
    const bool may = camera_control_get(&camera->stream.device, V4L2_CID_EXPOSURE_AUTO_PRIORITY, &allowed) && allowed;
    pthread_mutex_lock(&camera->lock);
    camera->health.hint[0] = '\0';
    if (may && camera_link_rate(camera) < enough * camera->source->info.rate)
        memcpy(camera->health.hint, hint, sizeof(hint));
    pthread_mutex_unlock(&camera->lock);
}

void camera_link_well(struct camera *camera)
{
    if (camera->lost_ns != 0)
        end_outage(camera);
    camera->heard_ns = clock_now_ns();
    camera->left_out = NULL;
    camera->restarted = false;
}

uint64_t camera_link_number(struct camera *camera, uint32_t sequence, int64_t captured_ns)
{
    double gone_s;
    // The driver's count, made to grow: some drivers repeat or reset it.
    const uint32_t step = sequence - camera->sequence;
    if (camera->counting)
        camera->number += step == 0 || step > INT32_MAX ? 1 : step;
    else if (camera->any)
        camera->number += 1 + missed(camera, &gone_s);
    camera->any = camera->counting = true;
    camera->sequence = sequence;
    pthread_mutex_lock(&camera->lock);
    camera->stamp_ns[camera->stamps++ % CAMERA_STAMPS] = captured_ns;
    const bool look = camera->stamps % CAMERA_STAMPS == 0;
    pthread_mutex_unlock(&camera->lock);
    if (look)
        explain_rate(camera);
    return camera->number;
}
