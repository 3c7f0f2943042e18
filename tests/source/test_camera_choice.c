// test_camera_choice.c: the camera that is found by default, again after it was removed, and in the list of cameras;
// drivers are played by driver.h
#include "check.h"
#include "driver.h"
#include "played_camera.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/cameras.h"
#include "source/kind.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <string.h>

enum { WIDTH = DRIVER_WIDTH, HEIGHT = DRIVER_HEIGHT, PATIENCE_MS = 60000 * DRIVER_HASTE, NS_PER_MS = 1000000 };
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
        {EACCES, 0, "sudo usermod -aG video $USER"},
        {EPERM, 0, "container"},
        {EBUSY, 0, "another program is using it"},
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
        {V4L2_PIX_FMT_SBGGR10P, "unicam", true, "(played): it offers no pixel format that monocle"},
        {V4L2_PIX_FMT_YUYV, "bcm2835-isp", false, "(played): no frame arrived for 3 s; showing the test pattern"},
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

// A driver that lists no sizes: the list has its present size.
static void test_no_sizes(void)
{
    static struct camera_offers offers;
    struct camera_node node;
    int next = 0;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.no_sizes = true;
    CHECK(camera_node_next(&next, &node, &offers) && !node.why && node.readable);
    const struct camera_offer *offer = &offers.offer[0];
    CHECK(offers.count == 1 && offer->width == WIDTH && offer->height == HEIGHT && strcmp(offer->format, "yuyv") == 0);
    driver_finish();
}

int main(void)
{
    if (!scratch_open(&scratch))
        return 1;
    test_default();
    test_blank();
    test_twin();
    test_no_sizes();
    scratch_close(&scratch);
    return check_end(&check);
}
