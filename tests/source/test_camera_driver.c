// test_camera_driver.c: answers and frames of camera drivers, played by driver.h; needs no camera
#include "camera_jpeg.h"
#include "check.h"
#include "codec_files.h"
#include "driver.h"
#include "played_camera.h"
#include "played_clock.h"
#include "scratch.h"

#include "base/clock.h"
#include "base/log.h"
#include "source/kind.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = DRIVER_WIDTH, HEIGHT = DRIVER_HEIGHT, PATIENCE_MS = 60000 * DRIVER_HASTE };
enum { YUYV_BYTES = WIDTH * HEIGHT * 2, MONOTONIC = V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC };

#define CHECK(condition) check_that(&check, condition, "%s", #condition)

static struct check check = {.name = "camera driver"};
static struct scratch scratch;
static struct codec_buffer jpeg, wide_jpeg, large_jpeg; // the mode's size; the size in whole blocks; a larger size

static struct source *open_camera(void)
{
    return source_open(&(struct source_setup){.text = "camera:0"});
}

static void send_jpeg(const struct codec_buffer *file)
{
    driver_send(&(struct driver_frame){.data = file->data, .used = {(uint32_t)file->size}});
}

// A whole YUYV picture.
static struct driver_frame whole_frame(void)
{
    return (struct driver_frame){.used = {YUYV_BYTES}, .flags = MONOTONIC, .stamp_ns = clock_now_ns()};
}

static bool comes(struct source *source, struct frame *frame)
{
    return check_that(&check, source_next(source, frame, PATIENCE_MS) == SOURCE_FRAME, "a frame arrives");
}

// Sends a frame. Returns true if it is dropped and counted as damaged.
static bool is_damaged(struct source *source, const struct driver_frame *sent)
{
    struct frame frame;
    const uint64_t before = source_health(source).damaged;
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    enum source_status status = SOURCE_TIMEOUT;
    driver_send(sent);
    while (status == SOURCE_TIMEOUT && source_health(source).damaged == before && clock_now_ns() < deadline)
        status = source_next(source, &frame, 10);
    if (status == SOURCE_FRAME)
        source_return(source, &frame);
    return status == SOURCE_TIMEOUT && source_health(source).damaged == before + 1;
}

static struct driver_frame read_file(const char *directory, const char *name)
{
    static uint8_t bytes[1024];
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    const size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
    if (file)
        fclose(file);
    check_that(&check, size > 0, "cannot read %s", path);
    return (struct driver_frame){.data = bytes, .used = {(uint32_t)size}};
}

// Frames of an MJPEG camera are untrusted: only the JPEG codec reads them, and only up to the mode's size.
static void test_jpeg_only(const char *data)
{
    static const char *const others[] = {"small.png", "small.gif", "small.bmp", "small.psd", "small-raw.tga"};
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        const struct driver_frame other = read_file(data, others[i]);
        driver_send(&other);
    }
    send_jpeg(&large_jpeg);
    driver_send(&(struct driver_frame){
        .data = wide_jpeg.data, .used = {(uint32_t)wide_jpeg.size}, .flags = V4L2_BUF_FLAG_ERROR});
    send_jpeg(&jpeg);
    struct source *source = open_camera();
    if (!check_that(&check, source != NULL, "a MJPEG camera opens"))
        return;
    const struct image_shape *shape = &source_info(source)->shape;
    check_that(&check, shape->width == WIDTH && shape->height == HEIGHT && shape->format == PIXFMT_YU12,
               "the first JPEG decides the shape, not %dx%d %s", shape->width, shape->height,
               pixfmt_info(shape->format)->name);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        const struct driver_frame other = read_file(data, others[i]);
        capture_stderr(&scratch.said);
        const bool damaged = is_damaged(source, &other);
        captured_stderr(&scratch.said);
        check_that(&check, damaged, "%s is not decoded", others[i]);
        check_that(&check, i > 0 || strstr(scratch.said.text, "not in jpeg format"), "the reason: %s",
                   scratch.said.text);
    }
    send_jpeg(&jpeg);
    camera_passes(&check, source, "other formats");
    camera_close_played(source);
}

static void test_jpeg_size(void)
{
    enum { LASTING = 3 }; // consecutive pictures of another size after which this is the camera's new size
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    send_jpeg(&jpeg);
    struct source *source = open_camera();
    if (!check_that(&check, source != NULL, "a MJPEG camera opens"))
        return;
    for (int i = 0; i < 2 * LASTING; i++) {
        const struct driver_frame large = {.data = large_jpeg.data, .used = {(uint32_t)large_jpeg.size}};
        capture_stderr(&scratch.said);
        const bool damaged = is_damaged(source, &large);
        captured_stderr(&scratch.said);
        check_that(&check, damaged, "a picture larger than the mode is left out");
        check_that(&check, i > 0 || strstr(scratch.said.text, "at most 512 are allowed"), "by its head: %s",
                   scratch.said.text);
    }
    send_jpeg(&jpeg);
    camera_passes(&check, source, "larger pictures");
    struct frame frame;
    enum source_status status = SOURCE_TIMEOUT;
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    capture_stderr(&scratch.said);
    while (status == SOURCE_TIMEOUT && clock_now_ns() < deadline) {
        send_jpeg(&wide_jpeg);
        status = source_next(source, &frame, 100);
    }
    captured_stderr(&scratch.said);
    check_that(&check, status == SOURCE_RESHAPED, "a size within the mode's whole blocks is the new one: %d", status);
    camera_close_played(source);
}

// A driver must report the number of filled bytes.
static void test_bytes_used(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    if (!check_that(&check, source != NULL, "a raw camera opens"))
        return;
    const uint32_t few[] = {0, 1, YUYV_BYTES / 2, YUYV_BYTES - 1};
    for (size_t i = 0; i < sizeof(few) / sizeof(*few); i++) {
        struct driver_frame sent = whole_frame();
        sent.used[0] = few[i];
        check_that(&check, is_damaged(source, &sent), "%u of %d bytes are no picture", few[i], YUYV_BYTES);
    }
    struct driver_frame sent = whole_frame();
    sent.flags |= V4L2_BUF_FLAG_ERROR;
    check_that(&check, is_damaged(source, &sent), "a picture with the error flag is left out");
    sent = whole_frame();
    sent.fill = 77;
    driver_send(&sent);
    if (comes(source, &frame)) {
        check_that(&check, frame.image.plane[0][YUYV_BYTES - 1] == 77, "the whole one is shown");
        source_return(source, &frame);
    }
    // A driver that never reports it.
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    sent.used[0] = 0;
    driver_send(&sent);
    capture_stderr(&scratch.said);
    while (source_health(source).trouble[0] == '\0' && clock_now_ns() < deadline)
        source_next(source, &frame, 10);
    captured_stderr(&scratch.said);
    check_that(&check,
               strstr(scratch.said.text, "no valid frame arrived for 2 s: the driver filled too few bytes") != NULL,
               "the fault is reported: %s", scratch.said.text);
    camera_close_played(source);
}

