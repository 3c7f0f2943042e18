// video.c: videos of all formats, and URLs, through the user's ffmpeg in a child process
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "base/text.h"
#include "image/codec/codec.h"
#include "source/byte_reader.h"
#include "source/kind.h"
#include "source/video_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ANSWER_BYTES = 1 << 20, // of ffprobe
    SILENT_MS = 2000,       // without frames for so long, the view says so
    TOLD_MS = 5000,         // and the log
    BROKEN_MS = 30000,      // a camera that promised a rate has gone without closing its connection
};

// How ffmpeg reads a URL, or a file (`scheme` NULL). It follows links in playlists only over these protocols.
static const struct way {
    const char *scheme, *protocols;
    const char *options[4]; // of the demuxer
    bool promises;          // a camera that announces its rate
} ways[] = {
    {"rtsp://", "rtsp,rtp,udp,tcp", {"-rtsp_transport", "tcp", "-fflags", "nobuffer"}, true},
    {"rtsps://", "rtsp,rtp,udp,tcp,tls", {"-rtsp_transport", "tcp", "-fflags", "nobuffer"}, true},
    {"rtmp://", "rtmp,tcp", {"-fflags", "nobuffer"}, true},
    {"rtmps://", "rtmps,rtmp,tcp,tls", {"-fflags", "nobuffer"}, true},
    {"srt://", "srt", {"-fflags", "nobuffer"}, true},
    {"udp://", "udp", {"-fflags", "nobuffer"}, true},
    {"rtp://", "rtp,udp", {"-fflags", "nobuffer"}, true},
    {"tcp://", "tcp", {"-fflags", "nobuffer"}, true},
    {"ftp://", "ftp,tcp", {NULL}, false},
    {"http://", "http,https,tcp,tls,httpproxy,crypto,data", {NULL}, false},
    {"https://", "http,https,tcp,tls,httpproxy,crypto,data", {NULL}, false},
    {NULL, "file,crypto,data", {NULL}, false},
};

const char video_schemes[] = "rtsp, rtsps, http, https, rtmp, rtmps, srt, udp, rtp, tcp, ftp";

// Times that ffmpeg has reported for frames which were not read yet.
struct times {
    int64_t *us; // TIME_UNKNOWN: ffmpeg has none
    size_t first, count, room;
};
#define TIME_UNKNOWN INT64_MIN
#define TIME_MOST 1000000000000000 // us, 30 years; damaged files have times near the end of int64_t

struct video {
    const struct way *way;
    char *input;                 // for ffmpeg: the URL, or "file:PATH"
    bool jpegs;                  // the file holds JPEGs, one after the other
    const atomic_bool *given_up; // as in struct source_setup
    struct video_info info;
    struct program ffmpeg;
    struct byte_reader reader; // of its standard output
    bool live;                 // the server sets the pace: each frame once, with the time of its arrival
    bool every;                // each frame of the file once, with its own time
    bool older;                // ffmpeg before 5.1: the option is -vsync, not -fps_mode
    bool refused;              // ffmpeg does not know -fps_mode
    struct times times;        // of `every`
    bool loop;
    bool resized;                // a change of the frame size was reported
    double begin_s;              // where ffmpeg started
    double next_s;               // the expected time of the next frame
    uint64_t first;              // number of the first frame since the start of ffmpeg
    uint64_t round;              // frames since then
    int slot;                    // pool slot of the next frame; -1: none
    size_t filled;               // bytes read into the slot
    size_t seen;                 // `filled` when bytes last arrived
    int64_t asked_ns;            // time of the last call of video_next
    int64_t heard_ns;            // when bytes last arrived; the time between calls does not count
    int64_t begun_ns;            // when the reading into the slot began; of `live`: when bytes arrived; 0: not yet
    bool told;                   // the log has said that this ffmpeg is waited for
    char fault[PROGRAM_LINE];    // ffmpeg's last error; ""
    char changed[PROGRAM_LINE];  // the last line about a new frame size; ""
    struct source_health health; // guarded by the pool's lock
};

static const struct way *way_of(const char *text)
{
    const struct way *way = ways;
    while (way->scheme && strncasecmp(text, way->scheme, strlen(way->scheme)) != 0)
        way++;
    return way;
}

