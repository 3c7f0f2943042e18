// test_recorder.c: recordings and screenshots of the live view: times, counts and names; readers, disks and ffmpeg fail
#include "base/clock.h"
#include "sink/recording.h"
#include "sink/screenshot.h"
#include "stream/outputs.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>

static bool disk_fails;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    if (!disk_fails)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

static int interrupted; // the number of a signal

int __wrap_process_interrupted(void);

int __wrap_process_interrupted(void)
{
    return interrupted;
}

static bool stopped; // the clock shows stopped_ns
static int64_t stopped_ns;

int64_t __real_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void);

int64_t __wrap_clock_now_ns(void)
{
    return stopped ? stopped_ns : __real_clock_now_ns();
}

static bool start(struct outputs *outputs, const char *name)
{
    struct claim claim;
    return claim_take(&claim, name) && outputs_start_recording(outputs, &claim, 0);
}

// Adds frames of a source that is not live, at 25 frames per second.
static void add(struct outputs *outputs, int frames)
{
    static int64_t number;
    const struct image_shape shape = {.width = outputs->width, .height = outputs->height};
    struct image image;
    CHECK(image_alloc(&image, &shape));
    memset(image.memory, 0, image_bytes(&shape));
    for (int i = 0; i < frames; i++) {
        const struct frame frame = {.elapsed_ns = number++ * 40000000};
        CHECK(outputs_add_frame(outputs, &frame, &image, true));
    }
    image_free(&image);
}

// Adds frames with these times, of which each is brighter than the one before. All but the first are added `late_ms`
// after their time. The clock shows when the last one was added.
static void add_at(struct outputs *outputs, const int *ms, int frames, int late_ms)
{
    const struct image_shape shape = {.width = outputs->width, .height = outputs->height};
    struct image image;
    CHECK(image_alloc(&image, &shape));
    for (int i = 0; i < frames; i++) {
        struct frame frame = {.captured_ns = ms[i] * 1000000L + 5000000000};
        frame.elapsed_ns = frame.video_ns = frame.captured_ns;
        stopped_ns = frame.captured_ns + (i > 0 ? late_ms * 1000000L : 0);
        memset(image.memory, 10 * i, image_bytes(&shape));
        CHECK(outputs_add_frame(outputs, &frame, &image, true));
    }
    image_free(&image);
}

// Checks which frames a Y4M of 4x2 pixels has: "0012" begins with the first one twice.
static void check_frames(const char *name, const char *want)
{
    enum { HEAD = 6, FRAME = HEAD + 3 * 4 * 2 };
    char data[8192], got[256] = "";
    const int fd = open(name, O_RDONLY);
    const ssize_t size = read(fd, data, sizeof(data));
    CHECK(fd >= 0 && close(fd) == 0 && size > 0 && size < (ssize_t)sizeof(data));
    const char *at = memchr(data, '\n', (size_t)size);
    size_t count = 0;
    for (at++; at + FRAME <= data + size && count < sizeof(got) - 1; at += FRAME)
        got[count++] = (char)('0' + ((uint8_t)at[HEAD] - 16 + 4) * 255 / 219 / 10);
    CHECK_TEXT(got, want);
    CHECK(unlink(name) == 0);
}

