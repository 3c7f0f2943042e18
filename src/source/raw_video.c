// raw_video.c: videos without compression from a file or a pipe: Y4M, and raw frames
#include "base/clock.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/log.h"
#include "image/y4m.h"
#include "source/byte_reader.h"
#include "source/kind.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const char frame_head[] = "FRAME\n"; // of a Y4M frame, as most programs write it

struct raw_video {
    struct byte_reader reader;
    bool lines;       // a Y4M frame header precedes each frame
    off_t first;      // offset of the first frame
    bool loop;        // start again at the end
    bool warned;      // the warning about an incomplete frame was logged
    bool played;      // a frame was lent
    uint64_t round;   // frames since the last start
    bool headed;      // the next frame's header was read
    int slot;         // pool slot of the next frame; -1: none
    size_t filled;    // bytes read into the slot
    int64_t begun_ns; // when the reading into the slot began; 0: not yet
};

// Returns false if a file is too short for one frame (logged), before memory is allocated for frames of the size that
// the file or the user claims. Warns if raw frames do not divide the file: their size is probably wrong.
static bool check_length(struct raw_video *raw, const struct image_shape *shape)
{
    const size_t one = image_bytes(shape);
    const struct byte_reader *reader = &raw->reader;
    const off_t length = reader->size - reader->offset;
    const char *format = pixfmt_info(shape->format)->name;
    if (!reader->regular)
        return true;
    if (length < (off_t)one) {
        log_error(
            "%s contains no complete frame: it has %lld bytes of pixels, but a frame of %dx%d pixels in %s has %zu "
            "bytes%s",
            reader->name, (long long)length, shape->width, shape->height, format, one,
            raw->lines ? "" : "; check --size and --pixel-format");
        return false;
    }
    raw->warned = !raw->lines && length % (off_t)one != 0;
    if (raw->warned)
        log_warn("%s has %lld bytes, not a multiple of the %zu bytes of a %s frame of %dx%d pixels; check --size and "
                 "--pixel-format",
                 reader->name, (long long)length, one, format, shape->width, shape->height);
    return true;
}

// Returns the bytes of a frame and its header in the file.
static off_t frame_bytes(const struct source *source)
{
    const struct raw_video *raw = source->state;
    return (off_t)image_bytes(&source->info.shape) + (raw->lines ? (off_t)sizeof(frame_head) - 1 : 0);
}

static void begin_frame(struct raw_video *raw)
{
    raw->headed = false;
    raw->filled = 0;
    raw->begun_ns = 0;
}

static bool raw_seek(struct source *source, double seconds)
{
    struct raw_video *raw = source->state;
    char head[sizeof(frame_head) - 1];
    const uint64_t frame = (uint64_t)llround(seconds / source->info.frame_s);
    const off_t at = raw->first + (off_t)frame * frame_bytes(source);
    if (raw->lines && (pread(raw->reader.fd, head, sizeof(head), at) != (ssize_t)sizeof(head) ||
                       memcmp(head, frame_head, sizeof(head)) != 0)) {
        log_warn("cannot seek in %s: its frame headers differ in length", raw->reader.name);
        return true;
    }
    raw->round = frame;
    begin_frame(raw);
    return byte_reader_seek(&raw->reader, at);
}

// A regular file can seek.
static void describe_time(struct source *source, const struct source_setup *setup)
{
    const struct raw_video *raw = source->state;
    double rate = source->info.rate > 0 ? source->info.rate : setup->rate;
    if (rate <= 0)
        rate = SOURCE_DEFAULT_RATE;
    if (!raw->reader.regular)
        return;
    source->info.frame_s = 1 / rate;
    source->info.duration_s = (double)((raw->reader.size - raw->first) / frame_bytes(source)) / rate;
}

// Begins at the stream's offset.
static bool start(struct source *source, const struct source_setup *setup, const struct image_shape *shape, bool lines)
{
    struct raw_video *raw = source->state;
    raw->lines = lines;
    if (!check_length(raw, shape))
        return false;
    if (setup->loop && !raw->reader.regular)
        log_warn("cannot loop %s: it is not a regular file; it plays once", raw->reader.name);
    snprintf(source->info.name, sizeof(source->info.name), "%s", raw->reader.name);
    source->info.shape = *shape;
    raw->loop = setup->loop && raw->reader.regular;
    raw->first = raw->reader.offset;
    raw->slot = -1;
    describe_time(source, setup);
    return pool_init(&source->pool, source, shape);
}

static void raw_close(struct source *source)
{
    struct raw_video *raw = source->state;
    byte_reader_close(&raw->reader);
}

static bool raw_holds(const struct source *source, const char *path)
{
    const struct raw_video *raw = source->state;
    return file_is_open(path, raw->reader.fd);
}

