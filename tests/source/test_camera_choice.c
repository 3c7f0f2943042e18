// test_camera_choice.c: the camera that is found by default, again after it was removed, and in the list of cameras;
// drivers and time are played by driver.h and played_clock.h
#include "check.h"
#include "driver.h"
#include "played_camera.h"
#include "played_clock.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/camera_control.h"
#include "source/cameras.h"
#include "source/kind.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = DRIVER_WIDTH, HEIGHT = DRIVER_HEIGHT, PATIENCE_MS = 60000 * DRIVER_HASTE };
enum { YUYV_BYTES = WIDTH * HEIGHT * 2 };

#define CHECK(condition) check_that(&check, condition, "%s", #condition)

static struct check check = {.name = "camera choice"};
static struct scratch scratch;

// The default is the first camera. The pattern replaces it only if there is no camera: otherwise a fault of the camera
// would look like a success.
static void test_default(void)
{
    static const struct {
        int open_error;
        unsigned long busy;
        const char *says;
    } rows[] = {
        {EACCES, 0, "sudo usermod -aG video $USER"},      {EPERM, 0, "container"},
        {EBUSY, 0, "another program is using it"},        {ENXIO, 0, "no device answers; plug the camera in again"},
        {0, VIDIOC_S_FMT, "another program is using it"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.open_error = rows[i].open_error;
        driver.refuse = (struct driver_refusal){.request = rows[i].busy, .error = EBUSY};
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){0});
        const int lines = captured_lines(&scratch.said);
        check_that(&check,
                   !source && lines == 1 && strstr(scratch.said.text, rows[i].says) &&
                       strstr(scratch.said.text, "error"),
                   "case %zu: %s", i, scratch.said.text);
        camera_close_played(source);
    }
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.there = false;
    capture_stderr(&scratch.said);
    struct source *source = source_open(&(struct source_setup){0});
    const int lines = captured_lines(&scratch.said);
    check_that(&check, source && strcmp(source_info(source)->kind, "pattern") == 0, "without a camera: the pattern");
    check_that(&check, lines == 1 && strstr(scratch.said.text, "plug in a camera"), "without: %s", scratch.said.text);
    check_that(&check, source && strstr(scratch.said.text, source_info(source)->missing), "the source says why");
    camera_close_played(source);
}

// A node that monocle cannot read, or that gives no picture, is skipped with a line; its name still selects it.
static void test_blank(void)
{
    static const struct {
        uint32_t fourcc;
        const char *driver;
        bool sends;
        const char *says; // NULL: the camera is used
    } rows[] = {
        {V4L2_PIX_FMT_SBGGR10P, "unicam", true, "(played): the image processor Raspberry Pi unicam is not set up"},
        {V4L2_PIX_FMT_YUYV, "bcm2835-isp", false, "(played): the image processor Raspberry Pi ISP is not set up"},
        {V4L2_PIX_FMT_YUYV, "vivid", false, "(played): no frame arrived for 3 s; showing the test pattern"},
        {V4L2_PIX_FMT_YUYV, "bcm2835-isp", true, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        driver_start(rows[i].fourcc, 1);
        driver.name = rows[i].driver;
        if (rows[i].sends)
            driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){0});
        const int lines = captured_lines(&scratch.said); // libv4l2 may write some
        const char *kind = source ? source_info(source)->kind : "none";
        check_that(&check, strcmp(kind, rows[i].says ? "pattern" : "camera") == 0, "case %zu: %s", i, kind);
        check_that(&check, rows[i].says ? strstr(scratch.said.text, rows[i].says) != NULL : lines == 0, "case %zu: %s",
                   i, scratch.said.text);
        camera_close_played(source);
    }
    driver_start(V4L2_PIX_FMT_SBGGR10P, 1);
    capture_stderr(&scratch.said);
    check_that(&check, !source_open(&(struct source_setup){.text = "camera"}), "no photograph instead of a camera");
    check_that(&check, strstr(captured_stderr(&scratch.said), "no camera gives a picture: /dev/video0"), "%s",
               scratch.said.text);
    driver_finish();
}

