// recording.c: a video file of RGBA images: Y4M, or MP4, MOV, MKV, WebM, GIF and WebP through the installed ffmpeg
#include "sink/recording.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/text.h"
#include "base/thread.h"
#include "image/y4m.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LIST_BYTES = 1 << 20, // of this list
    FAILED_MS = 2000,     // from a failed write to the end of ffmpeg
    END_MS = -1,          // from the last frame to the end of ffmpeg, which still encodes: as long as it runs
    TURN_NS = 2000000,
};

enum { ANIMATION_RATE = 15, ANIMATION_WIDTH = 640 }; // what messages and web pages show without delay

enum kind { KIND_NONE, KIND_H264, KIND_VP9, KIND_GIF, KIND_WEBP, KIND_VP9_ALPHA, KIND_WEBP_ALPHA, KIND_PRORES };

// The encoders, the preferred one of a kind first.
static const struct recording_encoder {
    const char *name;
    const char *note; // logged if this encoder is used; NULL: none
    enum kind kind;
    bool even;               // encodes odd sizes only as 4:4:4
    bool animation;          // at most ANIMATION_RATE and ANIMATION_WIDTH
    const char *format;      // ffmpeg's pixel format; NULL: yuv420p
    const char *filter;      // after all others; it chooses the pixel format; NULL: none
    const char *scale;       // option of the quality; NULL: it has none
    int worst, best;         // its values for the qualities 1 and 100
    const char *options[12]; // fast enough for a live view
} encoders[] = {
    {"libx264", .kind = KIND_H264, .even = true, .scale = "-crf", .worst = 51, .best = 1,
     .options = {"-preset", "veryfast"}},
    {"mpeg4", .kind = KIND_H264,
     .note = "this ffmpeg lacks the encoder libx264 for H.264, so monocle records MPEG-4 part 2", .scale = "-q:v",
     .worst = 31, .best = 1},
    {"libvpx-vp9", .kind = KIND_VP9, .scale = "-crf", .worst = 63, .best = 1,
     .options = {"-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1"}},
    // A palette for each frame: one for all frames would keep them in memory until the end.
    {"gif", .kind = KIND_GIF, .animation = true,
     .filter = "split[a][b];[a]palettegen=stats_mode=single[p];[b][p]paletteuse=new=1"},
    {"libwebp_anim", .kind = KIND_WEBP, .animation = true, .scale = "-quality", .worst = 1, .best = 100,
     .options = {"-compression_level", "2", "-loop", "0"}},
    {"libvpx-vp9", .kind = KIND_VP9_ALPHA, .format = "yuva420p", .scale = "-crf", .worst = 63, .best = 1,
     .options = {"-b:v", "0", "-deadline", "realtime", "-cpu-used", "6", "-row-mt", "1", "-auto-alt-ref", "0"}},
    {"libwebp_anim", .kind = KIND_WEBP_ALPHA, .format = "yuva420p", .animation = true, .scale = "-quality", .worst = 1,
     .best = 100, .options = {"-compression_level", "2", "-loop", "0"}},
    {"prores_ks", .kind = KIND_PRORES, .format = "yuva444p10le", .scale = "-q:v", .worst = 31, .best = 1,
     .options = {"-profile:v", "4444"}},
};
enum { ENCODERS = sizeof(encoders) / sizeof(*encoders) };

static const struct container {
    const char *suffix, *muxer;
    enum kind kind;
    enum kind alpha; // with transparency; KIND_NONE: it has none
    bool whole;      // cannot be read without its end
} containers[] = {
    {.suffix = "mp4", .muxer = "mp4", .kind = KIND_H264, .whole = true},
    {.suffix = "m4v", .muxer = "mp4", .kind = KIND_H264, .whole = true},
    {.suffix = "mov", .muxer = "mov", .kind = KIND_H264, .alpha = KIND_PRORES, .whole = true},
    {.suffix = "mkv", .muxer = "matroska", .kind = KIND_H264, .alpha = KIND_VP9_ALPHA},
    {.suffix = "webm", .muxer = "webm", .kind = KIND_VP9, .alpha = KIND_VP9_ALPHA},
    {.suffix = "gif", .muxer = "gif", .kind = KIND_GIF, .alpha = KIND_GIF, .whole = true},
    {.suffix = "webp", .muxer = "webp", .kind = KIND_WEBP, .alpha = KIND_WEBP_ALPHA, .whole = true},
};