// Every second buffer has a fault: the others are shown. A driver may claim more bytes than the buffer has.
static void test_every_second(void)
{
    enum { FRAMES = 20 };
    static const struct {
        uint32_t fourcc, used, flags;
        bool shown;
    } rows[] = {{V4L2_PIX_FMT_YUYV, YUYV_BYTES, V4L2_BUF_FLAG_ERROR, false},
                {V4L2_PIX_FMT_YUYV, 0, 0, false},
                {V4L2_PIX_FMT_YUYV, UINT32_MAX, 0, true},
                {V4L2_PIX_FMT_MJPEG, 400, V4L2_BUF_FLAG_ERROR, false},
                {V4L2_PIX_FMT_MJPEG, 0, 0, false},
                {V4L2_PIX_FMT_MJPEG, DRIVER_LENGTH, 0, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const bool compressed = rows[i].fourcc == V4L2_PIX_FMT_MJPEG;
        static uint8_t bytes[DRIVER_LENGTH];
        int shown = 0;
        struct frame frame;
        memcpy(bytes, jpeg.data, jpeg.size);
        driver_start(rows[i].fourcc, 1);
        if (compressed)
            send_jpeg(&jpeg);
        struct source *source = open_camera();
        for (int n = 0; source && n < FRAMES; n++) {
            struct driver_frame sent = whole_frame();
            sent.data = compressed ? bytes : NULL;
            sent.used[0] = n % 2 ? rows[i].used : compressed ? (uint32_t)jpeg.size : YUYV_BYTES;
            sent.flags |= n % 2 ? rows[i].flags : 0;
            sent.sequence = (uint32_t)n;
            driver_send(&sent);
            if (source_next(source, &frame, n % 2 && !rows[i].shown ? 20 : PATIENCE_MS) == SOURCE_FRAME) {
                shown += frame.number == (uint64_t)n;
                source_return(source, &frame);
            }
        }
        const uint64_t damaged = source ? source_health(source).damaged : 0;
        const int want = rows[i].shown ? FRAMES : FRAMES / 2;
        check_that(&check, shown == want && damaged == (uint64_t)(FRAMES - want) && source_health(source).outages == 0,
                   "row %zu: %d frames, %d damaged", i, shown, (int)damaged);
        camera_close_played(source);
    }
}

// The same for planes in separate memory; bytesused includes data_offset.
static void test_bytes_used_planes(void)
{
    enum { LUMA = WIDTH * HEIGHT, CHROMA = LUMA / 2, OFFSET = 64 };
    static const struct {
        uint32_t used[2], start[2];
        bool whole;
    } rows[] = {
        {{LUMA, CHROMA}, {0}, true},
        {{LUMA, 0}, {0}, false},
        {{0, CHROMA}, {0}, false},
        {{0, 0}, {0}, false},
        {{LUMA, CHROMA - 1}, {0}, false},
        {{LUMA, CHROMA}, {0, OFFSET}, false},
        {{LUMA + OFFSET, CHROMA}, {OFFSET, 0}, true},
        {{LUMA, OFFSET}, {0, OFFSET}, false},
        {{LUMA, OFFSET / 2}, {0, OFFSET}, false},
        {{LUMA, DRIVER_LENGTH - 1 + CHROMA}, {0, DRIVER_LENGTH - 1}, false}, // goes beyond the buffer
        {{LUMA, 4 * DRIVER_LENGTH}, {0, 2 * DRIVER_LENGTH}, false},
    };
    driver_start(V4L2_PIX_FMT_NV12M, 2);
    struct source *source = open_camera();
    if (!check_that(&check, source != NULL, "a multi-planar camera opens"))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct driver_frame sent = whole_frame();
        memcpy(sent.used, rows[i].used, sizeof(rows[i].used));
        memcpy(sent.start, rows[i].start, sizeof(rows[i].start));
        if (rows[i].whole) {
            driver_send(&sent);
            check_that(&check, camera_passes(&check, source, "a whole one"), "planes %zu are whole", i);
        } else {
            check_that(&check, is_damaged(source, &sent), "planes %zu are no picture", i);
        }
    }
    camera_close_played(source);
}

// Inconsistent values of a driver must not cause reads or writes outside its buffers.
static void test_nonsense(void)
{
    static const struct {
        uint32_t fourcc, width, height, length;
        int memories;
        const char *says;
    } rows[] = {
        {V4L2_PIX_FMT_YUYV, WIDTH, HEIGHT, YUYV_BYTES - 1, 1, "a frame needs 768"},
        {V4L2_PIX_FMT_NV12M, WIDTH, HEIGHT, WIDTH * HEIGHT - 1, 2, "a frame needs 384"},
        {V4L2_PIX_FMT_NV12M, WIDTH, HEIGHT, DRIVER_LENGTH, 3, "plane layout"},
        {V4L2_PIX_FMT_MJPEG, WIDTH, HEIGHT, DRIVER_LENGTH, 2, "plane layout"},
        {V4L2_PIX_FMT_MJPEG, 0, 0, DRIVER_LENGTH, 1, "must be at least 1"},
        {V4L2_PIX_FMT_MJPEG, 40000, 40000, DRIVER_LENGTH, 1, "at most 32768"},
    };
    struct frame frame;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        driver_start(rows[i].fourcc, rows[i].memories);
        driver.width = rows[i].width;
        driver.height = rows[i].height;
        driver.length = rows[i].length;
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        captured_stderr(&scratch.said);
        check_that(&check, !source && strstr(scratch.said.text, rows[i].says), "row %zu: %s", i, scratch.said.text);
        camera_close_played(source);
    }
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    const struct driver_frame sent = whole_frame();
    driver.index_error = 1 << 20;
    driver_send(&sent);
    capture_stderr(&scratch.said);
    const bool none = source && source_next(source, &frame, 0) == SOURCE_TIMEOUT;
    driver.index_error = 0;
    driver_send(&sent);
    if (none)
        camera_passes(&check, source, "a buffer that is none");
    captured_stderr(&scratch.said);
    check_that(&check, none && strstr(scratch.said.text, "reconnecting"), "a buffer that is none: %s",
               scratch.said.text);
    camera_close_played(source);
}

