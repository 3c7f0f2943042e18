// test_camera_driver.c: what a camera's driver may say and send, played by the test (driver.h); needs no camera
#include "check.h"
#include "codec_files.h"
#include "driver.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/kind.h"

#include <linux/videodev2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = DRIVER_WIDTH, HEIGHT = DRIVER_HEIGHT, PATIENCE_MS = 60000, NS_PER_MS = 1000000 };

static struct check check = {.name = "camera driver"};
static struct scratch scratch;
static struct codec_buffer jpeg, wide_jpeg, large_jpeg; // of the mode's size; in whole blocks; of more

static struct source *open_camera(void)
{
    return source_open(&(struct source_setup){.text = "camera:0"});
}

static void close_camera(struct source *source)
{
    source_close(source);
    driver_finish();
}

static void send_jpeg(const struct codec_buffer *file)
{
    driver_send(&(struct driver_frame){.data = file->data, .used = {(uint32_t)file->size}});
}

// Takes a picture and gives it back.
static bool passes(struct source *source, const char *after)
{
    struct frame frame;
    const bool came = source_next(source, &frame, PATIENCE_MS) == SOURCE_FRAME;
    if (came)
        source_return(source, &frame);
    return check_that(&check, came, "a picture comes after %s", after);
}

// Sends a picture. Whether it is left out and counted.
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

// What a MJPEG camera sends comes from outside: only the JPEG codec reads it, and only up to the mode's size.
static void test_jpeg_only(const char *data)
{
    static const char *const others[] = {"small.png", "small.gif", "small.bmp", "small.psd", "small-raw.tga"};
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        const struct driver_frame other = read_file(data, others[i]);
        driver_send(&other);
    }
    send_jpeg(&large_jpeg);
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
        scratch_catch(&scratch);
        const bool damaged = is_damaged(source, &other);
        scratch_caught(&scratch);
        check_that(&check, damaged, "%s is not decoded", others[i]);
        check_that(&check, i > 0 || strstr(scratch.said, "not in jpeg format"), "the reason: %s", scratch.said);
    }
    send_jpeg(&jpeg);
    passes(source, "other formats");
    close_camera(source);
}

static void test_jpeg_size(void)
{
    enum { LASTING = 3 }; // pictures of another size in a row that are the camera's new size
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    send_jpeg(&jpeg);
    struct source *source = open_camera();
    if (!check_that(&check, source != NULL, "a MJPEG camera opens"))
        return;
    for (int i = 0; i < 2 * LASTING; i++) {
        const struct driver_frame large = {.data = large_jpeg.data, .used = {(uint32_t)large_jpeg.size}};
        scratch_catch(&scratch);
        const bool damaged = is_damaged(source, &large);
        scratch_caught(&scratch);
        check_that(&check, damaged, "a picture larger than the mode is left out");
        check_that(&check, i > 0 || strstr(scratch.said, "more than the 512 allowed"), "by its head: %s", scratch.said);
    }
    send_jpeg(&jpeg);
    passes(source, "larger pictures");
    struct frame frame;
    enum source_status status = SOURCE_TIMEOUT;
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * NS_PER_MS;
    scratch_catch(&scratch);
    while (status == SOURCE_TIMEOUT && clock_now_ns() < deadline) {
        send_jpeg(&wide_jpeg);
        status = source_next(source, &frame, 100);
    }
    scratch_caught(&scratch);
    check_that(&check, status == SOURCE_RESHAPED, "a size within the mode's whole blocks is the new one: %d", status);
    close_camera(source);
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
    codec_buffer_free(&jpeg);
    codec_buffer_free(&wide_jpeg);
    codec_buffer_free(&large_jpeg);
    scratch_close(&scratch);
    return check_end(&check);
}
