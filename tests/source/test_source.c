// test_source.c: source texts, refusals, pacing, lending, images and lists
#include "check.h"
#include "pictures.h"
#include "scratch.h"

#include "base/clock.h"
#include "base/log.h"
#include "image/imagefile.h"
#include "source/entries.h"
#include "source/source.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct check check = {.name = "source"};
static struct scratch scratch;

// Makes a PNG of one colour; the tests recognise images by their colour.
static void write_picture(const char *name, int width, int height, int value)
{
    struct image image;
    image_alloc(&image, &(struct image_shape){.width = width, .height = height});
    memset(image.plane[0], value, image_bytes(&image.shape));
    imagefile_write_png(scratch_path(&scratch, name), &image, NULL);
    image_free(&image);
}

static void refuse_setup(const struct source_setup *setup, const char *because)
{
    capture_stderr(&scratch.said);
    struct source *source = source_open(setup);
    const int lines = captured_lines(&scratch.said);
    check_that(&check, !source && lines == 1 && strstr(scratch.said.text, because),
               "%s is refused because \"%s\"; said: %s", setup->text, because, scratch.said.text);
    source_close(source);
}

static void refuse(const char *text, const char *because)
{
    refuse_setup(&(struct source_setup){.text = text}, because);
}

static void test_refused(void)
{
    char text[600];
    refuse("pattern:640", "WIDTHxHEIGHT");
    refuse("pattern:640x", "WIDTHxHEIGHT");
    refuse("pattern:0x10", "WIDTHxHEIGHT");
    refuse("pattern:-3x10", "WIDTHxHEIGHT");
    refuse("pattern:640x480@", "WIDTHxHEIGHT");
    refuse("pattern:640x480@.", "WIDTHxHEIGHT");
    refuse("pattern:640x480@0", "WIDTHxHEIGHT");
    refuse("pattern:640x480@30x", "WIDTHxHEIGHT");
    refuse("pattern:640x480@1e3", "WIDTHxHEIGHT");
    refuse("pattern:640x480@30/0", "WIDTHxHEIGHT");
    refuse("pattern:640x480@5000", "WIDTHxHEIGHT");
    refuse("pattern:640x480@0.0001", "0.001 to 1000");
    refuse("pattern:640x480,nv13", "no pixel format 'nv13'; did you mean nv12?");
    refuse("pattern:640x480,", "WIDTHxHEIGHT");
    refuse("pattern:100000x100000", "at most 32768");
    refuse("pattern:30000x30000,rgba", "1 GiB");
    refuse("pattern:3x3,yuyv", "even width");
    refuse_setup(&(struct source_setup){.text = "pattern:64x48", .width = 32, .height = 24}, "contradicts");
    refuse_setup(&(struct source_setup){.text = "pattern:nv12", .has_format = true, .format = PIXFMT_NV21},
                 "contradicts");
    refuse("camera:/dev/nonexistent", "No such file");
    refuse("camera:/dev/null", "not a V4L2 device");
    refuse("camera:250", "No such file");
    refuse("/dev/video250", "to list the cameras, run: monocle cameras");
    refuse("/dev/v4l/by-id/none", "to list the cameras, run: monocle cameras");
    refuse("camera:/dev", "it is a directory; to list the cameras, run");
    refuse("/dev/zero", "it is not a regular file");
    refuse(scratch_path(&scratch, "none"), "No such file");
    refuse("patern", "No such file");
    refuse("raw", "raw:FILE");
    refuse("raw:", "raw:FILE");
    refuse("raw:/etc/passwd", "--size");
    snprintf(text, sizeof(text), "@%s", scratch_path(&scratch, "none"));
    refuse(text, "No such file");
    refuse("@", "@LIST");
    refuse("@/dev/zero", "not a regular file");
    refuse(scratch_write(&scratch, "empty", "", 0), "empty");
    refuse(scratch_write(&scratch, "text", "nothing that could be shown", 27), "--size");
    refuse(scratch_write(&scratch, "cut.png", "\x89PNG\r\n\x1a\n", 8), "truncated");
    mkdir(scratch_path(&scratch, "nothing"), 0700);
    refuse(scratch.path, "contains no image");
    snprintf(text, sizeof(text), "@%s", scratch_write(&scratch, "blank.txt", "\n\r\n\n", 4));
    refuse(text, "contains no image");
    refuse_setup(&(struct source_setup){.text = "pattern", .compressed = true}, "mjpeg is only for cameras");
    write_picture("some.png", 20, 10, 1);
    refuse_setup(&(struct source_setup){.text = scratch.path, .compressed = true}, "mjpeg is only for cameras");
    refuse_setup(&(struct source_setup){.text = scratch.path, .width = 21, .height = 10}, "20x10");
    write_picture("odd.png", 21, 10, 1);
    refuse_setup(&(struct source_setup){.text = scratch.path, .has_format = true, .format = PIXFMT_UYVY}, "uyvy");
}