// Rows that the driver pads: byte x of row y of a plane is 100 plane + 5 y + x, and the padding 255. Lent, and copied.
static void test_strides(void)
{
    static const struct {
        uint32_t fourcc, stride;
        int memories, planes;
    } rows[] = {{V4L2_PIX_FMT_YUYV, 2 * WIDTH + 16, 1, 1}, {V4L2_PIX_FMT_YUYV, 200, 1, 1},
                {V4L2_PIX_FMT_YUYV, WIDTH, 1, 1}, // wrong: less than a row
                {V4L2_PIX_FMT_NV12, WIDTH + 8, 1, 2},      {V4L2_PIX_FMT_NV12, 0, 1, 2},
                {V4L2_PIX_FMT_NV12M, WIDTH + 8, 2, 2},     {V4L2_PIX_FMT_NV12M, 0, 2, 2}};
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
        const size_t row = i / 2;
        const int bytes = rows[row].planes == 1 ? 2 * WIDTH : WIDTH;
        const int stride = (int)rows[row].stride > bytes ? (int)rows[row].stride : bytes;
        static uint8_t data[DRIVER_LENGTH];
        memset(data, 255, sizeof(data));
        int line = 0, wrong = 0;
        for (int plane = 0; plane < rows[row].planes; plane++)
            for (int y = 0; y < HEIGHT / (plane + 1); y++, line++)
                for (int x = 0; x < bytes; x++)
                    data[line * stride + x] = (uint8_t)(100 * plane + 5 * y + x);
        driver_start(rows[row].fourcc, rows[row].memories);
        driver.stride = rows[row].stride;
        driver.most_buffers = i % 2 ? 3 : 0; // too few to lend
        struct source *source = open_camera();
        const uint32_t used = (uint32_t)(stride * (line - 1) + bytes); // without the last padding
        const uint32_t luma = (uint32_t)(stride * HEIGHT);
        struct driver_frame sent = {.data = data, .used = {used}};
        if (rows[row].memories == 2)
            sent = (struct driver_frame){.data = data, .used = {luma, used - luma}};
        driver_send(&sent);
        struct frame frame;
        if (!source || !comes(source, &frame))
            continue;
        for (int plane = 0; plane < rows[row].planes; plane++)
            for (int y = 0; y < HEIGHT / (plane + 1); y++)
                for (int x = 0; x < bytes; x++)
                    wrong += image_row(&frame.image, plane, y)[x] != (uint8_t)(100 * plane + 5 * y + x);
        check_that(&check, wrong == 0, "row %zu, stride %u: %d bytes are wrong", i, rows[row].stride, wrong);
        source_return(source, &frame);
        camera_close_played(source);
    }
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.stride = UINT32_MAX;
    capture_stderr(&scratch.said);
    check_that(&check, !open_camera(), "rows of 4 GB");
    check_that(&check, strstr(captured_stderr(&scratch.said), "a frame needs 64424509"), "%s", scratch.said.text);
    driver_finish();
}

// Frame numbers count missed frames; a driver's counter may repeat, restart and overflow.
static void test_numbers(void)
{
    static const struct {
        uint32_t sequence;
        uint64_t number;
    } rows[] = {{5, 0}, {6, 1}, {9, 4}, {9, 5}, {2, 6}, {3, 7}, {UINT32_MAX, 8}, {0, 9}, {2, 11}};
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    for (size_t i = 0; source && i < sizeof(rows) / sizeof(*rows); i++) {
        struct driver_frame sent = whole_frame();
        sent.sequence = rows[i].sequence;
        driver_send(&sent);
        if (!comes(source, &frame))
            break;
        check_that(&check, frame.number == rows[i].number, "row %zu: sequence %u is number %llu", i, rows[i].sequence,
                   (unsigned long long)frame.number);
        source_return(source, &frame);
    }
    camera_close_played(source);
}

// The age of a frame: a time stamp counts only if it is from the clock that monocle uses.
static void test_stamps(void)
{
    static const int64_t second_ns = 1000 * (int64_t)NS_PER_MS;
    static const struct {
        const char *what;
        uint32_t flags;
        int64_t age_ns;
        bool counts;
    } rows[] = {
        {"monotonic", V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC, second_ns, true},
        {"unknown", V4L2_BUF_FLAG_TIMESTAMP_UNKNOWN, second_ns, false},
        {"copied", V4L2_BUF_FLAG_TIMESTAMP_COPY, second_ns, false},
        {"monotonic and of the future", V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC, -3600 * second_ns, false},
        {"monotonic and too old", V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC, 3600 * second_ns, false},
    };
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    for (size_t i = 0; source && i < sizeof(rows) / sizeof(*rows); i++) {
        struct driver_frame sent = whole_frame();
        const int64_t before_ns = sent.stamp_ns / 1000 * 1000; // V4L2 counts microseconds
        sent.flags = rows[i].flags;
        sent.stamp_ns = before_ns - rows[i].age_ns;
        driver_send(&sent);
        if (!comes(source, &frame))
            break;
        const bool stamp = frame.captured_ns == sent.stamp_ns;
        const bool arrival = frame.captured_ns >= before_ns && frame.captured_ns == frame.ready_ns;
        check_that(&check, rows[i].counts ? stamp : arrival, "a stamp that is %s %s", rows[i].what,
                   rows[i].counts ? "counts" : "does not count");
        source_return(source, &frame);
    }
    camera_close_played(source);
}

