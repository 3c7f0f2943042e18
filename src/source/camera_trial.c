// camera_trial.c: finds out if a camera gives a picture
#include "source/cameras.h"

#include "base/clock.h"
#include "source/camera_stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>

enum { LIMIT_MS = 3000, TURN_MS = 100 };

static bool wait_frame(const struct camera_stream *stream, char why[CAMERA_WHY])
{
    const int64_t deadline_ns = clock_now_ns() + (int64_t)LIMIT_MS * 1000000;
    struct pollfd ready = {.fd = stream->device.fd, .events = POLLIN};
    while (clock_now_ns() < deadline_ns) {
        if (poll(&ready, 1, TURN_MS) > 0 && ready.revents & POLLIN)
            return true;
        if (ready.revents) // poll returns at once until the error is gone
            clock_sleep_until_ns(clock_now_ns() + (int64_t)TURN_MS * 1000000);
        ready.revents = 0;
    }
    snprintf(why, CAMERA_WHY, "no frame arrived for %d s", LIMIT_MS / 1000);
    return false;
}

bool camera_gives_picture(const char *path, char why[CAMERA_WHY])
{
    const struct source_setup any = {0};
    struct camera_stream stream;
    struct camera_mode mode;
    camera_stream_init(&stream);
    errno = 0;
    bool gives = camera_stream_open(&stream, path, why) && camera_mode_choose(&stream.device, &any, &mode) &&
                 camera_stream_set(&stream, &mode, 0, why) && camera_stream_start(&stream, why);
    if (gives)
        gives = wait_frame(&stream, why);
    else
        gives = errno == EBUSY || errno == EACCES || errno == EPERM || errno == ENOSPC || errno == ENOMEM;
    camera_stream_finish(&stream);
    return gives;
}
