// test_video.c: videos through a simulated ffmpeg: its ends, silence and messages; the test moves the clock
#include "check.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME = 8, RATE = 25, WAIT_MS = 30000 }; // bytes of a grey frame of 4x2 pixels
static struct check check = {.name = "video"};
static struct scratch scratch;
static int64_t skipped_ns;
static bool follows; // of the last frame that was taken

#define CHECK(condition) check_that(&check, condition, "line %d: %s", __LINE__, #condition)

int64_t __real_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void);

int64_t __wrap_clock_now_ns(void)
{
    return __real_clock_now_ns() + skipped_ns;
}

void __real_clock_sleep_until_ns(int64_t when_ns);
void __wrap_clock_sleep_until_ns(int64_t when_ns);

void __wrap_clock_sleep_until_ns(int64_t when_ns)
{
    __real_clock_sleep_until_ns(when_ns - skipped_ns);
}

static void write_text(const char *name, const char *text)
{
    scratch_write(&scratch, name, text, strlen(text));
}

static bool file_has(const char *name, const char *text)
{
    char data[4096];
    const int fd = open(scratch_path(&scratch, name), O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, data, sizeof(data) - 1);
    close(fd);
    data[got < 0 ? 0 : got] = '\0';
    return strstr(data, text) != NULL;
}

// ffmpeg writes its arguments to "arguments" and the text of "said" to standard error. It passes the frames of the pipe
// "frames" on until its end, then ends as "end" says.
static void prepare(void)
{
    static const char ffmpeg[] =
        "#!/bin/sh\ncd \"${0%/*}\"\necho \"$*\" >arguments\ncat said >&2\ncat frames\n. ./end\n";
    static const char ffprobe[] = "#!/bin/sh\ncat \"${0%/*}/answer\"\n";
    char path[1024];
    write_text("ffmpeg", ffmpeg);
    write_text("ffprobe", ffprobe);
    CHECK(chmod(scratch_path(&scratch, "ffmpeg"), 0755) == 0 && chmod(scratch_path(&scratch, "ffprobe"), 0755) == 0);
    snprintf(path, sizeof(path), "%s:%s", scratch.dir, getenv("PATH"));
    CHECK(setenv("PATH", path, 1) == 0);
    write_text("film.mkv", "an unknown format");
}

// Opens a film or a URL. `end` is the end of ffmpeg, `duration` and `format` are ffprobe's answer.
static struct source *open_video(const char *name, const char *format, const char *end, const char *duration, bool loop)
{
    char answer[512];
    snprintf(answer, sizeof(answer),
             "{\"streams\": [{\"codec_name\": \"vp9\", \"width\": 4, \"height\": 2, \"pix_fmt\": \"gray\", "
             "\"r_frame_rate\": \"25/1\", "
             "\"avg_frame_rate\": \"25/1\"}], \"format\": {\"format_name\": \"%s\", \"duration\": \"%s\"}}",
             format, duration);
    write_text("answer", answer);
    write_text("said", "");
    write_text("end", end);
    struct source *source = source_open(&(struct source_setup){.text = name, .loop = loop});
    if (!source)
        abort();
    return source;
}

static struct source *open_film(const char *end, const char *duration, bool loop)
{
    char path[512];
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "film.mkv"));
    return open_video(path, "matroska", end, duration, loop);
}

// Opens a new pipe for the next ffmpeg. A `cat` that outlives an earlier one cannot read from it.
static int open_pipe(void)
{
    unlink(scratch_path(&scratch, "frames"));
    CHECK(mkfifo(scratch_path(&scratch, "frames"), 0600) == 0);
    const int fd = open(scratch_path(&scratch, "frames"), O_RDWR | O_CLOEXEC);
    if (fd < 0)
        abort();
    return fd;
}

static void add_frames(int pipe, int count)
{
    static const uint8_t zeros[FRAME * 64];
    CHECK(write(pipe, zeros, (size_t)(FRAME * count)) == FRAME * count);
}

