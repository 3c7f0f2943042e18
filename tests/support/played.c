// played.c: a camera and v4l2loopback that tests/source/driver.c plays, 30 frames per second; linked into the program
// with --wrap
// - PLAYED_MODE: pixel format and size, "mjpeg 24x16"; default: "yuyv 24x16"
// - PLAYED_FILES, _STALLED, _FORBIDDEN, _SIGNAL, _STANDARD: the orders of these names, at the start
// - PLAYED_CLAIM: frames per second that the camera claims
// - PLAYED_GARBAGE: number of white frames at each start of the stream
// - PLAYED_SOCKET: the path of a datagram socket, on which the camera takes the orders of the table below
// - PLAYED_FEED: a pipe of Y4M without colour, of the mode's size; its pictures become the frames, instead
// - PLAYED_OUTPUT: "YU12 64x48": the loopback has only this format, and only this size if there is one
// - PLAYED_READERS: the loopback has a reader while this file exists
// - PLAYED_STREAMS: this file exists while the camera streams
// - PLAYED_OLD: a loopback that does not report its readers
#include "driver.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { TURN_NS = 5000000, LATE_NS = 200000000, TURNS = 7, FILES = 4 }; // a frame each 35 ms

// What the frames show: these files in turn, or grey.
static struct {
    uint8_t *bytes[FILES];
    uint32_t size[FILES];
    uint32_t count;
} film;
static bool stalled, damaged; // sends nothing; the next frame has the error flag
static int garbage;

// ---- orders ----

static void plug(const char *text)
{
    driver.there = atoi(text);
    driver.ask_error = driver.there ? 0 : ENODEV;
    driver_wake();
}

static void forbid(const char *text)
{
    driver.open_error = atoi(text) ? EACCES : 0;
}

static void stall(const char *text)
{
    stalled = atoi(text);
}

static void claim(const char *text)
{
    driver.rate = (uint32_t)atoi(text);
}

static void begin_with_garbage(const char *text)
{
    garbage = atoi(text);
}

// As a camera that loses its settings with its power.
static void reset(const char *text)
{
    memset(driver.control, 0, sizeof(driver.control));
}

static void damage(const char *text)
{
    damaged = true;
}

static void deafen(const char *text)
{
    driver.deaf = atoi(text);
}

static void change_signal(const char *text)
{
    unsigned width = 0, height = 0;
    sscanf(text, "%ux%u", &width, &height);
    driver.signal = width;
    driver.signal_height = height;
    driver.changed = true;
    driver_wake();
}

static void change_standard(const char *text)
{
    driver.standard = strcmp(text, "ntsc") == 0 ? V4L2_STD_NTSC : V4L2_STD_PAL;
    driver.changed = true;
    driver_wake();
}

static void change_colors(const char *text)
{
    driver.colorspace = (unsigned)atoi(text);
    driver.changed = true;
    driver_wake();
}

// "FILE:FILE": the frames show these.
static void show_files(const char *text)
{
    char paths[4096], *rest = paths;
    snprintf(paths, sizeof(paths), "%s", text);
    film.count = 0;
    for (const char *path; film.count < FILES && (path = strsep(&rest, ":")) && *path;) {
        FILE *file = fopen(path, "rb");
        free(film.bytes[film.count]);
        film.bytes[film.count] = calloc(1, DRIVER_LENGTH_MOST);
        film.size[film.count] = file ? (uint32_t)fread(film.bytes[film.count], 1, DRIVER_LENGTH_MOST, file) : 0;
        film.count++;
        if (file)
            fclose(file);
    }
}

static const struct {
    const char *name;
    void (*obey)(const char *text);
} orders[] = {{"plug", plug},
              {"forbid", forbid},
              {"stall", stall},
              {"damage", damage},
              {"reset", reset},
              {"deafen", deafen},
              {"signal", change_signal},
              {"standard", change_standard},
              {"colors", change_colors},
              {"files", show_files}};

// "NV12 64x48": the loopback's only format and size; the size may be missing.
static void fix_output(const char *text)
{
    memcpy(&driver.output_fourcc, text, 4);
    sscanf(text + 4, "%ux%u", &driver.output_width, &driver.output_height);
}

// Orders in the environment, at the start.
static const struct {
    const char *name;
    void (*obey)(const char *text);
} first_orders[] = {{"PLAYED_FILES", show_files},     {"PLAYED_OUTPUT", fix_output},
                    {"PLAYED_STALLED", stall},        {"PLAYED_FORBIDDEN", forbid},
                    {"PLAYED_SIGNAL", change_signal}, {"PLAYED_STANDARD", change_standard},
                    {"PLAYED_CLAIM", claim},          {"PLAYED_GARBAGE", begin_with_garbage}};