// A recording lasts as long as its frames: those are repeated or left out.
static void test_times(struct outputs *outputs, const struct source_info *info)
{
    static const struct {
        bool live;
        int late_ms;              // see add_at
        int count, ms[8], end_ms; // times of frames, and of the end
        const char *frames;       // at 25 frames per second
    } rows[] = {
        {true, 0, 4, {0, 40, 80, 120}, 120, "0123"},
        {true, 0, 5, {0, 38, 85, 118, 161}, 165, "01234"},    // a camera's times jitter
        {true, 0, 4, {0, 40, 400, 440}, 440, "011111111123"}, // the view was busy
        {true, 0, 6, {0, 40, 50, 60, 70, 160}, 160, "01235"}, // too fast: every frame had its place but 4
        {true, 0, 2, {0, 67}, 67, "001"},
        {true, 0, 2, {0, 40}, 240, "011111"},    // no frame arrived before the end
        {true, 200, 2, {0, 40}, 280, "0111111"}, // the source is behind its schedule at the end
        {false, 0, 4, {0, 30, 100, 1100}, 1100, "01122222222222222222222222223"},
        {false, 0, 6, {0, 1, 2, 3, 4, 120}, 120, "012345"}, // none is left out
        {false, 0, 3, {0, 40, 1640}, 1640, "011111111111111111111111111111111111111112"},
        // One call repeats 26 frames. A frame whose place is later than these is left out.
        {true, 0, 5, {0, 40, 1640, 1680, 1720}, 1720, "01111111111111111111111111111111111111111134"},
    };
    struct source_info other = *info;
    CHECK(outputs_resize(outputs, 4, 2));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        other.live = rows[i].live;
        outputs_set_source(outputs, &other, other.live);
        stopped = true;
        CHECK(start(outputs, "times.y4m"));
        add_at(outputs, rows[i].ms, rows[i].count, rows[i].late_ms);
        stopped_ns = rows[i].end_ms * 1000000L + 5000000000;
        CHECK(outputs_end_recording(outputs, 0, false));
        stopped = false;
        check_frames("times.y4m", rows[i].frames);
    }
    outputs_set_source(outputs, info, true);
}

// A camera may be faster than it claims: the recording has all frames, also in a pipe, and if it is short. It may also
// have seemed faster, because its first frames were in a queue.
static void test_claimed(struct outputs *outputs, const struct source_info *info)
{
    enum { FRAMES = 60 };
    static const struct {
        double claim, rate; // rate: frame.rate once it is known
        int unknown, count; // frames without a known rate; all frames
        bool pipe;
        int frames; // in the recording
    } rows[] = {{30, 0, 0, 60, false, 60},  {3, 30, 15, 60, false, 60}, {3, 30, 15, 60, true, 60},
                {3, 30, 10, 10, false, 10}, {30, 0, 5, 60, false, 60},  {30, 0, 0, 60, true, 60}};
    const struct image_shape shape = {.width = outputs->width, .height = outputs->height};
    struct image image;
    CHECK(image_alloc(&image, &shape));
    memset(image.memory, 0, image_bytes(&shape));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct source_info camera = {.shape = info->shape, .rate = rows[i].claim, .claimed = true, .live = true};
        static char data[FRAMES * 1000];
        CHECK(!rows[i].pipe || mkfifo("claimed.y4m", 0600) == 0);
        int fd = rows[i].pipe ? open("claimed.y4m", O_RDONLY | O_NONBLOCK) : -1;
        stopped = true;
        outputs_set_source(outputs, &camera, true);
        CHECK(start(outputs, "claimed.y4m"));
        for (int n = 0; n < rows[i].count; n++) {
            const double rate = n < rows[i].unknown ? -1 : rows[i].rate;
            stopped_ns = 5000000000 + n * 1000000000L / 30;
            const struct frame frame = {.captured_ns = stopped_ns, .elapsed_ns = stopped_ns, .rate = rate};
            CHECK(outputs_record(outputs, &frame, &image, true) && outputs_follow(outputs, false));
        }
        CHECK(outputs_end_recording(outputs, 0, false));
        stopped = false;
        fd = rows[i].pipe ? fd : open("claimed.y4m", O_RDONLY);
        const ssize_t size = read(fd, data, sizeof(data) - 1);
        int frames = 0;
        for (char *at = data; size > 0 && (at = memmem(at, (size_t)(data + size - at), "FRAME", 5)); at++)
            frames++;
        if (frames != rows[i].frames || memmem(data, 60, " F3:1 ", 6))
            fprintf(stderr, "row %zu: %d frames: %.60s\n", i, frames, data);
        CHECK_NUMBER(frames, rows[i].frames);
        CHECK(close(fd) == 0 && unlink("claimed.y4m") == 0);
    }
    image_free(&image);
    outputs_set_source(outputs, info, true);
}