bool video_is_url(const char *text)
{
    return way_of(text)->scheme != NULL;
}

// `what` "": none.
static void set_trouble(struct source *source, const char *what, bool outage)
{
    struct video *video = source->state;
    pthread_mutex_lock(&source->pool.lock);
    snprintf(video->health.trouble, sizeof(video->health.trouble), "%s%s", what, outage ? "; starting it again" : "");
    video->health.outages += outage;
    pthread_mutex_unlock(&source->pool.lock);
}

static void video_health(struct source *source, struct source_health *health)
{
    const struct video *video = source->state;
    pthread_mutex_lock(&source->pool.lock);
    *health = video->health;
    pthread_mutex_unlock(&source->pool.lock);
}

// Returns true for an error of ffmpeg that follows from another one, or that says nothing.
static bool is_vague(const char *fault)
{
    static const char *const begins[] = {"Invalid data found",
                                         "Invalid argument",
                                         "Invalid pixel format",
                                         "Error ",
                                         "Conversion failed",
                                         "Cannot determine format",
                                         "Could not ",
                                         "Failed to ",
                                         "Cannot open connection",
                                         "Input/output error",
                                         "Task finished",
                                         "error reading header",
                                         "no frame!"};
    if (strncmp(fault, "Failed to resolve", 17) == 0)
        return false;
    for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++) {
        if (strncmp(fault, begins[i], strlen(begins[i])) == 0)
            return true;
    }
    return !fault[0];
}

// Keeps the message, without the input's name, of a line "[component] [error] message"; a vague one only if there is
// no other. Returns the message; NULL: the line is no error.
static const char *take_fault(struct video *video, const char *line)
{
    const char *fault = ffmpeg_fault(line);
    const size_t bytes = strlen(video->input);
    if (fault &&
        strstr(fault, " dts to muxer")) // two frames of a variable rate round to one time, which the pipe omits
        return NULL;
    if (fault && strncmp(fault, video->input, bytes) == 0 && strncmp(fault + bytes, ": ", 2) == 0)
        fault += bytes + 2;
    if (fault && (!is_vague(fault) || is_vague(video->fault)))
        snprintf(video->fault, sizeof(video->fault), "%s%s", strstr(fault, "encryption") ? "it is encrypted: " : "",
                 fault);
    return fault;
}

static void hear_ffprobe(void *context, const char *line)
{
    take_fault(context, line);
}

static void push_time(struct times *times, int64_t us)
{
    if (times->first > 0 && times->first + times->count == times->room) {
        memmove(times->us, times->us + times->first, times->count * sizeof(*times->us));
        times->first = 0;
    }
    if (times->count == times->room) {
        times->room = times->room ? 2 * times->room : 64;
        times->us = xrealloc(times->us, times->room * sizeof(*times->us));
    }
    times->us[times->first + times->count++] = us;
}

static int64_t pop_time(struct times *times)
{
    if (times->count == 0)
        return TIME_UNKNOWN;
    times->count--;
    return times->us[times->first++];
}

// Lines of the log have levels, such as "[h264 @ 0x55d0] [error] message". The input of the filters logs each frame
// size, the last filter the time of each frame.
static void hear_ffmpeg(void *context, const char *line)
{
    struct video *video = context;
    int width, height;
    long long us;
    const char *fault = take_fault(video, line), *time = video->every ? strstr(line, "[info] frame:") : NULL;
    video->refused = video->refused || (fault && strstr(fault, "Unrecognized option 'fps_mode'"));
    if (time && strncmp(line, "[Parsed_metadata", 16) == 0)
        push_time(&video->times,
                  sscanf(time, "[info] frame:%*d pts:%lld", &us) == 1 && llabs(us) <= TIME_MOST ? us : TIME_UNKNOWN);
    const char *at = strstr(line, "[verbose] w:");
    if (at && strstr(line, "input from stream") && strstr(at, " pixfmt:") &&
        sscanf(at, "[verbose] w:%d h:%d", &width, &height) == 2 &&
        (width != video->info.width || height != video->info.height))
        snprintf(video->changed, sizeof(video->changed), "%dx%d", width, height);
}

