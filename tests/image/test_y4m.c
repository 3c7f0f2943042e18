// test_y4m.c: Y4M headers are accepted or refused; recordings follow the contract and are complete after any failure
#include "check.h"
#include "close_error.h"
#include "pictures.h"
#include "scratch.h"

#include "base/file.h"
#include "image/y4m.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static struct check check = {.name = "y4m"};
static struct scratch scratch;

static const struct {
    const char *line;
    enum pixfmt format;
    int width, height, numerator, denominator;
    enum color_range range;
    bool interlaced;
} good[] = {
    {"YUV4MPEG2 W2 H4", PIXFMT_YU12, 2, 4, 0, 1, COLOR_RANGE_DEFAULT, false},
    {"YUV4MPEG2 W352 H288 F30000:1001 Ip A128:117 C420jpeg XYSCSS=420JPEG", PIXFMT_YU12, 352, 288, 30000, 1001,
     COLOR_RANGE_DEFAULT, false},
    {"YUV4MPEG2 C444 Xanything XCOLORRANGE=FULL A0:0 F25:1 H3 W1 I?", PIXFMT_444P, 1, 3, 25, 1, COLOR_RANGE_FULL,
     false},
    {"YUV4MPEG2 C422 W3 H3 F0:0 XCOLORRANGE=LIMITED", PIXFMT_422P, 3, 3, 0, 1, COLOR_RANGE_LIMITED, false},
    {"YUV4MPEG2 Cmono  W32768 H32768 ", PIXFMT_GREY, 32768, 32768, 0, 1, COLOR_RANGE_DEFAULT, false},
    {"YUV4MPEG2 C420paldv W720 H576 F25:1 Ib", PIXFMT_YU12, 720, 576, 25, 1, COLOR_RANGE_DEFAULT, true},
    {"YUV4MPEG2 C420mpeg2 W720 H576 F2147483647:2147483647 Im", PIXFMT_YU12, 720, 576, 2147483647, 2147483647,
     COLOR_RANGE_DEFAULT, true},
    {"YUV4MPEG2 C420 W1 H1 It", PIXFMT_YU12, 1, 1, 0, 1, COLOR_RANGE_DEFAULT, true},
};

static const struct {
    const char *line, *why; // part of the reason
} bad[] = {
    {"", "begin"},
    {"YUV4MPEG", "begin"},
    {"YUV4MPEG2W2 H2", "begin"},
    {"yuv4mpeg2 W2 H2", "begin"},
    {"YUV4MPEG2", "its header has no width"},
    {"YUV4MPEG2 W2", "its header has no width"},
    {"YUV4MPEG2 H2", "its header has no width"},
    {"YUV4MPEG2 W0 H2", "its header has no width"},
    {"YUV4MPEG2 W-2 H2", "width"},
    {"YUV4MPEG2 W+2 H2", "width"},
    {"YUV4MPEG2 W H2", "width"},
    {"YUV4MPEG2 W2x H2", "width"},
    {"YUV4MPEG2 W0x2 H2", "width"},
    {"YUV4MPEG2 W2 H2.5", "height"},
    {"YUV4MPEG2 W4294967298 H2", "width"},
    {"YUV4MPEG2 W99999999999999999999999999999999 H2", "width"},
    {"YUV4MPEG2 W100000 H100000", "32768"},
    {"YUV4MPEG2 W32769 H1", "32768"},
    {"YUV4MPEG2 W32768 H32768 C444", "1 GiB"},
    {"YUV4MPEG2 W2 H2 F25", "rate"},
    {"YUV4MPEG2 W2 H2 F25:", "rate"},
    {"YUV4MPEG2 W2 H2 F:1", "rate"},
    {"YUV4MPEG2 W2 H2 F-25:1", "rate"},
    {"YUV4MPEG2 W2 H2 F25:0", "denominator"},
    {"YUV4MPEG2 W2 H2 F25:1:1", "rate"},
    {"YUV4MPEG2 W2 H2 F4294967296:1", "rate"},
    {"YUV4MPEG2 W2 H2 Ix", "interlacing"},
    {"YUV4MPEG2 W2 H2 Ipp", "interlacing"},
    {"YUV4MPEG2 W2 H2 C420p10", "8 bits"},
    {"YUV4MPEG2 W2 H2 C444p16", "8 bits"},
    {"YUV4MPEG2 W2 H2 Cmono16", "8 bits"},
    {"YUV4MPEG2 W2 H2 C444alpha", "alpha"},
    {"YUV4MPEG2 W2 H2 C411", "chroma"},
    {"YUV4MPEG2 W2 H2 C", "chroma"},
    {"YUV4MPEG2 W2 H2 C4", "chroma"},
    {"YUV4MPEG2 W2 H2 Q", "tag"},
    {"YUV4MPEG2 W2 H2 w2", "tag"},
};