struct recording {
    char *name; // for messages
    struct recording_setup setup;
    const struct container *container; // NULL: Y4M
    struct y4m_writer *writer;
    struct program ffmpeg;
    struct growing growing;
    int file;                 // the open file, until the writer of Y4M owns it; -1: none
    char fault[PROGRAM_LINE]; // the first error of ffmpeg
    int rate_numerator, rate_denominator;
    double rate;                 // frames per second
    uint64_t most;               // frames that the video may have
    uint64_t frames;             // in the video, repeated ones included
    int64_t first_ns, end_ns;    // time of the first frame, and of the end (recording_set_end)
    bool transparent;            // a WebP with transparency
    bool failed;                 // the failure was logged, and the draft is closed
    pthread_t thread;            // starts or ends the video
    bool threaded;               // it is to be joined
    atomic_bool started, ended;  // the thread is done; `failed` has its result
    atomic_bool given_up;        // the start must end
    char failure[RECORDING_WHY]; // the error that the thread logged; "": none
};

static const struct container *container_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(containers) / sizeof(*containers); i++) {
        if (strcasecmp(dot + 1, containers[i].suffix) == 0)
            return &containers[i];
    }
    return NULL;
}

bool recording_encodes(const char *path)
{
    return container_of(path) != NULL;
}

bool recording_has_quality(const char *path)
{
    const struct container *container = container_of(path);
    return container && container->kind != KIND_GIF;
}

bool recording_has_format(const char *path)
{
    const char *dot = strrchr(path, '.');
    return recording_encodes(path) || (dot && strcasecmp(dot, ".y4m") == 0);
}

static void hear(void *context, const char *line)
{
    struct recording *recording = context;
    const char *fault = ffmpeg_fault(line);
    if (fault && !recording->fault[0])
        snprintf(recording->fault, sizeof(recording->fault), "%s", fault);
}

static bool start(struct recording *recording, const char *const arguments[], enum program_pipe pipe)
{
    recording->ffmpeg.heard = hear;
    recording->ffmpeg.context = recording;
    recording->ffmpeg.given_up = &recording->given_up;
    recording->ffmpeg.outlasts_signals = true; // frames may wait for the start
    const int error = program_start(&recording->ffmpeg, arguments, pipe);
    if (error != 0)
        ffmpeg_log_not_started("record", recording->name, "ffmpeg", error);
    return error == 0;
}

// Returns the preferred encoder of the installed ffmpeg, or NULL (logged).
static const struct recording_encoder *choose_encoder(struct recording *recording, bool alpha)
{
    const enum kind kind = alpha ? recording->container->alpha : recording->container->kind;
    static const char *const arguments[] = {"ffmpeg", "-hide_banner", "-v", "level+error", "-encoders", NULL};
    const struct recording_encoder *found = NULL, *wanted = NULL;
    char word[32];
    int value;
    if (!start(recording, arguments, PROGRAM_WRITES))
        return NULL;
    char *list = program_read(&recording->ffmpeg, LIST_BYTES);
    program_end(&recording->ffmpeg, list ? FAILED_MS : 0, &value);
    for (int i = 0; i < ENCODERS && !found; i++) {
        if (encoders[i].kind != kind)
            continue;
        wanted = wanted ? wanted : &encoders[i];
        snprintf(word, sizeof(word), " %s ", encoders[i].name);
        found = list && strstr(list, word) ? &encoders[i] : NULL;
    }
    free(list);
    if (!found && list)
        log_error("cannot record %s: the installed ffmpeg lacks the encoder %s; record Y4M instead", recording->name,
                  wanted->name);
    else if (!found && !recording->given_up)
        log_error("cannot record %s: the installed ffmpeg does not list its encoders; record Y4M instead",
                  recording->name);
    else if (found && found->note)
        log_warn("%s: %s", recording->name, found->note);
    return found;
}

