// pattern.c: the test pattern as a source
#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "image/encode.h"
#include "source/kind.h"
#include "source/pattern_draw.h"
#include "source/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, RATE_MAX = 1000 };
static const double rate_min = 0.001;

struct pattern {
    struct pool pool;
    struct pattern_layout layout;
    struct encoder encoder;
    uint64_t next; // number of the next frame
    struct {
        bool drawn;
        uint64_t number; // of the frame in it
    } slot[SOURCE_LENT];
    uint8_t *rows; // two rows of RGBA
};

// What is drawn, as asked for.
struct wish {
    int width, height;
    double rate;
    bool has_format;
    enum pixfmt format;
};

// "30" or "29.97", 0 where there is none; plain digits, so that no locale matters.
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

// Also "30000/1001".
static bool parse_rate(const char *text, double *rate)
{
    *rate = parse_decimal(&text);
    if (*text == '/') {
        text++;
        *rate /= parse_decimal(&text); // by 0: no rate that there may be
    }
    return *text == '\0' && *rate >= rate_min && *rate <= RATE_MAX;
}

// One part between commas: "WxH", "@FPS", "WxH@FPS" or a format's name. Writes into `part`.
static bool parse_part(char *part, struct wish *wish)
{
    if (pixfmt_from_name(part, &wish->format)) {
        wish->has_format = true;
        return true;
    }
    char *at = strchr(part, '@');
    if (at) {
        *at = '\0';
        if (!parse_rate(at + 1, &wish->rate))
            return false;
    }
    struct option_size size;
    if (part[0] == '\0')
        return at != NULL;
    if (!options_parse_size(part, &size))
        return false;
    wish->width = size.width;
    wish->height = size.height;
    return true;
}

// A part that begins with a letter was meant as a format.
static void refuse(const char *text, const char *part)
{
    if (part && part[0] >= 'a' && part[0] <= 'z') {
        const char *names[PIXFMT_COUNT + 1] = {NULL};
        for (int i = 0; i < PIXFMT_COUNT; i++)
            names[i] = pixfmt_info((enum pixfmt)i)->name;
        const char *nearest = options_nearest(part, names);
        log_error("cannot open pattern:%s: there is no pixel format '%s'%s%s%s", text, part,
                  nearest ? "; did you mean " : "",
                  nearest ? nearest : "; to list the formats, run: monocle live --help", nearest ? "?" : "");
        return;
    }
    log_error("cannot open pattern:%s: write pattern:WIDTHxHEIGHT@RATE,FORMAT, for example "
              "pattern:640x480@30,nv21 (rate: %g to %d)",
              text, rate_min, RATE_MAX);
}

static bool parse_text(const char *text, struct wish *wish)
{
    char copy[128];
    char *rest = copy, *part = NULL;
    if (strlen(text) < sizeof(copy)) {
        strcpy(copy, text);
        while ((part = strsep(&rest, ",")))
            if (!parse_part(part, wish))
                break;
        if (!part)
            return true;
    }
    refuse(text, part);
    return false;
}

// The text and the options must not contradict each other; what neither says gets its default.
static bool settle(struct wish *wish, const struct source_setup *setup)
{
    const bool sizes_differ =
        wish->width > 0 && setup->width > 0 && (wish->width != setup->width || wish->height != setup->height);
    if (sizes_differ || (wish->has_format && setup->has_format && wish->format != setup->format)) {
        log_error("the size or format of the pattern contradicts --size or --pixel-format; give each only once");
        return false;
    }
    if (wish->width == 0) {
        wish->width = setup->width > 0 ? setup->width : DEFAULT_WIDTH;
        wish->height = setup->width > 0 ? setup->height : DEFAULT_HEIGHT;
    }
    if (!wish->has_format)
        wish->format = setup->has_format ? setup->format : PIXFMT_NV12;
    if (wish->rate <= 0)
        wish->rate = SOURCE_DEFAULT_RATE;
    const char *why;
    if (pixfmt_size_ok(wish->format, wish->width, wish->height, &why))
        return true;
    log_error("cannot draw a test pattern of %dx%d pixels in %s: %s", wish->width, wish->height,
              pixfmt_info(wish->format)->name, why);
    return false;
}