// "ORDER=TEXT"
static void obey(char *order)
{
    char *text = strchr(order, '=');
    if (!text)
        abort();
    *text++ = '\0';
    size_t i = 0;
    while (i < sizeof(orders) / sizeof(*orders) && strcmp(orders[i].name, order) != 0)
        i++;
    if (i == sizeof(orders) / sizeof(*orders))
        abort();
    orders[i].obey(text);
}

static int open_socket(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!path)
        return -1;
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    close(fd); // a child process of the program; its parent takes the orders
    return -1;
}

static void take_orders(int fd, int64_t until_ns)
{
    char order[4096];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    for (int64_t left_ns; (left_ns = until_ns - clock_now_ns()) > 0;) {
        const struct timespec left = {.tv_nsec = left_ns};
        if (fd < 0)
            clock_sleep_until_ns(until_ns);
        else if (ppoll(&ready, 1, &left, NULL) == 1)
            for (ssize_t size; (size = recv(fd, order, sizeof(order) - 1, 0)) > 0;) {
                order[size] = '\0';
                obey(order);
            }
    }
}

// ---- frames ----

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

static void send_frame(uint32_t number)
{
    static int64_t started_ns;
    static int sent; // since then
    sent = started_ns == driver.started_ns ? sent + 1 : 1;
    started_ns = driver.started_ns;
    const uint32_t file = film.count > 0 ? number % film.count : 0, all = driver.width * driver.height * 2;
    driver_send(&(struct driver_frame){.data = film.count > 0 ? film.bytes[file] : NULL,
                                       .fill = sent > garbage ? 0x80 : 0xff,
                                       .used = {film.count > 0 ? film.size[file] : all},
                                       .sequence = number,
                                       .flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC | (damaged ? V4L2_BUF_FLAG_ERROR : 0),
                                       .stamp_ns = clock_now_ns()});
    damaged = false;
}

static void *play(void *context)
{
    const char *readers = getenv("PLAYED_READERS"), *streams = getenv("PLAYED_STREAMS");
    const int fd = open_socket(getenv("PLAYED_SOCKET"));
    int64_t due_ns = clock_now_ns(); // a busy machine does not slow the camera down
    for (uint32_t turn = 0;; turn++) {
        driver.readers = readers && faccessat(AT_FDCWD, readers, F_OK, 0) == 0;
        show_streams(streams);
        if (turn % TURNS == 0 && !stalled && driver.streams && driver_has_room())
            send_frame(turn / TURNS);
        due_ns = clock_now_ns() - due_ns > LATE_NS ? clock_now_ns() : due_ns + TURN_NS;
        take_orders(fd, due_ns);
    }
    return context;
}

// Sends each picture of the pipe as it comes. Frames that have no room are lost.
static void *feed(void *context)
{
    const size_t pixels = (size_t)driver.width * driver.height, head = strlen("FRAME\n");
    static uint8_t line[DRIVER_LENGTH_MOST / 2 + 8], frames[16][DRIVER_LENGTH_MOST];
    FILE *pipe = fopen(context, "rb");
    if (!pipe || !fgets((char *)line, sizeof(line), pipe))
        abort();
    for (uint32_t number = 0; fread(line, 1, head + pixels, pipe) == head + pixels; number++) {
        uint8_t *frame = frames[number % 16];
        for (size_t i = 0; i < pixels; i++) {
            frame[2 * i] = line[head + i];
            frame[2 * i + 1] = 0x80;
        }
        if (driver.streams && driver_has_room())
            driver_send(&(struct driver_frame){.data = frame,
                                               .used = {(uint32_t)pixels * 2},
                                               .sequence = number,
                                               .flags = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
                                               .stamp_ns = clock_now_ns()});
    }
    fclose(pipe);
    return NULL;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    char format[8] = "yuyv";
    unsigned width = DRIVER_WIDTH, height = DRIVER_HEIGHT;
    char *pipe = getenv("PLAYED_FEED");
    sscanf(getenv("PLAYED_MODE") ? getenv("PLAYED_MODE") : "", "%7s %ux%u", format, &width, &height);
    driver_start(strcmp(format, "mjpeg") == 0 ? V4L2_PIX_FMT_MJPEG : V4L2_PIX_FMT_YUYV, 1);
    driver.width = width;
    driver.height = height;
    driver.length = DRIVER_LENGTH_MOST;
    driver.no_events = getenv("PLAYED_OLD") != NULL;
    for (size_t i = 0; i < sizeof(first_orders) / sizeof(*first_orders); i++)
        if (getenv(first_orders[i].name))
            first_orders[i].obey(getenv(first_orders[i].name));
    driver.changed = false; // before the start
    driver_wake();
    if (pthread_create(&thread, NULL, pipe ? feed : play, pipe) != 0)
        abort();
    pthread_detach(thread);
}