// The stream has ended, with `left` bytes of an incomplete frame. Returns SOURCE_FRAME if it begins again.
static enum source_status end_round(struct raw_video *raw, size_t left)
{
    if (raw->loop && raw->round == 0 && raw->played) {
        log_error("cannot loop %s: it was truncated while it played and contains no complete frame now",
                  raw->reader.name);
        return SOURCE_FAILED;
    }
    const bool cut = raw->reader.regular && raw->reader.offset < raw->reader.size;
    if ((left > 0 || cut) && !raw->warned) {
        log_warn(left > 0 ? "%s ends with an incomplete frame, which is dropped" : "%s was truncated while it played",
                 raw->reader.name);
        raw->warned = true;
    }
    if (!raw->loop || raw->round == 0)
        return SOURCE_END;
    raw->round = 0;
    begin_frame(raw);
    return byte_reader_seek(&raw->reader, raw->first) ? SOURCE_FRAME : SOURCE_FAILED;
}

static enum source_status read_frame_header(struct raw_video *raw, int64_t deadline_ns)
{
    char line[Y4M_LINE_MAX + 1];
    size_t length;
    const enum byte_reader_status status = byte_reader_line(&raw->reader, line, Y4M_LINE_MAX, &length, deadline_ns);
    if (status == READER_TIMEOUT)
        return SOURCE_TIMEOUT;
    if (status == READER_END)
        return end_round(raw, length);
    if (status == READER_FAILED)
        return SOURCE_FAILED;
    raw->headed = status == READER_OK && y4m_parse_frame(line, length);
    if (raw->headed)
        return SOURCE_FRAME;
    log_error("%s is damaged: frame %llu does not begin with FRAME", raw->reader.name, (unsigned long long)raw->round);
    return SOURCE_FAILED;
}

// Reads the next part of a frame: its header, or its pixels. Returns SOURCE_FRAME if more may follow.
static enum source_status read_part(struct source *source, size_t bytes, int64_t deadline_ns)
{
    struct raw_video *raw = source->state;
    if (raw->lines && !raw->headed)
        return read_frame_header(raw, deadline_ns);
    if (raw->slot < 0) // an incomplete frame leaves its slot
        raw->slot = pool_take(&source->pool, deadline_ns);
    if (raw->slot < 0)
        return SOURCE_TIMEOUT;
    if (raw->begun_ns == 0)
        raw->begun_ns = clock_now_ns();
    switch (byte_reader_read(&raw->reader, source->pool.image[raw->slot].plane[0], bytes, &raw->filled, deadline_ns)) {
    case READER_OK:
        return SOURCE_FRAME;
    case READER_TIMEOUT:
        return SOURCE_TIMEOUT;
    case READER_END:
        return end_round(raw, raw->filled + raw->lines);
    default:
        return SOURCE_FAILED;
    }
}

static enum source_status raw_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct raw_video *raw = source->state;
    const size_t bytes = image_bytes(&source->info.shape);
    while (raw->filled < bytes) {
        const enum source_status status = read_part(source, bytes, deadline_ns);
        if (status != SOURCE_FRAME)
            return status;
    }
    pool_lend(&source->pool, raw->slot, raw->round, raw->begun_ns, frame);
    frame->video_ns = (int64_t)((double)raw->round * source->info.frame_s * 1e9);
    raw->played = true;
    raw->round++;
    raw->slot = -1;
    begin_frame(raw);
    return SOURCE_FRAME;
}

// Waits for the program at the other end of a pipe; says so once.
static enum byte_reader_status await_header(struct byte_reader *reader, char line[Y4M_LINE_MAX + 1], size_t *length,
                                            const struct source_setup *setup)
{
    enum { TURN_NS = 100000000, TOLD_MS = 5000 };
    const int64_t begun_ns = clock_now_ns();
    enum byte_reader_status status;
    bool told = false;
    while ((status = byte_reader_line(reader, line, Y4M_LINE_MAX, length, clock_now_ns() + TURN_NS)) ==
               READER_TIMEOUT &&
           !source_given_up(setup)) {
        if (!told && clock_ms_since(begun_ns) > TOLD_MS)
            log_warn("waiting for the Y4M header of %s", reader->name);
        told = told || clock_ms_since(begun_ns) > TOLD_MS;
    }
    return status;
}

static bool read_header(struct byte_reader *reader, struct y4m_header *header, const struct source_setup *setup)
{
    char line[Y4M_LINE_MAX + 1];
    size_t length;
    const char *why;
    switch (await_header(reader, line, &length, setup)) {
    case READER_OK:
        if (y4m_parse_header(line, length, header, &why))
            return true;
        break;
    case READER_END:
        why = length > 0 ? "its header is truncated" : "it is empty";
        break;
    case READER_TIMEOUT:
    case READER_FAILED:
        return false;
    default:
        why = "it does not begin with a Y4M header line; convert it first, for example with ffmpeg -f yuv4mpegpipe";
        break;
    }
    log_error("cannot play %s: %s", reader->name, why);
    return false;
}