// While a live source delivers no frame, the recording goes on, one second late.
static void test_pause(struct outputs *outputs, const struct source_info *info)
{
    const struct source_info live = {.shape = info->shape, .rate = info->rate, .live = true};
    static const int ms[] = {0, 40};
    stopped = true;
    outputs_set_source(outputs, &live, true);
    CHECK(start(outputs, "times.y4m"));
    CHECK(outputs_follow(outputs, true)); // without a frame, there is nothing to repeat
    CHECK_NUMBER(outputs->file.frames, 0);
    add_at(outputs, ms, 2, 0);
    stopped_ns += 1000000000;
    CHECK(outputs_follow(outputs, false));
    CHECK_NUMBER(outputs->file.frames, 2);
    stopped_ns += 400000000;
    CHECK(outputs_follow(outputs, false));
    CHECK_NUMBER(outputs->file.frames, 11);
    stopped_ns += 4000000000; // one call does not hold up the view for long
    CHECK(outputs_follow(outputs, false));
    CHECK_NUMBER(outputs->file.frames, 11 + 26);
    CHECK(outputs_end_recording(outputs, 0, false));
    CHECK_NUMBER(outputs->file.frames, 11 + 26);
    stopped = false;
    outputs_set_source(outputs, info, true);
    struct stat status;
    CHECK(stat("times.y4m", &status) == 0 && status.st_size > (136 - 1) * 30 && status.st_size < (136 + 4) * 30);
    CHECK(unlink("times.y4m") == 0);
}

// The last frame of a film lasts until the film's end, unless the duration is wrong. The time of a new source goes on.
static void test_film(struct outputs *outputs, const struct source_info *info)
{
    struct source_info film = *info;
    static const int ms[] = {0, 40, 80};
    static const struct {
        double seconds;
        int most_s, frames; // the frames after the first two are the third one
    } rows[] = {{5.2, 10, 5}, {5.2, 0, 3}, {0, 10, 3}, {15.2, 10, 3}, {15.2, 1000, 255}};
    film.timed = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char want[256] = "01";
        memset(want + 2, '2', (size_t)rows[i].frames - 2);
        film.duration_s = rows[i].seconds;
        outputs_set_source(outputs, &film, false);
        CHECK(start(outputs, "times.y4m"));
        add_at(outputs, ms, 3, 0);
        CHECK(outputs_end_recording(outputs, rows[i].most_s * 1000000000L, false));
        check_frames("times.y4m", want);
    }
    CHECK(start(outputs, "times.y4m"));
    add_at(outputs, ms, 3, 0);
    interrupted = SIGINT; // a signal ends this
    CHECK(outputs_end_recording(outputs, 1000000000000, false));
    interrupted = 0;
    check_frames("times.y4m", "012");
    static const int later_ms[] = {0, 200};
    CHECK(start(outputs, "times.y4m"));
    add_at(outputs, ms, 3, 0);
    outputs_set_source(outputs, &film, false);
    add_at(outputs, later_ms, 2, 0); // its times begin as those of the first film
    CHECK(outputs_end_recording(outputs, 0, false));
    check_frames("times.y4m", "012000001");
    outputs_set_source(outputs, info, true);
}

// A film without frames is removed, but a file that existed before stays.
static void test_without_frames(struct outputs *outputs)
{
    struct captured captured;
    for (int there = 0; there < 2; there++) {
        const int fd = there ? open("empty.y4m", O_WRONLY | O_CREAT, 0666) : -1;
        CHECK(!there || close(fd) == 0);
        CHECK(start(outputs, "empty.y4m"));
        CHECK(access("empty.y4m", F_OK) == 0);
        capture_stderr(&captured);
        CHECK(outputs_end_recording(outputs, 0, false));
        const bool removed = strstr(captured_stderr(&captured), "no frame was recorded; empty.y4m is removed");
        CHECK_NUMBER(removed, !there);
        CHECK_NUMBER(access("empty.y4m", F_OK) == 0, there);
    }

    // It keeps its size.
    CHECK(start(outputs, "none.y4m"));
    CHECK(outputs_resize(outputs, outputs->width, outputs->height));
    CHECK(!outputs_resize(outputs, outputs->width + 2, outputs->height));
    CHECK(outputs_end_recording(outputs, 0, false));
    CHECK(access("none.y4m", F_OK) != 0);
    CHECK(outputs_resize(outputs, 6, 2));
}

// Lets a thread end the recording, and waits for it.
static void end_on_thread(struct outputs *outputs)
{
    outputs_toggle_recording(outputs, ".y4m", false, false);
    while (!recording_ended(outputs->ending[0].recording))
        clock_sleep_until_ns(clock_now_ns() + 1000000);
}