// Returns true if the file has the name of an image but is not an image.
static bool is_misnamed(const char *name)
{
    uint8_t head[CODEC_PROBE_BYTES];
    enum codec_format format;
    FILE *file = source_is_image_name(name) ? fopen(name, "re") : NULL;
    if (!file)
        return false;
    const size_t got = fread(head, 1, sizeof(head), file);
    fclose(file);
    return !codec_probe(head, got, &format);
}

// `why` NULL: ffprobe failed.
static void log_unreadable(const struct video *video, const char *name, const char *why)
{
    const char *fault = video->fault[0] ? video->fault : "ffprobe failed";
    const bool is_file = !video->way->scheme && access(name, F_OK) == 0;
    const char *use = is_file ? codec_misuse(name, false) : NULL;
    if (use)
        log_error("cannot play %s: %s", name, use);
    else if (is_file && is_misnamed(name))
        log_error("cannot show %s: it is not an image, despite its name; name an image or a video", name);
    else if (why || !is_file || !is_vague(video->fault))
        log_error("cannot play %s: %s%s%s", name, why ? why : fault,
                  text_if(strstr(fault, "moov atom not found"), ": the end of the file, with its index, is missing"),
                  text_if(strncmp(name, "srt://", 6) == 0 && strstr(fault, "Input/output error"),
                          "; check that a program listens at this UDP port, and its passphrase; with ?mode=listener, "
                          "monocle waits for a caller"));
    else
        log_error("cannot play %s: ffmpeg cannot read it; for raw frames add --size and --pixel-format, for a list of "
                  "files name @%s",
                  name, name);
}

// Adds ffmpeg's or ffprobe's options for the input. Returns the number of all arguments.
static int add_input_options(const struct video *video, const char *arguments[], int count)
{
    arguments[count++] = "-protocol_whitelist";
    arguments[count++] = video->way->protocols;
    if (video->jpegs) { // by its name, the file may be one image
        arguments[count++] = "-f";
        arguments[count++] = "mjpeg";
    }
    return count;
}

// Runs ffprobe. Returns its answer, which the caller frees; NULL on failure (logged).
static char *ask(struct video *video, const char *name, const char *const options[4])
{
    const char *arguments[20] = {"ffprobe", "-v", "level+error", "-of", "json", "-select_streams", "V:0"};
    int count = 7, value;
    for (int i = 0; i < 4 && options[i]; i++)
        arguments[count++] = options[i];
    count = add_input_options(video, arguments, count);
    arguments[count] = "-i";
    arguments[count + 1] = video->input;
    struct program ffprobe = {.heard = hear_ffprobe,
                              .context = video,
                              .awaits = video->way->scheme ? video->input : NULL,
                              .given_up = video->given_up};
    const int error = program_start(&ffprobe, arguments, PROGRAM_WRITES);
    if (error != 0) {
        ffmpeg_log_not_started("play", name, "ffprobe", error);
        return NULL;
    }
    char *answer = program_read(&ffprobe, ANSWER_BYTES);
    const enum child_end end = program_end(&ffprobe, answer ? -1 : 0, &value);
    if (answer && end == CHILD_EXITED && value == 0)
        return answer;
    if (!video->given_up || !*video->given_up)
        log_unreadable(video, name, answer ? NULL : "ffprobe gave no answer");
    free(answer);
    return NULL;
}

// Asks ffprobe. False on failure (logged).
static bool probe(struct video *video, const char *name)
{
    static const char *const streams[4] = {"-show_streams", "-show_format"};
    static const char *const frames[4] = {"-show_entries", "frame=best_effort_timestamp_time,interlaced_frame",
                                          "-read_intervals", "%+#16"}; // 16 samples
    char why[VIDEO_WHY], *answer = ask(video, name, streams);
    if (!answer)
        return false;
    const bool ok = video_info_parse(answer, strlen(answer), &video->info, why);
    free(answer);
    if (!ok) {
        log_unreadable(video, name, why);
        return false;
    }
    video->live = video->way->promises || (video->way->scheme && (video->info.untimed || video->info.endless));
    if (video->info.paired && !video->live) {
        if (!(answer = ask(video, name, frames)))
            return false;
        video_info_pair(&video->info, answer, strlen(answer));
        free(answer);
    }
    video->fault[0] = '\0';
    return true;
}

