// camera_trial.c: finds out if a camera gives a picture
#include "source/cameras.h"

#include "base/clock.h"
#include "source/camera_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum { TURN_MS = 100 };

static bool wait_frame(const struct camera_stream *stream, int64_t deadline_ns, const atomic_bool *enough,
                       char why[CAMERA_WHY])
{
    struct pollfd ready = {.fd = stream->device.fd, .events = POLLIN};
    while (clock_now_ns() < deadline_ns && !*enough) {
        if (poll(&ready, 1, TURN_MS) > 0 && ready.revents & POLLIN)
            return true;
        if (ready.revents) // poll returns at once until the error is gone
            clock_sleep_until_ns(clock_now_ns() + (int64_t)TURN_MS * 1000000);
        ready.revents = 0;
    }
    snprintf(why, CAMERA_WHY, "no frame arrived for 3 s");
    return false;
}

bool camera_gives_picture(const char *path, int64_t deadline_ns, const atomic_bool *enough, char why[CAMERA_WHY])
{
    const struct source_setup small = {.width = 640, .height = 480}; // many cameras may be on trial
    struct camera_stream stream;
    struct camera_mode mode;
    camera_stream_init(&stream);
    errno = 0;
    bool gives = camera_stream_open(&stream, path, why) && camera_mode_choose(&stream.device, &small, &mode, why) &&
                 camera_stream_set(&stream, &mode, 0, why) && camera_stream_start(&stream, why);
    if (gives)
        gives = wait_frame(&stream, deadline_ns, enough, why);
    else
        gives = errno == EBUSY || errno == EACCES || errno == EPERM || errno == ENOSPC || errno == ENOMEM;
    camera_stream_finish(&stream);
    return gives;
}