// Other cameras of the same model, which were there before, are not the removed one.
static void test_twin(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.twins = 9;
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
    camera_passes(&check, source, "the start");
    driver.there = false;
    driver.ask_error = ENODEV;
    driver_wake();
    capture_stderr(&scratch.said);
    while (source && !strstr(source_health(source).trouble, "removed") && clock_now_ns() < deadline)
        source_next(source, &frame, 10);
    captured_stderr(&scratch.said);
    const struct source_health health = source_health(source);
    check_that(&check, strstr(health.trouble, "the camera was removed"), "%s", health.trouble);
    driver.there = true;
    driver.ask_error = 0;
    driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
    capture_stderr(&scratch.said);
    camera_passes(&check, source, "it is plugged in again");
    captured_stderr(&scratch.said);
    camera_close_played(source);
}

// ---- lists of nodes, as reports give them; the camera of driver.h is the one that gives pictures ----

#define LENGTH(list) (int)(sizeof(list) / sizeof(*(list)))
#define NODES(list) (list), LENGTH(list)

static const struct driver_node infrared[] = {
    {.number = 0, .driver = "uvcvideo", .card = "Integrated IR Camera", .bus = "usb-1", .fourcc = {V4L2_PIX_FMT_GREY}},
    {.number = 1, .driver = "uvcvideo", .card = "Integrated IR Camera", .bus = "usb-1", .metadata = true}};
static const struct driver_node h264[] = {
    {.number = 0, .driver = "uvcvideo", .card = "H264 camera", .bus = "usb-1", .fourcc = {V4L2_PIX_FMT_H264}}};
static const struct driver_node bayer[] = {
    {.number = 0, .driver = "uvcvideo", .card = "Bayer camera", .bus = "usb-1", .fourcc = {V4L2_PIX_FMT_SBGGR8}}};
static const struct driver_node equal[] = {
    {.number = 2, .driver = "uvcvideo", .card = "played", .bus = "usb-2", .fourcc = {V4L2_PIX_FMT_YUYV}}};
static const struct driver_node deaf[] = {
    {.number = 0, .driver = "uvcvideo", .card = "deaf", .bus = "usb-1", .fourcc = {V4L2_PIX_FMT_YUYV}, .deaf = true}};
#define DEAF(n)                                                                                                        \
    {                                                                                                                  \
        .number = (n), .driver = "uvcvideo", .card = "deaf", .bus = "usb", .deaf = true                                \
    }
static const struct driver_node all_deaf[] = {DEAF(0), DEAF(1), DEAF(2), DEAF(3), DEAF(4), DEAF(5), DEAF(6), DEAF(7)};
static const struct driver_node stuck[] = {
    {.number = 0, .driver = "uvcvideo", .card = "stuck", .bus = "usb-1", .fourcc = {V4L2_PIX_FMT_YUYV}, .stuck = true}};

static const struct driver_node jetson[] = {{.number = 0,
                                             .driver = "tegra-video",
                                             .card = "vi-output, imx219 9-0010",
                                             .bus = "platform:tegra-capture-vi:0",
                                             .fourcc = {V4L2_PIX_FMT_SRGGB10}}};

#define PI4_ISP(n)                                                                                                     \
    {                                                                                                                  \
        .number = (n), .driver = "bcm2835-isp", .card = "bcm2835-isp", .bus = "platform:bcm2835-isp", .fourcc = {      \
            V4L2_PIX_FMT_YUYV,                                                                                         \
            V4L2_PIX_FMT_YUV420,                                                                                       \
            V4L2_PIX_FMT_RGB24                                                                                         \
        }                                                                                                              \
    }
static const struct driver_node pi4[] = {
    {.number = 0,
     .driver = "unicam",
     .card = "unicam",
     .bus = "platform:fe801000.csi",
     .fourcc = {V4L2_PIX_FMT_SRGGB10P}},
    {.number = 1, .driver = "unicam", .card = "unicam", .bus = "platform:fe801000.csi", .metadata = true},
    PI4_ISP(14),
    PI4_ISP(15),
    PI4_ISP(21),
    PI4_ISP(22)};
#define PI5_CFE(n)                                                                                                     \
    {                                                                                                                  \
        .number = (n), .driver = "rp1-cfe", .card = "rp1-cfe", .bus = "platform:1f00110000.csi", .fourcc = {           \
            V4L2_PIX_FMT_SRGGB10P,                                                                                     \
            V4L2_PIX_FMT_SRGGB12P                                                                                      \
        }                                                                                                              \
    }