// Takes frames; each must have its number and its time in the video.
static void take(struct source *source, int first, int count)
{
    for (int i = first; i < first + count; i++) {
        struct frame frame;
        enum source_status status;
        do
            status = source_next(source, &frame, 1000);
        while (status == SOURCE_TIMEOUT);
        CHECK(status == SOURCE_FRAME);
        if (status != SOURCE_FRAME)
            return;
        CHECK(fabs((double)frame.video_ns * RATE / 1e9 - i) < 0.01 && frame.number == (uint64_t)i);
        follows = frame.follows;
        source_return(source, &frame);
    }
}

static enum source_status next(struct source *source, int timeout_ms)
{
    struct frame frame;
    return source_next(source, &frame, timeout_ms);
}

// Returns the status after the end of the pipe. Keeps standard error in scratch.said.
static enum source_status end_pipe(struct source *source, int pipe)
{
    capture_stderr(&scratch.said);
    close(pipe);
    const enum source_status status = next(source, WAIT_MS);
    captured_stderr(&scratch.said);
    return status;
}

static int lines(void)
{
    int count = 0;
    for (const char *at = scratch.said.text; *at; at++)
        count += *at == '\n';
    return count;
}

static bool said(const char *text)
{
    return strstr(scratch.said.text, text) != NULL;
}

// No frame arrives for this time, in which the source is asked often. Keeps standard error in scratch.said.
static void be_silent(struct source *source, double seconds)
{
    capture_stderr(&scratch.said);
    for (double passed = 0; passed < seconds; passed += 0.5) {
        CHECK(next(source, 0) == SOURCE_TIMEOUT);
        skipped_ns += 500000000;
    }
    CHECK(next(source, 0) == SOURCE_TIMEOUT);
    captured_stderr(&scratch.said);
}

static void test_play(void)
{
    int pipe = open_pipe();
    struct source *source = open_film("exit 0\n", "2.0", false);
    CHECK(source_info(source)->duration_s == 2 && source_info(source)->frame_s == 0.04);
    CHECK(source_info(source)->shape.width == 4 && source_info(source)->shape.format == PIXFMT_GREY);
    CHECK(source_holds(source, scratch_path(&scratch, "film.mkv")));
    CHECK(!source_holds(source, scratch_path(&scratch, "answer")));
    add_frames(pipe, 3);
    take(source, 0, 3);
    CHECK(!file_has("arguments", "-ss") && follows);
    CHECK(end_pipe(source, pipe) == SOURCE_END);
    CHECK(lines() == 0);

    // A seek continues at the nearest frame, at most at the last one; also after the end.
    static const struct {
        double to_s;
        int frame;
        const char *argument;
    } seeks[] = {{1.01, 25, "-ss 1.000000 "}, {99, 49, "-ss 1.960000 "}, {0.05, 1, "-ss 0.040000 "}};
    for (int i = 0; i < 3; i++) {
        pipe = open_pipe();
        CHECK(source_seek(source, seeks[i].to_s)); // ends the last ffmpeg, which would read the frames
        add_frames(pipe, 2);
        take(source, seeks[i].frame, 1);
        CHECK(!follows);
        take(source, seeks[i].frame + 1, 1);
        CHECK(follows);
        CHECK(file_has("arguments", seeks[i].argument));
        close(pipe);
    }
    pipe = open_pipe();
    CHECK(source_seek(source, -1));
    add_frames(pipe, 1);
    take(source, 0, 1);
    CHECK(!file_has("arguments", "-ss"));
    close(pipe);
    source_close(source);
}

// A film that repeats is reported as damaged once.
static void test_loop(void)
{
    int pipe = open_pipe();
    struct source *source = open_film("echo '[error] bad bits' >&2\nexit 0\n", "2.0", true);
    for (int i = 0; i < 3; i++) {
        add_frames(pipe, 2);
        take(source, 0, 2);
        const int next_pipe = open_pipe();
        CHECK(end_pipe(source, pipe) == SOURCE_TIMEOUT);
        check_that(&check, lines() == (i == 0) && said("film.mkv is damaged: ") == (i == 0), "round %d: %s", i,
                   scratch.said.text);
        pipe = next_pipe;
    }
    close(pipe);
    source_close(source);
}

