// overlay_table.c: the stage table: name, times and a small graph of late frames for every stage
#include "screen/overlay_parts.h"

#include <math.h>
#include <stdio.h>

// Columns of the table, in letters.
enum { MARK = 2, NAME_MOST = 32, NAME_LEAST = 10, NUMBER = 9, GAP = 2 };
enum { BARS_LEAST = 40 };

static int fixed_columns(void)
{
    return MARK + NUMBER + NUMBER + GAP;
}

static int table_width(const struct table *table, const struct metrics *metrics)
{
    return (fixed_columns() + table->name) * metrics->body.advance + table->bars * table->bar;
}

struct table table_layout(const struct overlay *overlay, const struct metrics *metrics, int room)
{
    struct table table = {.name = NAME_LEAST, .bar = metrics->hair, .hair = metrics->hair, .bars = OVERLAY_HISTORY};
    for (int i = 0; i < overlay->stages; i++) {
        const int columns = span_columns(span_of(overlay->stage[i].name));
        if (columns > table.name)
            table.name = columns < NAME_MOST ? columns : NAME_MOST;
    }
    int excess = table_width(&table, metrics) - room;
    if (excess > 0) {
        table.bars -= (excess + table.bar - 1) / table.bar;
        table.bars = table.bars > BARS_LEAST ? table.bars : BARS_LEAST;
        excess = table_width(&table, metrics) - room;
    }
    if (excess > 0) {
        table.name -= (excess + metrics->body.advance - 1) / metrics->body.advance;
        table.name = table.name > NAME_LEAST ? table.name : NAME_LEAST;
    }
    table.width = table_width(&table, metrics);
    table.height = (overlay->stages + 2) * metrics->body.line + metrics->padding / 2; // with a head and a legend
    return table;
}

void table_stretch(struct table *table, const struct metrics *metrics, int room)
{
    const int excess = room - table->width;
    if (excess >= table->bars * metrics->hair)
        table->bar += metrics->hair;
    table->name += (room - table_width(table, metrics)) / metrics->body.advance;
    table->width = room;
}

// The milliseconds at the top of every graph: the budget and half as much again, or what the slowest stage takes.
static double full_scale_ms(const struct overlay *overlay)
{
    double most = overlay->budget_ms * 1.5;
    for (int i = 0; i < overlay->stages; i++) {
        if (overlay->stage[i].p95_ms * 1.1 > most)
            most = overlay->stage[i].p95_ms * 1.1;
    }
    return most > 0 ? most : 1;
}

// Square root, so that a stage of a tenth of a millisecond is still seen beside one of thirty.
static int bar_height(double ms, double full_ms, int height)
{
    const double part = ms > 0 ? sqrt(ms / full_ms) : 0;
    return part < 1 ? (int)lround(part * height) : height;
}

static void draw_graph(struct canvas *canvas, const struct overlay *overlay, const struct overlay_stage *stage,
                       const struct table *table, struct rect rect)
{
    const double full_ms = full_scale_ms(overlay);
    const struct paint paint = stage->device ? palette.device : palette.host;
    const int bottom = rect.y + rect.height;
    canvas_fill(canvas, rect, palette.trough);
    const int count = stage->history_count < table->bars ? stage->history_count : table->bars;
    for (int i = 0; i < count; i++) {
        const float ms = stage->history[stage->history_count - count + i];
        const bool over = overlay->budget_ms > 0 && ms > overlay->budget_ms;
        struct paint body = over ? palette.over : paint;
        const struct paint cap = body;
        body.alpha = 110;
        const int height = bar_height(ms, full_ms, rect.height);
        const int x = rect.x + (table->bars - count + i) * table->bar;
        const int cap_height = height < table->hair ? height : table->hair;
        canvas_fill(canvas, (struct rect){x, bottom - height, table->bar, cap_height}, cap);
        canvas_fill(canvas, (struct rect){x, bottom - height + cap_height, table->bar, height - cap_height}, body);
    }
    if (overlay->budget_ms > 0) {
        const int y = bottom - bar_height(overlay->budget_ms, full_ms, rect.height);
        canvas_fill(canvas, (struct rect){rect.x, y, rect.width, table->hair}, palette.budget);
    }
}