// Writes the filters between monocle's frames and the encoder.
static void write_filters(const struct recording *recording, const struct recording_encoder *encoder, char *text,
                          size_t size)
{
    const struct recording_setup *setup = &recording->setup;
    const struct color color = y4m_writer_color(setup->width, setup->height);
    snprintf(text, size, "setparams=range=tv:colorspace=%s", color.matrix == COLOR_MATRIX_709 ? "bt709" : "smpte170m");
    // Before alphamerge, whose frames have no duration: fps would drop the last one.
    if (encoder->animation && recording->rate_numerator > ANIMATION_RATE * (int64_t)recording->rate_denominator)
        text_append(text, size, ",fps=%d", ANIMATION_RATE);
    if (setup->alpha)
        text_append(text, size,
                    ",split[i][j];[i]crop=iw:ih/2:0:0[k];[j]crop=iw:ih/2:0:ih/2,extractplanes=y,"
                    "setparams=range=pc[l];[k][l]alphamerge");
    if (encoder->animation && setup->width > ANIMATION_WIDTH)
        text_append(text, size,
                    setup->alpha ? ",premultiply=inplace=1,scale=%d:-2,unpremultiply=inplace=1" : ",scale=%d:-2",
                    ANIMATION_WIDTH);
    if (encoder->filter)
        text_append(text, size, ",%s", encoder->filter);
}

// Starts ffmpeg. Returns false on failure (logged).
static bool start_encoder(struct recording *recording, const struct recording_encoder *encoder)
{
    const struct recording_setup *setup = &recording->setup;
    const bool whole_chroma = encoder->even && (setup->width % 2 != 0 || setup->height % 2 != 0);
    const int quality = setup->quality ? setup->quality : RECORDING_QUALITY;
    char scale[16], filters[400], output[32];
    snprintf(scale, sizeof(scale), "%d",
             encoder->best +
                 (encoder->worst - encoder->best) * (RECORDING_QUALITY_BEST - quality) / (RECORDING_QUALITY_BEST - 1));
    write_filters(recording, encoder, filters, sizeof(filters));
    // The descriptor, not the name: ffmpeg opens its output late. Another file may then have the name.
    snprintf(output, sizeof(output), "file:/proc/self/fd/%d", PROGRAM_FILE);
    // -xerror: otherwise ffmpeg ends with status 0 even if it cannot write the end of the file.
    const char *arguments[40] = {"ffmpeg",  "-hide_banner", "-nostats",     "-y",         "-v",     "level+error",
                                 "-xerror", "-f",           "yuv4mpegpipe", "-i",         "pipe:0", "-vf",
                                 filters,   "-an",          "-c:v",         encoder->name};
    const char *const plain = whole_chroma ? "yuv444p" : "yuv420p";
    const char *const format[] = {"-pix_fmt", encoder->format ? encoder->format : plain};
    const char *const options[] = {encoder->scale, scale};
    const char *const rest[] = {"-f", recording->container->muxer, output, NULL};
    int count = 16;
    for (int i = 0; i < 2 && !encoder->filter; i++)
        arguments[count++] = format[i];
    for (int i = 0; i < 2 && encoder->scale; i++)
        arguments[count++] = options[i];
    for (int i = 0; encoder->options[i]; i++)
        arguments[count++] = encoder->options[i];
    memcpy(arguments + count, rest, sizeof(rest));
    recording->fault[0] = '\0';
    recording->ffmpeg.file = recording->file;
    return start(recording, arguments, PROGRAM_READS);
}

// Closes the file of an encoded video. Without `keep`, it is left empty. False with errno set on failure.
static bool close_file(struct recording *recording, bool keep)
{
    const bool ok =
        keep ? file_sync(recording->file) && file_is_named(recording->file) : ftruncate(recording->file, 0) == 0;
    const int error = errno;
    close(recording->file);
    recording->file = -1;
    errno = error;
    return ok;
}