// If a thread cannot end a recording, the next one is not affected.
static void test_ending(struct outputs *outputs, const struct source_info *slow)
{
    struct captured captured;
    bool error;
    capture_stderr(&captured);
    CHECK(start(outputs, "bad.y4m"));
    add(outputs, 1);
    disk_fails = true;
    end_on_thread(outputs);
    disk_fails = false;
    CHECK(start(outputs, "good.y4m"));
    add(outputs, 5);
    CHECK(!outputs_follow(outputs, false));
    CHECK(outputs_failure(outputs) && strstr(outputs_failure(outputs), "bad.y4m"));
    captured_stderr(&captured);

    // The seconds are those of the rate at its start.
    add(outputs, 10);
    outputs_set_source(outputs, slow, false);
    end_on_thread(outputs);
    CHECK(outputs_follow(outputs, false));
    CHECK(!outputs_failure(outputs));
    CHECK_HAS(note_text(outputs->note, &error), "recorded 0.6 s to good.y4m");

    // One that makes room for the next one is reported, too.
    capture_stderr(&captured);
    char name[] = "0.y4m";
    for (; name[0] <= '0' + OUTPUTS_ENDINGS; name[0]++) {
        CHECK(start(outputs, name));
        add(outputs, 1);
        disk_fails = name[0] == '0';
        end_on_thread(outputs);
    }
    CHECK(!outputs_follow(outputs, false));
    CHECK(outputs_end_recording(outputs, 0, false));
    captured_stderr(&captured);
    while (name[0]-- > '0')
        CHECK(unlink(name) == 0);
}

static void make_file(const char *name, const char *text)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0);
}

static void check_text(const char *name, const char *want)
{
    char text[64] = "";
    const int fd = open(name, O_RDONLY);
    CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0 && close(fd) == 0);
    CHECK_TEXT(text, want);
    CHECK(unlink(name) == 0);
}

// A file that another program makes after the start of the run is neither replaced nor removed.
static void test_taken(struct outputs *outputs)
{
    struct captured captured;
    struct claim claim;
    for (int encoded = 0; encoded < 2; encoded++) {
        const char *const name = encoded ? "taken.mkv" : "taken.y4m", *other = encoded ? "taken-2.mkv" : "taken-2.y4m";
        CHECK(claim_take(&claim, name));
        make_file(name, "theirs");
        capture_stderr(&captured);
        CHECK(outputs_start_recording(outputs, &claim, 0));
        CHECK_TEXT(outputs->file.name, other);
        CHECK_TEXT(outputs->given, name);
        CHECK_HAS(captured_stderr(&captured), encoded ? "another program has made taken.mkv during the run; monocle "
                                                        "writes taken-2.mkv"
                                                      : "monocle writes taken-2.y4m");
        if (!encoded) { // else ffmpeg may open the file later
            CHECK(unlink(other) == 0);
            make_file(other, "theirs, too");
        }
        CHECK(outputs_end_recording(outputs, 0, false));
        check_text(name, "theirs");
        if (!encoded)
            check_text(other, "theirs, too");
        CHECK(access(other, F_OK) != 0);
    }
}

static const char *swapped; // before the recording begins, another file gets this name

struct recording *__real_recording_open(const char *path, const struct recording_setup *setup);
struct recording *__wrap_recording_open(const char *path, const struct recording_setup *setup);

struct recording *__wrap_recording_open(const char *path, const struct recording_setup *setup)
{
    if (swapped) {
        CHECK(unlink(swapped) == 0);
        make_file(swapped, "theirs");
    }
    return __real_recording_open(path, setup);
}

// A file that gets the name of the new file before ffmpeg or monocle writes is neither written nor removed.
static void test_swapped(struct outputs *outputs)
{
    static const char *const names[] = {"swapped.mkv", "swapped.y4m"};
    struct captured captured;
    for (int i = 0; i < 2; i++) {
        swapped = names[i];
        capture_stderr(&captured);
        CHECK(start(outputs, names[i]));
        swapped = NULL;
        CHECK(outputs_end_recording(outputs, 0, false));
        CHECK_TEXT(captured_stderr(&captured), "");
        check_text(names[i], "theirs");
    }
}

