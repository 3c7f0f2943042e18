// camera_jpeg.c: MJPEG frames without an end marker
#include "camera_jpeg.h"

#include "driver.h"

#include "source/kind.h"

#include <linux/videodev2.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = DRIVER_WIDTH, HEIGHT = DRIVER_HEIGHT, PATIENCE_MS = 60000 * DRIVER_HASTE };

static void send_jpeg(const struct codec_buffer *file)
{
    driver_send(&(struct driver_frame){.data = file->data, .used = {(uint32_t)file->size}});
}

// Takes a frame and copies its first plane to `luma`. Returns true if one arrives.
static bool take_luma(struct source *source, uint8_t luma[WIDTH * HEIGHT])
{
    struct frame frame;
    if (source_next(source, &frame, PATIENCE_MS) != SOURCE_FRAME)
        return false;
    for (int y = 0; y < HEIGHT; y++)
        memcpy(luma + (size_t)y * WIDTH, image_row(&frame.image, 0, y), WIDTH);
    source_return(source, &frame);
    return true;
}

void camera_jpeg_no_end(struct check *check, const struct codec_buffer *jpeg)
{
    enum { END_BYTES = 2, FILL_BYTES = 64 };
    static const uint8_t sizes[] = {END_BYTES, 1};
    uint8_t luma[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    struct codec_buffer file = {.data = calloc(1, jpeg->size + FILL_BYTES), .size = jpeg->size};
    memcpy(file.data, jpeg->data, jpeg->size);
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    file.size = jpeg->size - END_BYTES;
    send_jpeg(&file); // the first frame has none
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    if (!check_that(check, source != NULL, "a MJPEG camera without end markers opens"))
        return;
    send_jpeg(jpeg);
    const bool whole = take_luma(source, expected);
    for (size_t i = 0; whole && i < sizeof(sizes); i++) {
        file.size = jpeg->size - sizes[i];
        send_jpeg(&file);
        check_that(check, take_luma(source, luma) && memcmp(luma, expected, sizeof(luma)) == 0,
                   "a frame without %d bytes of its end marker has other pixels", sizes[i]);
    }
    memset(file.data + jpeg->size - END_BYTES, 0, END_BYTES + FILL_BYTES);
    file.size = jpeg->size + FILL_BYTES;
    send_jpeg(&file);
    check_that(check, take_luma(source, luma) && memcmp(luma, expected, sizeof(luma)) == 0,
               "a frame with zeros instead of its end marker has other pixels");
    check_that(check, source_health(source).damaged == 0, "%llu frames count as damaged",
               (unsigned long long)source_health(source).damaged);
    codec_buffer_free(&file);
    source_close(source);
    driver_finish();
}