// A frame has the time that ffmpeg reports. The time since the first frame goes on in the next round. The first frame
// after a seek has the time of the seek.
static void test_times(void)
{
    static const char said[] = "[Parsed_metadata_3 @ 0x1] [info] frame:0    pts:0       pts_time:0\n"
                               "[Parsed_metadata_3 @ 0x1] [info] monocle=1\n"
                               "[Parsed_metadata_3 @ 0x1] [info] frame:1    pts:30000   pts_time:0.03\n"
                               "[Parsed_metadata_3 @ 0x1] [info] frame:2    pts:1030000 pts_time:1.03\n";
    static const int video_ms[] = {0, 30, 1030, 0, 30, 1030}, elapsed_ms[] = {0, 30, 1030, 1070, 1100, 2100};
    unlink(scratch_path(&scratch, "frames"));
    write_text("frames", "");
    struct source *source = open_film("printf 123456781234567812345678\nexit 0\n", "2.0", true);
    CHECK(source_info(source)->timed);
    write_text("said", said);
    CHECK(source_seek(source, 0));
    for (int i = 0; i < 6; i++) {
        struct frame frame = {0};
        while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
            ;
        check_that(&check, frame.video_ns == video_ms[i] * 1000000L && frame.elapsed_ns == elapsed_ms[i] * 1000000L,
                   "frame %d: %g s, after %g s", i, (double)frame.video_ns / 1e9, (double)frame.elapsed_ns / 1e9);
        source_return(source, &frame);
    }
    write_text("said", "[Parsed_metadata_3 @ 0x1] [info] frame:0    pts:15000   pts_time:0.015\n"
                       "[Parsed_metadata_3 @ 0x1] [info] frame:1    pts:70000   pts_time:0.07\n"
                       "[Parsed_metadata_3 @ 0x1] [info] frame:2    pts:9223372036854775000 pts_time:9.22337e+12\n");
    CHECK(source_seek(source, 1));
    for (int i = 0; i < 3; i++) { // the last time is damaged
        static const int after_ms[] = {1000, 1070, 1110};
        struct frame frame = {0};
        while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
            ;
        check_that(&check, frame.video_ns == after_ms[i] * 1000000L, "frame %d after a seek: %g s", i,
                   (double)frame.video_ns / 1e9);
        source_return(source, &frame);
    }
    source_close(source);
}

// The times of a damaged film jump by 30 years in each round. The sum of the jumps stays a time.
static void test_jumps(void)
{
    int64_t last_ns = 0;
    unlink(scratch_path(&scratch, "frames"));
    write_text("frames", "");
    struct source *source = open_film("printf 1234567812345678\nexit 0\n", "2.0", true);
    write_text("said", "[Parsed_metadata_3 @ 0x1] [info] frame:0    pts:0       pts_time:0\n"
                       "[Parsed_metadata_3 @ 0x1] [info] frame:1    pts:999999999000000 pts_time:1e+09\n");
    CHECK(source_seek(source, 0));
    for (int i = 0; i < 24; i++) {
        struct frame frame = {0};
        while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
            ;
        check_that(&check, frame.elapsed_ns >= last_ns, "frame %d: after %g s", i, (double)frame.elapsed_ns / 1e9);
        last_ns = frame.elapsed_ns;
        source_return(source, &frame);
    }
    source_close(source);
}