// Opens the source and compares its kind and its properties: "e" endless, "s" still, "c" controls.
static void check_kind(const struct source_setup *setup, const char *kind, const char *letters)
{
    struct source *source = source_open(setup);
    if (!check_that(&check, source != NULL, "%s opens", setup->text))
        return;
    const struct source_info *info = source_info(source);
    char found[8];
    snprintf(found, sizeof(found), "%s%s%s", info->endless ? "e" : "", info->still ? "s" : "",
             info->controls ? "c" : "");
    check_that(&check, strcmp(info->kind, kind) == 0 && strcmp(found, letters) == 0, "%s: %s \"%s\", not %s \"%s\"",
               setup->text, info->kind, found, kind, letters);
    source_close(source);
}

static void test_kinds(void)
{
    static const char film[] = "YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcd";
    // An image in TGA format: 2x2 grey pixels.
    static const uint8_t tga[22] = {0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2, 0, 8, 0, 1, 2, 3, 4};
    char names[2][600];
    write_picture("kind.png", 2, 2, 9);
    check_kind(&(struct source_setup){.text = scratch_path(&scratch, "kind.png")}, "image", "s");
    snprintf(names[0], sizeof(names[0]), "%s\n", scratch_path(&scratch, "kind.png"));
    snprintf(names[1], sizeof(names[1]), "@%s", scratch_write(&scratch, "kind.txt", names[0], strlen(names[0])));
    check_kind(&(struct source_setup){.text = names[1]}, "list", "");
    check_kind(&(struct source_setup){.text = "pattern"}, "pattern", "e");
    scratch_write(&scratch, "kind", film, sizeof(film) - 1);
    check_kind(&(struct source_setup){.text = scratch_path(&scratch, "kind")}, "y4m", "");
    struct source_setup setup = {.text = scratch_write(&scratch, "kind.data", (const char *)tga, sizeof(tga))};
    check_kind(&setup, "image", "s");
    setup.has_format = true;
    setup.format = PIXFMT_GREY;
    setup.width = 11, setup.height = 2; // the user gives size and format of raw frames
    check_kind(&setup, "raw", "");
    snprintf(names[0], sizeof(names[0]), "raw:%s", scratch_path(&scratch, "kind"));
    setup.text = names[0], setup.width = 1, setup.height = 1;
    check_kind(&setup, "raw", "");
    for (int i = 0; source_help(i); i++)
        check_that(&check, strchr(source_help(i), '\t') != NULL, "a line of help has a tab: %s", source_help(i));
    check_that(&check, source_word(0) && strcmp(source_word(0), "camera") == 0, "the first word");
    struct captured captured;
    mkdir("noise", 0700);
    capture_stderr(&captured);
    source_close(source_open(&(struct source_setup){.text = "noise"}));
    check_that(&check, strstr(captured_stderr(&captured), "./noise opens") != NULL, "a directory with a kind's name");
    rmdir("noise");
}

