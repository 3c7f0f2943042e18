// raw.c: pictures without any header, of a size and format the user says
#include "base/log.h"
#include "source/film.h"

// A size that does not divide the file is most often a wrong one.
static void check_length(struct film *film, const struct image_shape *shape)
{
    const size_t one = image_bytes(shape);
    const off_t length = film->stream.size - film->stream.offset;
    if (film->stream.regular && length > (off_t)one && length % (off_t)one != 0) {
        log_warn("%s has %lld bytes, not a multiple of the %zu bytes of a %s frame of %dx%d pixels; check --size and "
                 "--pixel-format",
                 film->stream.name, (long long)length, one, pixfmt_info(shape->format)->name, shape->width,
                 shape->height);
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
    shape.color = source_color(setup, (struct color){0}, shape.format, shape.width, shape.height);
    if (!stream_open(&film->stream, text))
        return false;
    check_length(film, &shape);
    return film_start(source, setup, &shape, false);
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
    .state_bytes = sizeof(struct film),
    .open = raw_open,
    .close = film_close,
    .next = film_next,
    .give_back = film_return,
    .holds = film_holds,
};
