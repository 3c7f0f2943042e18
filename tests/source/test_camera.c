// test_camera.c: capture from a real V4L2 driver: the kernel's vivid (modprobe vivid) or any camera
#include "camera_interfaces.h"
#include "camera_placing.h"
#include "check.h"
#include "lender.h"
#include "scratch.h"

#include "base/clock.h"
#include "base/log.h"
#include "image/convert.h"
#include "source/cameras.h"
#include "source/capture.h"
#include "source/kind.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH = 320, HEIGHT = 180, FRAMES = 3, PATIENCE_MS = 20000 }; // an emulated machine is slow

static struct check check = {.name = "camera"};
static struct scratch scratch;
static char node[CAMERA_NODE], text[64];
static enum pixfmt usual; // a format that the camera offers
static struct camera_pictures pictures;

static bool set_control(const char *name, int value)
{
    return camera_control(node, name, value);
}

static struct source *open_camera(enum pixfmt format, int width, int height)
{
    return source_open(
        &(struct source_setup){.text = text, .width = width, .height = height, .has_format = true, .format = format});
}

// Takes some frames; the last one as RGBA.
static bool take(struct source *source, const char *name, struct image *rgba)
{
    const struct source_info *info = source_info(source);
    struct frame frame;
    uint64_t last = 0;
    int64_t stamp = 0;
    image_alloc(rgba, &(struct image_shape){.width = info->shape.width, .height = info->shape.height});
    for (int i = 0; i < FRAMES; i++) {
        if (!check_that(&check, source_next(source, &frame, PATIENCE_MS) == SOURCE_FRAME, "%s: frame %d arrives", name,
                        i))
            return false;
        const int64_t now = clock_now_ns();
        check_that(&check, (i == 0) == (frame.number == 0) && (i == 0 || frame.number > last), "%s: numbers grow",
                   name);
        check_that(&check,
                   frame.captured_ns > stamp && frame.captured_ns <= frame.ready_ns && frame.ready_ns <= now &&
                       now - frame.captured_ns < (int64_t)10 * 1000000000,
                   "%s: time stamps are of our clock and grow", name);
        last = frame.number;
        stamp = frame.captured_ns;
        convert_to_rgba(rgba, &frame.image);
        source_return(source, &frame);
    }
    return true;
}

// Mean difference of blocks of 8x8 pixels away from colour edges, where chroma subsampling shows.
static double difference(const struct image *a, const struct image *b)
{
    double worst = 0;
    for (int y = 0; y + 8 <= a->shape.height; y += 8) {
        for (int x = 0; x + 8 <= a->shape.width; x += 8) {
            double sum = 0;
            for (int i = 0; i < 64; i++)
                for (int c = 0; c < 3; c++) {
                    const size_t at = (size_t)(y + i / 8) * a->stride[0] + (size_t)(x + i % 8) * 4 + (size_t)c;
                    sum += abs(a->plane[0][at] - b->plane[0][at]);
                }
            worst = sum > worst ? sum : worst;
        }
    }
    return worst / 64 / 3;
}

// vivid computes grey with the luma of Rec. 709 in full range. Both results are rounded.
static void check_grey(const struct image *rgb, const struct image *grey)
{
    enum { TOLERANCE = 2 };
    int worst = 0;
    for (int y = 0; y < grey->shape.height; y++) {
        for (int x = 0; x < grey->shape.width; x++) {
            const uint8_t *color = rgb->plane[0] + (size_t)y * rgb->stride[0] + (size_t)x * 4;
            const int luma = (2126 * color[0] + 7152 * color[1] + 722 * color[2] + 5000) / 10000;
            const int off = abs(grey->plane[0][(size_t)y * grey->stride[0] + (size_t)x * 4] - luma);
            worst = off > worst ? off : worst;
        }
    }
    check_that(&check, worst <= TOLERANCE, "grey is the luma of rgb24 (off by %d)", worst);
    printf("grey: at most %d off the luma of rgb24\n", worst);
}