// ffmpeg reports times long before the frames: their list grows, and moves to the begin of its room.
static void test_many_times(void)
{
    enum { FRAMES = 150, FIRST = 10 };
    static const char end[] =
        "tell() { i=$1; while [ $i -lt $2 ]; do\n"
        "echo \"[Parsed_metadata_3 @ 0x1] [info] frame:$i pts:$((i * i * 1000)) x\" >&2; i=$((i + 1)); done; }\n"
        "give() { i=0; while [ $i -lt $1 ]; do printf 12345678; i=$((i + 1)); done; }\n"
        "tell 0 60; give 10; read line <more; tell 60 150; give 140; exit 0\n";
    unlink(scratch_path(&scratch, "frames"));
    write_text("frames", "");
    CHECK(mkfifo(scratch_path(&scratch, "more"), 0600) == 0);
    struct source *source = open_film(end, "30.0", false);
    for (int i = 0; i < FRAMES; i++) {
        struct frame frame = {0};
        if (i == FIRST) {
            const int more = open(scratch_path(&scratch, "more"), O_WRONLY | O_CLOEXEC);
            CHECK(more >= 0 && write(more, "\n", 1) == 1 && close(more) == 0);
        }
        while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
            ;
        check_that(&check, frame.video_ns == i * i * 1000000L, "frame %d: %g s", i, (double)frame.video_ns / 1e9);
        source_return(source, &frame);
    }
    source_close(source);
    unlink(scratch_path(&scratch, "more"));
}

// ffmpeg before 5.1 has another name for an option.
static void test_older(void)
{
    struct source *source =
        open_film("case \"$*\" in *-fps_mode*) echo \"[error] Unrecognized option 'fps_mode'.\" >&2\n"
                  "echo '[fatal] Error splitting the argument list: Option not found' >&2; exit 1;; esac\n"
                  "printf 1234567812345678\nexit 0\n",
                  "2.0", false);
    capture_stderr(&scratch.said);
    take(source, 0, 2);
    CHECK(next(source, WAIT_MS) == SOURCE_END);
    captured_stderr(&scratch.said);
    CHECK(lines() == 0 && file_has("arguments", "-vsync passthrough "));
    source_close(source);
}

// Waiting is no failure: the state says what is waited for, and the log once, however long it takes.
static void test_silence(void)
{
    const int pipe = open_pipe();
    struct source *source = open_film("exit 0\n", "2.0", false);
    be_silent(source, 3);
    CHECK(strcmp(source_health(source).trouble, "waiting for ffmpeg's first frame") == 0 && lines() == 0);
    add_frames(pipe, 2);
    take(source, 0, 2);
    be_silent(source, 1.5);
    CHECK(!source_health(source).trouble[0]);
    be_silent(source, 1.5);
    CHECK(strcmp(source_health(source).trouble, "waiting for ffmpeg, which delivers no frames") == 0);
    CHECK(lines() == 0);
    add_frames(pipe, 1);
    take(source, 2, 1);
    CHECK(!source_health(source).trouble[0] && source_health(source).outages == 0);

    // A part of a frame is no silence, and a time in which nobody asks is none.
    be_silent(source, 1.5);
    CHECK(write(pipe, "12", 2) == 2);
    CHECK(next(source, 100) == SOURCE_TIMEOUT);
    be_silent(source, 1.5);
    skipped_ns += INT64_C(60000000000);
    be_silent(source, 1.5);
    CHECK(!source_health(source).trouble[0] && lines() == 0);
    CHECK(write(pipe, "345678", 6) == 6);
    take(source, 3, 1);

    be_silent(source, 900);
    CHECK(lines() == 1 && said("film.mkv: waiting for ffmpeg, which delivers no frames\n"));
    add_frames(pipe, 1);
    take(source, 4, 1);
    CHECK(!source_health(source).trouble[0] && source_health(source).outages == 0);

    // A place far behind a key frame; another seek ends the wait.
    const int far = open_pipe();
    CHECK(source_seek(source, 1.6));
    be_silent(source, 900);
    CHECK(lines() == 1 && said("film.mkv: waiting for ffmpeg to reach 1.6 s\n"));
    close(far);
    const int near = open_pipe();
    CHECK(source_seek(source, 0.4));
    CHECK(!source_health(source).trouble[0]);
    add_frames(near, 1);
    take(source, 10, 1);
    close(near);
    close(pipe);
    source_close(source);
}