#define PI5_BACK(n)                                                                                                    \
    {                                                                                                                  \
        .number = (n), .driver = "pispbe", .card = "pispbe", .bus = "platform:1000880000.pisp_be", .fourcc = {         \
            V4L2_PIX_FMT_YUV420,                                                                                       \
            V4L2_PIX_FMT_YUYV,                                                                                         \
            V4L2_PIX_FMT_RGB24                                                                                         \
        }                                                                                                              \
    }
static const struct driver_node pi5[] = {PI5_CFE(0),   PI5_CFE(1),   PI5_CFE(4),   PI5_CFE(5),   PI5_BACK(22),
                                         PI5_BACK(23), PI5_BACK(24), PI5_BACK(31), PI5_BACK(32), PI5_BACK(33)};
static struct driver_node ipu6[48];

static void make_ipu6(void)
{
    for (int i = 0; i < LENGTH(ipu6); i++)
        ipu6[i] = (struct driver_node){.number = i,
                                       .driver = "isys",
                                       .card = "ipu6",
                                       .bus = "PCI:0000:00:05.0",
                                       .fourcc = {V4L2_PIX_FMT_UYVY, V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_RGB24},
                                       .start_error = i % 2 ? EPIPE : ENOLINK};
}

// The camera is at node `number`, or absent if that is negative.
static void start_list(const struct driver_node *nodes, int count, int number, const char *name, uint32_t fourcc)
{
    driver_start(fourcc, 1);
    driver.nodes = nodes;
    driver.node_count = count;
    driver.there = number >= 0;
    driver.number = number < 0 ? 99 : number;
    driver.name = name;
    driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
}

static void end_list(void)
{
    driver.answers = true;
    clock_sleep_until_ns(clock_now_ns() + (int64_t)1000 * NS_PER_MS); // the threads end
    driver_finish();
}