// If the camera is removed, a lent buffer of the driver keeps its frame, and no reference to the driver remains.
static void test_lent_buffer(void)
{
    struct frame frame, none;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.own_memory = true;
    struct source *source = open_camera();
    struct driver_frame sent = whole_frame();
    sent.fill = 77;
    driver_send(&sent);
    if (!source || !comes(source, &frame))
        return;
    check_that(&check, driver_scribble() > 0 && frame.image.plane[0][0] != 77, "the driver's buffer is lent, no copy");
    memset(frame.image.plane[0], 77, YUYV_BYTES);
    driver.ask_error = ENODEV;
    driver_wake();
    capture_stderr(&scratch.said);
    source_next(source, &none, 100);
    captured_stderr(&scratch.said);
    check_that(&check, strstr(scratch.said.text, "unplugged") != NULL, "the camera is removed: %s", scratch.said.text);
    const int mapped = driver_scribble();
    bool kept = true;
    for (int i = 0; i < YUYV_BYTES; i++)
        kept &= frame.image.plane[0][i] == 77;
    check_that(&check, kept, "a lent picture outlives its camera");
    check_that(&check, mapped == 0, "%d buffers of the driver are still mapped", mapped);
    source_return(source, &frame);
    camera_close_played(source);
}

// The source waits for a camera that sends nothing at the start, and reports it in one line.
static void test_silent(void)
{
    static const uint32_t formats[] = {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_MJPEG};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        const bool compressed = formats[i] == V4L2_PIX_FMT_MJPEG;
        const char *name = compressed ? "mjpeg" : "yuyv";
        const char *said =
            compressed ? "no frame arrived for 8 s; reconnecting" : "no frame arrived for 2 s; reconnecting";
        struct frame frame;
        const struct driver_frame sent = whole_frame();
        const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
        driver_start(formats[i], 1);
        if (compressed) // an empty buffer is no frame, but the camera still works
            driver_send(&(struct driver_frame){.used = {0}});
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        while (source && source_health(source).trouble[0] == '\0' && clock_now_ns() < deadline)
            source_next(source, &frame, 10);
        const int lines = captured_lines(&scratch.said);
        check_that(&check, source && lines == 1 && strstr(scratch.said.text, said),
                   "%s: a silent camera is waited for: %s", name, scratch.said.text);
        if (compressed)
            send_jpeg(&jpeg);
        else
            driver_send(&sent);
        capture_stderr(&scratch.said);
        if (source)
            camera_passes(&check, source, name);
        captured_stderr(&scratch.said);
        check_that(&check, strstr(scratch.said.text, "frames arrive again") != NULL, "%s: %s", name, scratch.said.text);
        camera_close_played(source);
    }
}

// If the camera comes back with another mode, source_next does not wait for its first compressed frame.
static void test_other_mode(void)
{
    struct frame frame;
    enum source_status status = SOURCE_TIMEOUT;
    int64_t longest_ns = 0;
    const int64_t deadline_ns = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    send_jpeg(&jpeg);
    capture_stderr(&scratch.said);
    struct source *source = open_camera();
    driver.height = HEIGHT / 2;
    driver.take_error = ENODEV;
    while (source && status == SOURCE_TIMEOUT && clock_now_ns() < deadline_ns) {
        const int64_t begun_ns = clock_now_ns();
        status = source_next(source, &frame, 10);
        longest_ns = clock_now_ns() - begun_ns > longest_ns ? clock_now_ns() - begun_ns : longest_ns;
        if (source_health(source).trouble[0])
            driver.take_error = 0;
    }
    captured_stderr(&scratch.said);
    check_that(&check, status == SOURCE_RESHAPED && longest_ns < 2000 * (int64_t)NS_PER_MS,
               "another mode: status %d, a call of %d ms: %s", status, (int)(longest_ns / NS_PER_MS),
               scratch.said.text);
    camera_close_played(source);
}

// Nobody waits for a source any more: it opens or fails at once, also without a compressed frame.
static void test_given_up(void)
{
    static const atomic_bool given_up = true;
    const int64_t begun_ns = clock_now_ns();
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    camera_close_played(source_open(&(struct source_setup){.text = "camera:0", .given_up = &given_up}));
    check_that(&check, clock_ms_since(begun_ns) < 2000, "a source that is given up opens for %.0f ms",
               clock_ms_since(begun_ns));
}

// A camera that is removed before its first picture.
static void test_removed(void)
{
    static const uint32_t formats[] = {V4L2_PIX_FMT_YUYV, V4L2_PIX_FMT_MJPEG};
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
        struct frame frame;
        driver_start(formats[i], 1);
        driver.take_error = ENODEV;
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        if (source)
            source_next(source, &frame, 0);
        const int lines = captured_lines(&scratch.said);
        check_that(&check, source && lines == 1 && strstr(scratch.said.text, "the camera was unplugged; reconnecting"),
                   "%.4s: %s", (const char *)&formats[i], scratch.said.text);
        camera_close_played(source);
    }
}