// After its frames, ffmpeg may also take any time; its end says whether they were all.
static void test_late_end(void)
{
    const int pipe = open_pipe();
    struct source *source = open_film("exec >&-\nwhile [ -e last ]; do sleep .01; done\nexit 1\n", "2.0", false);
    write_text("last", "");
    add_frames(pipe, 2);
    take(source, 0, 2);
    close(pipe);
    be_silent(source, 900);
    CHECK(lines() == 1 && said("waiting for ffmpeg"));
    unlink(scratch_path(&scratch, "last"));
    CHECK(end_pipe(source, dup(STDIN_FILENO)) == SOURCE_FAILED && said("cannot play") && said("to its end"));
    source_close(source);
}

// A camera that announced its rate and is silent for 30 s has gone; one that announced none may be slow.
static void test_live(void)
{
    static const struct {
        const char *name, *format;
        const char *seconds;
        bool live, again, rate;
    } rows[] = {
        {"rtsp://camera/", "rtsp", "", true, true, true},         {"http://camera/", "mpjpeg", "", true, false, false},
        {"http://camera/", "mjpeg", "", true, false, false},      {"http://camera/", "mpegts", "", true, false, true},
        {"http://camera/", "hls", "", true, false, true},         {"http://camera/", "hls", "9.0", false, false, true},
        {"http://camera/", "matroska", "9.0", false, false, true}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const int pipe = open_pipe();
        struct source *source = open_video(rows[i].name, rows[i].format, "exit 0\n", rows[i].seconds, false);
        const struct source_info *info = source_info(source);
        CHECK(info->live == rows[i].live && (info->frame_s == 0) == rows[i].live);
        CHECK((info->rate > 0) == rows[i].rate); // 25 would be an invention
        struct frame frame = {0};
        int64_t first_ns = 0;
        for (int number = 0; number < 3; number++) {
            skipped_ns += 700000000; // the frames of a film have times of their own
            CHECK(next(source, 0) == SOURCE_TIMEOUT);
            skipped_ns += 700000000;
            const int64_t before_ns = clock_now_ns();
            add_frames(pipe, 1);
            while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
                ;
            first_ns = number == 0 ? frame.captured_ns : first_ns;
            CHECK(frame.number == (uint64_t)number);
            CHECK(!info->live || (frame.captured_ns >= before_ns && frame.elapsed_ns == frame.captured_ns &&
                                  frame.video_ns == frame.captured_ns - first_ns));
            source_return(source, &frame);
        }
        CHECK(file_has("arguments", "-fps_mode passthrough "));
        CHECK(file_has("arguments", "-re ") == (info->live && strcmp(rows[i].format, "hls") == 0));
        const int again = open_pipe();
        be_silent(source, 100);
        CHECK(said("no frame arrived for 30 s") == rows[i].again && source_health(source).outages == rows[i].again);
        add_frames(rows[i].again ? again : pipe, 1);
        while (source_next(source, &frame, 1000) == SOURCE_TIMEOUT)
            ;
        CHECK(frame.number == 3);
        source_return(source, &frame);
        close(again);
        close(pipe);
        source_close(source);
    }
}

