// y4m.c: YUV4MPEG2 streams: reads headers, writes frames to a file or a pipe
#include "image/y4m.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "image/convert.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char stream_magic[] = "YUV4MPEG2";
static const char frame_magic[] = "FRAME";

// One tag: its letter and the text behind it, not NUL-terminated.
struct tag {
    char letter;
    const char *text;
    size_t size;
};

static const struct chroma {
    const char *name;
    enum pixfmt format;
} chromas[] = {
    // Variants of 4:2:0 differ in where chroma samples lie; the pixel contract replicates chroma, so they are one.
    {"420", PIXFMT_YU12}, {"420jpeg", PIXFMT_YU12}, {"420mpeg2", PIXFMT_YU12}, {"420paldv", PIXFMT_YU12},
    {"422", PIXFMT_422P}, {"444", PIXFMT_444P},     {"mono", PIXFMT_GREY},
};

static bool text_is(const struct tag *tag, const char *word)
{
    return tag->size == strlen(word) && memcmp(tag->text, word, tag->size) == 0;
}

// Parses a whole decimal number that fits an int. False for any other text, such as a number with a sign.
static bool parse_int(const char *text, size_t size, int *value)
{
    long long number = 0;
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
        if (number > INT_MAX)
            return false;
    }
    *value = (int)number;
    return true;
}

static bool parse_rate(const struct tag *tag, struct y4m_header *header, const char **why)
{
    *why = "its frame rate (F) is not a ratio of two numbers";
    const char *colon = memchr(tag->text, ':', tag->size);
    int numerator, denominator;
    if (!colon || !parse_int(tag->text, (size_t)(colon - tag->text), &numerator) ||
        !parse_int(colon + 1, tag->size - (size_t)(colon + 1 - tag->text), &denominator))
        return false;
    if (numerator == 0) { // "0:0" means an unknown rate
        denominator = 1;
    } else if (denominator == 0) {
        *why = "the denominator of its frame rate (F) is 0";
        return false;
    }
    header->rate_numerator = numerator;
    header->rate_denominator = denominator;
    return true;
}

// Reads the pixel aspect. A wrong one, and "0:0" for an unknown one, leave the pixels square.
static void parse_aspect(const struct tag *tag, struct y4m_header *header)
{
    const char *colon = memchr(tag->text, ':', tag->size);
    int across, down;
    if (!colon || !parse_int(tag->text, (size_t)(colon - tag->text), &across) ||
        !parse_int(colon + 1, tag->size - (size_t)(colon + 1 - tag->text), &down) || across == 0 || down == 0)
        return;
    header->aspect_across = across;
    header->aspect_down = down;
}

static bool parse_chroma(const struct tag *tag, struct y4m_header *header, const char **why)
{
    for (size_t i = 0; i < sizeof(chromas) / sizeof(*chromas); i++) {
        if (text_is(tag, chromas[i].name)) {
            header->shape.format = chromas[i].format;
            return true;
        }
    }
    const bool deep = (tag->size > 3 && tag->text[3] == 'p' && tag->text[tag->size - 1] <= '9') ||
                      (tag->size > 4 && memcmp(tag->text, "mono", 4) == 0);
    if (deep)
        *why = "its samples have more than 8 bits; convert it first, for example with ffmpeg -pix_fmt yuv420p";
    else if (text_is(tag, "444alpha"))
        *why = "its chroma subsampling (C) is 444alpha; convert it first, for example with ffmpeg -pix_fmt yuv444p";
    else
        *why = "its chroma subsampling (C) is not 420, 420jpeg, 420mpeg2, 420paldv, 422, 444 or mono; convert it "
               "first, for example with ffmpeg -pix_fmt yuv420p";
    return false;
}

static bool parse_tag(const struct tag *tag, struct y4m_header *header, const char **why)
{
    switch (tag->letter) {
    case 'W':
        *why = "its width (W) is not a number";
        return parse_int(tag->text, tag->size, &header->shape.width);
    case 'H':
        *why = "its height (H) is not a number";
        return parse_int(tag->text, tag->size, &header->shape.height);
    case 'F':
        return parse_rate(tag, header, why);
    case 'I':
        *why = "its interlacing (I) is not p, t, b, m or ?";
        header->interlaced = tag->size == 1 && memchr("tbm", tag->text[0], 3);
        return tag->size == 1 && memchr("ptbm?", tag->text[0], 5);
    case 'C':
        return parse_chroma(tag, header, why);
    case 'X':
        if (text_is(tag, "COLORRANGE=FULL"))
            header->shape.color.range = COLOR_RANGE_FULL;
        else if (text_is(tag, "COLORRANGE=LIMITED"))
            header->shape.color.range = COLOR_RANGE_LIMITED;
        return true;
    case 'A':
        parse_aspect(tag, header);
        return true;
    default:
        *why = "its header has an unknown tag: not W, H, F, I, A, C or X";
        return false;
    }
}