static void test_lists(void)
{
    static const struct {
        const char *name;
        const struct driver_node *nodes;
        int count, number;
        const char *driver;
        uint32_t fourcc;
        int most_ms;
        const char *found, *says; // found NULL: none, for this reason
    } rows[] = {
        {"infrared first", NODES(infrared), 2, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video2", NULL},
        {"infrared alone", NODES(infrared), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video0", NULL},
        {"infrared first, a Bayer camera", NODES(infrared), 2, "uvcvideo", V4L2_PIX_FMT_SBGGR8, 100, "/dev/video2",
         NULL},
        {"H264 first", NODES(h264), 2, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video2", NULL},
        {"H264 alone", NODES(h264), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, NULL,
         "/dev/video0 (H264 camera): it offers "
         "only the format H264, which neither monocle nor libv4l2 reads; ffmpeg reads it: v4l2-ctl -d /dev/video0"},
        {"Bayer first", NODES(bayer), 2, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video2", NULL},
        {"equal webcams", NODES(equal), 1, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video1", NULL},
        {"a deaf driver first", NODES(deaf), 2, "uvcvideo", V4L2_PIX_FMT_YUYV, 3500, "/dev/video2", NULL},
        {"a deaf driver alone", NODES(deaf), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 3500, NULL,
         "cannot open camera /dev/video0: its driver does not answer"},
        {"eight deaf drivers first", NODES(all_deaf), 9, "uvcvideo", V4L2_PIX_FMT_YUYV, 3500, "/dev/video9", NULL},
        {"Pi 4", NODES(pi4), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 3500, NULL,
         "/dev/video14 (bcm2835-isp) and 4 other "
         "nodes: the image processor Raspberry Pi ISP is not set up; it needs libcamera; run: sudo apt install"},
        {"Pi 4 with a webcam", NODES(pi4), 30, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video30", NULL},
        {"Pi 4 with a relay", NODES(pi4), 30, "v4l2 loopback", V4L2_PIX_FMT_YUYV, 100, "/dev/video30", NULL},
        {"Pi 4 with a set-up ISP", NODES(pi4), 23, "bcm2835-isp", V4L2_PIX_FMT_YUYV, 3500, "/dev/video23", NULL},
        {"Pi 5", NODES(pi5), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 3500, NULL,
         "/dev/video22 (pispbe) and 9 other nodes: "
         "the image processor Raspberry Pi PiSP is not set up; it needs libcamera"},
        {"Pi 5 with a webcam", NODES(pi5), 40, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, "/dev/video40", NULL},
        {"Jetson", NODES(jetson), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 100, NULL,
         "the image processor NVIDIA Jetson is not set up; it needs nvarguscamerasrc of GStreamer"},
        {"IPU6", NODES(ipu6), -1, "uvcvideo", V4L2_PIX_FMT_YUYV, 1000, NULL,
         "/dev/video0 (ipu6) and 47 other nodes: the "
         "image processor Intel IPU6 is not set up; it needs libcamera; run: sudo apt install libcamera-tools"},
        {"IPU6 with a webcam", NODES(ipu6), 60, "uvcvideo", V4L2_PIX_FMT_YUYV, 1000, "/dev/video60", NULL},
    };
    for (int i = 0; i < LENGTH(rows); i++) {
        struct camera_node node;
        char why[CAMERA_WHY] = "";
        start_list(rows[i].nodes, rows[i].count, rows[i].number, rows[i].driver, rows[i].fourcc);
        const int64_t began_ns = clock_now_ns();
        const bool found = camera_find(NULL, &node, why);
        const int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
        check_that(&check, found == (rows[i].found != NULL), "%s: %s", rows[i].name, why);
        check_that(&check, strstr(found ? node.path : why, rows[i].found ? rows[i].found : rows[i].says) != NULL,
                   "%s: %s %s", rows[i].name, node.path, why);
        check_that(&check, took_ms <= rows[i].most_ms, "%s: found after %d ms", rows[i].name, (int)took_ms);
        end_list();
    }
}

// A driver that blocks does not hold up the start.
static void test_stuck(void)
{
    static const struct {
        const char *text; // NULL: the first camera
        const struct driver_node *nodes;
        int number, most_ms;
        const char *says, *found; // found NULL: none
    } rows[] = {
        {NULL, stuck, 2, 3500, "warning: cannot start camera /dev/video0 (stuck): its driver does not answer; unplug",
         "played (/dev/video2)"},
        {NULL, stuck, -1, 10100, "error: cannot start camera /dev/video0 (stuck): its driver does not answer", NULL},
        {"camera:0", stuck, 2, 10100, "error: cannot start camera /dev/video0 (stuck): its driver does not", NULL},
        {"camera:0", deaf, 2, 2100, "error: cannot open camera /dev/video0: its driver does not answer", NULL},
    };
    for (int i = 0; i < LENGTH(rows); i++) {
        start_list(rows[i].nodes, 1, rows[i].number, "uvcvideo", V4L2_PIX_FMT_YUYV);
        const int64_t began_ns = clock_now_ns();
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = rows[i].text});
        const int lines = captured_lines(&scratch.said);
        const int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
        check_that(&check, lines == 1 && strstr(scratch.said.text, rows[i].says) && took_ms <= rows[i].most_ms,
                   "row %d: %d ms: %s", i, (int)took_ms, scratch.said.text);
        const char *name = source ? source_info(source)->name : "none";
        check_that(&check, !source == !rows[i].found && (!source || strcmp(name, rows[i].found) == 0), "row %d: %s", i,
                   name);
        source_close(source);
        end_list();
    }
}

// Webcams whose stream does not start are passed over, if the user named none. The messages name each of them. An error
// that is outside the camera, and that the user can remove, ends the run.
static void test_broken(void)
{
    static struct driver_node broken[2];
    static const struct {
        const char *text; // NULL: the first camera
        int error, broken, number;
        const char *says, *found; // found NULL: none
    } rows[] = {
        {NULL, EIO, 1, 2, "warning: cannot start camera /dev/video0 (broken): ", "played (/dev/video2)"},
        {NULL, EPROTO, 2, 2, "warning: cannot start camera /dev/video1 (broken): Protocol", "played (/dev/video2)"},
        {NULL, ENODEV, 1, 2, "(broken): the camera was unplugged; plug it in again; monocle", "played (/dev/video2)"},
        {"camera", ETIMEDOUT, 1, 2, "; monocle tries the other cameras", "played (/dev/video2)"},
        {NULL, EIO, 2, -1, "error: cannot start camera /dev/video1 (broken): ", NULL},
        {NULL, EIO, 1, -1, "error: cannot start camera /dev/video0 (broken): ", NULL},
        {NULL, EBUSY, 1, 2, "error: cannot start camera /dev/video0 (broken): another program", NULL},
        {NULL, ENOSPC, 1, 2, "error: cannot start camera /dev/video0 (broken): ", NULL},
        {"camera:0", EIO, 1, 2, "error: cannot start camera /dev/video0 (broken): ", NULL},
        {"camera:broken", EIO, 2, 2, "error: cannot start camera /dev/video0 (broken): ", NULL},
    };
    for (int i = 0; i < LENGTH(rows); i++) {
        for (int n = 0; n < LENGTH(broken); n++)
            broken[n] = (struct driver_node){.number = n,
                                             .driver = "uvcvideo",
                                             .card = "broken",
                                             .bus = "usb-1",
                                             .fourcc = {V4L2_PIX_FMT_YUYV},
                                             .start_error = rows[i].error};
        start_list(broken, rows[i].broken, rows[i].number, "uvcvideo", V4L2_PIX_FMT_YUYV);
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = rows[i].text});
        const int lines = captured_lines(&scratch.said);
        const bool all = rows[i].found || !rows[i].text; // else the first one ends the run
        check_that(&check, lines == (all && rows[i].broken == 2 ? 2 : 1) && strstr(scratch.said.text, rows[i].says),
                   "row %d: %s", i, scratch.said.text);
        const char *name = source ? source_info(source)->name : "none";
        check_that(&check, !source == !rows[i].found && (!source || strcmp(name, rows[i].found) == 0), "row %d: %s", i,
                   name);
        if (source)
            camera_passes(&check, source, "a camera that was passed over");
        source_close(source);
        end_list();
    }
}

// A format that neither monocle nor libv4l2 reads: the message names the program that does.
static void test_unread(void)
{
    static const struct {
        uint32_t fourcc;
        const char *says;
    } rows[] = {{V4L2_PIX_FMT_H264, "| ffmpeg -f h264 -i - "},
                {V4L2_PIX_FMT_HEVC, "| ffmpeg -f hevc -i - "},
                {V4L2_PIX_FMT_Y10, "| ffmpeg -f rawvideo -pixel_format gray10le -video_size 24x16 -i - "},
                {V4L2_PIX_FMT_Y12, "| ffmpeg -f rawvideo -pixel_format gray12le -video_size 24x16 -i - "},
                {V4L2_PIX_FMT_Z16, "| ffmpeg -f rawvideo -pixel_format gray16le -video_size 24x16 -i - "},
                {V4L2_PIX_FMT_SRGGB10, "ffmpeg may read it: ffmpeg -f v4l2 -i /dev/video0 "}};
    for (int i = 0; i < LENGTH(rows); i++) {
        char format[48];
        driver_start(rows[i].fourcc, 1);
        snprintf(format, sizeof(format), "only the format %.*s, which neither",
                 i < 2    ? 4
                 : i == 5 ? 4
                          : 3,
                 (const char *)&rows[i].fourcc);
        capture_stderr(&scratch.said);
        const struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
        const int lines = captured_lines(&scratch.said);
        check_that(&check, !source && lines == 1 && strstr(scratch.said.text, format), "%s: %s", format,
                   scratch.said.text);
        check_that(&check, strstr(scratch.said.text, rows[i].says) && !strstr(scratch.said.text, "--size"), "%s: %s",
                   format, scratch.said.text);
        driver_finish();
    }
}

// The stream of an image processor that is not set up.
static void test_not_set_up(void)
{
    static const int errors[] = {EPIPE, ENOLINK};
    for (int i = 0; i < LENGTH(errors); i++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.name = "isys";
        driver.refuse = (struct driver_refusal){.request = VIDIOC_STREAMON, .error = errors[i]};
        capture_stderr(&scratch.said);
        check_that(&check, !source_open(&(struct source_setup){.text = "camera:0"}), "it does not start");
        check_that(&check, strstr(captured_stderr(&scratch.said), "not set up; it needs libcamera; run: sudo apt"),
                   "%s", scratch.said.text);
        driver_finish();
    }
}

// A new node that cannot be opened yet: udev sets its permissions, and other programs try it.
static void test_new(void)
{
    static const struct {
        int error, until_ms;
        bool new, found;
        int most_ms;
    } rows[] = {{EBUSY, 400, true, true, 500},
                {EACCES, 400, true, true, 500},
                {EBUSY, 400, false, false, 0},
                {EACCES, 5000, true, false, 1100},
                {ENODEV, 400, true, false, 0}};
    for (int i = 0; i < LENGTH(rows); i++) {
        struct camera_node node;
        char why[CAMERA_WHY];
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.new = rows[i].new;
        driver.open_error = rows[i].error;
        const int64_t began_ns = clock_now_ns();
        driver.opens_ns = began_ns + (int64_t)rows[i].until_ms * NS_PER_MS;
        const bool found = camera_find("0", &node, why);
        const int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
        check_that(&check, found == rows[i].found && took_ms <= rows[i].most_ms, "row %d: %d ms: %s", i, (int)took_ms,
                   why);
        driver_finish();
    }
}

// A new camera that other programs try at the start.
static void test_busy(void)
{
    static const struct {
        unsigned long request;
        int until_ms;
        bool new, opens;
        int most_ms;
    } rows[] = {{VIDIOC_S_FMT, 600, true, true, 700},
                {VIDIOC_REQBUFS, 600, true, true, 700},
                {VIDIOC_STREAMON, 600, true, true, 700},
                {VIDIOC_STREAMON, 600, false, false, 0},
                {VIDIOC_STREAMON, 5000, true, false, 1100}};
    for (int i = 0; i < LENGTH(rows); i++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.new = rows[i].new;
        const int64_t began_ns = clock_now_ns();
        driver.refuse = (struct driver_refusal){
            .request = rows[i].request, .error = EBUSY, .until_ns = began_ns + (int64_t)rows[i].until_ms * NS_PER_MS};
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
        const int lines = captured_lines(&scratch.said);
        const int64_t took_ms = (clock_now_ns() - began_ns) / NS_PER_MS;
        check_that(&check, !source == !rows[i].opens && lines == !rows[i].opens && took_ms <= rows[i].most_ms,
                   "row %d: %d ms: %s", i, (int)took_ms, scratch.said.text);
        camera_close_played(source);
    }
}

// A device with two cameras, such as RealSense, gets other node numbers when it is plugged in again.
static void test_two_nodes(void)
{
    for (int known = 0; known < 2; known++) { // the index: if it is not known, the formats count
        struct driver_node other = {.number = 0,
                                    .driver = "uvcvideo",
                                    .card = "Intel RealSense",
                                    .bus = "usb-1",
                                    .fourcc = {known ? V4L2_PIX_FMT_YUYV : V4L2_PIX_FMT_GREY}};
        struct camera_node node, again;
        struct camera_twins twins;
        char why[CAMERA_WHY] = "";
        start_list(&other, 1, 2, "uvcvideo", V4L2_PIX_FMT_YUYV);
        driver.card = "Intel RealSense";
        driver.bus = "usb-1";
        driver.index = known ? 2 : -1;
        CHECK(camera_find("2", &node, why));
        camera_find_twins(&node, &twins);
        CHECK(twins.count == 0);
        other.number = 3;
        driver.there = false; // udev makes one node after the other
        check_that(&check, !camera_find_again(&node, &twins, &again, why) && strstr(why, "the camera was removed"),
                   "only the other node is there: %s", why);
        driver.there = true;
        driver.number = 5;
        check_that(&check, camera_find_again(&node, &twins, &again, why) && strcmp(again.path, "/dev/video5") == 0,
                   "the same node is found: %s %s", again.path, why);
        driver_finish();
    }
}

// Two equal webcams, whose makers gave them the same serial number: their ids are equal, and the link of this name
// means the camera that was plugged in last. Both return at once, in the other order.
static void test_equal_ids(void)
{
    static const char id[] = "usb-played_1234-video-index0";
    struct camera_node node, again;
    static struct camera_twins none;
    char why[CAMERA_WHY] = "";
    scratch_write(&scratch, id, "", 0);
    for (int linked = 0; linked < 2; linked++) { // before: the link means this camera
        struct driver_node other = {
            .number = 1, .driver = "uvcvideo", .card = "played", .bus = "usb-2", .fourcc = {V4L2_PIX_FMT_YUYV}};
        start_list(&other, 1, 0, "uvcvideo", V4L2_PIX_FMT_YUYV);
        driver.bus = "usb-1";
        driver.by_id = scratch.dir;
        driver.id_at = !linked;
        check_that(&check, camera_find("0", &node, why) && strcmp(node.id, linked ? id : "") == 0, "id '%s'", node.id);
        other.number = 0;
        driver.number = 1;
        driver.id_at = !linked;
        check_that(&check, camera_find_again(&node, &none, &again, why) && strcmp(again.path, "/dev/video1") == 0,
                   "linked %d: %s %s", linked, again.path, why);
        driver.bus = "usb-3"; // at another port, with the id
        driver.id_at = 1;
        check_that(&check, !linked || (camera_find_again(&node, &none, &again, why) && again.path[10] == '1'),
                   "at another port: %s", again.path);
        driver_finish();
    }
}

// libcamera's layer makes every node of an image processor the same camera.
static void test_listed_once(void)
{
    static const struct driver_node layer[] = {
        {.number = 0, .driver = "libcamera", .card = "imx219", .bus = "libcamera:0", .fourcc = {V4L2_PIX_FMT_YUYV}},
        {.number = 1, .driver = "libcamera", .card = "imx219", .bus = "libcamera:0", .fourcc = {V4L2_PIX_FMT_YUYV}},
        {.number = 2, .driver = "libcamera", .card = "imx708", .bus = "libcamera:1", .fourcc = {V4L2_PIX_FMT_YUYV}},
        {.number = 14, .driver = "libcamera", .card = "imx219", .bus = "libcamera:0", .fourcc = {V4L2_PIX_FMT_YUYV}}};
    int count;
    start_list(NODES(layer), 20, "uvcvideo", V4L2_PIX_FMT_YUYV);
    struct camera_node *nodes = camera_nodes(&count);
    CHECK(count == 3 && strcmp(nodes[0].path, "/dev/video0") == 0 && strcmp(nodes[1].path, "/dev/video2") == 0 &&
          strcmp(nodes[2].path, "/dev/video20") == 0);
    free(nodes);
    driver_finish();
}

// A named node of an image processor that is not set up: the hint says so until a frame arrives.
static void test_named_isp(void)
{
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.name = "bcm2835-isp";
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    check_that(&check, strstr(source_health(source).hint, "needs libcamera; run: sudo apt install") != NULL, "%s",
               source_health(source).hint);
    driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
    camera_passes(&check, source, "the start");
    check_that(&check, source_health(source).hint[0] == '\0', "%s", source_health(source).hint);
    camera_close_played(source);
}

// Two USB cameras that sleep are not opened at the same time.
static void test_asleep(void)
{
    static const struct driver_node asleep[] = {{.number = 1,
                                                 .driver = "uvcvideo",
                                                 .card = "one",
                                                 .bus = "usb-1",
                                                 .fourcc = {V4L2_PIX_FMT_YUYV},
                                                 .asleep = true},
                                                {.number = 2,
                                                 .driver = "uvcvideo",
                                                 .card = "two",
                                                 .bus = "usb-2",
                                                 .fourcc = {V4L2_PIX_FMT_YUYV},
                                                 .asleep = true}};
    int count;
    start_list(NODES(asleep), 0, "uvcvideo", V4L2_PIX_FMT_YUYV);
    struct camera_node *nodes = camera_nodes(&count);
    CHECK(count == 3 && !nodes[1].why && !nodes[2].why);
    free(nodes);
    end_list();
}

// libcamera's layer is not safe for threads. It has this name.
static void test_layer(void)
{
    struct camera_node node;
    char why[CAMERA_WHY] = "";
    const int before = played_clock_threads();
    start_list(NODES(pi4), 30, "v4l2 loopback", V4L2_PIX_FMT_YUYV);
    setenv("LD_PRELOAD", "/usr/libexec/libcamera/v4l2-compat.so", 1);
    CHECK(camera_find(NULL, &node, why) && strcmp(node.path, "/dev/video30") == 0);
    CHECK(played_clock_threads() == before);
    unsetenv("LD_PRELOAD");
    CHECK(camera_find(NULL, &node, why) && played_clock_threads() > before);
    end_list();
}

// A driver that ignores the index of its lists: they end.
static void test_endless(void)
{
    static const struct driver_node endless[] = {{.number = 0,
                                                  .driver = "vivid",
                                                  .card = "endless",
                                                  .bus = "port 1",
                                                  .fourcc = {V4L2_PIX_FMT_YUYV},
                                                  .endless = true},
                                                 {.number = 1,
                                                  .driver = "vivid",
                                                  .card = "endless, unread",
                                                  .bus = "port 2",
                                                  .fourcc = {V4L2_PIX_FMT_H264},
                                                  .endless = true,
                                                  .controlled = true}};
    static struct camera_offers offers;
    static char text[1 << 17];
    struct camera_node node;
    char why[CAMERA_WHY];
    int lines = 0;
    start_list(NODES(endless), 2, "uvcvideo", V4L2_PIX_FMT_YUYV);
    camera_offers("/dev/video0", &offers);
    CHECK(offers.count == CAMERA_MODES);
    CHECK(camera_find(NULL, &node, why) && strcmp(node.path, "/dev/video2") == 0);
    FILE *out = fmemopen(text, sizeof(text), "w");
    CHECK(camera_control_print("0", out, false));
    fclose(out);
    CHECK(strchr(text, '\n') == strrchr(text, '\n'));
    out = fmemopen(text, sizeof(text), "w");
    CHECK(camera_control_print("1", out, false));
    fclose(out);
    for (const char *at = text; (at = strchr(at, '\n')); at++)
        lines++;
    check_that(&check, lines == 512, "%d controls", lines);
    driver_finish();
}

// The shutter of a camera is closed: its pictures are black.
static void test_privacy(void)
{
    for (int shut = 0; shut < 2; shut++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.privacy = shut;
        struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
        driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
        camera_passes(&check, source, "the start");
        check_that(&check, !strstr(source_health(source).hint, "privacy switch is on") == !shut, "%s",
                   source_health(source).hint);
        camera_close_played(source);
    }
}

// The shutter stops all frames: the reason says so.
static void test_privacy_silent(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.privacy = true;
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    capture_stderr(&scratch.said);
    CHECK(source && source_next(source, &frame, 2100) == SOURCE_TIMEOUT);
    captured_stderr(&scratch.said);
    check_that(&check,
               strstr(scratch.said.text, "no frame arrived for 2 s; the camera's privacy switch is on: open its "
                                         "shutter, or press its key; reconnecting") != NULL,
               "%s", scratch.said.text);
    check_that(&check, strstr(source_health(source).trouble, "privacy switch") != NULL, "%s",
               source_health(source).trouble);
    camera_close_played(source);
}

// A driver that lists no sizes: the list has its present size.
static void test_no_sizes(void)
{
    static struct camera_offers offers;
    int count;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.no_sizes = true;
    struct camera_node *nodes = camera_nodes(&count);
    CHECK(count == 1 && !nodes[0].why && nodes[0].readable && nodes[0].color);
    camera_offers("/dev/video0", &offers);
    const struct camera_offer *offer = &offers.offer[0];
    CHECK(offers.count == 1 && offer->width == WIDTH && offer->height == HEIGHT && strcmp(offer->format, "yuyv") == 0);
    free(nodes);
    driver_finish();
}

int main(void)
{
    if (!scratch_open(&scratch))
        return 1;
    played_clock_start();
    make_ipu6();
    test_default();
    test_blank();
    test_twin();
    test_no_sizes();
    test_lists();
    test_stuck();
    test_broken();
    test_unread();
    test_not_set_up();
    test_new();
    test_busy();
    test_two_nodes();
    test_equal_ids();
    test_listed_once();
    test_named_isp();
    test_asleep();
    test_layer();
    test_endless();
    test_privacy();
    test_privacy_silent();
    scratch_close(&scratch);
    return check_end(&check);
}
