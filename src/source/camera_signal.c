// camera_signal.c: whether a camera's frames arrive: their numbers and rate, the loss of the signal, and its report
#include "source/camera_signal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { PERIODS_PATIENT = 10 };           // a camera that misses this many frames in a row has stalled
enum { SLOWEST_START = 3 };              // the patience with a stream that has no frame yet doubles so often
#define PATIENCE_LEAST_NS (2 * NS_PER_S) // auto-exposure in the dark, and the set-up, take time
#define PATIENCE_MOST_NS (10 * NS_PER_S)

void camera_signal_init(struct camera_signal *signal)
{
    *signal = (struct camera_signal){.heard_ns = clock_now_ns()};
    pthread_mutex_init(&signal->lock, NULL);
}

void camera_signal_finish(struct camera_signal *signal)
{
    pthread_mutex_destroy(&signal->lock);
}

void camera_signal_lose(struct camera_signal *signal, const char *path, const char *card, const char *why,
                        const char *more)
{
    char trouble[SOURCE_TROUBLE];
    snprintf(trouble, sizeof(trouble), "no signal: %.150s%s%s; reconnecting", why, text_if(more, "; "),
             text_or(more, ""));
    pthread_mutex_lock(&signal->lock);
    const bool new = strcmp(signal->health.trouble, trouble) != 0;
    memcpy(signal->health.trouble, trouble, sizeof(trouble));
    signal->health.outages += signal->lost_ns == 0;
    pthread_mutex_unlock(&signal->lock);
    if (new)
        log_warn("camera %s (%s): %s", path, card, trouble);
    if (signal->lost_ns == 0)
        signal->lost_ns = clock_now_ns();
}

int64_t camera_signal_patience_ns(const struct camera_signal *signal)
{
    int64_t wanted = signal->rate > 0 ? (int64_t)(PERIODS_PATIENT / signal->rate * 1e9) : 0;
    if (wanted < PATIENCE_LEAST_NS)
        wanted = PATIENCE_LEAST_NS;
    if (!signal->counting)
        wanted <<= signal->slow_start;
    return wanted > PATIENCE_MOST_NS ? PATIENCE_MOST_NS : wanted;
}

// Returns the number of frames that would have arrived since the signal was lost; 0 if there is a signal.
static uint64_t missed(const struct camera_signal *signal)
{
    const double rate = signal->rate > 0 ? signal->rate : SOURCE_DEFAULT_RATE;
    return signal->lost_ns == 0 ? 0 : (uint64_t)((double)(clock_now_ns() - signal->lost_ns) / 1e9 * rate);
}

bool camera_signal_arrive(struct camera_signal *signal, const char *path, const char *card)
{
    signal->heard_ns = clock_now_ns();
    if (signal->lost_ns == 0)
        return false;
    const uint64_t lost = missed(signal);
    log_warn("camera %s (%s): frames arrive again after %.1f s", path, card,
             (double)(signal->heard_ns - signal->lost_ns) / 1e9);
    pthread_mutex_lock(&signal->lock);
    signal->health.trouble[0] = '\0';
    signal->health.lost += lost;
    signal->stamps = 0;
    pthread_mutex_unlock(&signal->lock);
    signal->lost_ns = 0;
    return true;
}

double camera_signal_rate(const struct camera_signal *signal)
{
    const uint64_t count = signal->stamps < CAMERA_STAMPS ? signal->stamps : CAMERA_STAMPS;
    if (count < 2)
        return 0;
    const int64_t newest = signal->stamp_ns[(signal->stamps - 1) % CAMERA_STAMPS];
    const int64_t oldest = signal->stamp_ns[(signal->stamps - count) % CAMERA_STAMPS];
    return newest > oldest ? (double)(count - 1) * 1e9 / (double)(newest - oldest) : 0;
}

uint64_t camera_signal_number(struct camera_signal *signal, uint32_t sequence, int64_t captured_ns, bool *due)
{
    const uint32_t step = sequence - signal->sequence;
    if (signal->counting)
        signal->number += step == 0 || step > INT32_MAX ? 1 : step;
    else if (signal->any)
        signal->number += 1 + missed(signal);
    signal->any = signal->counting = true;
    signal->sequence = sequence;
    pthread_mutex_lock(&signal->lock);
    signal->stamp_ns[signal->stamps++ % CAMERA_STAMPS] = captured_ns;
    *due = signal->stamps % CAMERA_STAMPS == 1;
    pthread_mutex_unlock(&signal->lock);
    return signal->number;
}

void camera_signal_add_damaged(struct camera_signal *signal, uint64_t frames)
{
    pthread_mutex_lock(&signal->lock);
    signal->health.damaged += frames;
    pthread_mutex_unlock(&signal->lock);
}

void camera_signal_give_up(struct camera_signal *signal, const char *dropped, char why[CAMERA_WHY])
{
    snprintf(why, CAMERA_WHY, "no %sframe arrived for %.0f s%s%.300s", text_if(dropped, "valid "),
             (double)camera_signal_patience_ns(signal) / 1e9, text_if(dropped, ": "), text_or(dropped, ""));
    if (!signal->counting && signal->slow_start < SLOWEST_START)
        signal->slow_start++;
}

void camera_log_shapes(const struct camera_node *node, const struct image_shape *now, const char *name,
                       const struct image_shape *before, const char *name_before)
{
    log_warn("camera %s (%s): its frames are now %dx%d %s (%s, %s) instead of %dx%d %s (%s, %s)", node->path,
             node->card, now->width, now->height, name, color_matrix_name(now->color.matrix),
             color_range_name(now->color.range), before->width, before->height, name_before,
             color_matrix_name(before->color.matrix), color_range_name(before->color.range));
}

void camera_signal_health(struct camera_signal *signal, struct source_health *health)
{
    pthread_mutex_lock(&signal->lock);
    *health = signal->health;
    health->rate = camera_signal_rate(signal);
    pthread_mutex_unlock(&signal->lock);
}
