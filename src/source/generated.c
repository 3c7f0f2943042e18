// generated.c: sources that generate their frames: their settings; the test pattern and noise
#include "source/generated.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, RATE_MAX = 1000 };
static const double rate_min = 0.001;

struct pattern {
    struct generated generated;
    struct pattern_layout layout;
    struct {
        bool drawn;
        uint64_t number; // of the frame in it
    } slot[SOURCE_LENT];
};

// Parses "30" or "29.97"; 0 if there is no number. Does not depend on the locale.
static double parse_decimal(const char **text)
{
    const char *at = *text;
    double number = 0, unit = 1;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            number += (*at - '0') * (unit /= 10);
    *text = at;
    return number;
}

// Parses a decimal or a ratio such as "30000/1001".
static bool parse_rate(const char *text, double *rate)
{
    *rate = parse_decimal(&text);
    if (*text == '/') {
        text++;
        *rate /= parse_decimal(&text); // by 0: not a number or infinite, which is refused
    }
    return *text == '\0' && *rate >= rate_min && *rate <= RATE_MAX;
}

// Parses one part between commas: "WxH", "@FPS", "WxH@FPS" or a format's name. Changes `part`.
static bool parse_part(char *part, struct source_setup *wanted)
{
    if (pixfmt_from_name(part, &wanted->format)) {
        wanted->has_format = true;
        return true;
    }
    char *at = strchr(part, '@');
    if (at) {
        *at = '\0';
        if (!parse_rate(at + 1, &wanted->rate))
            return false;
    }
    struct option_size size;
    if (part[0] == '\0')
        return at != NULL;
    if (!options_parse_size(part, &size))
        return false;
    wanted->width = size.width;
    wanted->height = size.height;
    return true;
}

// Logs the reason. A part that begins with a letter was probably meant as a format.
static void refuse(const char *kind, const char *text, const char *part)
{
    if (part && part[0] >= 'a' && part[0] <= 'z') {
        const char *names[PIXFMT_COUNT + 1] = {NULL};
        for (int i = 0; i < PIXFMT_COUNT; i++)
            names[i] = pixfmt_info((enum pixfmt)i)->name;
        char why[256];
        options_unknown(why, sizeof(why), "pixel format", part, names, "to list the formats, run: monocle live --help");
        log_error("cannot open %s:%s: %s", kind, text, why);
        return;
    }
    log_error("cannot open %s:%s: write %s:WIDTHxHEIGHT@RATE,FORMAT, for example %s:640x480@30,nv21 (rate: %g to %d)",
              kind, text, kind, kind, rate_min, RATE_MAX);
}

static bool parse_text(const char *kind, const char *text, struct source_setup *wanted)
{
    char copy[128];
    char *rest = copy, *part = NULL;
    if (strlen(text) < sizeof(copy)) {
        strcpy(copy, text);
        while ((part = strsep(&rest, ",")))
            if (!parse_part(part, wanted))
                break;
        if (!part)
            return true;
    }
    refuse(kind, text, part);
    return false;
}

// Combines the text and the options, which must not contradict each other. Values that neither gives get their
// defaults.
static bool complete(struct source_setup *wanted, const struct source_setup *setup)
{
    const bool sizes_differ =
        wanted->width > 0 && setup->width > 0 && (wanted->width != setup->width || wanted->height != setup->height);
    if (sizes_differ || (wanted->has_format && setup->has_format && wanted->format != setup->format)) {
        log_error("the size or format of the source contradicts --size or --pixel-format; give each only once");
        return false;
    }
    if (wanted->width == 0) {
        wanted->width = setup->width > 0 ? setup->width : DEFAULT_WIDTH;
        wanted->height = setup->width > 0 ? setup->height : DEFAULT_HEIGHT;
    }
    if (!wanted->has_format)
        wanted->format = setup->has_format ? setup->format : PIXFMT_NV12;
    if (wanted->rate <= 0)
        wanted->rate = SOURCE_DEFAULT_RATE;
    const char *why;
    if (pixfmt_size_ok(wanted->format, wanted->width, wanted->height, &why))
        return true;
    log_error("cannot make frames of %dx%d pixels in %s: %s", wanted->width, wanted->height,
              pixfmt_info(wanted->format)->name, why);
    return false;
}

