// test_film.c: Y4M and raw films from files and pipes: complete, truncated, slow and looped
#include "check.h"
#include "pictures.h"
#include "scratch.h"

#include "base/clock.h"
#include "image/y4m.h"
#include "source/source.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PICTURES = 3 };

static struct check check = {.name = "film"};
static struct scratch scratch;

// Variants of the format, and a film of each, made here by hand.
static const struct variant {
    const char *tag;
    enum pixfmt format;
} variants[] = {
    {"", PIXFMT_YU12},      {" C420jpeg", PIXFMT_YU12}, {" C420mpeg2", PIXFMT_YU12}, {" C420paldv", PIXFMT_YU12},
    {" C422", PIXFMT_422P}, {" C444", PIXFMT_444P},     {" Cmono", PIXFMT_GREY},
};

struct film_bytes {
    uint8_t *data;
    size_t size, head, one; // all bytes, those of the stream header, those of a frame without its line
};

static uint8_t byte_of(size_t at)
{
    return (uint8_t)(at * 31 + at / 7);
}

static struct film_bytes make_film(const struct variant *variant, int width, int height)
{
    const struct image_shape shape = {.format = variant->format, .width = width, .height = height};
    struct film_bytes film = {.one = image_bytes(&shape)};
    film.data = malloc(256 + PICTURES * (film.one + 20));
    film.head = film.size =
        (size_t)sprintf((char *)film.data, "YUV4MPEG2 W%d H%d F25:1%s XCOLORRANGE=FULL\n", width, height, variant->tag);
    for (int i = 0; i < PICTURES; i++) {
        film.size += (size_t)sprintf((char *)film.data + film.size, i == 1 ? "FRAME Ip Xnote\n" : "FRAME\n");
        for (size_t at = 0; at < film.one; at++)
            film.data[film.size++] = byte_of(film.one * (size_t)i + at);
    }
    return film;
}

static bool frame_is(const struct frame *frame, int index)
{
    const size_t one = image_bytes(&frame->image.shape);
    size_t offset = one * (size_t)index;
    for (int i = 0; i < pixfmt_info(frame->image.shape.format)->planes; i++) {
        const size_t row = pixfmt_row_bytes(frame->image.shape.format, i, frame->image.shape.width);
        for (int y = 0; y < pixfmt_rows(frame->image.shape.format, i, frame->image.shape.height); y++)
            for (size_t x = 0; x < row; x++)
                if (frame->image.plane[i][(size_t)y * frame->image.stride[i] + x] != byte_of(offset++))
                    return false;
    }
    return true;
}

// Takes frames until the end. Returns the number of correct frames; -1 if one was wrong.
static int play(struct source *source, enum source_status *status)
{
    struct frame frame;
    int count = 0;
    while ((*status = source_next(source, &frame, 1000)) == SOURCE_FRAME) {
        const bool right = frame.number == (uint64_t)count % PICTURES && frame_is(&frame, count % PICTURES);
        source_return(source, &frame);
        if (!right)
            return -1;
        count++;
        if (count == 100)
            break;
    }
    return count;
}

static void test_whole(void)
{
    for (size_t i = 0; i < sizeof(variants) / sizeof(*variants); i++) {
        const struct film_bytes film = make_film(&variants[i], 35, 21);
        const char *path = scratch_write(&scratch, "whole.y4m", film.data, film.size);
        struct source *source = source_open(&(struct source_setup){.text = path});
        enum source_status status = SOURCE_FAILED;
        check_that(&check, source && play(source, &status) == PICTURES && status == SOURCE_END, "%s plays",
                   variants[i].tag);
        if (source) {
            const struct source_info *info = source_info(source);
            check_that(&check,
                       info->shape.format == variants[i].format && info->rate == 25 && !info->live &&
                           info->shape.color.range == COLOR_RANGE_FULL && info->shape.color.matrix == COLOR_MATRIX_601,
                       "%s is understood", variants[i].tag);
        }
        source_close(source);
        source = source_open(&(struct source_setup){.text = path, .loop = true, .rate = 50});
        check_that(&check, source && play(source, &status) == 100 && source_info(source)->rate == 50, "%s loops",
                   variants[i].tag);
        source_close(source);
        free(film.data);
    }
}

