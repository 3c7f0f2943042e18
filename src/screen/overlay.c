// overlay.c: what the overlay shows, and its drawing
#include "screen/overlay.h"

#include "screen/canvas.h"
#include "screen/keys.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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
    // Too long: it ends with an ellipsis after a whole character.
    static const char more[] = "…";
    size_t end = sizeof(line->text) - sizeof(more);
    while (end > 0 && (line->text[end] & 0xc0) == 0x80)
        end--;
    memcpy(line->text + end, more, sizeof(more));
}

// ---- the look: colours, and sizes that follow from the letters ----

static const struct {
    struct paint panel, alarm, veil, list;  // backgrounds
    struct paint selected;                  // background of a list's row
    struct paint tone[4];                   // by enum overlay_tone
    struct paint rule, trough, cap;         // lines, graph background, key caps
    struct paint host, device;              // graphs, by the clock that measured
    struct paint budget, over;              // the budget's line, bars above it
    struct paint alert;                     // mark of an error
    struct paint channel[SCOPE_CURVES + 1]; // red, green, blue; brightness
} palette = {
    .panel = {12, 15, 21, 214},
    .alarm = {48, 13, 16, 244},
    .veil = {0, 0, 0, 120},
    .list = {12, 15, 21, 255},
    .selected = {36, 66, 116, 255},
    .tone =
        {
            [OVERLAY_PLAIN] = {222, 226, 232, 255},
            [OVERLAY_DIM] = {190, 198, 210, 255},
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
    .channel = {{255, 70, 60, 150}, {70, 230, 90, 150}, {80, 130, 255, 150}, {222, 226, 232, 200}},
};

struct metrics {
    struct letters body, heading;
    int margin;  // around a panel
    int padding; // inside a panel
    int radius;  // of a panel's corners
    int hair;    // width of the thinnest line
};

static struct metrics metrics_for(const struct canvas *canvas, int x_height)
{
    struct metrics metrics = {
        .body = canvas_letters(canvas, x_height),
        .heading = canvas_letters(canvas, x_height + (x_height + 2) / 4),
    };
    metrics.margin = metrics.body.line * 3 / 5;
    metrics.padding = metrics.body.line * 3 / 5;
    metrics.radius = metrics.body.line * 2 / 5;
    metrics.hair = x_height < 12 ? 1 : (x_height + 4) / 8;
    return metrics;
}

// Returns how many body letters fit into the pixels.
static int metrics_columns(const struct metrics *metrics, int pixels)
{
    return pixels > 0 ? pixels / metrics->body.advance : 0;
}

// Returns how many parts of `unit` pixels remain when `excess` pixels must go, but not fewer than `least`.
static int parts_left(int parts, int excess, int unit, int least)
{
    const int left = excess > 0 ? parts - (excess + unit - 1) / unit : parts;
    return left > least ? left : least;
}

// ---- the stage table: name, times and a small graph of each stage ----

struct overlay_table {
    int name; // columns of the stage names
    int bar;  // pixels of one bar of the graphs
    int bars;
    int width, height;
};

// Columns of the table, in letters.
enum { MARK = 2, NAME_MOST = 32, NAME_LEAST = 10, NUMBER = 9, GAP = 2, FIXED = MARK + NUMBER + NUMBER + GAP };
enum { BARS_LEAST = 40 };

static int table_width(const struct overlay_table *table, const struct metrics *metrics)
{
    return (FIXED + table->name) * metrics->body.advance + table->bars * table->bar;
}

// Chooses the table's size in pixels, at most `room` wide.
static struct overlay_table table_layout(const struct overlay *overlay, const struct metrics *metrics, int room)
{
    struct overlay_table table = {.name = NAME_LEAST, .bar = metrics->hair, .bars = OVERLAY_HISTORY};
    for (int i = 0; i < overlay->stages; i++) {
        const int columns = span_columns(span_of(overlay->stage[i].name));
        if (columns > table.name)
            table.name = columns < NAME_MOST ? columns : NAME_MOST;
    }
    table.bars = parts_left(table.bars, table_width(&table, metrics) - room, table.bar, BARS_LEAST);
    table.name = parts_left(table.name, table_width(&table, metrics) - room, metrics->body.advance, NAME_LEAST);
    table.width = table_width(&table, metrics);
    table.height = (overlay->stages + 2) * metrics->body.line + metrics->padding / 2; // with a head and a legend
    return table;
}

// Widens the graphs, then the names, to the width `room`.
static void table_stretch(struct overlay_table *table, const struct metrics *metrics, int room)
{
    const int excess = room - table->width;
    if (excess >= table->bars * metrics->hair)
        table->bar += metrics->hair;
    table->name += (room - table_width(table, metrics)) / metrics->body.advance;
    table->width = room;
}

// Returns the milliseconds at the top of every graph: 1.5 times the budget, or the time of the slowest stage.
static double full_scale_ms(const struct overlay *overlay)
{
    double most = overlay->budget_ms * 1.5;
    for (int i = 0; i < overlay->stages; i++) {
        if (overlay->stage[i].p95_ms * 1.1 > most)
            most = overlay->stage[i].p95_ms * 1.1;
    }
    return most > 0 ? most : 1;
}

// Square root, so that a stage of 0.1 ms stays visible beside one of 30 ms.
static int bar_height(double ms, double full_ms, int height)
{
    const double part = ms > 0 ? sqrt(ms / full_ms) : 0;
    return part < 1 ? (int)lround(part * height) : height;
}

static void draw_graph(struct canvas *canvas, const struct overlay *overlay, const struct overlay_stage *stage,
                       const struct metrics *metrics, const struct overlay_table *table, struct rect rect)
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
        const int cap_height = height < metrics->hair ? height : metrics->hair;
        canvas_fill(canvas, (struct rect){x, bottom - height, table->bar, cap_height}, cap);
        canvas_fill(canvas, (struct rect){x, bottom - height + cap_height, table->bar, height - cap_height}, body);
    }
    if (overlay->budget_ms > 0) {
        const int y = bottom - bar_height(overlay->budget_ms, full_ms, rect.height);
        canvas_fill(canvas, (struct rect){rect.x, y, rect.width, metrics->hair}, palette.budget);
    }
}