// Text that ends at `right`.
static void draw_right(struct canvas *canvas, const struct letters *letters, int right, int y, const char *text,
                       struct paint paint)
{
    const struct span span = span_of(text);
    canvas_text(canvas, letters, right - span_columns(span) * letters->advance, y, span, paint);
}

static void draw_mark(struct canvas *canvas, const struct letters *letters, int x, int y, struct paint paint)
{
    const int side = letters->x_height;
    const int top = y + (letters->line - side + 1) / 2;
    canvas_round(canvas, (struct rect){x, top, side, side}, side / 4, paint);
}

// What the colours and the line mean.
static void draw_legend(struct canvas *canvas, const struct overlay *overlay, const struct metrics *metrics, int x,
                        int y, int right)
{
    const struct letters *letters = &metrics->body;
    static const char host[] = "host clock", device[] = "device clock";
    const struct paint dim = palette.tone[OVERLAY_DIM];
    const int advance = letters->advance;
    draw_mark(canvas, letters, x, y, palette.host);
    canvas_text(canvas, letters, x + MARK * advance, y, span_of(host), dim);
    x += (MARK + (int)sizeof(host) + 1) * advance;
    draw_mark(canvas, letters, x, y, palette.device);
    canvas_text(canvas, letters, x + MARK * advance, y, span_of(device), dim);
    x += (MARK + (int)sizeof(device)) * advance;
    char text[48];
    snprintf(text, sizeof(text), "budget %.1f ms", overlay->budget_ms);
    const int left = right - (span_columns(span_of(text)) + MARK) * advance;
    if (overlay->budget_ms <= 0 || left < x)
        return;
    canvas_fill(canvas, (struct rect){left, y + letters->line / 2, advance * 3 / 2, metrics->hair}, palette.budget);
    draw_right(canvas, letters, right, y, text, dim);
}

void table_draw(struct canvas *canvas, const struct overlay *overlay, const struct metrics *metrics,
                const struct table *table, struct rect rect)
{
    const struct letters *letters = &metrics->body;
    const struct paint dim = palette.tone[OVERLAY_DIM];
    const int name = rect.x + MARK * letters->advance;
    const int right = rect.x + table->width;
    const int graph = right - table->bars * table->bar;
    const int p95 = graph - GAP * letters->advance;
    const int median = p95 - NUMBER * letters->advance;
    const int bottom = rect.y + rect.height;
    char text[48];

    int y = rect.y;
    canvas_text(canvas, letters, rect.x, y, span_of("stage"), dim);
    draw_right(canvas, letters, median, y, "median", dim);
    draw_right(canvas, letters, p95, y, "p95 ms", dim);
    const double full_ms = full_scale_ms(overlay);
    snprintf(text, sizeof(text), full_ms < 1000 ? "√ to %.3g ms" : "√ to %.0f ms", full_ms); // %g would say 1e+03
    if (right - span_columns(span_of(text)) * letters->advance > p95)
        draw_right(canvas, letters, right, y, text, dim);
    y += letters->line;
    for (int i = 0; i < overlay->stages && y + letters->line <= bottom; i++) {
        const struct overlay_stage *stage = &overlay->stage[i];
        const bool late = overlay->budget_ms > 0 && stage->p95_ms > overlay->budget_ms;
        draw_mark(canvas, letters, rect.x, y, stage->device ? palette.device : palette.host);
        draw_clipped(canvas, letters, name, y, span_of(stage->name), table->name, palette.tone[OVERLAY_PLAIN]);
        snprintf(text, sizeof(text), "%.2f", stage->ms);
        draw_right(canvas, letters, median, y, text, palette.tone[OVERLAY_STRONG]);
        snprintf(text, sizeof(text), "%.2f", stage->p95_ms);
        draw_right(canvas, letters, p95, y, text, late ? palette.over : dim);
        const int air = letters->line / 10;
        draw_graph(canvas, overlay, stage, table,
                   (struct rect){graph, y + air, right - graph, letters->line - 2 * air});
        y += letters->line;
    }
    y += metrics->padding / 2;
    if (y + letters->line <= bottom)
        draw_legend(canvas, overlay, metrics, rect.x, y, right);
}
