// overlay_help.c: the list of keys, over the whole picture
#include "screen/keys.h"
#include "screen/overlay_parts.h"

struct help {
    struct metrics metrics;
    int caps;    // pixels of the widest row of key caps, with the space behind them
    int pitch;   // pixels from row to row
    int columns; // of the longest explanation
    struct rect box;
};

static int cap_width(const struct letters *letters, const char *name)
{
    return (span_columns(span_of(name)) + 1) * letters->advance; // half a letter on either side
}

// Draws the caps of a row's keys from `x` on, unless canvas is NULL, and returns their width.
static int draw_caps(struct canvas *canvas, const struct help *help, const struct key_row *row, int x, int y)
{
    const struct letters *letters = &help->metrics.body;
    const int gap = letters->advance * 2 / 3;
    const int start = x;
    for (int k = 0; k < KEY_CHOICES && row->key[k]; k++) {
        char name[16];
        keys_key_name(row->key[k], name);
        if (k == 1 && row->action == ACTION_FILTER) {
            if (canvas)
                canvas_text(canvas, letters, x - gap / 4, y, span_of("–"), palette.tone[OVERLAY_DIM]);
            x += letters->advance + gap / 2;
        }
        const int width = cap_width(letters, name);
        if (canvas) {
            const struct rect cap = {x, y, width, letters->line};
            canvas_round(canvas, cap, letters->line / 5, palette.cap);
            canvas_text(canvas, letters, x + letters->advance / 2, y, span_of(name), palette.tone[OVERLAY_STRONG]);
        }
        x += width + gap;
    }
    return x - start;
}

static struct help layout(const struct canvas *canvas, const struct keys *keys, int x_height)
{
    struct help help = {.metrics = metrics_for(canvas, x_height)};
    const struct metrics *metrics = &help.metrics;
    for (int i = 0; i < keys->count; i++) {
        const int caps = draw_caps(NULL, &help, &keys->row[i], 0, 0) + metrics->body.advance;
        const int columns = span_columns(span_of(keys->row[i].help));
        help.caps = caps > help.caps ? caps : help.caps;
        help.columns = columns > help.columns ? columns : help.columns;
    }
    help.pitch = metrics->body.line * 5 / 4;
    help.box.width = help.caps + help.columns * metrics->body.advance + 2 * metrics->padding;
    help.box.height = metrics->heading.line * 3 / 2 + keys->count * help.pitch + 2 * metrics->padding;
    help.box.x = (canvas->width - help.box.width) / 2;
    help.box.y = (canvas->height - help.box.height) / 2;
    return help;
}

void help_draw(struct canvas *canvas, const struct overlay *overlay)
{
    const struct keys *keys = overlay->keys;
    const int least = metrics_least(canvas);
    int x_height = metrics_x_height(canvas, overlay->size);
    struct help help = layout(canvas, keys, x_height);
    while (x_height > least && (help.box.height > canvas->height || help.box.width > canvas->width))
        help = layout(canvas, keys, --x_height);

    const struct metrics *metrics = &help.metrics;
    canvas_fill(canvas, (struct rect){0, 0, canvas->width, canvas->height}, palette.veil);
    canvas_round(canvas, help.box, metrics->radius, palette.panel);
    const int x = help.box.x + metrics->padding;
    int y = help.box.y + metrics->padding;
    canvas_text(canvas, &metrics->heading, x, y, span_of("Keys"), palette.tone[OVERLAY_STRONG]);
    y += metrics->heading.line * 3 / 2;
    for (int i = 0; i < keys->count; i++) {
        draw_caps(canvas, &help, &keys->row[i], x, y);
        canvas_text(canvas, &metrics->body, x + help.caps, y, span_of(keys->row[i].help), palette.tone[OVERLAY_PLAIN]);
        y += help.pitch;
    }
}