// Writes the filters that convert a video to the matrix of BT.709, and map HDR; its white is at 203 cd/m2 (ITU-R
// BT.2408). zscale needs 4:4:4 for odd sizes.
static void write_color(const struct video_info *info, char *text, size_t size)
{
    static const char hdr[] = "zscale=t=linear:npl=203,format=gbrpf32le,zscale=p=bt709,tonemap=mobius:desat=0,"
                              "zscale=t=bt709:m=bt709:r=limited";
    const char *range = info->full ? "pc" : "tv";
    if (!info->transfer && !info->matrix)
        return;
    snprintf(text, size,
             "scale=in_range=%s:out_range=%s,format=yuv444p16,setparams=%scolor_trc=%s:colorspace=%s:range=%s,%s,"
             "format=yuv444p16,",
             range, range, text_if(info->transfer, "color_primaries=bt2020:"), text_or(info->transfer, "bt709"),
             text_or(info->matrix, "bt2020nc"), range, info->transfer ? hdr : "zscale=m=bt709:r=pc");
}

// Writes ffmpeg's filters. All frames get the size of the first one; the range stays.
static void write_filters(const struct source *source, char *text, size_t size)
{
    char color[400] = "";
    static const char times[] =
        ",settb=1/1000000,metadata=mode=add:key=monocle:value=1,metadata=mode=print:key=monocle";
    const struct video *video = source->state;
    const struct image_shape *shape = &source->info.shape;
    const char *range = shape->color.range == COLOR_RANGE_FULL ? "full" : "limited";
    write_color(&video->info, color, sizeof(color));
    snprintf(text, size, "%sscale=%d:%d:in_range=%s:out_range=%s%s", color, shape->width, shape->height, range, range,
             video->every ? times : "");
}

// Adds the last options, which name the input and the output.
static void add_output_options(const struct video *video, const char *arguments[], const char *filters,
                               const char *rate)
{
    const char *pace = "-r", *value = rate;
    if (video->every || video->live) {
        pace = video->older ? "-vsync" : "-fps_mode";
        value = "passthrough";
    }
    const char *const rest[] = {"-i",
                                video->input,
                                "-map",
                                "0:V:0",
                                "-an",
                                "-sn",
                                "-dn",
                                "-vf",
                                filters,
                                pace,
                                value,
                                "-flush_packets",
                                "1",
                                "-f",
                                "rawvideo",
                                "-pix_fmt",
                                video->info.format,
                                "pipe:1",
                                NULL};
    memcpy(arguments, rest, sizeof(rest));
}

// Starts ffmpeg at video->begin_s. Returns false on failure (logged).
static bool start(struct source *source)
{
    struct video *video = source->state;
    char begin[32], rate[32], filters[640];
    snprintf(begin, sizeof(begin), "%.6f", video->begin_s);
    snprintf(rate, sizeof(rate), "%d/%d", video->info.rate_numerator, video->info.rate_denominator);
    write_filters(source, filters, sizeof(filters));
    const char *arguments[40] = {"ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-v", "level+verbose"};
    int count = add_input_options(video, arguments, 6);
    for (int i = 0; i < 4 && video->way->options[i]; i++)
        arguments[count++] = video->way->options[i];
    if (video->live) { // else each of several threads decodes a frame, and the newest ones wait
        arguments[count++] = "-thread_type";
        arguments[count++] = "slice";
    }
    if (video->begin_s > 0) {
        arguments[count++] = "-ss";
        arguments[count++] = begin;
    }
    if (video->live && video->info.segmented) // segments arrive whole: show each frame at its time
        arguments[count++] = "-re";
    add_output_options(video, arguments + count, filters, rate);
    video->ffmpeg.heard = hear_ffmpeg;
    video->ffmpeg.context = video;
    video->fault[0] = video->changed[0] = '\0';
    video->refused = false;
    const int error = program_start(&video->ffmpeg, arguments, PROGRAM_WRITES);
    if (error != 0) {
        ffmpeg_log_not_started("play", source->info.name, "ffmpeg", error);
        return false;
    }
    video->times.first = video->times.count = 0;
    video->next_s = video->begin_s;
    video->round = 0;
    video->filled = video->seen = 0;
    video->begun_ns = video->asked_ns = 0;
    video->told = false;
    byte_reader_from_pipe(&video->reader, video->ffmpeg.pipe, source->info.name);
    return true;
}

