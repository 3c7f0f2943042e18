// y4m_source.c: Y4M films from files, named pipes and standard input
#include "base/clock.h"
#include "base/log.h"
#include "image/y4m.h"
#include "source/film.h"

#include <string.h>

// How long the program at the other end of a pipe may take to start.
#define HEADER_WAIT_NS ((int64_t)10 * 1000000000)

static bool read_header(struct film *film, struct y4m_header *header)
{
    char line[Y4M_LINE_MAX + 1];
    size_t length;
    const char *why;
    switch (stream_line(&film->stream, line, Y4M_LINE_MAX, &length, clock_now_ns() + HEADER_WAIT_NS)) {
    case STREAM_OK:
        if (y4m_parse_header(line, length, header, &why))
            return true;
        break;
    case STREAM_TIMEOUT:
        why = "no Y4M header arrived within 10 s";
        break;
    case STREAM_END:
        why = length > 0 ? "its header is truncated" : "it is empty";
        break;
    case STREAM_FAILED:
        return false;
    default:
        why = "it does not begin with a Y4M header line; convert it first, for example with ffmpeg -f yuv4mpegpipe";
        break;
    }
    log_error("cannot play %s: %s", film->stream.name, why);
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
    struct film *film = source->state;
    struct y4m_header header;
    if (!stream_open(&film->stream, text) || !read_header(film, &header))
        return false;
    struct image_shape *shape = &header.shape;
    if (!wish_fits(setup, shape, film->stream.name))
        return false;
    if (header.interlaced)
        log_warn("%s is interlaced: each frame shows both fields, without deinterlacing", film->stream.name);
    shape->color = source_color(setup, shape->color, shape->format, shape->width, shape->height);
    if (header.rate_numerator > 0) {
        source->info.rate = (double)header.rate_numerator / header.rate_denominator;
        source->info.rate_numerator = header.rate_numerator;
        source->info.rate_denominator = header.rate_denominator;
    }
    return film_start(source, setup, shape, true);
}

static bool y4m_claims(const struct source_target *target, const struct source_setup *setup)
{
    static const char magic[] = "YUV4MPEG2";
    const size_t bytes = sizeof(magic) - 1;
    return strcmp(target->text, "-") == 0 || target->type == S_IFIFO ||
           (target->head_bytes >= bytes && memcmp(target->head, magic, bytes) == 0);
}

extern const struct source_kind source_y4m;
const struct source_kind source_y4m = {
    .name = "y4m",
    .help = {"FILE.y4m\ta Y4M video: 4:2:0, 4:2:2, 4:4:4 or mono, 8 bits; also a named pipe",
             "-\tY4M on standard input, for example from ffmpeg -f yuv4mpegpipe"},
    .claims = y4m_claims,
    .state_bytes = sizeof(struct film),
    .open = y4m_open,
    .close = film_close,
    .next = film_next,
    .give_back = film_return,
    .holds = film_holds,
};