static void test_pattern_text(void)
{
    static const struct {
        const char *text;
        int width, height;
        double rate;
        enum pixfmt format;
    } good[] = {
        {"pattern", 1280, 720, 30, PIXFMT_NV12},
        {"pattern:", 1280, 720, 30, PIXFMT_NV12},
        {"pattern:640x480", 640, 480, 30, PIXFMT_NV12},
        {"pattern:@60", 1280, 720, 60, PIXFMT_NV12},
        {"pattern:64x48@12.5,I420", 64, 48, 12.5, PIXFMT_YU12},
        {"pattern:64x48@.05", 64, 48, 0.05, PIXFMT_NV12},
        {"pattern:rgb24", 1280, 720, 30, PIXFMT_RGB24},
        {"pattern:33x1@30000/1001,grey", 33, 1, 30000.0 / 1001, PIXFMT_GREY},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct source *source = source_open(&(struct source_setup){.text = good[i].text});
        if (!check_that(&check, source != NULL, "%s opens", good[i].text))
            continue;
        const struct source_info *info = source_info(source);
        check_that(&check,
                   info->shape.width == good[i].width && info->shape.height == good[i].height &&
                       info->rate > good[i].rate - 1e-9 && info->rate < good[i].rate + 1e-9 &&
                       info->shape.format == good[i].format && info->shape.color.matrix && info->shape.color.range,
                   "%s is understood", good[i].text);
        source_close(source);
    }
    const struct source_setup setup = {.text = "pattern",
                                       .width = 32,
                                       .height = 24,
                                       .rate = 5,
                                       .has_format = true,
                                       .format = PIXFMT_UYVY,
                                       .color = {COLOR_MATRIX_2020, COLOR_RANGE_FULL}};
    struct source *source = source_open(&setup);
    const struct image_shape wanted = {PIXFMT_UYVY, 32, 24, setup.color, false};
    check_that(&check,
               source && image_shape_equal(&source_info(source)->shape, &wanted) && source_info(source)->rate == 5,
               "the pattern follows the options");
    source_close(source);
}

// Counts each byte value in the first frames of noise. Returns a hash of all bytes.
static uint64_t count_noise(const struct source_setup *setup, size_t count[256])
{
    struct source *source = source_open(setup);
    struct frame frame;
    uint64_t sum = 0;
    memset(count, 0, 256 * sizeof(*count));
    for (int i = 0; source && i < 2 * SOURCE_LENT; i++) {
        check_that(&check, source_next(source, &frame, 0) == SOURCE_FRAME, "frame %d of noise", i);
        for (size_t at = 0; at < image_bytes(&frame.image.shape); at++) {
            count[frame.image.plane[0][at]]++;
            sum = sum * 31 + frame.image.plane[0][at];
        }
        source_return(source, &frame);
    }
    source_close(source);
    return sum;
}

// All values are about equally frequent. Frames differ from each other; two runs have the same frames.
static void test_noise(void)
{
    static const struct source_setup setup = {.text = "noise:65x37,yu12"};
    size_t count[256], bytes = 0, least = SIZE_MAX, most = 0;
    const uint64_t first = count_noise(&setup, count);
    for (int i = 0; i < 256; i++) {
        bytes += count[i];
        least = count[i] < least ? count[i] : least;
        most = count[i] > most ? count[i] : most;
    }
    check_that(&check, bytes == 2 * SOURCE_LENT * (65 * 37 + 2 * 33 * 19), "%zu bytes", bytes);
    check_that(&check, least > bytes / 512 && most < bytes / 128, "a value occurs %zu to %zu times", least, most);
    check_that(&check, first == count_noise(&setup, count), "a second run has other frames");
    struct source *source = source_open(&setup);
    struct frame one, two;
    source_next(source, &one, 0);
    source_next(source, &two, 0);
    check_that(&check, memcmp(one.image.plane[0], two.image.plane[0], 65 * 37) != 0, "two frames are equal");
    source_close(source);
    refuse("noise:65x37x", "write noise:WIDTHxHEIGHT");
}