static bool pattern_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct pattern *pattern = source->state;
    struct wish wish = {0};
    if ((text && text[0] != '\0' && !parse_text(text, &wish)) || !settle(&wish, setup))
        return false;
    struct source_info *info = &source->info;
    info->shape = (struct image_shape){.format = wish.format, .width = wish.width, .height = wish.height};
    info->shape.color = source_color(setup, (struct color){0}, wish.format, wish.width, wish.height);
    info->rate = wish.rate;
    snprintf(info->name, sizeof(info->name), "test pattern");
    pattern->layout = pattern_layout(wish.width, wish.height);
    pattern->encoder = encoder_init(info->shape.color);
    pattern->rows = malloc((size_t)wish.width * 4 * 2);
    if (!pattern->rows) {
        log_error("cannot draw the pattern: out of memory");
        return false;
    }
    return pool_init(&pattern->pool, source, &info->shape);
}

static void pattern_close(struct source *source)
{
    struct pattern *pattern = source->state;
    pool_finish(&pattern->pool);
    free(pattern->rows);
}

static void draw_rect(struct pattern *pattern, struct image *image, const struct pattern_rect *rect, uint64_t number)
{
    const int width = rect->x1 - rect->x0;
    uint8_t *upper = pattern->rows, *lower = upper + (size_t)width * 4;
    for (int y = rect->y0; y < rect->y1; y += 2) {
        const bool pair = y + 1 < rect->y1;
        pattern_row(&pattern->layout, number, y, rect->x0, rect->x1, upper);
        if (pair)
            pattern_row(&pattern->layout, number, y + 1, rect->x0, rect->x1, lower);
        encode_rows(&pattern->encoder, image, rect->x0, y, width, upper, pair ? lower : NULL);
    }
}

// A slot that already holds a frame only gets what differs.
static void draw_slot(struct pattern *pattern, int slot, uint64_t number)
{
    struct image *image = &pattern->pool.image[slot];
    struct pattern_rect rects[PATTERN_CHANGES] = {{0, 0, image->shape.width, image->shape.height}};
    int count = 1;
    if (pattern->slot[slot].drawn)
        count = pattern_changes(&pattern->layout, pattern->slot[slot].number, number, rects);
    for (int i = 0; i < count; i++)
        draw_rect(pattern, image, &rects[i], number);
    pattern->slot[slot].drawn = true;
    pattern->slot[slot].number = number;
}

static enum source_status pattern_next(struct source *source, struct frame *frame, int64_t deadline_ns)
{
    struct pattern *pattern = source->state;
    const int slot = pool_take(&pattern->pool, deadline_ns);
    if (slot < 0)
        return SOURCE_TIMEOUT;
    const int64_t begin = clock_now_ns();
    draw_slot(pattern, slot, pattern->next);
    *frame = (struct frame){.image = pattern->pool.image[slot],
                            .number = pattern->next++,
                            .captured_ns = begin,
                            .ready_ns = clock_now_ns(),
                            .slot = slot};
    frame->image.memory = NULL; // lent
    return SOURCE_FRAME;
}

static void pattern_return(struct source *source, const struct frame *frame)
{
    struct pattern *pattern = source->state;
    pool_give(&pattern->pool, frame->slot);
}

extern const struct source_kind source_pattern;
const struct source_kind source_pattern = {
    .name = "pattern",
    .help = {"pattern[:WxH@FPS,FORMAT]\tmoving test pattern; pattern:1280x720@30,nv12 is the default"},
    .word = true,
    .endless = true,
    .state_bytes = sizeof(struct pattern),
    .open = pattern_open,
    .close = pattern_close,
    .next = pattern_next,
    .give_back = pattern_return,
};
