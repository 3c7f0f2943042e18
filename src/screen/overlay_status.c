// overlay_status.c: the panel at the top left: lines of text and the stage table
#include "screen/overlay_parts.h"

#include <string.h>

struct status {
    const struct overlay *overlay;
    struct metrics metrics;
    int label;   // columns of the labels, with the space behind them
    int columns; // of the lines
    bool staged; // the stage table follows the lines
    struct table table;
    struct rect box;
};

// A line of text as its two parts.
struct parts {
    bool labelled; // the value stands in the column beside the labels, even where the label is empty
    struct span label, value;
};

static struct parts split(const struct overlay_line *line)
{
    const struct span whole = span_of(line->text);
    const char *tab = memchr(whole.text, '\t', whole.length);
    if (!tab)
        return (struct parts){.value = whole};
    const size_t head = (size_t)(tab - whole.text);
    return (struct parts){true, {whole.text, head}, {tab + 1, whole.length - head - 1}};
}

static bool is_shown(const struct overlay *overlay, int line)
{
    return overlay->size != OVERLAY_SMALL || line == 0 || overlay->line[line].tone == OVERLAY_WARNING;
}

// In the small overlay the first line is no heading: nothing follows that it could head.
static const struct letters *letters_of(const struct status *status, int line)
{
    const bool heading = line == 0 && status->overlay->size != OVERLAY_SMALL;
    return heading ? &status->metrics.heading : &status->metrics.body;
}

// Columns for the value of a line, in its letters.
static int value_columns(const struct status *status, int line)
{
    const bool labelled = split(&status->overlay->line[line]).labelled;
    const int body = status->columns - (labelled ? status->label : 0);
    const int columns = body * status->metrics.body.advance / letters_of(status, line)->advance;
    return columns > 1 ? columns : 1;
}

static void measure_columns(struct status *status, int room)
{
    enum {
        LABEL_GAP = 2,
        STEP = 4,    // widths grow in steps, so that the panel does not twitch with every digit
        WIDEST = 88, // beyond that a line is hard to follow; it goes on in the next row
    };
    int longest = 0;
    for (int i = 0; i < status->overlay->lines; i++) {
        const int label = span_columns(split(&status->overlay->line[i]).label);
        if (is_shown(status->overlay, i) && label > 0 && label + LABEL_GAP > status->label)
            status->label = label + LABEL_GAP;
    }
    for (int i = 0; i < status->overlay->lines; i++) {
        const struct parts parts = split(&status->overlay->line[i]);
        const int advance = letters_of(status, i)->advance;
        const int body = status->metrics.body.advance;
        const int value = (span_columns(parts.value) * advance + body - 1) / body;
        const int columns = (parts.labelled ? status->label : 0) + value;
        if (is_shown(status->overlay, i) && columns > longest)
            longest = columns;
    }
    const int most = metrics_columns(&status->metrics, room);
    longest = (longest + STEP - 1) / STEP * STEP;
    status->columns = longest < most ? longest : most;
    if (status->columns > WIDEST)
        status->columns = WIDEST;
}

static int lines_height(const struct status *status)
{
    int height = 0;
    for (int i = 0; i < status->overlay->lines; i++) {
        struct span rest = split(&status->overlay->line[i]).value;
        const int columns = value_columns(status, i);
        for (int row = 0; is_shown(status->overlay, i) && (row == 0 || rest.length > 0); row++) {
            span_take_line(&rest, columns);
            height += letters_of(status, i)->line;
        }
    }
    return height;
}

// The panel with letters of that size; its box may be higher than the window.
static struct status layout(const struct canvas *canvas, const struct overlay *overlay, int x_height)
{
    struct status status = {.overlay = overlay, .metrics = metrics_for(canvas, x_height)};
    const struct metrics *metrics = &status.metrics;
    const int room = canvas->width - 2 * metrics->margin - 2 * metrics->padding;
    status.staged = overlay->size != OVERLAY_SMALL && overlay->stages > 0;
    measure_columns(&status, room);
    int width = status.columns * metrics->body.advance;
    int height = lines_height(&status);
    if (status.staged) {
        status.table = table_layout(overlay, metrics, room);
        status.staged = status.table.width <= room;
    }
    if (status.staged) {
        width = status.table.width > width ? status.table.width : width;
        table_stretch(&status.table, metrics, width);
        height += status.table.height + (overlay->lines > 0 ? metrics->body.line : 0);
    }
    const int side = 2 * metrics->padding;
    const int top = side - metrics->padding / 2; // a line has air of its own above and below the letters
    status.box = (struct rect){metrics->margin, metrics->margin, width + side, height + top};
    return status;
}

static void draw_lines(struct canvas *canvas, const struct status *status, int x, int *y, int bottom)
{
    const struct metrics *metrics = &status->metrics;
    for (int i = 0; i < status->overlay->lines; i++) {
        if (!is_shown(status->overlay, i))
            continue;
        const struct overlay_line *line = &status->overlay->line[i];
        const struct letters *letters = letters_of(status, i);
        struct parts parts = split(line);
        const int columns = value_columns(status, i);
        const int indent = parts.labelled ? status->label * metrics->body.advance : 0;
        if (indent && *y + letters->line <= bottom)
            canvas_text(canvas, letters, x, *y, parts.label, palette.tone[OVERLAY_DIM]);
        for (int row = 0; (row == 0 || parts.value.length > 0) && *y + letters->line <= bottom; row++) {
            const struct span text = span_take_line(&parts.value, columns);
            canvas_text(canvas, letters, x + indent, *y, text, palette.tone[line->tone]);
            *y += letters->line;
        }
    }
}

void status_draw(struct canvas *canvas, const struct overlay *overlay)
{
    if (overlay->lines == 0 && overlay->stages == 0)
        return;
    const int least = metrics_least(canvas);
    int x_height = metrics_x_height(canvas, overlay->size);
    struct status status = layout(canvas, overlay, x_height);
    while (x_height > least && status.box.height > canvas->height - 2 * status.metrics.margin)
        status = layout(canvas, overlay, --x_height);

    const struct metrics *metrics = &status.metrics;
    if (status.box.height > canvas->height - 2 * metrics->margin)
        status.box.height = canvas->height - 2 * metrics->margin;
    canvas_round(canvas, status.box, metrics->radius, palette.panel);
    const int x = status.box.x + metrics->padding;
    int y = status.box.y + metrics->padding * 3 / 4;
    const int bottom = status.box.y + status.box.height;
    draw_lines(canvas, &status, x, &y, bottom);
    if (!status.staged)
        return;
    const int width = status.box.width - 2 * metrics->padding;
    if (overlay->lines > 0) {
        canvas_fill(canvas, (struct rect){x, y + metrics->body.line / 2, width, metrics->hair}, palette.rule);
        y += metrics->body.line;
    }
    table_draw(canvas, overlay, metrics, &status.table, (struct rect){x, y, width, bottom - y});
}