static void test_headers(void)
{
    struct y4m_header header;
    const char *why = "";
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (!check_that(&check, y4m_parse_header(good[i].line, strlen(good[i].line), &header, &why), "taken: %s: %s",
                        good[i].line, why))
            continue;
        check_that(&check,
                   header.shape.format == good[i].format && header.shape.width == good[i].width &&
                       header.shape.height == good[i].height && header.rate_numerator == good[i].numerator &&
                       header.rate_denominator == good[i].denominator && header.shape.color.range == good[i].range &&
                       header.shape.color.matrix == COLOR_MATRIX_DEFAULT && header.interlaced == good[i].interlaced,
                   "understood: %s", good[i].line);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        why = "";
        const bool ok = y4m_parse_header(bad[i].line, strlen(bad[i].line), &header, &why);
        check_that(&check, !ok && strstr(why, bad[i].why), "refused because of %s: %s (%s)", bad[i].why, bad[i].line,
                   why);
    }
    static const char nul[] = "YUV4MPEG2 W2 H2 I\0";
    check_that(&check, !y4m_parse_header(nul, sizeof(nul) - 1, &header, &why) && strstr(why, "interlacing"),
               "refused because of interlacing: a NUL byte");
    check_that(&check, y4m_parse_frame("FRAME", 5) && y4m_parse_frame("FRAME Ip Xa", 11), "frame lines are accepted");
    check_that(&check, !y4m_parse_frame("FRAM", 4) && !y4m_parse_frame("FRAMES", 6) && !y4m_parse_frame("", 0),
               "other lines are not");
}

// Rates that are given as decimals.
static void test_rates(void)
{
    static const struct {
        double rate;
        int numerator, denominator;
    } rows[] = {
        {30, 30, 1},
        {29.97, 30000, 1001},
        {23.976, 24000, 1001},
        {59.94, 60000, 1001},
        {119.88, 120000, 1001},
        {12.5, 25, 2},
        {0.5, 1, 2},
        {0.01, 1, 100},
        {1 / 3.0, 1, 3},
        {29.966, 14983, 500},
        {23.95, 479, 20},
        {0.0167, 167, 10000},
        {1e-6, 1, 1000000},
        {1e6, 1000000, 1},
        {999.5, 1999, 2},
        {0.0004, 1, 2500},
        {1e7 / 333333, 30, 1},
        {1e7 / 83333, 120, 1}, // what cameras have for 30 and 120
        {1e7 / 166833, 60000, 1001},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int numerator = 0, denominator = 0;
        y4m_rate(rows[i].rate, &numerator, &denominator);
        check_that(&check, numerator == rows[i].numerator && denominator == rows[i].denominator, "%.12g is %d:%d",
                   rows[i].rate, numerator, denominator);
    }
    struct random random = {3};
    for (int i = 0; i < 10000; i++) { // the ratio equals any rate
        const double rate = exp((double)random_range(&random, -13500, 13500) / 1000);
        int numerator = 0, denominator = 0;
        y4m_rate(rate, &numerator, &denominator);
        const double apart = fabs((double)numerator / denominator - rate);
        check_that(&check, numerator > 0 && denominator > 0 && apart < (rate < 1 ? 2e-9 * rate : 0.002),
                   "%.12g is about %d:%d", rate, numerator, denominator);
    }
}

// The bytes that a recording of these pictures must have.
static uint8_t *expected(const struct test_frame *frames, int count, const char *rate, size_t *size)
{
    const struct image_shape *shape = &frames[0].image.shape;
    const size_t plane = (size_t)shape->width * (size_t)shape->height;
    uint8_t *bytes = malloc(200 + (size_t)count * (6 + 3 * plane));
    if (!bytes)
        exit(1);
    size_t at = (size_t)sprintf((char *)bytes, "YUV4MPEG2 W%d H%d F%s Ip A1:1 C444 XCOLORRANGE=LIMITED\n", shape->width,
                                shape->height, rate);
    for (int i = 0; i < count; i++) {
        struct picture picture = reference_frame(&frames[i].image);
        memcpy(bytes + at, "FRAME\n", 6);
        uint8_t *y = bytes + at + 6;
        reference_444p(&picture, reference_default_color(false, shape->width, shape->height).matrix, y, y + plane,
                       y + 2 * plane);
        at += 6 + 3 * plane;
        picture_free(&picture);
    }
    *size = at;
    return bytes;
}

static bool file_is(const char *path, const uint8_t *bytes, size_t size)
{
    size_t got;
    char *data = file_read(path, 1 << 24, &got);
    const bool same = data && got == size && memcmp(data, bytes, size) == 0;
    free(data);
    return same;
}