static void test_pacing(void)
{
    struct source *source = source_open(&(struct source_setup){.text = "pattern:16x16@100", .paced = true});
    struct frame frame;
    check_that(&check, source_info(source)->live, "a paced source is live");
    int64_t begin = clock_now_ns();
    for (int i = 0; i <= 20; i++) {
        check_that(&check, source_next(source, &frame, -1) == SOURCE_FRAME, "a paced frame arrives");
        check_that(&check, frame.number == (uint64_t)i, "frame %d is number %d", i, (int)frame.number);
        source_return(source, &frame);
    }
    const int64_t took = (clock_now_ns() - begin) / NS_PER_MS;
    check_that(&check, took >= 200, "20 frames at 100/s take 200 ms at least (%d)", (int)took);
    source_close(source);

    // A wait ends at the time-out, not when the next frame is due, 20 s later.
    source = source_open(&(struct source_setup){.text = "pattern:16x16@.05", .paced = true});
    source_next(source, &frame, 1000);
    source_return(source, &frame);
    begin = clock_now_ns();
    check_that(&check, source_next(source, &frame, 20) == SOURCE_TIMEOUT, "the next frame is not yet due");
    const int64_t waited = (clock_now_ns() - begin) / NS_PER_MS;
    check_that(&check, waited >= 20, "the time-out is kept (%d ms)", (int)waited);
    source_close(source);
}

// A program that was stopped (SIGSTOP) continues at its rate: it skips the frames that were due meanwhile.
static void test_pause(void)
{
    enum { FRAMES = 10, PERIOD_NS = 10 * NS_PER_MS, PAUSE_NS = 500 * NS_PER_MS };
    struct source *source = source_open(&(struct source_setup){.text = "pattern:16x16@100", .paced = true});
    struct frame first, frame;
    source_next(source, &frame, 1000);
    source_return(source, &frame);
    clock_sleep_until_ns(clock_now_ns() + PAUSE_NS);
    source_next(source, &first, 1000);
    source_return(source, &first);
    for (int i = 0; i < FRAMES; i++) {
        check_that(&check, source_next(source, &frame, 1000) == SOURCE_FRAME, "a frame arrives after a pause");
        source_return(source, &frame);
    }
    check_that(&check, frame.captured_ns - first.captured_ns >= (int64_t)(FRAMES - 1) * PERIOD_NS,
               "%d frames after a pause take %lld ns", FRAMES, (long long)(frame.captured_ns - first.captured_ns));
    source_close(source);
}

static void *return_soon(void *context)
{
    void **pair = context;
    clock_sleep_until_ns(clock_now_ns() + 20 * NS_PER_MS);
    source_return(pair[0], pair[1]);
    return NULL;
}

static void test_lending(void)
{
    struct source *source = source_open(&(struct source_setup){.text = "pattern:64x64"});
    struct frame frames[SOURCE_LENT], extra;
    for (int i = 0; i < SOURCE_LENT; i++) {
        check_that(&check, source_next(source, &frames[i], 0) == SOURCE_FRAME, "frame %d is lent", i);
        for (int j = 0; j < i; j++)
            check_that(&check, frames[i].image.plane[0] != frames[j].image.plane[0], "frames %d and %d are apart", i,
                       j);
    }
    check_that(&check, source_next(source, &extra, 10) == SOURCE_TIMEOUT, "at most this number is lent");
    pthread_t thread;
    void *pair[] = {source, &frames[2]};
    pthread_create(&thread, NULL, return_soon, pair);
    check_that(&check, source_next(source, &extra, 2000) == SOURCE_FRAME && extra.number == SOURCE_LENT,
               "the next one arrives when another thread returns one");
    pthread_join(thread, NULL);
    source_close(source);
}

static void test_still(void)
{
    write_picture("still.png", 20, 10, 200);
    struct frame frame;
    struct source *source = source_open(&(struct source_setup){.text = scratch.path});
    check_that(&check, strcmp(source_info(source)->kind, "image") == 0, "a picture is an image");
    check_that(&check, source_next(source, &frame, 0) == SOURCE_FRAME && frame.image.plane[0][0] == 200,
               "it is one frame");
    source_return(source, &frame);
    check_that(&check, source_next(source, &frame, 0) == SOURCE_END, "then it ends");
    source_close(source);
    source = source_open(&(struct source_setup){
        .text = scratch.path, .loop = true, .has_format = true, .format = PIXFMT_YUYV, .width = 20, .height = 10});
    for (uint64_t i = 0; i < 10; i++) {
        check_that(&check, source_next(source, &frame, 0) == SOURCE_FRAME && frame.number == i, "it loops");
        check_that(&check, frame.image.shape.format == PIXFMT_YUYV, "it is converted");
        source_return(source, &frame);
    }
    source_close(source);
}