static bool wish_fits(const struct source_setup *setup, const struct image_shape *shape, const char *name)
{
    if (setup->has_format && setup->format != shape->format) {
        log_error("%s contains %s frames, not %s; leave out --pixel-format", name, pixfmt_info(shape->format)->name,
                  pixfmt_info(setup->format)->name);
        return false;
    }
    return source_size_fits(setup, shape->width, shape->height, name);
}

static bool y4m_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct raw_video *raw = source->state;
    struct y4m_header header;
    if (!byte_reader_open(&raw->reader, text) || !read_header(&raw->reader, &header, setup))
        return false;
    struct image_shape *shape = &header.shape;
    if (!wish_fits(setup, shape, raw->reader.name))
        return false;
    if (source_square(&(int){shape->width}, &(int){shape->height}, header.aspect_across, header.aspect_down))
        log_warn(
            "the pixels of %s have the aspect %d:%d, but monocle shows them as squares; a regular file, with ffmpeg "
            "installed, has its shape",
            raw->reader.name, header.aspect_across, header.aspect_down);
    if (header.interlaced)
        log_warn("%s is interlaced: each frame shows both fields; add -f deinterlace", raw->reader.name);
    shape->color = source_color(setup, shape->color, shape);
    if (header.rate_numerator > 0) {
        source->info.rate = (double)header.rate_numerator / header.rate_denominator;
        source->info.rate_numerator = header.rate_numerator;
        source->info.rate_denominator = header.rate_denominator;
    }
    return start(source, setup, shape, true);
}

// Returns true if ffmpeg must scale the file's frames to square pixels.
static bool needs_ffmpeg(const char *path)
{
    char line[Y4M_LINE_MAX + 1], program[PATH_MAX];
    struct y4m_header header;
    const char *why;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line));
    const char *end = got > 0 ? memchr(line, '\n', (size_t)got) : NULL;
    if (fd >= 0)
        close(fd);
    return end && y4m_parse_header(line, (size_t)(end - line), &header, &why) &&
           source_square(&header.shape.width, &header.shape.height, header.aspect_across, header.aspect_down) &&
           program_find("ffmpeg", program, sizeof(program));
}

static bool y4m_claims(const struct source_target *target, const struct source_setup *setup)
{
    static const char magic[] = "YUV4MPEG2";
    const size_t bytes = sizeof(magic) - 1;
    return strcmp(target->text, "-") == 0 || target->type == S_IFIFO ||
           (target->head_bytes >= bytes && memcmp(target->head, magic, bytes) == 0 && !needs_ffmpeg(target->text));
}

extern const struct source_kind source_y4m;
const struct source_kind source_y4m = {
    .name = "y4m",
    .help = {"FILE.y4m\ta Y4M video: 4:2:0, 4:2:2, 4:4:4 or mono, 8 bits; also a named pipe",
             "-\tY4M on standard input, for example from ffmpeg -f yuv4mpegpipe"},
    .claims = y4m_claims,
    .state_bytes = sizeof(struct raw_video),
    .open = y4m_open,
    .close = raw_close,
    .next = raw_next,
    .seek = raw_seek,
    .holds = raw_holds,
};

static bool raw_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct raw_video *raw = source->state;
    if (!text || text[0] == '\0') {
        log_error("raw needs a file: raw:FILE, or raw:- for standard input");
        return false;
    }
    if (!setup->has_format || setup->width == 0) {
        log_error("cannot read raw frames from %s: their size or pixel format is missing; add --size WIDTHxHEIGHT and "
                  "--pixel-format FORMAT",
                  text);
        return false;
    }
    struct image_shape shape = {.format = setup->format, .width = setup->width, .height = setup->height};
    const char *why;
    if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why)) {
        log_error("cannot read %s frames of %dx%d pixels: %s", pixfmt_info(shape.format)->name, shape.width,
                  shape.height, why);
        return false;
    }
    shape.color = source_color(setup, (struct color){0}, &shape);
    return byte_reader_open(&raw->reader, text) && start(source, setup, &shape, false);
}

static bool raw_claims(const struct source_target *target, const struct source_setup *setup)
{
    return target->head && setup->has_format && setup->width > 0;
}

extern const struct source_kind source_raw;
const struct source_kind source_raw = {
    .name = "raw",
    .help = {"raw:FILE\tframes without a header; needs --size and --pixel-format; raw:- is standard input"},
    .word = true,
    .claims = raw_claims,
    .state_bytes = sizeof(struct raw_video),
    .open = raw_open,
    .close = raw_close,
    .next = raw_next,
    .seek = raw_seek,
    .holds = raw_holds,
};