// If the name is that of a pipe, a device or standard output, the writer of Y4M opens it. False is logged.
static bool begin_file(struct recording *recording)
{
    if (strcmp(recording->name, "-") == 0)
        return true;
    const char *why = growing_open(&recording->growing, recording->name, &recording->file);
    if (!why && recording->file < 0 && recording->container)
        why = "it is not a regular file; pipes and devices get Y4M";
    if (why)
        log_error("cannot record to %s: %s", recording->name, why);
    return !why;
}

// Logs why ffmpeg has not encoded all.
static void log_encoder(const struct recording *recording, bool written, enum child_end end, int value)
{
    const char *const fault = recording->fault[0] ? recording->fault : "an error without a message";
    const char *begun = written ? "cannot complete" : "cannot record more frames to";
    if (recording->frames == 0)
        begun = "cannot record";
    if (end == CHILD_KILLED)
        log_error("%s %s: ffmpeg was killed by signal %d", begun, recording->name, value);
    else if (end == CHILD_LATE || value == 0)
        log_error("%s %s: ffmpeg has stalled", begun, recording->name);
    else
        log_error("%s %s: ffmpeg reports: %s%s", begun, recording->name, fault,
                  strstr(fault, strerror(ENOSPC)) ? "; free some space" : "");
}

// Sets the flag of transparency in the head of a WebP, which libwebp leaves out if all transparent pixels are outside
// the rectangles of its frames.
static bool mark_transparent(int file)
{
    enum { FLAGS_AT = 20, ALPHA = 0x10 };
    uint8_t head[FLAGS_AT + 1] = "";
    char name[32];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", file); // `file` is open for writing only
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    bool ok = fd >= 0 && pread(fd, head, sizeof(head), 0) == sizeof(head);
    if (ok && memcmp(head + 12, "VP8X", 4) == 0) {
        head[FLAGS_AT] |= ALPHA;
        ok = pwrite(fd, head + FLAGS_AT, 1, FLAGS_AT) == 1;
    }
    if (fd >= 0)
        close(fd);
    return ok;
}

// Ends ffmpeg and the file. Returns true if ffmpeg has encoded all; otherwise logs why.
static bool end_encoder(struct recording *recording, bool written, int limit_ms)
{
    int value;
    recording->ffmpeg.pipe = -1; // the writer has closed it
    const enum child_end end = program_end(&recording->ffmpeg, limit_ms, &value);
    struct stat status;
    const bool complete = end == CHILD_EXITED && value == 0;
    const bool keep = recording->frames > 0 && (complete || !recording->container->whole) &&
                      fstat(recording->file, &status) == 0 && status.st_size > 0;
    bool ok = written && complete && keep;
    if (!ok)
        log_encoder(recording, written, end, value);
    const bool marked = !ok || !recording->transparent || mark_transparent(recording->file);
    if (!close_file(recording, keep) || !marked) {
        log_error("cannot record to %s: %s", recording->name, strerror(errno));
        ok = false;
    }
    return growing_close(&recording->growing, recording->name, ok, keep) && ok;
}

// Ends ffmpeg at once, without a video.
static void abandon(struct recording *recording)
{
    int value;
    recording->ffmpeg.pipe = -1; // the writer has closed it
    program_end(&recording->ffmpeg, 0, &value);
    close_file(recording, false);
    growing_close(&recording->growing, recording->name, false, false);
}

// Closes the writer and ffmpeg. Returns true if all frames are written.
static bool finish(struct recording *recording, int limit_ms)
{
    bool ok = y4m_writer_close(recording->writer);
    recording->writer = NULL;
    const bool frames = recording->frames > 0;
    if (recording->container)
        return end_encoder(recording, ok, limit_ms);
    return growing_close(&recording->growing, recording->name, ok && frames, frames) && ok;
}