// Controls are listed with their ranges and set by name. A camera that comes back gets the values again.
static void test_controls(void)
{
    struct source_control list[SOURCE_CONTROLS];
    char why[SOURCE_SET_WHY];
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    CHECK(source_controls(source, list) == DRIVER_CONTROLS);
    CHECK(strcmp(list[0].name, "brightness") == 0 && list[0].type == SOURCE_NUMBER && !list[0].locked);
    CHECK(list[0].minimum == -64 && list[0].maximum == 64 && list[0].step == 1 && list[0].preset == 0);
    CHECK(list[1].type == SOURCE_SWITCH && strcmp(list[1].value, "on") == 0);
    CHECK(list[2].type == SOURCE_MENU && strcmp(list[2].value, "50_hz") == 0);
    CHECK(strcmp(list[2].choices, "disabled|50_hz|60_hz") == 0);
    CHECK(list[3].locked);
    static const struct {
        const char *setting, *why; // NULL: it can be set
    } rows[] = {
        {"brightness=12", NULL},
        {"brightness=65", "its range is -64 to 64, its value is 12"},
        {"nothing=1", "no control"},
        {"white_balance_temperature=3000", "locks it"},
        {"white_balance_automatic=off", NULL},
        {"white_balance_temperature=3000", NULL},
        {"power_line_frequency=60_hz", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const bool ok = source_set_control(source, rows[i].setting, why);
        check_that(&check, ok ? !rows[i].why : rows[i].why && strstr(why, rows[i].why), "%s: %s", rows[i].setting, why);
    }
    static const int want[DRIVER_CONTROLS] = {12, 0, 2, 3000};
    CHECK(memcmp(driver.control, want, sizeof(want)) == 0);
    CHECK(source_controls(source, list) == DRIVER_CONTROLS && strcmp(list[3].value, "3000") == 0);
    memset(driver.control, 0, sizeof(driver.control));
    source_rest(source, true);
    struct frame frame;
    CHECK(source_next(source, &frame, 10) == SOURCE_TIMEOUT && !driver.streams);
    CHECK(source_controls(source, list) == 0 && !source_set_control(source, "brightness=1", why));
    CHECK(strstr(why, "no signal") != NULL);
    source_rest(source, false);
    driver_send(&(struct driver_frame){.used = {YUYV_BYTES}});
    CHECK(camera_passes(&check, source, "a rest") && driver.streams && source_health(source).outages == 0);
    CHECK(memcmp(driver.control, want, sizeof(want)) == 0);
    camera_close_played(source);
}

// A driver refuses a call: one line with advice.
static void test_refused(void)
{
    static const struct {
        struct driver_refusal refuse;
        const char *says;
    } rows[] = {
        {{.request = VIDIOC_STREAMON, .error = ENOSPC}, "bandwidth"},
        {{.request = VIDIOC_STREAMON, .error = EIO}, "plug it in again"},
        {{.request = VIDIOC_STREAMON, .error = EPROTO},
         "Protocol error; try another --size or --pixel-format, or unplug"},
        {{.request = VIDIOC_STREAMON, .error = ENODEV}, "the camera was unplugged; plug it in again"},
        {{.request = VIDIOC_STREAMON, .error = EPIPE}, "USB connection has a fault"},
        {{.request = VIDIOC_REQBUFS, .error = ENOMEM}, "memory"},
        {{.request = VIDIOC_S_FMT, .error = EBUSY}, "another program"},
        {{.request = VIDIOC_QBUF, .error = ENOMEM}, "memory"},
        {{.request = VIDIOC_QUERYCAP, .error = ENODEV}, "there is no camera"},
        {{.request = VIDIOC_QUERYBUF, .error = ENOMEM}, "memory"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.refuse = rows[i].refuse;
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = "camera"});
        const int lines = captured_lines(&scratch.said);
        check_that(&check, !source && lines == 1 && strstr(scratch.said.text, rows[i].says), "refusal %zu: %s", i,
                   scratch.said.text);
        camera_close_played(source);
    }
}

// A camera that is lost and refuses to start is tried again until it accepts; the reason is reported meanwhile.
static void test_refused_later(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    driver.take_error = ENODEV;
    driver.refuse = (struct driver_refusal){.request = VIDIOC_STREAMON, .error = ENOSPC};
    capture_stderr(&scratch.said);
    while (source && !strstr(source_health(source).trouble, "bandwidth") && clock_now_ns() < deadline)
        source_next(source, &frame, 10);
    check_that(&check, source && strstr(source_health(source).trouble, "bandwidth"), "it is reported");
    driver.take_error = 0;
    driver.refuse = (struct driver_refusal){0};
    const struct driver_frame sent = whole_frame();
    driver_send(&sent);
    const bool back = source && camera_passes(&check, source, "a refusal");
    captured_stderr(&scratch.said);
    check_that(&check, back && source_health(source).outages == 1 && source_health(source).trouble[0] == '\0',
               "frames arrive again: %s", scratch.said.text);
    camera_close_played(source);
}

// A driver error that is not a removal restarts the stream; a second one without a frame between closes the camera.
static void test_restarted(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = open_camera();
    struct driver_frame sent = whole_frame();
    driver_send(&sent);
    if (!source || !camera_passes(&check, source, "the start"))
        return;
    driver.take_error = EIO;
    driver_send(&sent);
    capture_stderr(&scratch.said);
    source_next(source, &frame, 0);
    check_that(&check, driver.streams && source_health(source).outages == 1, "the stream starts again at once");
    source_next(source, &frame, 0);
    check_that(&check, !driver.streams || source_health(source).outages == 1, "it is closed: one outage");
    driver.take_error = 0;
    const bool back = camera_passes(&check, source, "a restart");
    captured_stderr(&scratch.said);
    check_that(&check, back && source_health(source).outages == 1 && source_health(source).trouble[0] == '\0',
               "frames arrive again: %s", scratch.said.text);
    camera_close_played(source);
}

// With fewer buffers than requested (some drivers have a minimum), frames arrive while one frame is lent.
static void test_few_buffers(void)
{
    enum { FRAMES = 5 };
    for (uint32_t buffers = 1; buffers <= 4; buffers++) {
        struct frame held, frame;
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.most_buffers = buffers;
        struct driver_frame sent = whole_frame();
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        captured_stderr(&scratch.said);
        if (buffers == 1) {
            check_that(&check, !source && strstr(scratch.said.text, "gives 1 buffer, and 2 are needed"),
                       "one buffer: %s", scratch.said.text);
            camera_close_played(source);
            continue;
        }
        sent.fill = 99;
        driver_send(&sent);
        bool ok = source && comes(source, &held);
        for (int i = 0; ok && i < FRAMES; i++) {
            sent.fill = (uint8_t)i;
            driver_send(&sent);
            ok = comes(source, &frame) && frame.image.plane[0][5] == i;
            if (ok)
                source_return(source, &frame);
        }
        check_that(&check, ok && held.image.plane[0][5] == 99 && source_health(source).outages == 0, "%u buffers: %s",
                   buffers, scratch.said.text);
        if (source)
            source_return(source, &held);
        camera_close_played(source);
    }
}

// libcamera's layer gives buffers out as 0, 1, 2, ..., whichever it filled, and may give more of them than requested.
// The view is 8 times slower than the camera: it returns a frame after 16 newer ones. Every frame shows its own
// picture.
static void test_layer(void)
{
    enum { FRAMES = 400, OVERLOAD = 8, HELD = 2 };
    static const uint32_t granted[] = {6, 8, 4, 2, 3, 32, 1000};
    for (size_t i = 0; i < sizeof(granted) / sizeof(*granted); i++) {
        struct frame frame, held[HELD];
        int wrong = 0, shown = 0;
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.name = "libcamera";
        driver.own_memory = true;
        driver.in_order = granted[i] <= 32;
        driver.most_buffers = granted[i] < 6 ? granted[i] : 0;
        driver.least_buffers = granted[i];
        struct source *source = open_camera();
        for (int n = 0; source && n < FRAMES; n++) {
            struct driver_frame sent = whole_frame();
            sent.fill = (uint8_t)n;
            driver_send(&sent);
            if (source_next(source, &frame, PATIENCE_MS) != SOURCE_FRAME)
                break;
            wrong += frame.image.plane[0][YUYV_BYTES - 1] != sent.fill;
            struct frame *slow = &held[n / OVERLOAD % HELD];
            if (n % OVERLOAD == 0 && n >= OVERLOAD * HELD) {
                wrong += slow->image.plane[0][0] != (uint8_t)(n - OVERLOAD * HELD);
                source_return(source, slow);
            }
            if (n % OVERLOAD == 0)
                *slow = frame;
            else
                source_return(source, &frame);
            shown++;
        }
        check_that(&check, wrong == 0 && shown == FRAMES && source_health(source).outages == 0,
                   "%u buffers: %d of %d frames are wrong", granted[i], wrong, shown);
        for (int n = 0; source && n < HELD && n * OVERLOAD < shown; n++)
            source_return(source, &held[n]);
        camera_close_played(source);
    }
}