// Ends ffmpeg, which may still run. Returns how it ended.
static enum child_end stop(struct video *video, int limit_ms, int *value)
{
    if (video->reader.name) { // it owns the pipe
        byte_reader_close(&video->reader);
        video->ffmpeg.pipe = -1;
    }
    return program_end(&video->ffmpeg, limit_ms, value);
}

static bool take_colour_and_rate(struct source *source, const struct source_setup *setup)
{
    struct video *video = source->state;
    struct video_info *info = &video->info;
    if (setup->has_format && !video_info_convert(info, setup->format)) {
        log_error("ffmpeg cannot convert %s to %s; leave out --pixel-format", source->info.name,
                  pixfmt_info(setup->format)->name);
        return false;
    }
    if (info->interlaced)
        log_warn("%s is interlaced: each frame shows both fields; add -f deinterlace", source->info.name);
    source->info.shape = info->shape;
    source->info.alpha = !image_shape_opaque(&info->shape);
    source->info.shape.color = source_color(setup, info->shape.color, &info->shape);
    if (!info->untimed || !video->live) { // else the rate is ffmpeg's invention
        source->info.rate = (double)info->rate_numerator / info->rate_denominator;
        source->info.rate_numerator = info->rate_numerator;
        source->info.rate_denominator = info->rate_denominator;
    }
    source->info.live = video->live;
    source->info.timed = video->every = !video->live && !setup->paced;
    if (!video->live) {
        source->info.frame_s = (double)info->rate_denominator / info->rate_numerator;
        source->info.duration_s = info->seconds;
    }
    return source_size_fits(setup, info->shape.width, info->shape.height, source->info.name);
}

static bool video_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct video *video = source->state;
    video->slot = -1;
    if (!text || text[0] == '\0') {
        log_error("video needs a file or a URL: video:FILE");
        return false;
    }
    video->way = way_of(text);
    const char *scheme = video->way->scheme; // ffmpeg knows it only in lower case
    struct stat status;
    if (!scheme && stat(text, &status) == 0 && !S_ISREG(status.st_mode)) { // ffprobe would take a pipe's bytes
        log_error("cannot play %s: it is not a regular file; Y4M from a pipe needs no video: before its name", text);
        return false;
    }
    video->input = scheme ? xprintf("%s%s", scheme, text + strlen(scheme)) : xprintf("file:%s", text);
    video->jpegs = !video->way->scheme && moving_jpeg(text);
    snprintf(source->info.name, sizeof(source->info.name), "%s", text);
    video->loop = setup->loop;
    video->given_up = setup->given_up;
    // Linux kills ffmpeg at the end of the thread that starts it (program.h), so here video_next starts it.
    return probe(video, text) && take_colour_and_rate(source, setup) &&
           pool_init(&source->pool, source, &source->info.shape) && (setup->brief || start(source));
}

static void video_close(struct source *source)
{
    struct video *video = source->state;
    int value;
    stop(video, 0, &value);
    free(video->times.us);
    free(video->input);
}

static bool video_holds(const struct source *source, const char *path)
{
    const struct video *video = source->state;
    return !video->way->scheme && file_same(path, video->input + strlen("file:"));
}

// A live stream has no place: its frames are counted on.
static enum source_status start_at(struct source *source, double seconds)
{
    struct video *video = source->state;
    video->begin_s = seconds;
    video->first = video->live ? video->first + video->round : (uint64_t)llround(seconds / source->info.frame_s);
    return start(source) ? SOURCE_TIMEOUT : SOURCE_FAILED;
}

static bool video_seek(struct source *source, double seconds)
{
    struct video *video = source->state;
    int value;
    stop(video, 0, &value);
    set_trouble(source, "", false);
    return start_at(source, seconds) != SOURCE_FAILED;
}