// Returns true if the line is `magic`, alone or followed by a space.
static bool begins_with(const char *line, size_t size, const char *magic)
{
    const size_t length = strlen(magic);
    return size >= length && memcmp(line, magic, length) == 0 && (size == length || line[length] == ' ');
}

bool y4m_parse_header(const char *line, size_t size, struct y4m_header *header, const char **why)
{
    *header = (struct y4m_header){
        .shape = {.format = PIXFMT_YU12}, .rate_denominator = 1, .aspect_across = 1, .aspect_down = 1};
    if (!begins_with(line, size, stream_magic)) {
        *why = "it does not begin with YUV4MPEG2; convert it first, for example with ffmpeg -f yuv4mpegpipe";
        return false;
    }
    const char *const end = line + size;
    for (const char *at = line + strlen(stream_magic); at < end;) {
        if (*at == ' ') {
            at++;
            continue;
        }
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *next = space ? space : end;
        const struct tag tag = {.letter = *at, .text = at + 1, .size = (size_t)(next - at - 1)};
        if (!parse_tag(&tag, header, why))
            return false;
        at = next;
    }
    if (header->shape.width == 0 || header->shape.height == 0) {
        *why = "its header has no width (W) or no height (H), or one of them is 0";
        return false;
    }
    return pixfmt_size_ok(header->shape.format, header->shape.width, header->shape.height, why);
}

bool y4m_parse_frame(const char *line, size_t size)
{
    return begins_with(line, size, frame_magic);
}

static const char frame_head[] = "FRAME\n";
enum {
    FRAME_HEAD = sizeof(frame_head) - 1,
    PATIENCE_MS = 500, // limit for a reader after a signal, or at the end
    ENCODER_MS = -1,   // for an encoder, which may take any time: its end closes the pipe
    STALL_MS = 100,    // a reader that reads nothing for this long has stalled
    BUSY_MS = 500,     // the same for an encoder
};

static const char standard_output[] = "standard output";

struct y4m_writer {
    char *name; // for messages; NULL: failures of the pipe are not logged
    int fd;
    int patience_ms;    // PATIENCE_MS or ENCODER_MS
    int stall_ms;       // STALL_MS or BUSY_MS
    bool regular;       // can be truncated to whole_bytes
    bool named;         // a regular file, not standard output
    off_t whole_bytes;  // file size behind the last complete frame
    uint64_t frames;    // written
    struct image frame; // pixels as C444, behind the frame header in `buffer`
    bool alpha;         // below each plane of `frame` are as many rows; alpha is in those of luma
    uint8_t *buffer;
    size_t buffer_bytes;
    size_t pending; // bytes at the buffer's end that a stalled reader has not taken yet
    bool failed;
};

// Returns the number of bytes written. If that is not all, errno has the reason; EINTR: the reader took nothing for
// `patience_ms`. -1: waits without limit until a signal arrives, then the writer's patience.
static size_t write_some(const struct y4m_writer *writer, const uint8_t *data, size_t size, int patience_ms)
{
    size_t done = 0;
    while (done < size) {
        struct pollfd ready = {.fd = writer->fd, .events = POLLOUT};
        const int turns = poll(&ready, 1, patience_ms);
        if (turns == 0)
            errno = EINTR;
        if (turns == 0 || (turns < 0 && errno != EINTR))
            break;
        const size_t rest = size - done;
        const size_t most =
            patience_ms >= 0 && rest > PIPE_BUF ? PIPE_BUF : rest; // a pipe that is ready accepts this much
        const ssize_t put = turns < 0 ? -1 : write(writer->fd, data + done, most);
        if (put < 0 && errno != EINTR && errno != EAGAIN)
            break;
        if (patience_ms < 0 && (put < 0 ? errno == EINTR : (size_t)put < most)) // a signal
            patience_ms = writer->patience_ms;
        if (put > 0)
            done += (size_t)put;
    }
    return done;
}

static void log_failure(const struct y4m_writer *writer)
{
    if (!writer->name || (errno == EPIPE && strcmp(writer->name, standard_output) == 0)) // as head(1) does
        return;
    if (errno == EPIPE)
        log_error("cannot record more frames to %s: the program that read them has exited", writer->name);
    else if (errno == EINTR)
        log_error("the last frame in %s is incomplete: the program that reads it has stalled", writer->name);
    else
        log_error("cannot record to %s: %s%s", writer->name, strerror(errno),
                  writer->frames > 0 && errno != ENOENT ? "; the earlier frames are complete" : "");
}

