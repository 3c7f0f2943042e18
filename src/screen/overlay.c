// overlay.c: what the overlay says and how it looks; its parts are drawn in overlay_*.c
#include "screen/overlay.h"

#include "screen/overlay_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct palette palette = {
    .panel = {12, 15, 21, 214},
    .alarm = {48, 13, 16, 244},
    .veil = {0, 0, 0, 120},
    .tone =
        {
            [OVERLAY_PLAIN] = {222, 226, 232, 255},
            [OVERLAY_DIM] = {146, 154, 168, 255},
            [OVERLAY_STRONG] = {255, 255, 255, 255},
            [OVERLAY_WARNING] = {255, 190, 92, 255},
        },
    .rule = {255, 255, 255, 36},
    .trough = {255, 255, 255, 16},
    .cap = {255, 255, 255, 40},
    .host = {104, 190, 255, 255},
    .device = {126, 231, 160, 255},
    .budget = {255, 190, 92, 120},
    .over = {255, 112, 96, 255},
    .alert = {255, 96, 84, 255},
};

void overlay_line(struct overlay *overlay, enum overlay_tone tone, const char *format, ...)
{
    if (overlay->lines >= OVERLAY_LINES)
        return;
    struct overlay_line *line = &overlay->line[overlay->lines++];
    line->tone = tone;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line->text, sizeof(line->text), format, arguments);
    va_end(arguments);
    if (length < (int)sizeof(line->text))
        return;
    // Too long: ends with an ellipsis behind a whole character.
    static const char more[] = "…";
    size_t end = sizeof(line->text) - sizeof(more);
    while (end > 0 && (line->text[end] & 0xc0) == 0x80)
        end--;
    memcpy(line->text + end, more, sizeof(more));
}

int metrics_x_height(const struct canvas *canvas, enum overlay_size size)
{
    enum { X_HEIGHT = 8 }; // the font's 14.6 pixels, an ordinary size for reading
    enum { ACROSS = 45 };  // a window less wide than so many of them has smaller letters
    const int usual = canvas_pixels(canvas, X_HEIGHT), fitting = canvas->width / ACROSS;
    const int least = metrics_least(canvas);
    const int x_height = fitting < least ? least : fitting < usual ? fitting : usual;
    return x_height * (size == OVERLAY_LARGE ? 2 : 1);
}

int metrics_least(const struct canvas *canvas)
{
    enum { X_HEIGHT = 5 };
    return canvas_pixels(canvas, X_HEIGHT);
}

struct metrics metrics_for(const struct canvas *canvas, int x_height)
{
    struct metrics metrics = {
        .body = atlas_letters(canvas->atlas, x_height),
        .heading = atlas_letters(canvas->atlas, x_height + (x_height + 2) / 4),
    };
    metrics.margin = metrics.body.line * 3 / 5;
    metrics.padding = metrics.body.line * 3 / 5;
    metrics.radius = metrics.body.line * 2 / 5;
    metrics.hair = x_height < 12 ? 1 : (x_height + 4) / 8;
    return metrics;
}

int metrics_columns(const struct metrics *metrics, int pixels)
{
    return pixels > 0 ? pixels / metrics->body.advance : 0;
}

void draw_clipped(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text, int columns,
                  struct paint paint)
{
    if (span_columns(text) <= columns) {
        canvas_text(canvas, letters, x, y, text, paint);
        return;
    }
    if (columns < 1)
        return;
    canvas_text(canvas, letters, x, y, span_head(text, columns - 1), paint);
    canvas_text(canvas, letters, x + (columns - 1) * letters->advance, y, span_of("…"), palette.tone[OVERLAY_DIM]);
}

void overlay_draw(struct canvas *canvas, const struct overlay *overlay)
{
    atlas_begin(canvas->atlas);
    if (overlay->help && overlay->keys)
        help_draw(canvas, overlay);
    else if (overlay->size != OVERLAY_OFF)
        status_draw(canvas, overlay);
    if (overlay->message[0])
        message_draw(canvas, overlay);
}