// ffmpeg was killed, or a camera has gone. Starts it again at the next frame, or at the present of a live stream, if it
// has delivered a frame since its last start.
static enum source_status revive(struct source *source, const char *what)
{
    struct video *video = source->state;
    const char *name = source->info.name;
    int value;
    stop(video, 0, &value);
    if (video->round == 0) {
        log_error("cannot play %s: %s%s%s", name, what, video->fault[0] ? "; its last message: " : "", video->fault);
        return SOURCE_FAILED;
    }
    log_warn("%s: %s at %.1f s; starting it again", name, what, video->next_s);
    set_trouble(source, what, true);
    return start_at(source, video->live ? 0 : video->next_s);
}

// ffmpeg's output has ended; its end says whether this was all. Returns SOURCE_TIMEOUT if it was started again.
static enum source_status end_round(struct source *source)
{
    struct video *video = source->state;
    const char *name = source->info.name;
    char what[64];
    int value;
    if (stop(video, 0, &value) != CHILD_EXITED) {
        snprintf(what, sizeof(what), "ffmpeg was killed by signal %d", value);
        return revive(source, what);
    }
    if (video->refused && !video->older) {
        video->older = true;
        return start_at(source, video->begin_s);
    }
    const bool nothing = video->round == 0 && video->begin_s == 0;
    if (value != 0 || nothing) {
        const char *fault = text_if(!nothing || !is_vague(video->fault), video->fault);
        log_error("cannot play %s%s: %s%s%s", name, text_if(!nothing, " to its end"),
                  text_if(nothing || !fault[0], "ffmpeg found no frame"),
                  text_if(nothing && fault[0], "; its last message: "), fault);
        return SOURCE_FAILED;
    }
    if (video->fault[0] && !video->health.faulty) {
        log_warn("%s is damaged: %s", name, video->fault);
        pthread_mutex_lock(&source->pool.lock);
        video->health.faulty = true;
        pthread_mutex_unlock(&source->pool.lock);
    }
    return video->loop ? start_at(source, 0) : SOURCE_END;
}

// Says what is waited for: in the state from SILENT_MS on, in the log from TOLD_MS on. ffmpeg may need any time: for a
// place far behind a key frame, on a busy machine, stopped, or while its server pauses.
static void tell_wait(struct source *source, int64_t silent_ms)
{
    struct video *video = source->state;
    char what[64] = "waiting for ffmpeg, which delivers no frames";
    if (video->round == 0 && video->begin_s > 0)
        snprintf(what, sizeof(what), "waiting for ffmpeg to reach %.1f s", video->begin_s);
    else if (video->round == 0)
        snprintf(what, sizeof(what), "waiting for ffmpeg's first frame");
    if (!video->health.trouble[0])
        set_trouble(source, what, false);
    if (silent_ms > TOLD_MS && !video->told)
        log_warn("%s: %s", source->info.name, what);
    video->told = video->told || silent_ms > TOLD_MS;
}

// Called after each read: reports new frame sizes and long waits.
static enum source_status watch(struct source *source, enum source_status status)
{
    struct video *video = source->state;
    const int64_t now = clock_now_ns(), between = now - video->asked_ns;
    program_listen(&video->ffmpeg);
    if (video->changed[0] && !video->resized) {
        log_warn("the frame size of %s changes to %s; monocle scales all frames to %dx%d", source->info.name,
                 video->changed, source->info.shape.width, source->info.shape.height);
        video->resized = true;
    }
    if (status == SOURCE_FRAME || video->filled != video->seen || video->asked_ns == 0 ||
        between > SILENT_MS * NS_PER_MS) {
        if (video->health.trouble[0] && status == SOURCE_FRAME)
            set_trouble(source, "", false);
        video->heard_ns = now;
    }
    video->seen = video->filled;
    video->asked_ns = now;
    const int64_t silent_ms = (now - video->heard_ns) / NS_PER_MS;
    if (silent_ms > BROKEN_MS && video->way->promises && video->round > 0)
        return revive(source, "no frame arrived for 30 s");
    if (silent_ms > SILENT_MS)
        tell_wait(source, silent_ms);
    return status;
}