static void test_recording(int width, int height)
{
    enum { COUNT = 3 };
    struct random random = {5};
    struct test_frame frames[COUNT];
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = width, .height = height};
    const char *path = scratch_path(&scratch, "recording.y4m");
    struct y4m_writer *writer = y4m_writer_open(path, -1, width, height, 30000, 1001);
    for (int i = 0; i < COUNT; i++) {
        frame_fill(&frames[i], &shape, i % 2 ? LAYOUT_PADDED : LAYOUT_TIGHT, SHAPE_NOISE + i, &random);
        check_that(&check, writer && y4m_writer_add(writer, &frames[i].image, NULL), "picture %d is written", i);
    }
    check_that(&check, y4m_writer_close(writer), "the recording ends well");
    size_t size;
    uint8_t *bytes = expected(frames, COUNT, "30000:1001", &size);
    check_that(&check, file_is(path, bytes, size), "a recording of %dx%d has the contract's bytes", width, height);
    free(bytes);
    for (int i = 0; i < COUNT; i++)
        frame_free(&frames[i]);
}

// The disk is full during the third frame: two whole frames stay, and one line reports it.
static void test_full_disk(void)
{
    enum { WIDTH = 64, HEIGHT = 48, PICTURE = 6 + 3 * WIDTH * HEIGHT };
    struct random random = {9};
    struct test_frame frame;
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = WIDTH, .height = HEIGHT};
    frame_fill(&frame, &shape, LAYOUT_TIGHT, SHAPE_NOISE, &random);
    const char *path = scratch_path(&scratch, "full.y4m");
    struct rlimit old;
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    capture_stderr(&scratch.said);
    struct y4m_writer *writer = y4m_writer_open(path, -1, WIDTH, HEIGHT, 0, 1);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){2 * PICTURE + PICTURE / 2, old.rlim_max});
    int written = 0;
    for (int i = 0; i < 5; i++)
        written += y4m_writer_add(writer, &frame.image, NULL);
    const bool ok = y4m_writer_close(writer);
    setrlimit(RLIMIT_FSIZE, &old);
    check_that(&check, captured_lines(&scratch.said) == 1 && !ok && written == 2,
               "a full disk is logged once; said: %s", scratch.said.text);
    const struct test_frame both[] = {frame, frame};
    size_t size;
    uint8_t *bytes = expected(both, 2, "0:0", &size);
    check_that(&check, file_is(path, bytes, size), "the file ends behind its last whole picture");
    free(bytes);
    frame_free(&frame);
}

// Network file systems report lost data only when the file is closed.
static void test_close(void)
{
    struct y4m_writer *writer = y4m_writer_open(scratch_path(&scratch, "lost.y4m"), -1, 16, 16, 25, 1);
    capture_stderr(&scratch.said);
    close_error = EDQUOT;
    const bool ok = y4m_writer_close(writer);
    close_error = 0;
    check_that(&check,
               captured_lines(&scratch.said) == 1 && writer && !ok && strstr(scratch.said.text, "Disk quota exceeded"),
               "an error of close is logged once; said: %s", scratch.said.text);
}

static void refuse(const char *path, const char *because)
{
    capture_stderr(&scratch.said);
    struct y4m_writer *writer = y4m_writer_open(path, -1, 16, 16, 25, 1);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, !writer && lines == 1 && strstr(scratch.said.text, because),
               "%s is refused because \"%s\"; said: %s", path, because, scratch.said.text);
    y4m_writer_close(writer);
}

// Runs `test` with standard output as `fd`, or closed if it is -1.
static void with_stdout(int fd, void (*test)(void))
{
    fflush(stdout);
    const int saved = dup(STDOUT_FILENO);
    close(STDOUT_FILENO);
    if (fd >= 0)
        dup2(fd, STDOUT_FILENO);
    test();
    dup2(saved, STDOUT_FILENO);
    close(saved);
}

static void refuse_closed(void)
{
    refuse("-", "closed");
}

// Frames into a pipe whose reader closes it.
static void write_to_broken_pipe(void)
{
    struct image image;
    image_alloc(&image, &(struct image_shape){.format = PIXFMT_RGBA, .width = 256, .height = 256});
    memset(image.plane[0], 77, image_bytes(&image.shape));
    capture_stderr(&scratch.said);
    struct y4m_writer *writer = y4m_writer_open("-", -1, 256, 256, 25, 1);
    int written = 0;
    for (int i = 0; writer && i < 5; i++)
        written += y4m_writer_add(writer, &image, NULL);
    const bool ok = y4m_writer_close(writer);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, (!writer || !ok) && lines == 0 && written == 0, "the end of a reader is no error; said: %s",
               scratch.said.text);
    image_free(&image);
}