// A reader that stalls misses frames. They are not counted as written, and reported.
static void test_stalled(struct outputs *outputs, const struct source_info *info)
{
    enum { FRAMES = 600, PIPE = 8192, FRAME_BYTES = 6 + 3 * 4 * 2 };
    const struct source_info live = {.shape = info->shape, .rate = info->rate, .live = true};
    struct captured captured;
    struct image image;
    char data[PIPE];
    bool error;
    CHECK(mkfifo("stalled.y4m", 0600) == 0);
    const int reader = open("stalled.y4m", O_RDWR | O_NONBLOCK);
    CHECK(reader >= 0 && fcntl(reader, F_SETPIPE_SZ, PIPE) == PIPE);
    CHECK(outputs_resize(outputs, 4, 2));
    CHECK(image_alloc(&image, &(struct image_shape){.width = 4, .height = 2}));
    memset(image.memory, 0, image_bytes(&image.shape));
    outputs_set_source(outputs, &live, true);
    stopped = true;
    CHECK(start(outputs, "stalled.y4m"));
    for (int i = 0; i < FRAMES; i++) {
        const struct frame frame = {.elapsed_ns = stopped_ns = 5000000000 + i * 40000000L};
        CHECK(outputs_record(outputs, &frame, &image, false));
    }
    const ssize_t got = read(reader, data, sizeof(data));
    const char *body = got > 0 ? memchr(data, '\n', (size_t)got) : NULL;
    const long whole = body ? (data + got - body - 1) / FRAME_BYTES : 0; // the last one may be there in part
    CHECK(whole == (long)outputs->file.frames || whole == (long)outputs->file.frames - 1);
    CHECK(outputs->file.frames > 100 && outputs->file.left_out > 100);
    CHECK_HAS(note_text(outputs->note, &error), "the reader of stalled.y4m has stalled: ");
    capture_stderr(&captured);
    outputs_end_recording(outputs, 0, false);
    CHECK_HAS(captured_stderr(&captured), "frames are missing from stalled.y4m: its reader stalled");
    stopped = false;
    outputs_set_source(outputs, info, true);
    close(reader);
    image_free(&image);
    CHECK(unlink("stalled.y4m") == 0);
}

// A recording that another program has removed is no success.
static void test_removed(struct outputs *outputs)
{
    static const char *const names[] = {"gone.mkv", "gone.y4m"};
    for (int i = 0; i < 2; i++) {
        struct captured captured;
        char want[80];
        snprintf(want, sizeof(want), "monocle: error: cannot record to %s: No such file or directory\n", names[i]);
        CHECK(start(outputs, names[i]) && outputs_await_start(outputs, 20000000000));
        add(outputs, 1);
        CHECK(unlink(names[i]) == 0);
        capture_stderr(&captured);
        CHECK(!outputs_end_recording(outputs, 0, false));
        CHECK_TEXT(captured_stderr(&captured), want);
    }
}

// Writes a program that is found as ffmpeg. It knows libx264; then it acts as the text says.
static void write_ffmpeg(const char *acts)
{
    FILE *file = fopen("ffmpeg", "w");
    CHECK(file &&
          fprintf(file, "#!/bin/sh\ncase \"$*\" in *-encoders*) echo ' V libx264 '; exit 0;; esac\n%s", acts) > 0);
    CHECK(fclose(file) == 0 && chmod("ffmpeg", 0755) == 0);
}

// An ffmpeg that stops before it has read a frame leaves no file.
static void test_stops(struct outputs *outputs, const char *directory)
{
    struct captured captured;
    char path[4096], old[4000];
    snprintf(old, sizeof(old), "%s", getenv("PATH"));
    snprintf(path, sizeof(path), "%s:%s", directory, old);
    CHECK(setenv("PATH", path, 1) == 0);
    write_ffmpeg("echo '[error] no space for it' >&2\nexit 1\n");
    capture_stderr(&captured);
    CHECK(!start(outputs, "stops.mkv") || !outputs_await_start(outputs, 20000000000));
    CHECK_TEXT(captured_stderr(&captured),
               "monocle: error: cannot record stops.mkv: ffmpeg reports: no space for it\n");
    CHECK(access("stops.mkv", F_OK) != 0);

    write_ffmpeg("for out; do :; done\nprintf head >\"${out#file:}\"\nread line\nexec 0<&-\n: >closed\nexit 1\n");
    capture_stderr(&captured);
    CHECK(start(outputs, "stops.mkv") && outputs_await_start(outputs, 20000000000));
    while (access("closed", F_OK) != 0)
        clock_sleep_until_ns(clock_now_ns() + 1000000);
    struct image image;
    CHECK(image_alloc(&image, &(struct image_shape){.width = outputs->width, .height = outputs->height}));
    memset(image.memory, 0, image_bytes(&image.shape));
    CHECK(!outputs_record(outputs, &(struct frame){.elapsed_ns = 1}, &image, true));
    image_free(&image);
    CHECK_HAS(captured_stderr(&captured), "cannot record stops.mkv: ffmpeg reports: an error without a message\n");
    CHECK(access("stops.mkv", F_OK) != 0);
    CHECK(unlink("ffmpeg") == 0 && unlink("closed") == 0 && setenv("PATH", old, 1) == 0);
}