// The first byte of each frame, as text.
static void frames_of(const struct source_setup *setup, int most, char *text, int *lines)
{
    capture_stderr(&scratch.said);
    struct source *source = source_open(setup);
    struct frame frame;
    text[0] = '\0';
    for (int i = 0; source && i < most && source_next(source, &frame, 1000) == SOURCE_FRAME; i++) {
        sprintf(text + strlen(text), "%d ", frame.image.plane[0][0]);
        source_return(source, &frame);
    }
    source_close(source);
    *lines = captured_lines(&scratch.said);
}

static void test_list(void)
{
    char got[256], dir[300], list[2000];
    int lines;
    snprintf(dir, sizeof(dir), "%s/list", scratch.dir);
    mkdir(dir, 0700);
    write_picture("list/shot10.png", 8, 8, 10);
    write_picture("list/shot2.png", 8, 8, 2);
    write_picture("list/shot1.png", 8, 8, 1);
    write_picture("list/shot3", 8, 8, 3); // without the extension of a picture
    write_picture("list/shot6.JPEG", 8, 8, 6);
    write_picture("list/.hidden.png", 8, 8, 99);
    write_picture("list/shot4.png", 9, 8, 4); // another size
    scratch_write(&scratch, "list/shot5.png", "\x89PNG\r\n\x1a\n", 8);
    scratch_write(&scratch, "list/README", "no picture", 10);
    scratch_write(&scratch, "list/light.hdr", "#?RADIANCE", 10); // a format that monocle cannot read
    frames_of(&(struct source_setup){.text = dir}, 100, got, &lines);
    check_that(&check, strcmp(got, "1 2 6 10 ") == 0 && lines == 2, "a directory plays in natural order: %s; said %s",
               got, scratch.said.text);
    frames_of(&(struct source_setup){.text = dir, .loop = true}, 9, got, &lines);
    check_that(&check, strcmp(got, "1 2 6 10 1 2 6 10 1 ") == 0 && lines == 2, "and loops, warning once: %s", got);
    // As a text editor may leave it: with a byte order mark, carriage returns, and no newline at the end.
    snprintf(list, sizeof(list), "\xef\xbb\xbf%s/shot10.png\r\n\n%s/nowhere.png\n%s/shot1.png", dir, dir, dir);
    char text[600];
    snprintf(text, sizeof(text), "@%s", scratch_write(&scratch, "list.txt", list, strlen(list)));
    frames_of(&(struct source_setup){.text = text}, 100, got, &lines);
    check_that(&check, strcmp(got, "10 1 ") == 0 && lines == 1, "a list plays in its own order: %s; said %s", got,
               scratch.said.text);
}

// Takes the next image of a slide show; it has this colour, number and number of images.
static void next_slide(struct source *source, int value, int number, int count)
{
    struct frame frame;
    struct source_slide slide = {0};
    const bool got = source_next(source, &frame, 1000) == SOURCE_FRAME;
    check_that(&check, got && frame.image.plane[0][0] == value, "slide %d is next", value);
    check_that(&check, got && source_slide(source, (double)frame.video_ns / 1e9, &slide), "slide %d has a place",
               value);
    check_that(&check, slide.number == number && slide.count == count, "slide %d is %d of %d, not %d of %d", value,
               slide.number, slide.count, number, count);
    if (got)
        source_return(source, &frame);
}

static void rename_picture(const char *from, const char *to)
{
    char path[300];
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, from));
    check_that(&check, rename(path, scratch_path(&scratch, to)) == 0, "%s becomes %s", from, to);
}