// Truncates the file to its last complete frame.
static bool give_up(struct y4m_writer *writer)
{
    log_failure(writer);
    writer->failed = true;
    if (writer->regular && ftruncate(writer->fd, writer->whole_bytes) != 0)
        log_error("cannot remove the incomplete last frame from %s: %s", writer->name, strerror(errno));
    return false;
}

static bool open_output(struct y4m_writer *writer, const char *path)
{
    const bool to_stdout = strcmp(path, "-") == 0;
    writer->name = xstrdup(to_stdout ? standard_output : path);
    if (to_stdout)
        writer->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (writer->fd < 0)
        writer->fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (writer->fd < 0 && errno == EINTR) // a signal came before the reader of a pipe
        return false;
    // process_guard_streams replaces a closed standard output by a file that is open for reading.
    const bool closed =
        writer->fd < 0 ? to_stdout && errno == EBADF : (fcntl(writer->fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    struct stat status;
    if (closed || writer->fd < 0 || fstat(writer->fd, &status) != 0) {
        log_error("cannot record to %s: %s", writer->name,
                  closed ? "it is closed; redirect it to a file or a program" : strerror(errno));
        return false;
    }
    if (isatty(writer->fd)) {
        log_error("cannot record to %s: it is a terminal; name a file, or redirect it to a file or a program",
                  writer->name);
        return false;
    }
    writer->regular = S_ISREG(status.st_mode);
    writer->named = writer->regular && !to_stdout;
    if (writer->regular && !to_stdout && ftruncate(writer->fd, 0) != 0) {
        log_error("cannot record to %s: %s", writer->name, strerror(errno));
        return false;
    }
    if (writer->regular) { // standard output may already hold something
        const bool append = (fcntl(writer->fd, F_GETFL) & O_APPEND) != 0;
        writer->whole_bytes = append ? status.st_size : lseek(writer->fd, 0, SEEK_CUR);
    }
    return true;
}

struct color y4m_writer_color(int width, int height)
{
    return color_resolve((struct color){.range = COLOR_RANGE_LIMITED}, (struct color){0}, false, width, height);
}

static bool prepare(struct y4m_writer *writer, int width, int height)
{
    struct image_shape shape = {.format = PIXFMT_444P, .width = width, .height = writer->alpha ? 2 * height : height};
    const char *why;
    if (!pixfmt_size_ok(shape.format, width, shape.height, &why)) {
        log_error("cannot record frames of %dx%d pixels: %s", width, height, why);
        return false;
    }
    shape.color = y4m_writer_color(width, height);
    writer->buffer_bytes = FRAME_HEAD + image_bytes(&shape);
    writer->buffer = calloc(1, writer->buffer_bytes);
    if (!writer->buffer) {
        log_error("cannot record frames of %dx%d pixels: out of memory", width, height);
        return false;
    }
    memcpy(writer->buffer, frame_head, FRAME_HEAD);
    image_wrap(&writer->frame, &shape, writer->buffer + FRAME_HEAD);
    writer->frame.shape.height = height;
    return true;
}

// Finds the simplest ratio within 1e-9 of the rate: a convergent of its continued fraction.
static void simplest_ratio(double rate, int *numerator, int *denominator)
{
    long long n = 1, d = 0, last_n = 0, last_d = 1;
    double rest = rate;
    do {
        const long long whole = (long long)rest, n_now = n, d_now = d;
        n = whole * n_now + last_n;
        d = whole * d_now + last_d;
        last_n = n_now;
        last_d = d_now;
        rest = 1 / (rest - (double)whole); // infinite behind the last one
    } while (fabs((double)n / (double)d - rate) > rate * 1e-9);
    *numerator = (int)n;
    *denominator = (int)d;
}

void y4m_rate(double rate, int *numerator, int *denominator)
{
    const double ntsc = rate * 1001 / 1000;
    if (rate >= 1 && fabs(rate - round(rate)) < 0.0005) { // cameras count in 100 ns: 120 becomes 120.00048
        *numerator = (int)round(rate);
        *denominator = 1;
    } else if (rate >= 1 && fabs(ntsc - round(ntsc)) < 0.002) {
        *numerator = (int)round(ntsc) * 1000;
        *denominator = 1001;
    } else {
        simplest_ratio(rate, numerator, denominator);
    }
}

static bool write_header(struct y4m_writer *writer, int rate_numerator, int rate_denominator)
{
    if (rate_numerator <= 0 || rate_denominator <= 0)
        rate_numerator = rate_denominator = 0;
    char line[160];
    const int length = snprintf(line, sizeof(line), "YUV4MPEG2 W%d H%d F%d:%d Ip A1:1 C444 XCOLORRANGE=LIMITED\n",
                                writer->frame.shape.width, writer->frame.shape.height * (writer->alpha ? 2 : 1),
                                rate_numerator, rate_denominator);
    if (write_some(writer, (const uint8_t *)line, (size_t)length, -1) < (size_t)length)
        return give_up(writer);
    writer->whole_bytes += length;
    return true;
}

static struct y4m_writer *new_writer(int fd, int patience_ms, int stall_ms)
{
    struct y4m_writer *writer = xalloc(sizeof(*writer));
    writer->fd = fd;
    writer->patience_ms = patience_ms;
    writer->stall_ms = stall_ms;
    return writer;
}

struct y4m_writer *y4m_writer_open(const char *path, int file, int width, int height, int rate_numerator,
                                   int rate_denominator)
{
    struct y4m_writer *writer = new_writer(file, PATIENCE_MS, STALL_MS);
    if (prepare(writer, width, height) && open_output(writer, path) &&
        write_header(writer, rate_numerator, rate_denominator))
        return writer;
    y4m_writer_close(writer);
    return NULL;
}

struct y4m_writer *y4m_writer_to_pipe(int pipe, int width, int height, int rate_numerator, int rate_denominator,
                                      bool alpha)
{
    struct y4m_writer *writer = new_writer(pipe, ENCODER_MS, BUSY_MS);
    writer->alpha = alpha;
    if (prepare(writer, width, height)) {
        write_header(writer, rate_numerator, rate_denominator);
        return writer;
    }
    y4m_writer_close(writer);
    return NULL;
}

// Writes the rest of the frame in the buffer. If the reader stalls, some of it stays pending. Returns false if the
// recording cannot continue (logged).
static bool write_pending(struct y4m_writer *writer, int patience_ms)
{
    if (writer->pending == 0)
        return true;
    const uint8_t *rest = writer->buffer + writer->buffer_bytes - writer->pending;
    writer->pending -= write_some(writer, rest, writer->pending, patience_ms);
    if (writer->pending > 0)
        return (patience_ms >= 0 && errno == EINTR) || give_up(writer);
    writer->whole_bytes += (off_t)writer->buffer_bytes;
    return true;
}

// Converts the pixels, and copies their alpha if the frames have it.
static void encode(struct y4m_writer *writer, const struct image *rgba)
{
    struct image *frame = &writer->frame;
    encode_image(frame, rgba);
    for (int y = 0; writer->alpha && y < frame->shape.height; y++) {
        const uint8_t *from = rgba->plane[0] + (size_t)y * rgba->stride[0];
        uint8_t *to = frame->plane[0] + (size_t)(frame->shape.height + y) * frame->stride[0];
        for (int x = 0; x < frame->shape.width; x++)
            to[x] = from[4 * x + 3];
    }
}

bool y4m_writer_add(struct y4m_writer *writer, const struct image *rgba, bool *left_out)
{
    const int patience_ms = left_out && !writer->regular ? writer->stall_ms : -1;
    struct pollfd ready = {.fd = writer->fd, .events = POLLOUT};
    if (writer->failed)
        return false;
    if (writer->pending > 0 && (patience_ms < 0 || poll(&ready, 1, 0) != 0) && !write_pending(writer, patience_ms))
        return false;
    if (left_out)
        *left_out = writer->pending > 0;
    if (writer->pending > 0)
        return true;
    if (rgba)
        encode(writer, rgba);
    writer->pending = writer->buffer_bytes;
    if (!write_pending(writer, patience_ms))
        return false;
    writer->frames++;
    return true;
}

bool y4m_writer_close(struct y4m_writer *writer)
{
    if (!writer)
        return true;
    if (!writer->failed && write_pending(writer, writer->patience_ms) && writer->pending > 0)
        give_up(writer);
    bool ok = !writer->failed;
    if (writer->fd >= 0) {
        // Some file systems report a full disk only here.
        ok &= !writer->regular || writer->failed || file_sync(writer->fd);
        ok = ok && (!writer->named || writer->frames == 0 || file_is_named(writer->fd));
        ok &= close(writer->fd) == 0;
        if (!ok && !writer->failed)
            log_failure(writer);
    }
    free(writer->buffer);
    free(writer->name);
    free(writer);
    return ok;
}