// A film truncated at every byte: its complete frames play, then it ends, with one warning about an incomplete frame,
// also if it loops. A film without a frame is refused.
static void test_cut(void)
{
    const struct film_bytes film = make_film(&variants[0], 4, 2);
    for (size_t cut = 0; cut <= film.size; cut++) {
        const char *path = scratch_write(&scratch, "cut.y4m", film.data, cut);
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = path});
        enum source_status status = SOURCE_END;
        int whole = source ? play(source, &status) : 0;
        source_close(source);
        const int lines = captured_lines(&scratch.said);
        if (cut < film.head) {
            check_that(&check, !source && lines == 1, "a header cut at %zu is refused in one line: %s", cut,
                       scratch.said.text);
            continue;
        }
        size_t at = film.head;
        int expected = 0;
        for (; expected < PICTURES; expected++) {
            const size_t next = at + film.one + (expected == 1 ? 15 : 6);
            if (next > cut)
                break;
            at = next;
        }
        check_that(&check, whole == expected && status == SOURCE_END && lines == (cut != at || expected == 0),
                   "cut at %zu: %d pictures of %d, %d lines", cut, whole, expected, lines);
    }
    uint8_t *more = memcpy(malloc(film.size + 4), film.data, film.size); // and the beginning of another picture
    memcpy(more + film.size, "FRAM", 4);
    const char *path = scratch_write(&scratch, "cut.y4m", more, film.size + 4);
    capture_stderr(&scratch.said);
    struct source *source = source_open(&(struct source_setup){.text = path, .loop = true});
    enum source_status status;
    const int played = source ? play(source, &status) : 0;
    source_close(source);
    check_that(&check, captured_lines(&scratch.said) == 1 && played == 100, "cut and looped: %d pictures, %s", played,
               scratch.said.text);
    free(more);
    free(film.data);
}

static void test_damaged(void)
{
    struct film_bytes film = make_film(&variants[0], 4, 2);
    film.data[film.head + 6 + film.one] = 'f'; // the second FRAME
    const char *path = scratch_write(&scratch, "damaged.y4m", film.data, film.size);
    capture_stderr(&scratch.said);
    struct source *source = source_open(&(struct source_setup){.text = path});
    enum source_status status;
    const int whole = play(source, &status);
    struct frame frame;
    check_that(&check, source_next(source, &frame, 0) == SOURCE_FAILED, "a failure stays");
    source_close(source);
    check_that(&check, captured_lines(&scratch.said) == 1 && whole == 1 && status == SOURCE_FAILED,
               "a missing FRAME ends the film: %s", scratch.said.text);
    free(film.data);
}

static void refuse(const struct source_setup *setup, const char *because)
{
    capture_stderr(&scratch.said);
    struct source *source = source_open(setup);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, !source && lines == 1 && strstr(scratch.said.text, because), "refused because \"%s\"; said: %s",
               because, scratch.said.text);
    source_close(source);
}