// Waits until ffmpeg has read the Y4M header, because a reader that starts would count as a stalled one.
static bool await_encoder(struct recording *recording, int pipe)
{
    int waiting = 1;
    while (ioctl(pipe, FIONREAD, &waiting) == 0 && waiting > 0 && !recording->given_up &&
           !program_ended(&recording->ffmpeg, 0)) {
        clock_sleep_until_ns(clock_now_ns() + TURN_NS);
    }
    return waiting == 0;
}

// Begins an encoded video. Returns false on failure (logged), or if it was given up.
static bool begin_encoded(struct recording *recording)
{
    const struct recording_setup *setup = &recording->setup;
    const struct recording_encoder *encoder = choose_encoder(recording, setup->alpha);
    recording->transparent = encoder && encoder->kind == KIND_WEBP_ALPHA;
    if (!encoder || recording->given_up || !start_encoder(recording, encoder)) {
        abandon(recording);
        return false;
    }
    const int pipe = recording->ffmpeg.pipe;
    recording->writer = y4m_writer_to_pipe(pipe, setup->width, setup->height, recording->rate_numerator,
                                           recording->rate_denominator, setup->alpha);
    if (!recording->writer) {
        abandon(recording);
        return false;
    }
    if (await_encoder(recording, pipe))
        return true;
    if (recording->given_up) {
        y4m_writer_close(recording->writer);
        abandon(recording);
    } else {
        finish(recording, FAILED_MS);
    }
    return false;
}

static bool begin_y4m(struct recording *recording)
{
    recording->writer =
        y4m_writer_open(recording->name, recording->file, recording->setup.width, recording->setup.height,
                        recording->rate_numerator, recording->rate_denominator);
    recording->file = -1;
    if (!recording->writer)
        abandon(recording);
    return recording->writer != NULL;
}

struct recording *recording_open(const char *path, const struct recording_setup *setup)
{
    struct recording *recording = xalloc(sizeof(*recording));
    recording->name = xstrdup(path);
    recording->setup = *setup;
    recording->container = container_of(path);
    recording->setup.alpha = setup->alpha && recording->container && recording->container->alpha;
    if (setup->alpha && !recording->setup.alpha)
        log_warn(
            "%s cannot be transparent: transparent pixels show their hidden colour; record .webm, .webp, .gif, .mkv "
            "or .mov",
            recording->name);
    recording->file = setup->file;
    if (begin_file(recording))
        return recording;
    abandon(recording);
    recording->failed = true;
    recording_close(recording);
    return NULL;
}

static void *run_start(void *context)
{
    struct recording *recording = context;
    log_keep_error(recording->failure, sizeof(recording->failure));
    recording->failed = !(recording->container ? begin_encoded(recording) : begin_y4m(recording));
    log_keep_error(NULL, 0);
    recording->started = true;
    return NULL;
}

void recording_start(struct recording *recording, int rate_numerator, int rate_denominator, uint64_t most)
{
    recording->rate_numerator = rate_numerator;
    recording->rate_denominator = rate_denominator;
    recording->rate = (double)rate_numerator / rate_denominator;
    recording->most = most ? most : UINT64_MAX;
    recording->threaded =
        recording->container && thread_start(&recording->thread, run_start, recording, "start recording");
    if (!recording->threaded)
        run_start(recording);
}

static void join(struct recording *recording)
{
    if (recording->threaded)
        pthread_join(recording->thread, NULL);
    recording->threaded = false;
}

enum recording_state recording_state(const struct recording *recording)
{
    if (!recording->started)
        return RECORDING_STARTS;
    return recording->failed ? RECORDING_FAILED : RECORDING_RUNS;
}

enum recording_state recording_await(struct recording *recording, int64_t deadline_ns)
{
    while (recording->threaded && !recording->started && clock_now_ns() < deadline_ns)
        clock_sleep_until_ns(clock_now_ns() + TURN_NS);
    return recording_state(recording);
}

// Returns the number of frames due before this time minus the number of frames in the video.
static int64_t lacking(const struct recording *recording, int64_t time_ns)
{
    return llround((double)(time_ns - recording->first_ns) / 1e9 * recording->rate) - (int64_t)recording->frames;
}

