// camera_jpeg.c: see camera_jpeg.h
#include "camera_jpeg.h"

#include "driver.h"

#include "base/clock.h"
#include "base/thread.h"
#include "codec_files.h"
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

void camera_jpeg_no_tables(struct check *check, const struct codec_buffer *jpeg)
{
    enum { START_BYTES = 2, DHT = 0xc4, SOS = 0xda };
    struct codec_buffer bare = {.data = malloc(jpeg->size)};
    uint8_t luma[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    int tables = 0;
    memcpy(bare.data, jpeg->data, bare.size = START_BYTES);
    for (size_t at = START_BYTES, bytes; at < jpeg->size; at += bytes) {
        const uint8_t *segment = jpeg->data + at;
        bytes = segment[1] == SOS ? jpeg->size - at : 2 + (size_t)(segment[2] << 8 | segment[3]);
        tables += segment[1] == DHT;
        if (segment[1] == DHT)
            continue;
        memcpy(bare.data + bare.size, segment, bytes);
        bare.size += bytes;
    }
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    driver.stride = 2 * WIDTH + 40; // means nothing
    send_jpeg(&bare);
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    send_jpeg(jpeg);
    const bool whole = source && take_luma(source, expected);
    send_jpeg(&bare);
    check_that(check, tables > 0 && whole && take_luma(source, luma) && memcmp(luma, expected, sizeof(luma)) == 0,
               "a frame without its %d tables has other pixels", tables);
    check_that(check, source && source_health(source).damaged == 0, "it is not damaged");
    codec_buffer_free(&bare);
    source_close(source);
    driver_finish();
}

void camera_jpeg_behind(struct check *check, const struct codec_buffer *jpeg)
{
    enum { MOST = 300 };
    static const struct {
        const char *what;
        int fill; // -1: the end of the frame; -2: its begin
        size_t bytes;
    } rows[] = {{"nothing", 0, 0},        {"a zero", 0, 1},     {"zeros", 0, MOST},           {"a 0xff", 0xff, 1},
                {"0xff", 0xff, 3},        {"0xff", 0xff, MOST}, {"the end of one", -1, MOST}, {"an end marker", -1, 2},
                {"a start marker", -2, 2}};
    uint8_t luma[WIDTH * HEIGHT], expected[WIDTH * HEIGHT];
    uint8_t *bytes = calloc(1, MOST + jpeg->size);
    for (int first = 0; first < 2; first++) { // 1: the first frame has other bytes, too
        driver_start(V4L2_PIX_FMT_MJPEG, 1);
        struct source *source = NULL;
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            const struct codec_buffer file = {.data = bytes, .size = rows[i].bytes + jpeg->size};
            memset(bytes, rows[i].fill, rows[i].bytes);
            if (rows[i].fill < 0)
                memcpy(bytes, jpeg->data + (rows[i].fill == -1 ? jpeg->size - rows[i].bytes : 0), rows[i].bytes);
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

// ---- cut frames ----

enum { TALL = 128, ROWS = 16 }; // a frame of 8 rows of blocks

// Sends the first bytes of a file until a frame arrives or the time is over. Returns whether one arrives.
static bool take_cut(struct source *source, const struct codec_buffer *file, size_t bytes, int64_t most_ns,
                     uint8_t luma[WIDTH * TALL])
{
    const int64_t deadline_ns = clock_now_ns() + most_ns;
    struct frame frame;
    while (clock_now_ns() < deadline_ns) {
        if (driver_has_room())
            driver_send(&(struct driver_frame){.data = file->data, .used = {(uint32_t)bytes}});
        if (source_next(source, &frame, 30) != SOURCE_FRAME)
            continue;
        for (int y = 0; y < TALL; y++)
            memcpy(luma + (size_t)y * WIDTH, image_row(&frame.image, 0, y), WIDTH);
        source_return(source, &frame);
        return true;
    }
    return false;
}

// A cut frame of one or two rows has no row to repeat.
static void check_low(struct check *check)
{
    static const int64_t second_ns = 1000000000;
    struct codec_buffer file = {0};
    struct frame frame;
    for (int height = 1; height <= 2; height++) {
        jpeg_make(&file, WIDTH, height, &(struct jpeg_wish){0});
        driver_start(V4L2_PIX_FMT_MJPEG, 1);
        driver.height = (unsigned)height;
        send_jpeg(&file);
        struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
        if (!check_that(check, source != NULL, "a camera of %d rows opens", height))
            return;
        const int64_t deadline_ns = clock_now_ns() + 3 * second_ns;
        bool shown = false;
        while (clock_now_ns() < deadline_ns) {
            if (driver_has_room())
                driver_send(&(struct driver_frame){.data = file.data, .used = {(uint32_t)file.size - 12}});
            if (source_next(source, &frame, 30) == SOURCE_FRAME) {
                shown = true;
                source_return(source, &frame);
            }
        }
        check_that(check, !shown, "%d rows: a cut frame is shown", height);
        source_close(source);
        driver_finish();
    }
    codec_buffer_free(&file);
}

void camera_jpeg_cut(struct check *check)
{
    static const int64_t second_ns = 1000000000;
    static const int kept[] = {99, 95}; // per cent
    uint8_t whole[WIDTH * TALL], luma[WIDTH * TALL];
    struct codec_buffer file = {0};
    check_low(check);
    jpeg_make(&file, WIDTH, TALL, &(struct jpeg_wish){0});
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        driver_start(V4L2_PIX_FMT_MJPEG, 1);
        driver.height = TALL;
        send_jpeg(&file);
        struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
        if (!check_that(check, source && take_cut(source, &file, file.size, 60 * second_ns, whole), "a whole frame"))
            return;
        const size_t bytes = file.size * (size_t)kept[i] / 100;
        while (source_next(source, &(struct frame){0}, 0) == SOURCE_FRAME) // the frames that were sent, too
            abort();
        check_that(check, !take_cut(source, &file, bytes, second_ns, luma), "%d %%: a cut frame is shown at once",
                   kept[i]);
        if (!check_that(check, take_cut(source, &file, bytes, 60 * second_ns, luma), "%d %%: no cut frame is shown",
                        kept[i]))
            return;
        const struct source_health health = source_health(source);
        int same = 0;
        while (same < TALL && memcmp(luma + (size_t)same * WIDTH, whole + (size_t)same * WIDTH, WIDTH) == 0)
            same++;
        same -= same % ROWS; // the next row may be an equal one
        check_that(check, same >= TALL / 2 && same < TALL, "%d %%: %d rows are right", kept[i], same);
        for (int y = same; y < TALL; y++)
            check_that(check, memcmp(luma + (size_t)y * WIDTH, luma + (size_t)(same - 1) * WIDTH, WIDTH) == 0,
                       "%d %%: row %d is another one", kept[i], y);
        check_that(check, strstr(health.hint, "arrive cut") && health.outages == 0 && health.damaged > 0,
                   "%d %%: hint '%s', %d outages", kept[i], health.hint, health.outages);
        while (take_cut(source, &file, file.size, 60 * second_ns, luma) && memcmp(luma, whole, sizeof(luma)) != 0)
            ;
        check_that(check, source_health(source).hint[0] == '\0', "whole frames have the hint %s",
                   source_health(source).hint);
        source_close(source);
        driver_finish();
    }
    // Less than half of a frame is no picture.
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    driver.height = TALL;
    send_jpeg(&file);
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    check_that(check, source && !take_cut(source, &file, file.size / 3, 6 * second_ns, luma), "a third is a picture");
    check_that(check, source_health(source).outages == 1, "a third: %d outages", source_health(source).outages);
    source_close(source);
    driver_finish();
    codec_buffer_free(&file);
}

// ---- a slow frame ----

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t slow_size; // frames of this size wait; 0: none
    atomic_int waiting;
} gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

bool __real_codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size,
                          uint64_t most_pixels, struct codec_head *head, struct codec_error *error);