// Reads the bytes that are in a pipe now.
static size_t drain(int fd, uint8_t *to)
{
    size_t size = 0;
    for (ssize_t got; (got = read(fd, to + size, 4096)) > 0;)
        size += (size_t)got;
    return size;
}

// A pipe holds one frame, but not two. A frame that arrives while the pipe is full is left out; a frame that is partly
// written is completed.
static void test_stalled(void)
{
    enum { WIDTH = 64, HEIGHT = 256, ADDED = 4, ROOM = ADDED * 3 * WIDTH * HEIGHT };
    static const bool expected_out[ADDED] = {false, false, true, false};
    const struct image_shape shape = {.format = PIXFMT_RGBA, .width = WIDTH, .height = HEIGHT};
    struct random random = {11};
    struct test_frame frames[ADDED], kept[ADDED];
    uint8_t *got = malloc(ROOM);
    size_t size = 0, wanted;
    int ends[2], count = 0;
    char path[64];
    if (!got || pipe(ends) != 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0)
        exit(1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
    struct y4m_writer *writer = y4m_writer_open(path, -1, WIDTH, HEIGHT, 25, 1);
    for (int i = 0; i < ADDED; i++) {
        bool out = !expected_out[i];
        frame_fill(&frames[i], &shape, LAYOUT_TIGHT, SHAPE_NOISE, &random);
        if (i == ADDED - 1)
            size += drain(ends[0], got + size);
        check_that(&check, writer && y4m_writer_add(writer, &frames[i].image, &out) && out == expected_out[i],
                   "picture %d is %s", i, out ? "left out" : "taken");
        if (!out)
            kept[count++] = frames[i];
    }
    size += drain(ends[0], got + size);
    check_that(&check, y4m_writer_close(writer), "the recording ends well");
    size += drain(ends[0], got + size);
    uint8_t *bytes = expected(kept, count, "25:1", &wanted);
    check_that(&check, size == wanted && memcmp(got, bytes, size) == 0, "%zu bytes arrived of %zu", size, wanted);
    writer = y4m_writer_open(path, -1, WIDTH, HEIGHT, 25, 1); // this pipe is never read
    capture_stderr(&scratch.said);
    bool out = false;
    for (int i = 0; i < 2; i++)
        check_that(&check, writer && y4m_writer_add(writer, &frames[i].image, &out) && !out, "frame %d is accepted", i);
    errno = 0;
    const bool ended = y4m_writer_close(writer);
    check_that(&check, captured_lines(&scratch.said) == 1 && !ended && strstr(scratch.said.text, "stalled"),
               "half a picture is logged once; said: %s", scratch.said.text);
    for (int i = 0; i < ADDED; i++)
        frame_free(&frames[i]);
    close(ends[0]);
    close(ends[1]);
    free(bytes);
    free(got);
}

static void append_to_stdout(void)
{
    struct y4m_writer *writer = y4m_writer_open("-", -1, 16, 16, 25, 1);
    check_that(&check, y4m_writer_close(writer), "recording to standard output");
}

static void test_outputs(void)
{
    refuse("/nonexistent/x.y4m", "No such file");
    refuse(scratch.dir, "directory");
    refuse("/dev/full", "No space left");
    with_stdout(-1, refuse_closed);
    const int null = open("/dev/null", O_RDONLY); // as process_guard_streams has it
    with_stdout(null, refuse_closed);
    close(null);
    int ends[2];
    if (pipe(ends) == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_IGN); // as main does
        with_stdout(ends[1], write_to_broken_pipe);
        close(ends[1]);
    }
    const char *path = scratch_write(&scratch, "append", "before", 6);
    const int fd = open(path, O_WRONLY | O_APPEND);
    with_stdout(fd, append_to_stdout);
    close(fd);
    size_t size;
    char *data = file_read(path, 1000, &size);
    check_that(&check, data && strncmp(data, "beforeYUV4MPEG2 ", 16) == 0, "bytes of stdout before the recording stay");
    free(data);
    capture_stderr(&scratch.said);
    struct y4m_writer *writer = y4m_writer_open(scratch_path(&scratch, "big"), -1, 30000, 30000, 25, 1);
    check_that(&check, captured_lines(&scratch.said) == 1 && !writer, "pictures of 2.7 GB are refused");
}

int main(void)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    test_headers();
    test_rates();
    test_recording(1, 1);
    test_recording(33, 17);
    test_recording(1280, 2);
    test_full_disk();
    test_close();
    test_stalled();
    test_outputs();
    scratch_close(&scratch);
    return check_end(&check);
}