// Writes a frame; `rgba` NULL: the last one again.
static bool write_frame(struct recording *recording, const struct image *rgba, bool *left_out)
{
    if (recording->container)
        program_listen(&recording->ffmpeg);
    if (!y4m_writer_add(recording->writer, rgba, left_out)) {
        recording->failed = true;
        finish(recording, FAILED_MS);
        return false;
    }
    recording->frames += !left_out || !*left_out;
    return true;
}

// Repeats the last frame `count` times, until the reader stalls or the video is full.
static bool repeat(struct recording *recording, int64_t count, bool *left_out)
{
    while (count-- > 0 && recording->frames < recording->most && !(left_out && *left_out)) {
        if (!write_frame(recording, NULL, left_out))
            return false;
    }
    return true;
}

// Repeats the last frame until the video lasts to this time, at most `most` times.
static bool fill(struct recording *recording, int64_t time_ns, int64_t most, bool *left_out)
{
    const int64_t count = recording->frames > 0 ? lacking(recording, time_ns) : 0;
    if (left_out)
        *left_out = false;
    return !recording->failed && repeat(recording, count < most ? count : most, left_out);
}

// A call repeats at most 1 s of frames, so that the view does not wait for long.
static int64_t fill_most(const struct recording *recording)
{
    return llround(recording->rate) + 1;
}

bool recording_fill(struct recording *recording, int64_t time_ns, bool *left_out)
{
    return fill(recording, time_ns, fill_most(recording), left_out);
}

bool recording_add(struct recording *recording, const struct image *rgba, int64_t time_ns, bool every, bool *left_out)
{
    if (recording->frames == 0)
        recording->first_ns = time_ns;
    if (!fill(recording, time_ns, every ? INT64_MAX : fill_most(recording), left_out))
        return false;
    // The times of cameras jitter, so a frame that is one interval early is added, and moves the next frames. A frame
    // that is earlier still is left out, and (lacks > 0) a frame before which `fill` could not repeat enough frames.
    const int64_t lacks = lacking(recording, time_ns);
    const bool misplaced = !every && (lacks < -1 || lacks > 0);
    return misplaced || recording->frames >= recording->most || (left_out && *left_out) ||
           write_frame(recording, rgba, left_out);
}

uint64_t recording_frames(const struct recording *recording)
{
    return recording->frames;
}

void recording_set_end(struct recording *recording, int64_t time_ns)
{
    recording->end_ns = time_ns;
}

// Ends the video. Without frames, abandons it, because ffmpeg cannot finish every format.
static void end(struct recording *recording)
{
    bool stalled = false;
    if (!recording->failed && recording->frames > 0 && recording->end_ns > 0)
        repeat(recording, lacking(recording, recording->end_ns), &stalled);
    if (!recording->failed && recording->frames == 0 && (recording->container || !recording->started)) {
        y4m_writer_close(recording->writer);
        abandon(recording);
    } else if (!recording->failed) {
        recording->failed = !finish(recording, END_MS);
    }
    recording->ended = true;
}

static void *run_end(void *context)
{
    struct recording *recording = context;
    log_keep_error(recording->failure, sizeof(recording->failure));
    end(recording);
    log_keep_error(NULL, 0);
    return NULL;
}

void recording_end(struct recording *recording)
{
    join(recording);
    recording->threaded = thread_start(&recording->thread, run_end, recording, "end recording");
    if (!recording->threaded)
        run_end(recording);
}

bool recording_ended(const struct recording *recording)
{
    return recording->ended;
}

const char *recording_failure(struct recording *recording)
{
    join(recording);
    return recording->failure;
}

bool recording_close(struct recording *recording)
{
    if (!recording)
        return true;
    recording->given_up = !recording->started;
    join(recording);
    if (!recording->ended)
        end(recording);
    const bool ok = !recording->failed || recording->given_up;
    free(recording->name);
    free(recording);
    return ok;
}