// Draws a text that ends at `right`.
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

// Explains the colours and the line.
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

static void table_draw(struct canvas *canvas, const struct overlay *overlay, const struct metrics *metrics,
                       const struct overlay_table *table, struct rect rect)
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
    snprintf(text, sizeof(text), full_ms < 1000 ? "√ to %.3g ms" : "√ to %.0f ms", full_ms); // %g would print 1e+03
    if (right - span_columns(span_of(text)) * letters->advance > p95)
        draw_right(canvas, letters, right, y, text, dim);
    y += letters->line;
    for (int i = 0; i < overlay->stages && y + letters->line <= bottom; i++) {
        const struct overlay_stage *stage = &overlay->stage[i];
        const bool late = overlay->budget_ms > 0 && stage->p95_ms > overlay->budget_ms;
        draw_mark(canvas, letters, rect.x, y, stage->device ? palette.device : palette.host);
        canvas_text_within(canvas, letters, name, y, span_of(stage->name), table->name, palette.tone[OVERLAY_PLAIN]);
        snprintf(text, sizeof(text), "%.2f", stage->ms);
        draw_right(canvas, letters, median, y, text, palette.tone[OVERLAY_STRONG]);
        snprintf(text, sizeof(text), "%.2f", stage->p95_ms);
        draw_right(canvas, letters, p95, y, text, late ? palette.over : dim);
        const int air = letters->line / 10;
        draw_graph(canvas, overlay, stage, metrics, table,
                   (struct rect){graph, y + air, right - graph, letters->line - 2 * air});
        y += letters->line;
    }
    y += metrics->padding / 2;
    if (y + letters->line <= bottom)
        draw_legend(canvas, overlay, metrics, rect.x, y, right);
}

// ---- the panel at the top left: lines of text and the stage table ----

struct status_panel {
    const struct overlay *overlay;
    struct metrics metrics;
    int label;   // columns of the labels, with the space after them
    int columns; // of the lines
    bool staged; // the stage table follows the lines
    struct overlay_table table;
    struct rect box;
};

struct parts {
    bool labelled; // the value is in the column beside the labels, even if the label is empty
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
    const enum overlay_tone tone = overlay->line[line].tone;
    return overlay->size != OVERLAY_SMALL || line == 0 || tone == OVERLAY_STRONG || tone == OVERLAY_WARNING;
}