static void test_refused(void)
{
    static const struct {
        const char *head, *why;
    } bad[] = {
        {"YUV4MPEG2 W100000 H100000\nFRAME\n", "32768"},
        {"YUV4MPEG2 W-1 H5\nFRAME\n", "width"},
        {"YUV4MPEG2 H5\nFRAME\n", "its header has no width"},
        {"YUV4MPEG2 W5 H5 C420p10\nFRAME\n", "8 bits"},
        {"YUV4MPEG2 W5 H5", "truncated"},
        {"YUV4MPEG2 W5 H5 F1:0\n", "denominator"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        refuse(&(struct source_setup){.text = scratch_write(&scratch, "bad.y4m", bad[i].head, strlen(bad[i].head))},
               bad[i].why);
    char line[3000];
    memset(line, 'X', sizeof(line));
    memcpy(line, "YUV4MPEG2 W2 H2 ", 16);
    refuse(&(struct source_setup){.text = scratch_write(&scratch, "long.y4m", line, sizeof(line))}, "header line");
    char longest[Y4M_LINE_MAX + 16] = "YUV4MPEG2 W2 H2 Cmono X";
    memset(longest + strlen(longest), 'x', Y4M_LINE_MAX - strlen(longest));
    strcpy(longest + Y4M_LINE_MAX, "\nFRAME\nabcd");
    const char *path = scratch_write(&scratch, "longest.y4m", longest, strlen(longest));
    struct source *source = source_open(&(struct source_setup){.text = path});
    struct frame frame;
    check_that(&check, source && source_next(source, &frame, 1000) == SOURCE_FRAME, "the longest header is accepted");
    if (source)
        source_return(source, &frame);
    source_close(source);
    static const char claim[] = "YUV4MPEG2 W32768 H8192\nFRAME\nabc"; // nothing of that size is allocated for it
    refuse(&(struct source_setup){.text = scratch_write(&scratch, "claim.y4m", claim, sizeof(claim) - 1)},
           "it has 9 bytes of pixels");
    path = scratch_write(&scratch, "small.y4m", "YUV4MPEG2 W4 H4\n", 16);
    refuse(&(struct source_setup){.text = path, .width = 8, .height = 8}, "4x4");
    refuse(&(struct source_setup){.text = path, .has_format = true, .format = PIXFMT_NV12}, "yu12");
    refuse(&(struct source_setup){.text = path, .loop = true}, "contains no complete frame");
}

static void test_raw(void)
{
    uint8_t bytes[PICTURES * 12 * 10 * 2];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = byte_of(i);
    const char *path = scratch_write(&scratch, "frames.raw", bytes, sizeof(bytes));
    struct source_setup setup = {
        .text = path, .width = 12, .height = 10, .has_format = true, .format = PIXFMT_UYVY, .loop = true};
    enum source_status status;
    struct source *source = source_open(&setup); // recognised without "raw:" since size and format are given
    check_that(&check, source && strcmp(source_info(source)->kind, "raw") == 0 && play(source, &status) == 100,
               "raw frames play and loop");
    source_close(source);
    char text[600];
    snprintf(text, sizeof(text), "raw:%s", path);
    setup.text = text;
    setup.loop = false;
    capture_stderr(&scratch.said);
    source = source_open(&setup);
    check_that(&check, truncate(path, sizeof(bytes) / PICTURES * 2) == 0, "cut between two pictures, while it plays");
    const int kept = source ? play(source, &status) : -1;
    source_close(source);
    check_that(&check,
               captured_lines(&scratch.said) == 1 && kept == 2 &&
                   strstr(scratch.said.text, "truncated while it played"),
               "a file that becomes shorter is logged: %s", scratch.said.text);
    scratch_write(&scratch, "frames.raw", bytes, sizeof(bytes));
    capture_stderr(&scratch.said);
    check_that(&check, truncate(path, sizeof(bytes) - 1) == 0, "it becomes shorter");
    source = source_open(&setup);
    const int whole = source ? play(source, &status) : -1;
    source_close(source);
    check_that(&check,
               captured_lines(&scratch.said) == 1 && whole == PICTURES - 1 &&
                   strstr(scratch.said.text, "not a multiple"),
               "a cut picture is logged once: %s", scratch.said.text);
    check_that(&check, truncate(path, 239) == 0, "it becomes shorter");
    refuse(&setup, "contains no complete frame");
    setup.width = 13;
    refuse(&setup, "even");
    setup.width = 100000;
    refuse(&setup, "32768");
    setup.width = 0;
    refuse(&setup, "--size");
}

// A seek reaches each frame, although 7 / 24.0 divided by 1 / 24.0 is less than 7.
static void test_seek(void)
{
    enum { FRAMES = 10, RATE = 24 };
    uint8_t bytes[FRAMES * 4 * 2];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = byte_of(i);
    const char *path = scratch_write(&scratch, "seek.raw", bytes, sizeof(bytes));
    struct source *source = source_open(&(struct source_setup){
        .text = path, .width = 4, .height = 2, .rate = RATE, .has_format = true, .format = PIXFMT_GREY});
    check_that(&check, source, "a film to seek in");
    for (int i = FRAMES - 1; source && i >= 0; i--) {
        struct frame frame;
        const double seconds = (double)i / RATE;
        if (!check_that(&check, source_seek(source, seconds) && source_next(source, &frame, 1000) == SOURCE_FRAME,
                        "a seek to frame %d", i))
            continue;
        const double at = (double)frame.video_ns / 1e9;
        check_that(&check, frame_is(&frame, i) && at > seconds - 1e-6 && at < seconds + 1e-6,
                   "a seek to frame %d at %.4f s is at %.4f s", i, seconds, at);
        source_return(source, &frame);
    }
    source_close(source);
}

// A writer that feeds a film into a pipe in small, slow pieces.
struct feeder {
    const struct film_bytes *film;
    int fd;
    const char *fifo;
    size_t piece;
};

static void *feed(void *context)
{
    const struct feeder *feeder = context;
    const int fd = feeder->fifo ? open(feeder->fifo, O_WRONLY) : feeder->fd;
    for (size_t at = 0; at < feeder->film->size; at += feeder->piece) {
        const size_t left = feeder->film->size - at;
        clock_sleep_until_ns(clock_now_ns() + NS_PER_MS / 10);
        if (write(fd, feeder->film->data + at, left < feeder->piece ? left : feeder->piece) < 0)
            break;
    }
    close(fd);
    return NULL;
}

static void test_pipes(void)
{
    const struct film_bytes film = make_film(&variants[4], 33, 9);
    const size_t pieces[] = {1, 7, 64, 1000, 100000};
    enum source_status status;
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        int ends[2];
        pthread_t thread;
        if (pipe(ends) != 0)
            return;
        const int saved = dup(STDIN_FILENO);
        dup2(ends[0], STDIN_FILENO);
        struct feeder feeder = {.film = &film, .fd = ends[1], .piece = pieces[i]};
        pthread_create(&thread, NULL, feed, &feeder);
        struct source *source = source_open(&(struct source_setup){.text = "-"});
        check_that(&check, source && play(source, &status) == PICTURES && status == SOURCE_END,
                   "standard input in pieces of %zu bytes", pieces[i]);
        source_close(source);
        pthread_join(thread, NULL);
        dup2(saved, STDIN_FILENO);
        close(saved);
        close(ends[0]);
    }
    const char *fifo = scratch_path(&scratch, "fifo");
    mkfifo(fifo, 0600);
    for (int loop = 0; loop < 2; loop++) { // a pipe plays once, and a warning says so
        struct feeder feeder = {.film = &film, .fifo = fifo, .piece = 500};
        pthread_t thread;
        pthread_create(&thread, NULL, feed, &feeder);
        capture_stderr(&scratch.said);
        struct source *source = source_open(&(struct source_setup){.text = fifo, .loop = loop});
        const int played = source ? play(source, &status) : -1;
        source_close(source);
        const int lines = captured_lines(&scratch.said);
        pthread_join(thread, NULL);
        check_that(&check, played == PICTURES && status == SOURCE_END, "a named pipe plays: %d pictures", played);
        check_that(&check, lines == loop && (!loop || strstr(scratch.said.text, "cannot loop")),
                   "named pipe, loop %d: %s", loop, scratch.said.text);
    }
    free(film.data);
}

// A pipe that stalls in the middle of a frame: source_next times out in time, and the frame is complete afterwards.
static void test_stall(void)
{
    const struct film_bytes film = make_film(&variants[0], 16, 16);
    int ends[2];
    if (pipe(ends) != 0)
        return;
    const int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    const size_t part = film.head + 6 + film.one / 2;
    check_that(&check, write(ends[1], film.data, part) == (ssize_t)part, "half a picture is sent");
    struct source *source = source_open(&(struct source_setup){.text = "-"});
    struct frame frame;
    const int64_t begin = clock_now_ns();
    check_that(&check, source && source_next(source, &frame, 30) == SOURCE_TIMEOUT, "a stalled pipe times out");
    const int64_t took = (clock_now_ns() - begin) / NS_PER_MS;
    check_that(&check, took >= 30, "not before it is over (%d ms)", (int)took);
    check_that(&check, write(ends[1], film.data + part, film.size - part) > 0, "the rest is sent");
    close(ends[1]);
    enum source_status status;
    check_that(&check, play(source, &status) == PICTURES && status == SOURCE_END, "then the picture is whole");
    source_close(source);
    close(STDIN_FILENO);
    refuse(&(struct source_setup){.text = "-"}, "closed");
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
    free(film.data);
}

// The same clip by ffmpeg as Y4M and as raw frames.
static void test_ffmpeg(const char *pixels, enum pixfmt format, bool strict)
{
    char command[2048], y4m[600], raw[600];
    snprintf(y4m, sizeof(y4m), "%s/ff.y4m", scratch.dir);
    snprintf(raw, sizeof(raw), "%s/ff.raw", scratch.dir);
    snprintf(command, sizeof(command),
             "ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=35x21:rate=30000/1001 -frames:v 4 -pix_fmt %s%s %s "
             "-frames:v 4 -pix_fmt %s -f rawvideo %s",
             pixels, strict ? " -strict -1" : "", y4m, pixels, raw);
    if (!check_that(&check, system(command) == 0, "ffmpeg makes %s", pixels))
        return;
    struct source *a = source_open(&(struct source_setup){.text = y4m});
    struct source *b = source_open(
        &(struct source_setup){.text = raw, .width = 35, .height = 21, .has_format = true, .format = format});
    int count = 0;
    struct frame one, two;
    while (a && b && source_next(a, &one, 1000) == SOURCE_FRAME && source_next(b, &two, 1000) == SOURCE_FRAME) {
        const size_t bytes = image_bytes(&one.image.shape);
        check_that(&check,
                   one.image.shape.format == format && memcmp(one.image.plane[0], two.image.plane[0], bytes) == 0,
                   "picture %d of ffmpeg's %s", count, pixels);
        source_return(a, &one);
        source_return(b, &two);
        count++;
    }
    check_that(&check, count == 4, "ffmpeg's %s has 4 pictures (%d)", pixels, count);
    check_that(&check, a && source_info(a)->rate > 29.96 && source_info(a)->rate < 29.98, "and its rate");
    source_close(a);
    source_close(b);
}

int main(void)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    test_whole();
    test_cut();
    test_damaged();
    test_refused();
    test_raw();
    test_seek();
    test_pipes();
    test_stall();
    if (system("command -v ffmpeg >/dev/null") == 0) {
        test_ffmpeg("yuv420p", PIXFMT_YU12, false);
        test_ffmpeg("yuv422p", PIXFMT_422P, false);
        test_ffmpeg("yuv444p", PIXFMT_444P, false);
        test_ffmpeg("gray", PIXFMT_GREY, true);
        char deep[1024];
        snprintf(
            deep, sizeof(deep),
            "ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=16x16 -frames:v 1 -pix_fmt yuv420p10 -strict -1 %s",
            scratch_path(&scratch, "deep.y4m"));
        if (system(deep) == 0)
            refuse(&(struct source_setup){.text = scratch_path(&scratch, "deep.y4m")}, "8 bits");
    } else {
        printf("ffmpeg is not installed: its films are not tried\n");
    }
    scratch_close(&scratch);
    return check_end(&check);
}