// The end of a run does not wait for an ffmpeg that starts, and such a recording is no failure.
static void test_given_up(const char *directory)
{
    char path[4096], old[4000];
    snprintf(old, sizeof(old), "%s", getenv("PATH"));
    snprintf(path, sizeof(path), "%s:%s", directory, old);
    FILE *file = fopen("ffmpeg", "w");
    CHECK(file && fputs("#!/bin/sh\n: >asked\nsleep 2\n: >waited\n", file) >= 0);
    CHECK(fclose(file) == 0 && chmod("ffmpeg", 0755) == 0 && setenv("PATH", path, 1) == 0);
    struct recording *recording =
        recording_open("starts.mkv", &(struct recording_setup){.width = 4, .height = 2, .file = -1});
    recording_start(recording, 25, 1, 0);
    while (access("asked", F_OK) != 0)
        clock_sleep_until_ns(clock_now_ns() + 1000000);
    CHECK_NUMBER(recording_state(recording), RECORDING_STARTS);
    CHECK(recording_close(recording));
    CHECK(access("waited", F_OK) != 0 && access("starts.mkv", F_OK) != 0);
    unlink("waited");
    CHECK(unlink("ffmpeg") == 0 && unlink("asked") == 0 && setenv("PATH", old, 1) == 0);
}

// A video has at most the frames of its source.
static void test_most(void)
{
    struct image image;
    bool added = true;
    CHECK(image_alloc(&image, &(struct image_shape){.width = 4, .height = 2}));
    memset(image.memory, 0, image_bytes(&image.shape));
    struct recording *recording =
        recording_open("most.y4m", &(struct recording_setup){.width = 4, .height = 2, .file = -1});
    recording_start(recording, 25, 1, 3);
    for (int i = 0; i < 5; i++)
        added = recording_add(recording, &image, i * 40000000, true, NULL) && added;
    CHECK(added);
    CHECK_NUMBER(recording_frames(recording), 3);
    CHECK(recording_close(recording));
    check_frames("most.y4m", "000");
    image_free(&image);
}

// A screenshot that cannot be written leaves no file, and says why.
static void test_screenshot(void)
{
    struct captured captured;
    struct image image;
    struct claim claim;
    char name[PATH_MAX], why[SCREENSHOT_WHY];
    CHECK(image_alloc(&image, &(struct image_shape){.width = 4, .height = 2}));
    memset(image.memory, 0, image_bytes(&image.shape));
    for (int fails = 0; fails < 2; fails++) {
        CHECK(output_claim_new(&claim, NULL, NULL, NULL));
        disk_fails = fails;
        capture_stderr(&captured);
        struct screenshot *screenshot = screenshot_start(&claim, true, &image, NULL);
        CHECK(screenshot && screenshot_close(screenshot, name, why) == !fails);
        disk_fails = false;
        captured_stderr(&captured);
        CHECK_TEXT(name, "monocle-0001.png");
        CHECK_HAS(why, fails ? "cannot write monocle-0001.png: Input/output error" : "");
        CHECK((access(name, F_OK) == 0) == !fails);
        unlink(name);
    }
    image_free(&image);
}