static void test_ends(void)
{
    static const struct {
        int frames;
        const char *end;
        enum source_status status;
        const char *said;
    } rows[] = {
        {2, "kill -9 $$\n", SOURCE_TIMEOUT, "ffmpeg was killed by signal 9 at 0.1 s; starting it again"},
        {0, "kill -9 $$\n", SOURCE_FAILED, "ffmpeg was killed by signal 9\n"},
        {2, "echo '[h264 @ 0x5] [error] bad bits' >&2\nexit 1\n", SOURCE_FAILED, "film.mkv to its end: bad bits\n"},
        {2, "echo '[error] bad bits' >&2\nexit 0\n", SOURCE_END, "film.mkv is damaged: bad bits\n"},
        // what follows from another error does not replace it
        {2,
         "echo '[error] Error opening' >&2\necho '[error] bad bits' >&2\necho '[error] Invalid data found' >&2\nexit "
         "1\n",
         SOURCE_FAILED, "film.mkv to its end: bad bits\n"},
        {2, "echo '[info] fine' >&2\nexit 0\n", SOURCE_END, ""},
        {2, "echo '[rawvideo @ 0x5] [error] invalid, non monotonically increasing dts to muxer' >&2\n", SOURCE_END, ""},
        {0, "exit 0\n", SOURCE_FAILED, "film.mkv: ffmpeg found no frame\n"},
        {0, "echo '[error] bad bits' >&2\nexit 1\n", SOURCE_FAILED,
         "film.mkv: ffmpeg found no frame; its last message: bad bits\n"},
        {0, "echo '[fatal] Error marking filters as finished' >&2\nexit 1\n", SOURCE_FAILED,
         "film.mkv: ffmpeg found no frame\n"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const int pipe = open_pipe();
        if (rows[i].frames == 0) { // ffmpeg writes nothing
            unlink(scratch_path(&scratch, "frames"));
            write_text("frames", "");
        }
        struct source *source = open_film(rows[i].end, "2.0", false);
        add_frames(pipe, rows[i].frames);
        take(source, 0, rows[i].frames);
        const enum source_status status = end_pipe(source, pipe);
        check_that(&check, status == rows[i].status && said(rows[i].said), "row %zu: status %d, said %s", i,
                   (int)status, scratch.said.text);
        check_that(&check, lines() == (rows[i].said[0] != '\0'), "row %zu: lines", i);
        CHECK(source_health(source).outages == (rows[i].status == SOURCE_TIMEOUT));
        source_close(source);
    }
}

static void test_size(void)
{
    int pipe = open_pipe();
    struct source *source = open_film("exit 0\n", "2.0", false);
    capture_stderr(&scratch.said);
    add_frames(pipe, 2);
    take(source, 0, 2);
    captured_stderr(&scratch.said);
    CHECK(lines() == 0);
    write_text("said", "[graph 0 input from stream 0:0 @ 0x1] [verbose] w:4 h:2 pixfmt:gray tb:1/25\n"
                       "[graph 0 input from stream 0:0 @ 0x1] [verbose] w:8 h:6 pixfmt:gray tb:1/25\n");
    capture_stderr(&scratch.said);
    close(pipe);
    pipe = open_pipe();
    CHECK(source_seek(source, 0));
    add_frames(pipe, 2);
    take(source, 0, 2);
    captured_stderr(&scratch.said);
    CHECK(lines() == 1);
    CHECK(said("changes to 8x6; monocle scales all frames to 4x2"));
    CHECK(file_has("arguments", "scale=4:2:"));
    close(pipe);
    source_close(source);
}

// A duration that no video has is unknown.
static void test_durations(void)
{
    static const struct {
        const char *text;
        double seconds;
    } rows[] = {{"inf", 0}, {"nan", 0}, {"-3", 0}, {"1e300", 0}, {"N/A", 0}, {"0.5", 0.5}};
    const int pipe = open_pipe();
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct source *source = open_film("exit 0\n", rows[i].text, false);
        check_that(&check, source_info(source)->duration_s == rows[i].seconds, "duration %s is %g", rows[i].text,
                   source_info(source)->duration_s);
        source_close(source);
    }
    close(pipe);
}

int main(void)
{
    if (!scratch_open(&scratch))
        return CHECK_SKIP;
    prepare();
    test_play();
    test_loop();
    test_times();
    test_jumps();
    test_many_times();
    test_older();
    test_silence();
    test_late_end();
    test_live();
    test_ends();
    test_size();
    test_durations();
    scratch_close(&scratch);
    return check_end(&check);
}