// Some cameras need seconds from the start of the stream to their first frame, also when they start again. The size of
// compressed frames is known only then.
static void test_slow_start(void)
{
    static const struct {
        uint32_t fourcc;
        int need_ms, most_ms;
    } rows[] = {{V4L2_PIX_FMT_MJPEG, 5100, 7000}, {V4L2_PIX_FMT_MJPEG, 7000, 9000}, {V4L2_PIX_FMT_YUYV, 1900, 2000},
                {V4L2_PIX_FMT_YUYV, 2300, 5000},  {V4L2_PIX_FMT_YUYV, 4500, 14000}, {V4L2_PIX_FMT_YUYV, 8000, 30000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].fourcc == V4L2_PIX_FMT_YUYV) // threads that decode do not wait for the played clock
            played_clock_start();                // for all later tests
        struct frame frame;
        enum source_status status = SOURCE_TIMEOUT;
        driver_start(rows[i].fourcc, 1);
        const struct driver_frame sent = rows[i].fourcc == V4L2_PIX_FMT_MJPEG
                                             ? (struct driver_frame){.data = jpeg.data, .used = {(uint32_t)jpeg.size}}
                                             : whole_frame();
        driver.late = &sent;
        driver.late_ns = rows[i].need_ms * (int64_t)NS_PER_MS;
        capture_stderr(&scratch.said);
        const int64_t begun_ns = clock_now_ns(), deadline_ns = begun_ns + 40000 * (int64_t)NS_PER_MS;
        struct source *source = open_camera();
        while (source && status != SOURCE_FRAME && clock_now_ns() < deadline_ns) {
            status = source_next(source, &frame, 20);
            if (status == SOURCE_RESHAPED)
                source_reshape(source);
        }
        captured_stderr(&scratch.said);
        const int took_ms = (int)((clock_now_ns() - begun_ns) / NS_PER_MS);
        check_that(&check, status == SOURCE_FRAME && took_ms <= rows[i].most_ms,
                   "row %zu: a camera that needs %d ms gives a frame after %d ms: %s", i, rows[i].need_ms, took_ms,
                   scratch.said.text);
        printf("a camera that needs %d ms gives a frame after %d ms\n", rows[i].need_ms, took_ms);
        if (status == SOURCE_FRAME)
            source_return(source, &frame);
        camera_close_played(source);
    }
}

// The first frames of some cameras are garbage. A run may leave them out.
static void test_settle(void)
{
    for (int settle = 0; settle < 3; settle++) {
        struct frame frame;
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        struct source *source = source_open(&(struct source_setup){.text = "camera:0", .settle = settle});
        for (int i = 0; i < 3; i++) {
            struct driver_frame sent = whole_frame();
            sent.fill = (uint8_t)i;
            driver_send(&sent);
        }
        if (source && comes(source, &frame)) {
            CHECK(frame.image.plane[0][0] == settle && !frame.follows);
            source_return(source, &frame);
        }
        camera_close_played(source);
    }
}

// A camera may be faster than it claims. The first frame that is lent says so, after two that were left out.
static void test_claimed_rate(void)
{
    enum { FRAMES = 40 };
    static const struct {
        uint32_t claim;
        int64_t first_us, us; // intervals: of the first three frames, and of all others
        double first, last;   // frame.rate of the first and of the last one
    } rows[] = {
        {30, 33333, 33333, 0, 0},     {3, 33333, 33333, -1, 30}, {5, 33333, 33333, -1, 30}, {25, 16667, 16667, -1, 60},
        {30, 66667, 66667, 0, 0},     {15, 66000, 67000, 0, 0},  {30, 1000, 33333, -1, 0}, // they were in a queue
        {5, 200000, 200000, 0, 0},    {30, 0, 33333, 0, 0},      {25, 34000, 34000, 0, 0},  {1, 33333, 33333, -1, 30},
        {1000, 33333, 33333, -1, 30}, {200, 33333, 33333, 0, 0}, {1000, 1000, 1000, 0, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct frame frame = {0};
        double first = 0;
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.rate = rows[i].claim;
        struct source *source = source_open(&(struct source_setup){.text = "camera:0", .settle = 2});
        int64_t stamp_ns = clock_now_ns() - 9500 * (int64_t)NS_PER_MS;
        for (uint32_t n = 0; source && n < FRAMES; n++) {
            struct driver_frame sent = whole_frame();
            sent.sequence = n;
            sent.stamp_ns = stamp_ns += (n < 3 ? rows[i].first_us : rows[i].us) * 1000;
            driver_send(&sent);
            if (n < 2)
                continue;
            if (!comes(source, &frame))
                break;
            first = n == 2 ? frame.rate : first;
            source_return(source, &frame);
        }
        check_that(&check, first == rows[i].first && frame.rate == rows[i].last,
                   "row %zu: the rate is first %g, then %g", i, first, frame.rate);
        camera_close_played(source);
    }
}

// Fields that follow one another in a buffer become whole frames: the even rows are those of the top field.
static void test_fields(void)
{
    static const struct {
        uint32_t fourcc, field;
        int planes;
        bool top_first;
    } rows[] = {{V4L2_PIX_FMT_YUYV, V4L2_FIELD_SEQ_TB, 1, true},
                {V4L2_PIX_FMT_YUYV, V4L2_FIELD_SEQ_BT, 1, false},
                {V4L2_PIX_FMT_NV12, V4L2_FIELD_SEQ_TB, 2, true},
                {V4L2_PIX_FMT_NV12, V4L2_FIELD_SEQ_BT, 2, false}};
    for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
        const bool odd = i >= sizeof(rows) / sizeof(*rows); // the height
        const size_t row = i % (sizeof(rows) / sizeof(*rows));
        const int lines = odd ? HEIGHT - 1 : HEIGHT;
        uint8_t data[YUYV_BYTES], *to = data;
        struct frame frame;
        if (odd && rows[row].planes > 1) // the format has no odd heights
            continue;
        driver_start(rows[row].fourcc, 1);
        driver.field = rows[row].field;
        driver.height = (unsigned)lines;
        for (int plane = 0; plane < rows[row].planes; plane++) {
            const int height = plane == 0 ? lines : HEIGHT / 2, bytes = rows[row].planes == 1 ? 2 * WIDTH : WIDTH;
            const int first = rows[row].top_first ? height - height / 2 : height / 2; // rows of the first field
            for (int n = 0; n < height; n++, to += bytes) {                           // row n of the buffer
                const bool top = (n < first) == rows[row].top_first;
                memset(to, 100 * plane + (n < first ? n : n - first) * 2 + !top, (size_t)bytes);
            }
        }
        driver_send(&(struct driver_frame){.data = data, .used = {(uint32_t)(to - data)}});
        struct source *source = open_camera();
        int wrong = -1;
        if (source && comes(source, &frame)) {
            wrong = 0;
            for (int plane = 0; plane < rows[row].planes; plane++)
                for (int y = 0; y < (plane == 0 ? lines : HEIGHT / 2); y++)
                    wrong += image_row(&frame.image, plane, y)[WIDTH - 1] != 100 * plane + y;
            source_return(source, &frame);
        }
        check_that(&check, wrong == 0 && !source_health(source).userptr, "row %zu: %d rows are wrong", i, wrong);
        camera_close_played(source);
    }
}

