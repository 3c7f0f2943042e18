// camera_jpeg.c: see camera_jpeg.h
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

void camera_jpeg_behind(struct check *check, const struct codec_buffer *jpeg)
{
    enum { MOST = 300 };
    static const struct {
        const char *what;
        int fill; // -1: the end of the frame
        size_t bytes;
    } rows[] = {{"nothing", 0, 0}, {"a zero", 0, 1},     {"zeros", 0, MOST},           {"a 0xff", 0xff, 1},
                {"0xff", 0xff, 3}, {"0xff", 0xff, MOST}, {"the end of one", -1, MOST}, {"an end marker", -1, 2}};
    uint8_t luma[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    uint8_t *bytes = calloc(1, MOST + jpeg->size);
    for (int first = 0; first < 2; first++) { // 1: the first frame has other bytes, too
        driver_start(V4L2_PIX_FMT_MJPEG, 1);
        struct source *source = NULL;
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            const struct codec_buffer file = {.data = bytes, .size = rows[i].bytes + jpeg->size};
            memset(bytes, rows[i].fill, rows[i].bytes);
            if (rows[i].fill < 0)
                memcpy(bytes, jpeg->data + jpeg->size - rows[i].bytes, rows[i].bytes);
            memcpy(bytes + rows[i].bytes, jpeg->data, jpeg->size);
            if (!source) {
                send_jpeg(first ? &(struct codec_buffer){.data = bytes, .size = file.size} : jpeg);
                source = source_open(&(struct source_setup){.text = "camera:0"});
                if (!check_that(check, source != NULL, "a camera with %s before its frames opens", rows[i].what))
                    break;
            }
            send_jpeg(&file);
            check_that(check, take_luma(source, i == 0 ? expected : luma), "a frame behind %s", rows[i].what);
            check_that(check, i == 0 || memcmp(luma, expected, sizeof(luma)) == 0, "pixels behind %s", rows[i].what);
        }
        check_that(check, source && source_health(source).damaged == 0, "no frame is damaged");
        source_close(source);
        driver_finish();
    }
    free(bytes);
}