// In the small overlay, the first line is not a heading.
static const struct letters *letters_of(const struct status_panel *status, int line)
{
    const bool heading = line == 0 && status->overlay->size != OVERLAY_SMALL;
    return heading ? &status->metrics.heading : &status->metrics.body;
}

// Returns the columns for the value of a line, in its letters.
static int value_columns(const struct status_panel *status, int line)
{
    const bool labelled = split(&status->overlay->line[line]).labelled;
    const int body = status->columns - (labelled ? status->label : 0);
    const int columns = body * status->metrics.body.advance / letters_of(status, line)->advance;
    return columns > 1 ? columns : 1;
}

static void measure_columns(struct status_panel *status, int room)
{
    enum {
        LABEL_GAP = 2,
        STEP = 4,    // the width grows in steps, so that it does not change with every digit
        WIDEST = 88, // a longer line is hard to read; it continues in the next row
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

// Draws the lines that fit above `bottom` and returns the y below them. A NULL canvas draws nothing.
static int draw_lines(struct canvas *canvas, const struct status_panel *status, int x, int y, int bottom)
{
    for (int i = 0; i < status->overlay->lines; i++) {
        const struct overlay_line *line = &status->overlay->line[i];
        const struct letters *letters = letters_of(status, i);
        struct parts parts = split(line);
        const int columns = value_columns(status, i);
        const int indent = parts.labelled ? status->label * status->metrics.body.advance : 0;
        for (int row = 0; is_shown(status->overlay, i) && (row == 0 || parts.value.length > 0); row++) {
            const struct span text = span_take_line(&parts.value, columns);
            if (y + letters->line > bottom)
                break;
            if (canvas && row == 0 && indent)
                canvas_text(canvas, letters, x, y, parts.label, palette.tone[OVERLAY_DIM]);
            if (canvas)
                canvas_text(canvas, letters, x + indent, y, text, palette.tone[line->tone]);
            y += letters->line;
        }
    }
    return y;
}

// Returns the panel with letters of this size. Its box may be higher than the window.
static struct status_panel status_layout(const struct canvas *canvas, const struct overlay *overlay, int x_height)
{
    struct status_panel status = {.overlay = overlay, .metrics = metrics_for(canvas, x_height)};
    const struct metrics *metrics = &status.metrics;
    const int room = canvas->width - 2 * metrics->margin - 2 * metrics->padding;
    status.staged = overlay->size != OVERLAY_SMALL && overlay->stages > 0;
    measure_columns(&status, room);
    int width = status.columns * metrics->body.advance;
    int height = draw_lines(NULL, &status, 0, 0, INT_MAX);
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
    const int top = side - metrics->padding / 2; // a line has some space above and below the letters
    status.box = (struct rect){metrics->margin, metrics->margin, width + side, height + top};
    return status;
}

// Returns the height of the space for the panel, which ends above the box of the scope if both would overlap.
static int status_room(const struct canvas *canvas, const struct status_panel *status, const struct rect *scope)
{
    const int margin = status->metrics.margin;
    const bool above = scope->width > 0 && status->box.x + status->box.width > scope->x;
    return (above ? scope->y : canvas->height) - 2 * margin;
}

// `scope`: the box of the scope; width 0: there is none.
static void status_draw(struct canvas *canvas, const struct overlay *overlay, const struct rect *scope)
{
    if (overlay->lines == 0 && overlay->stages == 0)
        return;
    const int least = canvas_least(canvas);
    int x_height = canvas_x_height(canvas, overlay->size == OVERLAY_LARGE);
    struct status_panel status = status_layout(canvas, overlay, x_height);
    while (x_height > least && status.box.height > status_room(canvas, &status, scope))
        status = status_layout(canvas, overlay, --x_height);

    const struct metrics *metrics = &status.metrics;
    const int room = status_room(canvas, &status, scope);
    if (status.box.height > room)
        status.box.height = room;
    canvas_round(canvas, status.box, metrics->radius, palette.panel);
    const int x = status.box.x + metrics->padding;
    const int bottom = status.box.y + status.box.height;
    int y = draw_lines(canvas, &status, x, status.box.y + metrics->padding * 3 / 4, bottom);
    if (!status.staged || y + 3 * metrics->body.line > bottom) // no room for a rule, the head and a stage
        return;
    const int width = status.box.width - 2 * metrics->padding;
    if (overlay->lines > 0) {
        canvas_fill(canvas, (struct rect){x, y + metrics->body.line / 2, width, metrics->hair}, palette.rule);
        y += metrics->body.line;
    }
    table_draw(canvas, overlay, metrics, &status.table, (struct rect){x, y, width, bottom - y});
}

// ---- the box at the bottom: a note, or an error with its lines ----

static void message_draw(struct canvas *canvas, const struct overlay *overlay)
{
    enum { WIDEST = 100, ROWS = 24 };
    const struct metrics metrics = metrics_for(canvas, canvas_x_height(canvas, overlay->size == OVERLAY_LARGE));
    const struct letters *letters = &metrics.body;
    const int room = metrics_columns(&metrics, canvas->width - 2 * metrics.margin - 2 * metrics.padding);
    const int height_most = overlay->message_is_error ? canvas->height : canvas->height / 2;
    const int most = (height_most - 2 * metrics.margin - 2 * metrics.padding) / letters->line;
    struct span row[ROWS];
    int rows = 0, columns = 0;
    struct span rest = span_of(overlay->message);
    while (rest.length > 0 && rows < ROWS && rows < most) {
        row[rows] = span_take_line(&rest, room < WIDEST ? room : WIDEST);
        const int length = span_columns(row[rows++]);
        columns = length > columns ? length : columns;
    }
    if (rows == 0)
        return;
    const int width = columns * letters->advance + 2 * metrics.padding;
    const int height = rows * letters->line + metrics.padding * 3 / 2;
    const struct rect box = {(canvas->width - width) / 2, canvas->height - metrics.margin - height, width, height};
    const bool error = overlay->message_is_error;
    canvas_round(canvas, box, metrics.radius, error ? palette.alarm : palette.panel);
    if (error) {
        const int mark = metrics.padding / 4;
        canvas_fill(canvas, (struct rect){box.x, box.y + metrics.radius, mark, box.height - 2 * metrics.radius},
                    palette.alert);
    }
    for (int i = 0; i < rows; i++) {
        const bool first = i == 0;
        const enum overlay_tone tone = first ? OVERLAY_WARNING : OVERLAY_PLAIN;
        const struct paint paint = palette.tone[error ? tone : OVERLAY_STRONG];
        canvas_text(canvas, letters, box.x + metrics.padding, box.y + metrics.padding * 3 / 4 + i * letters->line,
                    row[i], paint);
    }
}

// ---- the scope, at the bottom right ----

// Returns the scope's box. Its width is 0 if there is no scope, or if the window is too small: above it there must be
// space for the first line of the panel.
static struct rect scope_box(const struct canvas *canvas, const struct overlay *overlay)
{
    const struct metrics metrics = metrics_for(canvas, canvas_x_height(canvas, overlay->size == OVERLAY_LARGE));
    const int side = 2 * metrics.padding, room = canvas->width - 2 * metrics.margin - side;
    const int bar = room / SCOPE_POINTS < metrics.hair ? room / SCOPE_POINTS : metrics.hair;
    const int width = SCOPE_POINTS * (bar > 0 ? bar : 1), height = width * 3 / 8;
    const int above = overlay->size == OVERLAY_OFF ? 0 : 2 * metrics.margin + metrics.body.line + side;
    struct rect box = {0, 0, width + side, height + metrics.body.line + side};
    box.x = canvas->width - metrics.margin - box.width;
    box.y = canvas->height - metrics.margin - box.height;
    if (overlay->scope.curves == 0 || box.x < 0 || box.y < above)
        box.width = 0;
    return box;
}

static void scope_draw(struct canvas *canvas, const struct overlay *overlay, struct rect box)
{
    const struct overlay_scope *scope = &overlay->scope;
    const struct metrics metrics = metrics_for(canvas, canvas_x_height(canvas, overlay->size == OVERLAY_LARGE));
    const int width = box.width - 2 * metrics.padding, height = box.height - 2 * metrics.padding - metrics.body.line;
    const int x = box.x + metrics.padding, top = box.y + metrics.padding + metrics.body.line;
    canvas_round(canvas, box, metrics.radius, palette.panel);
    canvas_text_within(canvas, &metrics.body, x, box.y + metrics.padding / 2, span_of(scope->name),
                       metrics_columns(&metrics, width), palette.tone[OVERLAY_PLAIN]);
    canvas_fill(canvas, (struct rect){x, top, width, height}, palette.trough);
    for (int i = 0; i < scope->curves; i++) {
        const struct paint paint = palette.channel[scope->curves == 1 ? SCOPE_CURVES : i];
        for (int k = 0; k < scope->points; k++) {
            const int left = width * k / scope->points, right = width * (k + 1) / scope->points;
            const float part = scope->curve[i][k] < 1 ? scope->curve[i][k] : 1;
            const int rise = (int)lroundf(part * (float)height);
            canvas_fill(canvas, (struct rect){x + left, top + height - rise, right - left, rise}, paint);
        }
    }
}

// ---- the list of keys, over the whole picture ----

struct help {
    struct metrics metrics;
    int caps;    // pixels of the widest row of key caps, with the space after them
    int pitch;   // pixels from row to row
    int columns; // for the explanations
    int rows;    // of a block that fit
    int blocks;  // of rows, from left to right
    int width;   // pixels of a block, with the space after it
    struct rect box;
};

// Draws the caps of a row's keys from `x` on and returns their width. A NULL canvas draws nothing.
static int draw_caps(struct canvas *canvas, const struct help *help, const struct key_row *row, int x, int y)
{
    const struct letters *letters = &help->metrics.body;
    const int gap = letters->advance * 2 / 3;
    const int start = x;
    for (int k = 0; k < KEY_CHOICES && row->key[k]; k++) {
        char name[16];
        keys_key_name(row->key[k], name);
        if (k == 1 && row->digits) {
            if (canvas)
                canvas_text(canvas, letters, x - gap / 4, y, span_of("–"), palette.tone[OVERLAY_DIM]);
            x += letters->advance + gap / 2;
        }
        const int width = (span_columns(span_of(name)) + 1) * letters->advance; // half a letter on either side
        if (canvas) {
            const struct rect cap = {x, y, width, letters->line};
            canvas_round(canvas, cap, letters->line / 5, palette.cap);
            canvas_text(canvas, letters, x + letters->advance / 2, y, span_of(name), palette.tone[OVERLAY_STRONG]);
        }
        x += width + gap;
    }
    return x - start;
}

// Returns the list with letters of this size. Its box may be larger than the window. `airy`: space between the rows.
static struct help help_layout(const struct canvas *canvas, const struct keys *keys, int x_height, int blocks,
                               bool airy)
{
    struct help help = {.metrics = metrics_for(canvas, x_height), .blocks = blocks};
    const struct metrics *metrics = &help.metrics;
    for (int i = 0; i < keys->count; i++) {
        const int caps = draw_caps(NULL, &help, &keys->row[i], 0, 0) + metrics->body.advance;
        const int columns = keys->row[i].heading ? 0 : span_columns(span_of(keys->row[i].help));
        help.caps = caps > help.caps ? caps : help.caps;
        help.columns = columns > help.columns ? columns : help.columns;
    }
    help.rows = (keys->count + blocks - 1) / blocks;
    help.rows += blocks > 1 && keys->row[help.rows - 1].heading; // a heading is not the last row of a block
    help.pitch = metrics->body.line * (airy ? 5 : 4) / 4;
    help.width = help.caps + (help.columns + 2) * metrics->body.advance;
    help.box.width = blocks * help.width - 2 * metrics->body.advance + 2 * metrics->padding;
    help.box.height = metrics->heading.line * 3 / 2 + help.rows * help.pitch + 2 * metrics->padding;
    return help;
}

static bool help_fits(const struct canvas *canvas, const struct help *help)
{
    return help->box.height <= canvas->height && help->box.width <= canvas->width;
}

// Returns the list with the largest letters for which it fits: in one block, else in two.
static struct help help_fitting(const struct canvas *canvas, const struct overlay *overlay)
{
    const int least = canvas_least(canvas);
    struct help help;
    for (int x_height = canvas_x_height(canvas, overlay->size == OVERLAY_LARGE); x_height >= least; x_height--) {
        for (int blocks = 1; blocks <= 2; blocks++) {
            help = help_layout(canvas, overlay->keys, x_height, blocks, overlay->size != OVERLAY_LARGE);
            if (help_fits(canvas, &help))
                return help;
        }
    }
    help = help_layout(canvas, overlay->keys, least, 2, false);
    const int excess = help.box.width - canvas->width;
    // Each of the two blocks keeps at least half of the letters of its explanations.
    const bool legible = excess <= help.columns * help.metrics.body.advance;
    return legible && help.box.height <= canvas->height ? help : help_layout(canvas, overlay->keys, least, 1, false);
}

// In a window that is too small, the list shows the beginning of each row; a list of one block only its first rows.
static void help_cut(struct help *help, const struct canvas *canvas)
{
    const struct metrics *metrics = &help->metrics;
    struct rect *box = &help->box;
    help->columns = parts_left(help->columns, box->width - canvas->width, help->blocks * metrics->body.advance, 0);
    help->width = help->caps + (help->columns + 2) * metrics->body.advance;
    help->rows = parts_left(help->rows, box->height - canvas->height, help->pitch, 0);
    box->width = box->width < canvas->width ? box->width : canvas->width;
    box->height = box->height < canvas->height ? box->height : canvas->height;
}

static void help_draw(struct canvas *canvas, const struct overlay *overlay)
{
    const struct keys *keys = overlay->keys;
    struct help help = help_fitting(canvas, overlay);
    help_cut(&help, canvas);
    help.box.x = (canvas->width - help.box.width) / 2;
    help.box.y = (canvas->height - help.box.height) / 2;

    const struct metrics *metrics = &help.metrics;
    canvas_fill(canvas, (struct rect){0, 0, canvas->width, canvas->height}, palette.veil);
    canvas_round(canvas, help.box, metrics->radius, palette.panel);
    const int x = help.box.x + metrics->padding;
    int y = help.box.y + metrics->padding;
    const bool whole = help.rows * help.blocks >= keys->count;
    canvas_text(canvas, &metrics->heading, x, y, span_of("Keys"), palette.tone[OVERLAY_STRONG]);
    if (!whole)
        canvas_text_within(
            canvas, &metrics->body, x + 6 * metrics->heading.advance, y, span_of("enlarge the window to see all keys"),
            metrics_columns(metrics, help.box.width - 2 * metrics->padding) - 8, palette.tone[OVERLAY_DIM]);
    y += metrics->heading.line * 3 / 2;
    for (int i = 0; i < keys->count && i < help.rows * help.blocks; i++) {
        const int left = x + i / help.rows * help.width, top = y + i % help.rows * help.pitch;
        const bool heading = keys->row[i].heading;
        draw_caps(canvas, &help, &keys->row[i], left, top);
        const int indent = heading ? 0 : help.caps;
        canvas_text_within(canvas, &metrics->body, left + indent, top, span_of(keys->row[i].help), help.columns,
                           palette.tone[heading ? OVERLAY_WARNING : OVERLAY_PLAIN]);
    }
}

// ---- a list from which the user chooses a row ----

enum { COLUMNS = 84, DETAIL = 16, NAME = 14 }; // letters: of the list, before the details, beside a picture

struct layout {
    struct letters letters;
    int padding, columns;
    int pitch;                         // pixels from row to row
    int picture_width, picture_height; // 0: the rows have no pictures
    int gap;                           // around a picture
    int room;                          // rows that fit
    struct rect box;
};

// Returns the place, moved to at most `most`, or 0 if this is negative.
static int place_within(int at, int most)
{
    if (at < most)
        return at;
    return most > 0 ? most : 0;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct layout layout_of(const struct canvas *canvas, const struct choice_list *list)
{
    struct layout at = {.letters = canvas_letters(canvas, canvas_x_height(canvas, list->large))};
    const int line = at.letters.line;
    at.padding = line * 3 / 5;
    at.pitch = line;
    if (list->pictured) {
        at.gap = line / 6;
        at.picture_width = least(canvas_pixels(canvas, CHOICE_WIDTH), canvas->width / 4);
        at.picture_height = at.picture_width * CHOICE_HEIGHT / CHOICE_WIDTH;
        at.pitch = at.picture_height + 2 * at.gap > line ? at.picture_height + 2 * at.gap : line;
    }
    const int side = at.picture_width > 0 ? at.picture_width + at.padding : 0;
    at.columns = least((canvas->width - 2 * at.padding - side) / at.letters.advance, list->pictured ? NAME : COLUMNS);
    at.room = (canvas->height - line - 4 * at.padding) / at.pitch;
    at.room = least(at.room > 1 ? at.room : 1, CHOICE_ROWS);
    at.box.width = side + at.columns * at.letters.advance + 2 * at.padding;
    at.box.height = line + list->rows * at.pitch + 2 * at.padding;
    // The first line stays while the list shrinks.
    const int most = line + least(list->most, at.room) * at.pitch + 2 * at.padding;
    int x = list->pictured ? at.padding : (canvas->width - at.box.width) / 2, y = (canvas->height - most) / 2;
    if (list->placed) {
        x = (int)(list->x * (float)canvas->width);
        y = (int)(list->y * (float)canvas->height);
    }
    at.box.x = place_within(x, canvas->width - at.box.width);
    at.box.y = place_within(y, canvas->height - at.box.height);
    return at;
}

// `y`: of the row's text
static void draw_row(struct canvas *canvas, const struct layout *at, const struct choice_list *list, int row, int y)
{
    const char *text = list->row[row], *tab = strchr(text, '\t');
    const struct span label = {text, tab ? (size_t)(tab - text) : strlen(text)};
    const int side = at->picture_width > 0 ? at->picture_width + at->padding : 0;
    const int x = at->box.x + at->padding + side, used = span_columns(label) + 1;
    const int column = used > DETAIL ? used : DETAIL;
    canvas_text_within(canvas, &at->letters, x, y, label, at->columns,
                       palette.tone[list->heading[row] ? OVERLAY_WARNING : OVERLAY_STRONG]);
    if (tab && column < at->columns)
        canvas_text_within(canvas, &at->letters, x + column * at->letters.advance, y, span_of(tab + 1),
                           at->columns - column, palette.tone[OVERLAY_DIM]);
}

static void choice_list_draw(struct canvas *canvas, const struct choice_list *list)
{
    const struct layout at = layout_of(canvas, list);
    const int line = at.letters.line, x = at.box.x + at.padding;
    const int columns = (at.box.width - 2 * at.padding) / at.letters.advance;
    int y = at.box.y + at.padding;
    canvas_round(canvas, at.box, line * 2 / 5, palette.list);
    canvas_text(canvas, &at.letters, x, y, span_head(span_of(list->title), columns - 4), palette.tone[OVERLAY_STRONG]);
    static const char *const arrows[2][2] = {{"", "  ↓"}, {"↑", "↑ ↓"}};
    const char *more = arrows[list->above][list->below];
    canvas_text(canvas, &at.letters, x + (columns - 3) * at.letters.advance, y, span_of(more),
                palette.tone[OVERLAY_DIM]);
    y += line;
    for (int i = 0; i < list->rows; i++, y += at.pitch) {
        if (i == list->selected)
            canvas_fill(canvas, (struct rect){at.box.x, y, at.box.width, at.pitch}, palette.selected);
        draw_row(canvas, &at, list, i, y + (at.pitch - line) / 2);
    }
}

int choice_list_room(const struct canvas *canvas, const struct choice_list *list)
{
    return layout_of(canvas, list).room;
}

struct rect choice_list_picture(const struct canvas *canvas, const struct choice_list *list, int row)
{
    const struct layout at = layout_of(canvas, list);
    const int y = at.box.y + at.padding + at.letters.line + row * at.pitch + at.gap;
    return (struct rect){at.box.x + at.padding, y, at.picture_width, at.picture_height};
}

int choice_list_row(const struct canvas *canvas, const struct choice_list *list, float across, float down)
{
    const int x = (int)(across * (float)canvas->width), y = (int)(down * (float)canvas->height);
    const struct layout at = layout_of(canvas, list);
    const int below = y - at.box.y - at.padding - at.letters.line, row = below / at.pitch;
    if (x < at.box.x || y < at.box.y || x >= at.box.x + at.box.width || y >= at.box.y + at.box.height)
        return -2;
    return below >= 0 && row < list->rows && !list->heading[row] ? row : -1;
}

void overlay_draw(struct canvas *canvas, const struct overlay *overlay)
{
    const struct rect scope = scope_box(canvas, overlay);
    if (overlay->help && overlay->keys)
        help_draw(canvas, overlay);
    else if (overlay->size != OVERLAY_OFF)
        status_draw(canvas, overlay, &scope);
    if (scope.width > 0 && !overlay->help)
        scope_draw(canvas, overlay, scope);
    if (overlay->message[0])
        message_draw(canvas, overlay);
    if (overlay->list.title[0])
        choice_list_draw(canvas, &overlay->list);
}