bool __wrap_codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size,
                          uint64_t most_pixels, struct codec_head *head, struct codec_error *error);
bool __wrap_codec_head_of(struct codec *codec, enum codec_format format, const void *data, size_t size,
                          uint64_t most_pixels, struct codec_head *head, struct codec_error *error)
{
    pthread_mutex_lock(&gate.lock);
    gate.waiting++;
    pthread_cond_broadcast(&gate.changed);
    while (size == gate.slow_size)
        pthread_cond_wait(&gate.changed, &gate.lock);
    gate.waiting--;
    pthread_mutex_unlock(&gate.lock);
    return __real_codec_head_of(codec, format, data, size, most_pixels, head, error);
}

static void set_slow(size_t size)
{
    pthread_mutex_lock(&gate.lock);
    gate.slow_size = size;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

void camera_jpeg_slow(struct check *check, const struct codec_buffer *jpeg)
{
    enum { FILL_BYTES = 64, TURNS = 5, SOON_MS = 4000 * DRIVER_HASTE };
    struct codec_buffer slow = {.data = calloc(1, jpeg->size + FILL_BYTES), .size = jpeg->size + FILL_BYTES};
    struct frame frame, none;
    if (workers_available() < 2) {
        printf("a slow frame: this machine has one CPU\n");
        return;
    }
    memcpy(slow.data, jpeg->data, jpeg->size);
    driver_start(V4L2_PIX_FMT_MJPEG, 1);
    send_jpeg(jpeg);
    struct source *source = source_open(&(struct source_setup){.text = "camera:0"});
    uint64_t last = 0;
    for (int i = 0; source && i < TURNS; i++) {
        set_slow(slow.size);
        send_jpeg(&slow);
        const int64_t deadline_ns = clock_now_ns() + SOON_MS * 1000000L;
        do // until a thread has it
            source_next(source, &none, 1);
        while (gate.waiting == 0 && clock_now_ns() < deadline_ns);
        send_jpeg(jpeg);
        const bool fast = source_next(source, &frame, SOON_MS) == SOURCE_FRAME;
        check_that(check, fast, "a slow frame holds up the next one");
        set_slow(0);
        if (!fast)
            break;
        check_that(check, frame.number > last, "number %llu follows %llu", (unsigned long long)frame.number,
                   (unsigned long long)last);
        last = frame.number;
        source_return(source, &frame);
        check_that(check, source_next(source, &none, 50 * DRIVER_HASTE) == SOURCE_TIMEOUT,
                   "a frame is shown after a newer one");
    }
    check_that(check, source && source_health(source).damaged == 0, "no frame is damaged");
    codec_buffer_free(&slow);
    source_close(source);
    driver_finish();
}