static void test_formats(bool vivid)
{
    struct image first = {0}, image;
    for (int i = 0; i < PIXFMT_COUNT; i++) {
        const enum pixfmt format = (enum pixfmt)i;
        const char *name = pixfmt_info(format)->name;
        if (pixfmt_info(format)->fourcc == 0)
            continue;
        capture_stderr(&scratch.said);
        struct source *source = open_camera(format, WIDTH, HEIGHT);
        captured_stderr(&scratch.said);
        if (!source && strstr(scratch.said.text, "does not offer") && !vivid) {
            printf("%s is not offered by this camera\n", name);
            continue;
        }
        if (!check_that(&check, source != NULL, "%s opens: %s", name, scratch.said.text))
            continue;
        const struct source_info *info = source_info(source);
        check_that(&check,
                   info->live && strcmp(info->kind, "camera") == 0 && info->shape.format == format &&
                       info->shape.color.matrix && info->shape.color.range,
                   "%s: description of the camera", name);
        printf("%s: %s, %dx%d, %g/s, matrix %s, %s range\n", name, info->name, info->shape.width, info->shape.height,
               info->rate, color_matrix_name(info->shape.color.matrix), color_range_name(info->shape.color.range));
        const bool taken = take(source, name, &image);
        pictures.shape[format] = info->shape;
        source_close(source);
        if (taken && vivid && format != PIXFMT_GREY && first.memory) {
            const double off = difference(&first, &image);
            check_that(&check, off < 12, "%s shows the same as the first format (off by %.1f)", name, off);
            printf("%s: at most %.2f off in any block\n", name, off);
        }
        if (taken && vivid && format == PIXFMT_GREY && pictures.rgba[PIXFMT_RGB24].memory)
            check_grey(&pictures.rgba[PIXFMT_RGB24], &image);
        usual = format;
        first = first.memory ? first : image;
        pictures.rgba[format] = image;
    }
}

static void test_busy(void)
{
    struct source *source = open_camera(usual, WIDTH, HEIGHT);
    capture_stderr(&scratch.said);
    struct source *second = open_camera(usual, 2 * WIDTH, 2 * HEIGHT);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, source && !second && lines == 1 && strstr(scratch.said.text, "another program"),
               "a camera in use is logged in one line: %s", scratch.said.text);
    source_close(second);
    source_close(source);
    source = open_camera(usual, WIDTH, HEIGHT);
    check_that(&check, source != NULL, "it opens again afterwards");
    source_close(source);
}

static void test_default(bool vivid)
{
    struct source *source = source_open(&(struct source_setup){0});
    check_that(&check, source && strcmp(source_info(source)->kind, "camera") == 0, "the first camera is the default");
    if (source)
        printf("default: %dx%d %s, %g/s\n", source_info(source)->shape.width, source_info(source)->shape.height,
               pixfmt_info(source_info(source)->shape.format)->name, source_info(source)->rate);
    source_close(source);
    source = source_open(&(struct source_setup){.text = "camera", .rate = 50});
    check_that(&check, source && (!vivid || source_info(source)->rate >= 47), "the requested rate is chosen (%g)",
               source ? source_info(source)->rate : 0);
    source_close(source);
}

// Frames that are lent for long do not stop the others. The time-out holds if no frame can arrive.
static void test_lending(void)
{
    struct source *source = open_camera(usual, WIDTH, HEIGHT);
    struct frame frames[SOURCE_LENT];
    int lent = 0;
    for (; source && lent < SOURCE_LENT; lent++)
        if (!check_that(&check, source_next(source, &frames[lent], PATIENCE_MS) == SOURCE_FRAME, "frame %d is lent",
                        lent))
            break;
    while (lent-- > 0)
        source_return(source, &frames[lent]);
    source_close(source);
}