// A picture of an image file is named after the file and the filters.
static void test_names(void)
{
    static const struct {
        const char *like, *chain, *name, *look;
    } rows[] = {{"IMG 1.jpg", "gray,contrast", "IMG 1-ink.png", "ink"},
                {"some/IMG 1.jpg", "gray,contrast=1.2", "IMG 1-gray-contrast.png", NULL},
                {"some/IMG 1.jpg", "gray,contrast", "IMG 1-gray-contrast-2.png", NULL},
                {"IMG 1.jpg", "none", "IMG 1.png", NULL},
                {"/tmp/.a", "gray", ".a-gray.png", NULL},
                {"", "gray", "monocle-0001.png", NULL}};
    enum { ROWS = sizeof(rows) / sizeof(*rows) };
    struct chain chain;
    struct claim claim;
    char error[CHAIN_ERROR];
    for (int i = 0; i < ROWS; i++) {
        CHECK(chain_parse(&chain, rows[i].chain, error) &&
              output_claim_new(&claim, rows[i].like, &chain, rows[i].look));
        CHECK_TEXT(claim.path, rows[i].name);
    }
    for (int i = 0; i < ROWS; i++)
        unlink(rows[i].name);
}

static void remove_files(void)
{
    static const char *const names[] = {"empty.y4m", "monocle-0001.y4m", "film.y4m", "film-4.y4m",
                                        "bad.y4m",   "good.y4m",         NULL};
    for (const char *const *name = names; *name; name++)
        CHECK(unlink(*name) == 0);
}

// The next recording counts from zero. One that cannot keep its frames' size ends.
static void test_stopped(struct outputs *outputs, struct note *note)
{
    struct captured captured;
    bool error;
    CHECK(start(outputs, "film.y4m"));
    CHECK_NUMBER(outputs->file.frames, 0);
    CHECK_NUMBER(outputs->file.left_out, 0);
    add(outputs, 1);
    capture_stderr(&captured);
    outputs_stop_recording(outputs);
    CHECK_HAS(captured_stderr(&captured), "the frame size changed: recording to film.y4m stopped after 1 frames");
    CHECK_HAS(note_text(note, &error), "the frame size changed");
    CHECK(error && !outputs->file.recording);
}

static void test_full_disk(struct outputs *outputs)
{
    struct captured captured;
    disk_fails = true;
    CHECK(start(outputs, "film-4.y4m"));
    add(outputs, 1);
    capture_stderr(&captured);
    CHECK(!outputs_end_recording(outputs, 0, false));
    CHECK_HAS(captured_stderr(&captured), "film-4.y4m");
    disk_fails = false;
}

int main(void)
{
    static struct outputs outputs;
    struct note note = {0};
    const struct source_info info = {.shape = {.width = 4, .height = 2}, .rate = 25};
    const struct source_info slow = {.shape = {.width = 4, .height = 2}, .rate = 0.2};
    struct captured captured;
    char directory[64];
    bool error;
    signal(SIGPIPE, SIG_IGN); // as main does
    unit_directory(directory);
    CHECK(chdir(directory) == 0);

    CHECK(outputs_open(&outputs, NULL, &info, 4, 2, NULL, &note));
    CHECK(outputs_end_recording(&outputs, 0, false));         // no frame was recorded
    outputs_toggle_recording(&outputs, ".y4m", false, false); // the key r names the file
    CHECK_TEXT(outputs.file.name, "monocle-0001.y4m");
    CHECK_HAS(note_text(&note, &error), "monocle-0001.y4m, lossless; ");
    add(&outputs, 3);
    CHECK_NUMBER(outputs.file.frames, 3);
    outputs.file.left_out = 2;
    capture_stderr(&captured);
    CHECK(outputs_end_recording(&outputs, 0, false));
    CHECK_HAS(captured_stderr(&captured), "2 frames are missing from monocle-0001.y4m: its reader stalled");

    test_without_frames(&outputs);

    test_stopped(&outputs, &note);
    test_full_disk(&outputs);
    test_ending(&outputs, &slow);
    test_times(&outputs, &info);
    test_claimed(&outputs, &info);
    test_pause(&outputs, &info);
    test_film(&outputs, &info);
    test_taken(&outputs);
    test_swapped(&outputs);
    test_stalled(&outputs, &info);
    test_removed(&outputs);
    test_stops(&outputs, directory);
    test_given_up(directory);
    test_most();
    test_screenshot();
    test_names();
    remove_files();
    outputs_close(&outputs);
    CHECK(chdir("/") == 0 && rmdir(directory) == 0);
    return check_end(&unit);
}
