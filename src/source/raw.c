// raw.c: pictures without any header, of a size and format the user says
#include "base/log.h"
#include "source/film.h"

// A size that does not divide the file is most often a wrong one.
static void check_length(struct film *film, const struct image_shape *shape)
{
    const size_t one = image_bytes(shape);
    const off_t length = film->stream.size - film->stream.offset;
    if (film->stream.regular && length > (off_t)one && length % (off_t)one != 0) {
        log_warn("%s holds %lld whole %s pictures of %dx%d pixels and %lld bytes of another: check size and format",
                 film->stream.name, (long long)(length / (off_t)one), pixfmt_info(shape->format)->name, shape->width,
                 shape->height, (long long)(length % (off_t)one));
        film->told = true;
    }
}

static bool raw_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct film *film = source->state;
    if (!text || text[0] == '\0') {
        log_error("raw needs a file: raw:FILE, or raw:- for standard input");
        return false;
    }
    if (!setup->has_format || setup->width == 0) {
        log_error("cannot read raw pictures from %s without their size and pixel format: add --size WIDTHxHEIGHT and "
                  "--pixel-format",
                  text);
        return false;
    }
    struct image_shape shape = {.format = setup->format, .width = setup->width, .height = setup->height};
    const char *why;
    if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why)) {
        log_error("cannot read %s pictures of %dx%d pixels: %s", pixfmt_info(shape.format)->name, shape.width,
                  shape.height, why);
        return false;
    }
    shape.color = source_color(setup, (struct color){0}, shape.format, shape.width, shape.height);
    if (!stream_open(&film->stream, text))
        return false;
    check_length(film, &shape);
    return film_start(source, setup, &shape, false);
}

const struct source_kind source_raw = {
    .name = "raw",
    .state_bytes = sizeof(struct film),
    .open = raw_open,
    .close = film_close,
    .next = film_next,
    .give_back = film_return,
    .holds = film_holds,
};