// Sends a field of frame n, with half of its rows: T or B; t or b: damaged; X: of no parity. Row y of a plane of the
// frame has the value 24 n + 16 plane + y.
static void send_field(char kind, int n, uint32_t sequence, uint32_t fourcc)
{
    const int planes = fourcc == V4L2_PIX_FMT_NV12 ? 2 : 1, bytes = planes == 1 ? 2 * WIDTH : WIDTH;
    const bool bottom = kind == 'B' || kind == 'b';
    static uint8_t data[16][YUYV_BYTES]; // the driver copies a field when the program takes it
    static int next;
    uint8_t *const start = data[next++ % 16], *to = start;
    for (int plane = 0; plane < planes; plane++)
        for (int y = bottom; y < (plane == 0 ? HEIGHT : HEIGHT / 2); y += 2, to += bytes)
            memset(to, 24 * n + 16 * plane + y, (size_t)bytes);
    driver_send(&(struct driver_frame){.data = start,
                                       .used = {(uint32_t)(to - start)},
                                       .sequence = sequence,
                                       .flags = kind == 't' || kind == 'b' ? V4L2_BUF_FLAG_ERROR : 0,
                                       .field = kind == 'X' ? V4L2_FIELD_NONE
                                                : bottom    ? V4L2_FIELD_BOTTOM
                                                            : V4L2_FIELD_TOP});
}

// Checks that the next frame is frame n, the `number`th.
static void check_woven(struct source *source, int n, int number, const char *sent)
{
    struct frame frame;
    int wrong = 0;
    if (!source || !comes(source, &frame))
        return;
    const struct image_shape *shape = &frame.image.shape;
    for (int plane = 0; plane < pixfmt_info(shape->format)->planes; plane++)
        for (int y = 0; y < pixfmt_rows(shape->format, plane, shape->height); y++)
            wrong += image_row(&frame.image, plane, y)[WIDTH - 1] != 24 * n + 16 * plane + y;
    check_that(&check, wrong == 0 && shape->height == HEIGHT && frame.number == (uint64_t)number,
               "%s, frame %d: number %llu, %d rows, %d of them are wrong", sent, n, (unsigned long long)frame.number,
               shape->height, wrong);
    source_return(source, &frame);
}