// An image that was removed and comes back unchanged is shown again, and so is a bad one after a change. Numbers count
// only images that can be read.
static void test_slides(void)
{
    char dir[300];
    struct source_slide slide = {.path = NULL};
    snprintf(dir, sizeof(dir), "%s/slides", scratch.dir);
    mkdir(dir, 0700);
    write_picture("slides/1.png", 8, 8, 10);
    write_picture("slides/2.png", 8, 8, 20);
    write_picture("slides/3.png", 8, 8, 30);
    scratch_write(&scratch, "slides/9.png", "\x89PNG\r\n\x1a\n", 8);
    struct source *source = source_open(&(struct source_setup){.text = dir, .slides = true, .loop = true, .rate = 30});
    next_slide(source, 10, 1, 4);
    rename_picture("slides/2.png", "slides/hidden");
    next_slide(source, 30, 2, 3);
    rename_picture("slides/hidden", "slides/2.png");
    capture_stderr(&scratch.said);
    next_slide(source, 10, 1, 3);
    check_that(&check, captured_lines(&scratch.said) == 1, "one image is bad: %s", scratch.said.text);
    next_slide(source, 20, 2, 3);
    next_slide(source, 30, 3, 3);
    write_picture("slides/9.png", 8, 8, 90);
    next_slide(source, 10, 1, 4);
    next_slide(source, 20, 2, 4);
    next_slide(source, 30, 3, 4);
    next_slide(source, 90, 4, 4);
    for (int i = 0; i < 4; i++)
        unlink(scratch_path(&scratch,
                            (const char *const[]){"slides/1.png", "slides/2.png", "slides/3.png", "slides/9.png"}[i]));
    capture_stderr(&scratch.said);
    struct frame frame;
    check_that(&check, source_next(source, &frame, 1000) == SOURCE_FAILED, "no image is left");
    captured_stderr(&scratch.said);
    check_that(&check, source_slide(source, 0, &slide) && slide.path, "the last list stays");
    source_close(source);
}

// A source that is truncated while it loops: its complete frames play; a round without a frame fails.
static void play_cut(const char *text, const char *path, off_t size, const char *why)
{
    struct frame frame;
    enum source_status status = SOURCE_END;
    capture_stderr(&scratch.said);
    struct source *source = source_open(&(struct source_setup){.text = text, .loop = true});
    for (int i = 0; source && i < 100 && (status = source_next(source, &frame, 1000)) == SOURCE_FRAME; i++) {
        source_return(source, &frame);
        check_that(&check, truncate(path, size) == 0, "it becomes shorter");
    }
    source_close(source);
    captured_stderr(&scratch.said);
    check_that(&check, status == SOURCE_FAILED && strstr(scratch.said.text, why), "%s cut to %ld bytes: %s", text,
               (long)size, scratch.said.text);
}

static void test_emptied(void)
{
    static const char film[] = "YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcdFRAME\nefgh";
    const off_t sizes[] = {0, 22, 30}; // nothing, the header, half a picture
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const char *path = scratch_write(&scratch, "emptied.y4m", film, sizeof(film) - 1);
        play_cut(path, path, sizes[i], "emptied.y4m: it was truncated");
    }
    char dir[300];
    snprintf(dir, sizeof(dir), "%s/emptied", scratch.dir);
    mkdir(dir, 0700);
    write_picture("emptied/one.png", 8, 8, 1);
    play_cut(dir, scratch_path(&scratch, "emptied/one.png"), 0, "emptied: none of its images");
}

static void test_natural_order(void)
{
    static const char *const sorted[] = {
        "",    "a",    "a0",  "a00",  "a01", "a1",   "a2", // equal numbers keep one order
        "a2b", "a02c", "a10", "a10a", "b",   "b9x1", "b9x20", "b99999999999999999999999", "b100000000000000000000000",
    };
    enum { COUNT = sizeof(sorted) / sizeof(*sorted) };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            const int order = entries_compare_names(sorted[i], sorted[j]);
            check_that(&check, (i < j && order < 0) || (i == j && order == 0) || (i > j && order > 0),
                       "\"%s\" against \"%s\"", sorted[i], sorted[j]);
        }
}

int main(void)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    test_refused();
    test_kinds();
    test_pattern_text();
    test_noise();
    test_pacing();
    test_pause();
    test_lending();
    test_still();
    test_list();
    test_slides();
    test_emptied();
    test_natural_order();
    scratch_close(&scratch);
    return check_end(&check);
}
