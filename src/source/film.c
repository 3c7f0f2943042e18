// film.c: pictures that follow each other in a stream of bytes
#include "source/film.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "image/y4m.h"

#include <stdio.h>

// A file too short for one picture costs no memory for those of the size that it, or the user, claims.
static bool check_length(const struct stream *stream, const struct image_shape *shape, bool has_header)
{
    const size_t one = image_bytes(shape);
    const off_t length = stream->size - stream->offset;
    if (!stream->regular || length >= (off_t)one)
        return true;
    log_error(
        "%s contains no complete frame: it has %lld bytes of pixels, but a frame of %dx%d pixels in %s has %zu bytes%s",
        stream->name, (long long)length, shape->width, shape->height, pixfmt_info(shape->format)->name, one,
        has_header ? "" : "; check --size and --pixel-format");
    return false;
}

bool film_start(struct source *source, const struct source_setup *setup, const struct image_shape *shape, bool lines)
{
    struct film *film = source->state;
    if (!check_length(&film->stream, shape, lines))
        return false;
    if (setup->loop && !film->stream.regular)
        log_warn("cannot loop %s: it is not a regular file; it plays once", film->stream.name);
    snprintf(source->info.name, sizeof(source->info.name), "%s", film->stream.name);
    source->info.shape = *shape;
    film->lines = lines;
    film->loop = setup->loop && film->stream.regular;
    film->first = film->stream.offset;
    film->phase = lines ? FILM_LINE : FILM_SLOT;
    film->slot = -1;
    return pool_init(&film->pool, source, shape);
}

void film_close(struct source *source)
{
    struct film *film = source->state;
    pool_finish(&film->pool);
    stream_close(&film->stream);
}

bool film_holds(const struct source *source, const char *path)
{
    const struct film *film = source->state;
    return file_is_open(path, film->stream.fd);
}

// The stream is over, with `left` bytes of a picture that never became whole.
static enum source_status end_round(struct film *film, size_t left)
{
    if (film->loop && film->round == 0 && film->number > 0) {
        log_error("cannot loop %s: it was truncated while it played and contains no complete frame now",
                  film->stream.name);
        return SOURCE_FAILED;
    }
    const bool cut = film->stream.regular && film->stream.offset < film->stream.size;
    if ((left > 0 || cut) && !film->told) {
        log_warn(left > 0 ? "%s ends with an incomplete frame, which is dropped" : "%s was truncated while it played",
                 film->stream.name);
        film->told = true;
    }
    if (!film->loop || film->round == 0)
        return SOURCE_END;
    film->round = 0;
    film->filled = 0;
    film->phase = film->lines ? FILM_LINE : FILM_SLOT;
    return stream_seek(&film->stream, film->first) ? SOURCE_FRAME : SOURCE_FAILED;
}

// The steps of one picture, by phase. Each returns SOURCE_FRAME to go on with the phase it has set.

static enum source_status take_line(struct film *film, int64_t deadline_ns)
{
    char line[Y4M_LINE_MAX + 1];
    size_t length;
    const enum stream_status status = stream_line(&film->stream, line, Y4M_LINE_MAX, &length, deadline_ns);
    if (status == STREAM_TIMEOUT)
        return SOURCE_TIMEOUT;
    if (status == STREAM_END)
        return end_round(film, length);
    if (status == STREAM_FAILED)
        return SOURCE_FAILED;
    if (status == STREAM_OK && y4m_parse_frame(line, length)) {
        film->phase = FILM_SLOT;
        return SOURCE_FRAME;
    }
    log_error("%s is damaged: frame %llu does not begin with FRAME", film->stream.name,
              (unsigned long long)film->round);
    return SOURCE_FAILED;
}

static enum source_status take_slot(struct film *film, int64_t deadline_ns)
{
    if (film->slot < 0) // after a cut-short picture there is one already
        film->slot = pool_take(&film->pool, deadline_ns);
    if (film->slot < 0)
        return SOURCE_TIMEOUT;
    film->filled = 0;
    film->begun_ns = clock_now_ns();
    film->phase = FILM_PIXELS;
    return SOURCE_FRAME;
}

static enum source_status take_pixels(struct film *film, int64_t deadline_ns)
{
    const struct image *image = &film->pool.image[film->slot];
    switch (stream_read(&film->stream, image->plane[0], image_bytes(&image->shape), &film->filled, deadline_ns)) {
    case STREAM_OK:
        film->phase = FILM_WHOLE;
        return SOURCE_FRAME;
    case STREAM_TIMEOUT:
        return SOURCE_TIMEOUT;
    case STREAM_END:
        return end_round(film, film->filled + film->lines);
    default:
        return SOURCE_FAILED;
    }
}

enum source_status film_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    static enum source_status (*const steps[])(struct film * film, int64_t deadline_ns) = {
        [FILM_LINE] = take_line, [FILM_SLOT] = take_slot, [FILM_PIXELS] = take_pixels};
    struct film *film = source->state;
    while (film->phase != FILM_WHOLE) {
        const enum source_status status = steps[film->phase](film, deadline_ns);
        if (status != SOURCE_FRAME)
            return status;
    }
    *frame = (struct frame){.image = film->pool.image[film->slot],
                            .number = film->number++,
                            .captured_ns = film->begun_ns,
                            .ready_ns = clock_now_ns(),
                            .slot = film->slot};
    frame->image.memory = NULL; // lent
    film->round++;
    film->slot = -1;
    film->phase = film->lines ? FILM_LINE : FILM_SLOT;
    return SOURCE_FRAME;
}

void film_return(struct source *source, const struct frame *frame)
{
    struct film *film = source->state;
    pool_give(&film->pool, frame->slot);
}