// Sets the frame's time in the video. The first frame after a seek gets the target of the seek: with its own time, a
// step back could find the same frame again if it lasts longer than others.
static void take_time(struct source *source, struct frame *frame)
{
    struct video *video = source->state;
    program_listen(&video->ffmpeg); // ffmpeg reports the time before it writes the frame
    const int64_t us = pop_time(&video->times);
    const bool first = video->round == 0 && video->begin_s > 0;
    if (us != TIME_UNKNOWN && !first)
        video->next_s = video->begin_s + (double)us / 1e6;
    frame->video_ns = llround(video->next_s * 1e9);
    video->next_s += (double)video->info.rate_denominator / video->info.rate_numerator;
}

static enum source_status video_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct video *video = source->state;
    const size_t bytes = image_bytes(&source->info.shape);
    if (!video->reader.name && !start(source))
        return SOURCE_FAILED;
    if (video->slot < 0)
        video->slot = pool_take(&source->pool, deadline_ns);
    if (video->slot < 0)
        return SOURCE_TIMEOUT;
    if (video->begun_ns == 0 && !video->live)
        video->begun_ns = clock_now_ns();
    const enum byte_reader_status read =
        byte_reader_read(&video->reader, source->pool.image[video->slot].plane[0], bytes, &video->filled, deadline_ns);
    if (video->begun_ns == 0 && video->filled > 0)
        video->begun_ns = clock_now_ns();
    if (read == READER_TIMEOUT || (read == READER_END && !program_ended(&video->ffmpeg, deadline_ns)))
        return watch(source, SOURCE_TIMEOUT);
    if (read != READER_OK)
        return read == READER_END ? end_round(source) : SOURCE_FAILED;
    pool_lend(&source->pool, video->slot, video->first + video->round, video->begun_ns, frame);
    take_time(source, frame);
    video->round++;
    video->slot = -1;
    video->filled = 0;
    video->begun_ns = 0;
    return watch(source, SOURCE_FRAME);
}

// Returns true for a file that also begins as an image does.
static bool is_moving(const struct source_target *target)
{
    static const struct {
        size_t at, bytes;
        char begin[9];
        bool (*moving)(const char *path); // NULL: always
    } kinds[] = {{0, 4, "GIF8", moving_gif}, {0, 4, "\x89PNG", moving_png}, {0, 2, "\xff\xd8", moving_jpeg},
                 {4, 8, "ftypavis", NULL},   {4, 8, "ftypmsf1", NULL},      {4, 8, "ftyphevc", NULL},
                 {4, 8, "ftyphevx", NULL}}; // image sequences: ISO 23008-12, 10
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const size_t at = kinds[i].at, bytes = kinds[i].bytes;
        if (target->head_bytes >= at + bytes && memcmp(target->head + at, kinds[i].begin, bytes) == 0)
            return !kinds[i].moving || kinds[i].moving(target->text);
    }
    return false;
}

// Claims URLs, and files that no other kind reads. Without ffmpeg, the first picture remains an image.
static bool video_claims(const struct source_target *target, const struct source_setup *setup)
{
    enum codec_format format;
    char path[4096];
    if (!target->head || (setup->has_format && setup->width > 0))
        return video_is_url(target->text);
    if (is_moving(target))
        return program_find("ffmpeg", path, sizeof(path));
    return !codec_probe(target->head, target->head_bytes, &format);
}

extern const struct source_kind source_video;
const struct source_kind source_video = {
    .name = "video",
    .help = {"FILE.mp4, .mkv, .webm, ...\tany other video, an animated GIF, PNG or AVIF, and JPEGs in one file, "
             "through ffmpeg; video:FILE forces this",
             "rtsp://..., http://...\ta stream or a video from a server, through ffmpeg; also https, rtsps, rtmp, "
             "rtmps, srt, udp, rtp, tcp, ftp"},
    .word = true,
    .claims = video_claims,
    .state_bytes = sizeof(struct video),
    .open = video_open,
    .close = video_close,
    .next = video_next,
    .seek = video_seek,
    .holds = video_holds,
    .health = video_health,
};
