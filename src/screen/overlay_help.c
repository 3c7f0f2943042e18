// overlay_help.c: the list of keys, over the whole picture
#include "screen/keys.h"
#include "screen/overlay_parts.h"

struct help {
    struct metrics metrics;
    int caps;    // pixels of the widest row of key caps, with the space behind them
    int pitch;   // pixels from row to row
    int columns; // for the explanations
    int rows;    // that there is room for
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

// The list with letters of that size; its box may be larger than the window. `airy`: with space between the rows.
static struct help layout(const struct canvas *canvas, const struct keys *keys, int x_height, bool airy)
{
    struct help help = {.metrics = metrics_for(canvas, x_height)};
    const struct metrics *metrics = &help.metrics;
    for (int i = 0; i < keys->count; i++) {
        const int caps = draw_caps(NULL, &help, &keys->row[i], 0, 0) + metrics->body.advance;
        const int columns = span_columns(span_of(keys->row[i].help));
        help.caps = caps > help.caps ? caps : help.caps;
        help.columns = columns > help.columns ? columns : help.columns;
    }
    help.rows = keys->count;
    help.pitch = metrics->body.line * (airy ? 5 : 4) / 4;
    help.box.width = help.caps + help.columns * metrics->body.advance + 2 * metrics->padding;
    help.box.height = metrics->heading.line * 3 / 2 + keys->count * help.pitch + 2 * metrics->padding;
    return help;
}

static bool fits(const struct canvas *canvas, const struct help *help)
{
    return help->box.height <= canvas->height && help->box.width <= canvas->width;
}

// A window too small for the list shows the beginning of it, of the rows as of every row.
static void cut(struct help *help, const struct canvas *canvas)
{
    const struct metrics *metrics = &help->metrics;
    const int wide = help->box.width - canvas->width, high = help->box.height - canvas->height;
    if (wide > 0) {
        help->columns -= (wide + metrics->body.advance - 1) / metrics->body.advance;
        help->box.width = canvas->width;
    }
    if (high > 0) {
        help->rows -= (high + help->pitch - 1) / help->pitch;
        help->box.height = canvas->height;
    }
}

void help_draw(struct canvas *canvas, const struct overlay *overlay)
{
    const struct keys *keys = overlay->keys;
    const int least = metrics_least(canvas);
    int x_height = metrics_x_height(canvas, overlay->size);
    struct help help = layout(canvas, keys, x_height, true);
    while (x_height > least && !fits(canvas, &help))
        help = layout(canvas, keys, --x_height, true);
    if (!fits(canvas, &help))
        help = layout(canvas, keys, x_height, false);
    cut(&help, canvas);
    help.box.x = (canvas->width - help.box.width) / 2;
    help.box.y = (canvas->height - help.box.height) / 2;

    const struct metrics *metrics = &help.metrics;
    canvas_fill(canvas, (struct rect){0, 0, canvas->width, canvas->height}, palette.veil);
    canvas_round(canvas, help.box, metrics->radius, palette.panel);
    const int x = help.box.x + metrics->padding;
    int y = help.box.y + metrics->padding;
    const bool whole = help.rows == keys->count;
    canvas_text(canvas, &metrics->heading, x, y, span_of("Keys"), palette.tone[OVERLAY_STRONG]);
    if (!whole)
        draw_clipped(canvas, &metrics->body, x + 6 * metrics->heading.advance, y,
                     span_of("enlarge the window to see all keys"),
                     metrics_columns(metrics, help.box.width - 2 * metrics->padding) - 8, palette.tone[OVERLAY_DIM]);
    y += metrics->heading.line * 3 / 2;
    for (int i = 0; i < help.rows; i++) {
        draw_caps(canvas, &help, &keys->row[i], x, y);
        draw_clipped(canvas, &metrics->body, x + help.caps, y, span_of(keys->row[i].help), help.columns,
                     palette.tone[OVERLAY_PLAIN]);
        y += help.pitch;
    }
}
