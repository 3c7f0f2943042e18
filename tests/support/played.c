// played.c: a camera and v4l2loopback that tests/source/driver.c plays, 30 frames per second; linked into the program
// with --wrap
// - PLAYED_READERS: the loopback has a reader while this file exists
// - PLAYED_STREAMS: this file exists while the camera streams
// - PLAYED_OLD: a loopback that does not report its readers
#include "driver.h"

#include "base/clock.h"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_NS = 5000000, TURNS = 7 }; // a frame each 35 ms

static void show_streams(const char *path)
{
    static bool shown;
    if (!path || shown == driver.streams)
        return;
    shown = driver.streams;
    if (shown)
        close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    else
        unlink(path);
}

static void *play(void *context)
{
    const char *readers = getenv("PLAYED_READERS"), *streams = getenv("PLAYED_STREAMS");
    for (uint32_t turn = 0;; turn++) {
        driver.readers = readers && faccessat(AT_FDCWD, readers, F_OK, 0) == 0;
        show_streams(streams);
        if (turn % TURNS == 0 && driver.streams && driver_has_room())
            driver_send(&(struct driver_frame){.fill = 0x80,
                                               .used = {DRIVER_WIDTH * DRIVER_HEIGHT * 2},
                                               .sequence = turn / TURNS,
                                               .flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
                                               .stamp_ns = clock_now_ns()});
        clock_sleep_until_ns(clock_now_ns() + TURN_NS);
    }
    return context;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.no_events = getenv("PLAYED_OLD") != NULL;
    if (pthread_create(&thread, NULL, play, NULL) != 0)
        abort();
    pthread_detach(thread);
}