static void test_thread(void)
{
    struct source *source = open_camera(usual, WIDTH, HEIGHT);
    struct capture *capture = source ? capture_start(source, NULL) : NULL;
    struct frame frame;
    for (int i = 0; capture && i < 10; i++)
        if (check_that(&check, capture_take(capture, &frame, PATIENCE_MS) == SOURCE_FRAME, "the thread brings frames"))
            source_return(source, &frame);
    if (capture)
        printf("thread: %llu captured, %llu skipped\n", (unsigned long long)capture_counts(capture).captured,
               (unsigned long long)capture_counts(capture).skipped);
    capture_stop(capture, CAPTURE_STOP_MS);
    source_close(source);
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

static int count_lines(const char *path)
{
    int lines = 0;
    FILE *file = fopen(path, "r");
    for (int c; file && (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

// Takes frames until the camera has lost its signal `outages` times and frames arrive again. Captures the messages.
static bool comes_back(struct source *source, const char *name, int outages)
{
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * 1000000;
    struct frame frame;
    uint64_t last = 0;
    int after = 0;
    bool grows = true;
    while (after < FRAMES && clock_now_ns() < deadline) {
        const enum source_status status = source_next(source, &frame, 500);
        if (status == SOURCE_TIMEOUT)
            continue;
        if (status != SOURCE_FRAME)
            break;
        grows &= last == 0 || frame.number > last;
        last = frame.number;
        source_return(source, &frame);
        const struct source_health health = source_health(source);
        after += health.outages >= outages && health.trouble[0] == '\0';
    }
    check_that(&check, grows, "%s: numbers grow", name);
    return check_that(&check, after == FRAMES, "%s: frames arrive again", name);
}

// vivid's simulated faults. A lent frame stays unchanged during each fault.
static void test_faults(void)
{
    static const struct {
        const char *control;
        int value;
        bool outage;
    } faults[] = {
        {"Inject V4L2_BUF_FLAG_ERROR", 1, false},     {"Inject VIDIOC_QBUF Error", 1, false},
        {"Percentage of Dropped Buffers", 50, false}, {"Percentage of Dropped Buffers", 0, false},
        {"Inject Fatal Streaming Error", 1, true},    {"Disconnect", 1, true},
    };
    int outages = 0;
    struct frame held;
    struct lender lender = lender_of(LENDER_PIECES);
    struct source *source = open_camera(PIXFMT_YUYV, WIDTH, HEIGHT);
    for (int i = 0; source && i < 2 * FRAMES && source_next(source, &held, PATIENCE_MS) == SOURCE_FRAME; i++) {
        source_set_owner(source, &lender.owner);
        source_return(source, &held);
    }
    if (!check_that(&check, source && source_next(source, &held, PATIENCE_MS) == SOURCE_FRAME, "faults: it opens"))
        return;
    const size_t bytes = (size_t)WIDTH * 2 * HEIGHT;
    uint8_t *before = malloc(bytes);
    memcpy(before, held.image.plane[0], bytes);
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        outages += faults[i].outage;
        capture_stderr(&scratch.said);
        const bool set = set_control(faults[i].control, faults[i].value);
        const bool back = set && comes_back(source, faults[i].control, outages);
        const int lines = captured_lines(&scratch.said);
        check_that(&check, set && back && lines <= 3, "%s: %s", faults[i].control, scratch.said.text);
        printf("%s: %d lines\n%s", faults[i].control, lines, scratch.said.text);
    }
    const struct source_health health = source_health(source);
    check_that(&check, health.damaged >= 1 && health.outages == outages, "%llu damaged, %d outages",
               (unsigned long long)health.damaged, health.outages);
    check_that(&check, memcmp(before, held.image.plane[0], bytes) == 0, "a lent picture outlives its camera");
    source_return(source, &held);
    source_close(source);
    check_that(&check, lender_out(&lender) == 0, "memory lent to a removed camera is returned");
    free(before);
    for (int i = 0; i < 2; i++) {
        capture_stderr(&scratch.said);
        set_control(i == 0 ? "Inject VIDIOC_REQBUFS Error" : "Inject VIDIOC_STREAMON Error", 1);
        source = open_camera(PIXFMT_YUYV, WIDTH, HEIGHT);
        captured_stderr(&scratch.said);
        check_that(&check, source != NULL, "a passing error at the start is passed over: %s", scratch.said.text);
        source_close(source);
    }
}

static bool write_text(const char *path, const char *line)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool ok = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);
    close(fd);
    return ok;
}

// The driver is removed and returns again and again, while a frame is lent: no file or mapping remains.
static void test_replug(void)
{
    enum { CYCLES = 3, LET_GO_NS = 450000000 };
    static const char unbind[] = "/sys/bus/platform/drivers/vivid/unbind",
                      bind[] = "/sys/bus/platform/drivers/vivid/bind";
    struct frame held;
    int files = 0, maps = 0;
    struct source *source = open_camera(PIXFMT_YUYV, WIDTH, HEIGHT);
    if (access(unbind, W_OK) != 0 || !source) {
        printf("the driver cannot be taken away here\n");
        source_close(source);
        return;
    }
    capture_stderr(&scratch.said);
    bool ok = true;
    for (int i = 0; ok && i < CYCLES; i++) {
        ok = check_that(&check, source_next(source, &held, PATIENCE_MS) == SOURCE_FRAME, "cycle %d: a picture", i);
        if (!ok)
            break;
        ok = write_text(unbind, "vivid.0");
        struct frame frame;
        int64_t took_ns = 0;
        for (int n = 0; n < 100 && source_health(source).trouble[0] == '\0'; n++) {
            const int64_t began_ns = clock_now_ns();
            if (source_next(source, &frame, 100) == SOURCE_FRAME)
                source_return(source, &frame);
            took_ns = clock_now_ns() - began_ns;
        }
        check_that(&check, took_ns >= LET_GO_NS, "cycle %d: the driver has time to let go, not %lld ns", i,
                   (long long)took_ns);
        check_that(&check, strstr(source_health(source).trouble, "reconnecting") != NULL, "cycle %d: it is logged: %s",
                   i, source_health(source).trouble);
        ok = ok && write_text(bind, "vivid.0");
        ok = ok && comes_back(source, "bind", i + 1);
        source_return(source, &held);
        if (i == 0) {
            files = count_entries("/proc/self/fd");
            maps = count_lines("/proc/self/maps");
        }
    }
    const int more_files = count_entries("/proc/self/fd") - files, more_maps = count_lines("/proc/self/maps") - maps;
    captured_stderr(&scratch.said);
    check_that(&check, ok && more_files <= 0 && more_maps <= 1, "%d cycles leave %d files and %d mappings: %s", CYCLES,
               more_files, more_maps, scratch.said.text);
    printf("%d cycles: %d files, %d mappings more; %llu pictures lost\n", CYCLES, more_files, more_maps,
           (unsigned long long)source_health(source).lost);
    source_close(source);
}

// Says how long the part before took: the test is slow on an emulated machine.
static void part(const char *name)
{
    static int64_t began_ns;
    const int64_t now_ns = clock_now_ns();
    if (began_ns)
        printf("%s took %.1f s\n", name, (double)(now_ns - began_ns) / 1e9);
    began_ns = now_ns;
}

int main(void)
{
    char why[CAMERA_WHY];
    struct camera_node first;
    if (!camera_find(NULL, &first, why)) {
        fprintf(stderr, "no camera to test: %s\n", why);
        return CHECK_SKIP;
    }
    memcpy(node, first.path, sizeof(node));
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    snprintf(text, sizeof(text), "camera:%s", node);
    // Without text and movement every frame of vivid is the same.
    const bool vivid = set_control("OSD Text Mode", 2);
    part("");
    test_formats(vivid);
    part("formats");
    if (vivid)
        camera_interfaces(&check, node, &pictures);
    part("interfaces");
    test_busy();
    test_default(vivid);
    test_lending();
    part("busy, default, lending");
    camera_placing(&check, open_camera(usual, WIDTH, HEIGHT));
    part("placing");
    test_thread();
    part("thread");
    if (vivid)
        test_faults();
    part("faults");
    if (vivid)
        test_replug();
    part("replug");
    for (int i = 0; i < PIXFMT_COUNT; i++)
        image_free(&pictures.rgba[i]);
    scratch_close(&scratch);
    return check_end(&check);
}
