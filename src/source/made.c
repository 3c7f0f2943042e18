// made.c: the shape and rate of a source that generates its frames, from a text such as "640x480@30,nv12"
#include "source/made.h"

#include "base/log.h"
#include "base/options.h"

#include <string.h>

enum { DEFAULT_WIDTH = 1280, DEFAULT_HEIGHT = 720, RATE_MAX = 1000 };
static const double rate_min = 0.001;

// The size, rate and format that the user wants; 0: not given.
struct wish {
    int width, height;
    double rate;
    bool has_format;
    enum pixfmt format;
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

// Logs the reason. A part that begins with a letter was probably meant as a format.
static void refuse(const char *kind, const char *text, const char *part)
{
    if (part && part[0] >= 'a' && part[0] <= 'z') {
        const char *names[PIXFMT_COUNT + 1] = {NULL};
        for (int i = 0; i < PIXFMT_COUNT; i++)
            names[i] = pixfmt_info((enum pixfmt)i)->name;
        const char *nearest = options_nearest(part, names);
        log_error("cannot open %s:%s: there is no pixel format '%s'%s%s%s", kind, text, part,
                  nearest ? "; did you mean " : "",
                  nearest ? nearest : "; to list the formats, run: monocle live --help", nearest ? "?" : "");
        return;
    }
    log_error("cannot open %s:%s: write %s:WIDTHxHEIGHT@RATE,FORMAT, for example %s:640x480@30,nv21 (rate: %g to %d)",
              kind, text, kind, kind, rate_min, RATE_MAX);
}

static bool parse_text(const char *kind, const char *text, struct wish *wish)
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
    refuse(kind, text, part);
    return false;
}

// Combines the text and the options, which must not contradict each other. Values that neither gives get their
// defaults.
static bool settle(struct wish *wish, const struct source_setup *setup)
{
    const bool sizes_differ =
        wish->width > 0 && setup->width > 0 && (wish->width != setup->width || wish->height != setup->height);
    if (sizes_differ || (wish->has_format && setup->has_format && wish->format != setup->format)) {
        log_error("the size or format of the source contradicts --size or --pixel-format; give each only once");
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
    log_error("cannot make frames of %dx%d pixels in %s: %s", wish->width, wish->height,
              pixfmt_info(wish->format)->name, why);
    return false;
}

bool made_open(struct source *source, const struct source_setup *setup, const char *text)
{
    struct wish wish = {0};
    if ((text && text[0] != '\0' && !parse_text(source->kind->name, text, &wish)) || !settle(&wish, setup))
        return false;
    const struct color color = source_color(setup, (struct color){0}, wish.format, wish.width, wish.height);
    source->info.shape = (struct image_shape){wish.format, wish.width, wish.height, color};
    source->info.rate = wish.rate;
    return true;
}