bool generated_open(struct source *source, const struct source_setup *setup, const char *text, const char *name)
{
    struct source_setup wanted = {0};
    if ((text && text[0] != '\0' && !parse_text(source->kind->name, text, &wanted)) || !complete(&wanted, setup))
        return false;
    struct image_shape *shape = &source->info.shape;
    *shape =
        (struct image_shape){.format = wanted.format, .width = wanted.width, .height = wanted.height, .opaque = true};
    shape->color = source_color(setup, (struct color){0}, shape);
    source->info.rate = wanted.rate;
    snprintf(source->info.name, sizeof(source->info.name), "%s", name);
    struct generated *generated = source->state;
    generated->encoder = encoder_init(shape->color);
    generated->rows = generated->row ? xmalloc((size_t)shape->width * 4 * 2) : NULL;
    return pool_init(&source->pool, source, shape);
}

enum source_status generated_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct generated *generated = source->state;
    const int slot = pool_take(&source->pool, deadline_ns);
    if (slot < 0)
        return SOURCE_TIMEOUT;
    const int64_t begin = clock_now_ns();
    generated->draw(source, slot, generated->next);
    pool_lend(&source->pool, slot, generated->next++, begin, frame);
    return SOURCE_FRAME;
}

void generated_close(struct source *source)
{
    free(((struct generated *)source->state)->rows);
}

void generated_draw(struct source *source, int slot, uint64_t number, const struct generated_rect *rect)
{
    const struct generated *generated = source->state;
    struct image *image = &source->pool.image[slot];
    const struct generated_rect all = {0, 0, image->shape.width, image->shape.height}, *at = rect ? rect : &all;
    const int width = at->x1 - at->x0;
    uint8_t *upper = generated->rows, *lower = upper + (size_t)width * 4;
    for (int y = at->y0; y < at->y1; y += 2) {
        const bool pair = y + 1 < at->y1;
        generated->row(source, number, y, at->x0, at->x1, upper);
        if (pair)
            generated->row(source, number, y + 1, at->x0, at->x1, lower);
        encode_rows(&generated->encoder, image, at->x0, y, width, upper, pair ? lower : NULL);
    }
}

static void draw_pattern_row(const struct source *source, uint64_t number, int y, int x0, int x1, uint8_t *rgba)
{
    pattern_row(&((const struct pattern *)source->state)->layout, number, y, x0, x1, rgba);
}

// Redraws only the differences if the slot holds an earlier frame.
static void draw_pattern(struct source *source, int slot, uint64_t number)
{
    struct pattern *pattern = source->state;
    struct generated_rect rects[PATTERN_CHANGES];
    const bool drawn = pattern->slot[slot].drawn;
    const int count = drawn ? pattern_changes(&pattern->layout, pattern->slot[slot].number, number, rects) : 1;
    for (int i = 0; i < count; i++)
        generated_draw(source, slot, number, drawn ? &rects[i] : NULL);
    pattern->slot[slot].drawn = true;
    pattern->slot[slot].number = number;
}

static bool pattern_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct pattern *pattern = source->state;
    const struct image_shape *shape = &source->info.shape;
    pattern->generated = (struct generated){.draw = draw_pattern, .row = draw_pattern_row};
    if (!generated_open(source, setup, text, "test pattern"))
        return false;
    pattern->layout = pattern_layout(shape->width, shape->height);
    return true;
}

extern const struct source_kind source_pattern;
const struct source_kind source_pattern = {
    .name = "pattern",
    .help = {"pattern[:WxH@FPS,FORMAT]\tmoving test pattern; pattern:1280x720@30,nv12 is the default"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct pattern),
    .open = pattern_open,
    .close = generated_close,
    .next = generated_next,
};

// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static void draw_noise(struct source *source, int slot, uint64_t number)
{
    const struct image *image = &source->pool.image[slot];
    const size_t bytes = image_bytes(&image->shape);
    uint64_t counter = mix(number + 1);
    // The planes are contiguous. The last word may reach the spare bytes.
    for (size_t i = 0; i < bytes; i += sizeof(counter)) {
        const uint64_t word = mix(counter += 0x9e3779b97f4a7c15);
        memcpy(image->plane[0] + i, &word, sizeof(word));
    }
}

static bool noise_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct generated *noise = source->state;
    noise->draw = draw_noise;
    return generated_open(source, setup, text, "noise");
}

extern const struct source_kind source_noise;
const struct source_kind source_noise = {
    .name = "noise",
    .help = {"noise[:WxH@FPS,FORMAT]\trandom frames, which codecs cannot compress; the same in every run"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct generated),
    .open = noise_open,
    .next = generated_next,
};