// Two successive buffers with the fields of a frame become one frame; fields of two frames never do. Drivers count
// frames, fields or nothing.
static void test_alternate(void)
{
    static const struct {
        const char *sent;
        enum { NOTHING, FRAMES, FIELDS } counts;
        const char *want; // the frames
    } rows[] = {{"T0B0T1B1T2B2", FRAMES, "012"},    {"B0T0B1T1", FRAMES, "01"},
                {"T0T1B1T2B2", FRAMES, "12"}, // B0 is lost
                {"T0B1T2B2", FRAMES, "2"},          {"B0T1B1", FRAMES, "1"},
                {"T0B0B1T2B2", FRAMES, "02"},       {"T0b0T1B1", FRAMES, "1"},
                {"T0B0t1B1T2B2", FRAMES, "02"},     {"X0X0T1B1", FRAMES, "1"},
                {"T0B0T1B1T2B2T3B3", FIELDS, "23"}, // after four fields, monocle knows that it counts fields
                {"B0T0B1T1B2T2B3T3", FIELDS, "23"}, {"T0B0T1B1T2B2B3T4B4", FIELDS, "24"},
                {"T0B0T1B1T2T3B3", FIELDS, "3"},    {"T0B0T1B1T2B2T3B4T5B5", FIELDS, "25"},
                {"T0B0T1B1T2T3B3", NOTHING, "013"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *sent = rows[i].sent, *want = rows[i].want;
        struct frame frame;
        driver_start(i % 2 ? V4L2_PIX_FMT_NV12 : V4L2_PIX_FMT_YUYV, 1);
        driver.field = V4L2_FIELD_ALTERNATE;
        driver.height = HEIGHT / 2;
        struct source *source = open_camera();
        for (const char *at = sent; *at; at += 2) {
            const uint32_t n = (uint32_t)(at[1] - '0');
            const uint32_t sequence[] = {0, n, 2 * n + (*at != *sent)};
            send_field(*at, (int)n, sequence[rows[i].counts], driver.fourcc);
        }
        for (int k = 0; want[k]; k++)
            check_woven(source, want[k] - '0', rows[i].counts == NOTHING ? k : want[k] - want[0], sent);
        const bool more = source && source_next(source, &frame, 50) == SOURCE_FRAME;
        check_that(&check, !more, "%s: more than the frames %s", sent, want);
        if (more)
            source_return(source, &frame);
        camera_close_played(source);
    }
}

// A field from before a restart of the stream has no second one after it, although the numbers begin again.
static void test_alternate_restarted(void)
{
    struct frame frame;
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    driver.field = V4L2_FIELD_ALTERNATE;
    driver.height = HEIGHT / 2;
    struct source *source = open_camera();
    send_field('T', 0, 0, driver.fourcc);
    bool early = source && source_next(source, &frame, 50) == SOURCE_FRAME;
    driver.take_error = EIO;
    send_field('B', 1, 0, driver.fourcc);
    capture_stderr(&scratch.said);
    early |= source && source_next(source, &frame, 0) == SOURCE_FRAME;
    driver.take_error = 0;
    send_field('T', 1, 0, driver.fourcc);
    check_woven(source, 1, 0, "a restart");
    captured_stderr(&scratch.said);
    check_that(&check, !early && driver.streams && source_health(source).outages == 1, "it was restarted: %s",
               scratch.said.text);
    camera_close_played(source);
}

// Frames with the combs of two fields name the filter that removes them.
static void test_combs(void)
{
    static const struct {
        uint32_t field;
        bool named;
    } rows[] = {{V4L2_FIELD_INTERLACED, true}, {V4L2_FIELD_INTERLACED_BT, true}, {V4L2_FIELD_SEQ_BT, true},
                {V4L2_FIELD_ALTERNATE, true},  {V4L2_FIELD_NONE, false},         {V4L2_FIELD_ANY, false},
                {V4L2_FIELD_TOP, false}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        driver.field = rows[i].field;
        capture_stderr(&scratch.said);
        log_set_level(LOG_INFO);
        struct source *source = open_camera();
        log_set_level(LOG_WARN);
        captured_stderr(&scratch.said);
        const bool named = strstr(scratch.said.text, "delivers interlaced frames; add -f deinterlace") != NULL;
        check_that(&check, source && named == rows[i].named, "row %zu: %s", i, scratch.said.text);
        camera_close_played(source);
    }
}

// All of the user's settings are set, or none.
static void test_settings(void)
{
    static const struct source_setting good[] = {{"brightness=20", "kept", 1},
                                                 {"white_balance_automatic=off", "kept", 2}};
    static const struct {
        struct source_setting last;
        uint32_t refused;
        int passes;     // how often the refused control can be set
        int brightness; // afterwards, 0 before
        const char *says;
    } rows[] = {
        {{"nothing=1", "kept", 4}, 0, 0, 0, "kept:4: camera "},
        {{"power_line_frequency=9", "kept", 5}, 0, 0, 0, "kept:5: cannot set control power_line_frequency of camera "},
        {{"power_line_frequency=9", NULL, 0}, 0, 0, 0, "error: cannot set control power_line_frequency of camera "},
        {{"power_line_frequency=0", "kept", 6},
         V4L2_CID_POWER_LINE_FREQUENCY,
         0,
         0,
         "kept:6: cannot set control power_line_frequency of camera "},
        {{"brightness=22", "kept", 7},
         V4L2_CID_BRIGHTNESS,
         1,
         20,
         "; the controls set before it keep their new values"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct source_setting settings[] = {good[0], good[1], rows[i].last};
        driver_start(V4L2_PIX_FMT_YUYV, 1);
        if (rows[i].refused)
            driver.refuse = (struct driver_refusal){VIDIOC_S_CTRL, EIO, rows[i].refused, rows[i].passes, 0};
        capture_stderr(&scratch.said);
        struct source *source =
            source_open(&(struct source_setup){.text = "camera", .controls = settings, .control_count = 3});
        const int lines = captured_lines(&scratch.said);
        check_that(&check, !source && lines == 1 && strstr(scratch.said.text, rows[i].says), "settings %zu: %s", i,
                   scratch.said.text);
        check_that(&check, (strstr(scratch.said.text, "keep their new") != NULL) == (rows[i].brightness != 0),
                   "settings %zu: %s", i, scratch.said.text);
        check_that(&check, driver.control[DRIVER_BRIGHTNESS] == rows[i].brightness && driver.control[DRIVER_AUTO] == 1,
                   "settings %zu: brightness %d, automatic %d", i, driver.control[DRIVER_BRIGHTNESS],
                   driver.control[DRIVER_AUTO]);
        camera_close_played(source);
    }
    driver_start(V4L2_PIX_FMT_YUYV, 1);
    struct source *source = source_open(&(struct source_setup){.text = "camera", .controls = good, .control_count = 2});
    check_that(&check, source && driver.control[DRIVER_BRIGHTNESS] == 20 && driver.control[DRIVER_AUTO] == 0,
               "good settings are set");
    camera_close_played(source);
}

int main(int argc, char **argv)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    jpeg_make(&jpeg, WIDTH, HEIGHT, &(struct jpeg_wish){0});
    jpeg_make(&wide_jpeg, 32, HEIGHT, &(struct jpeg_wish){0});
    jpeg_make(&large_jpeg, 2 * WIDTH, HEIGHT, &(struct jpeg_wish){0});
    test_jpeg_only(argc > 1 ? argv[1] : "");
    test_jpeg_size();
    camera_jpeg_no_end(&check, &jpeg);
    camera_jpeg_no_tables(&check, &jpeg);
    camera_jpeg_behind(&check, &jpeg);
    camera_jpeg_cut(&check);
    camera_jpeg_slow(&check, &jpeg);
    test_bytes_used();
    test_every_second();
    test_bytes_used_planes();
    test_nonsense();
    test_strides();
    test_numbers();
    test_stamps();
    test_lent_buffer();
    test_silent();
    test_other_mode();
    test_given_up();
    test_removed();
    test_controls();
    test_refused();
    test_refused_later();
    test_restarted();
    test_few_buffers();
    test_layer();
    test_settle();
    test_claimed_rate();
    test_fields();
    test_alternate();
    test_alternate_restarted();
    test_combs();
    test_settings();
    test_slow_start();
    codec_buffer_free(&jpeg);
    codec_buffer_free(&wide_jpeg);
    codec_buffer_free(&large_jpeg);
    scratch_close(&scratch);
    return check_end(&check);
}
