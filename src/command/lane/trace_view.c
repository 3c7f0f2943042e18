// trace_view.c: draws the search for the lines over a picture of the bird's-eye view
#include "command/lane/trace_view.h"

#include "lane/lane_camera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BASE = 24, HEIGHT = 150, POINT = 3, MARK = 3 }; // pixels: below the curve, of a full line, of a point and a mark

static const struct paint floor_paint = {255, 255, 255, 90};
static const struct paint area_paint = {60, 170, 255, 90}, curve_paint = {90, 200, 255, 255};
static const struct paint peak_paint = {255, 220, 0, 255}, label_paint = {0, 0, 0, 170};
static const struct paint band_paint = {60, 110, 255, 90};
static const struct paint seen_paint = {60, 230, 90, 255}, unseen_paint = {150, 150, 150, 255};

// ---- places in the picture ----

static int column_at(double x)
{
    return (int)floor((x / lane_view.across + 0.5) * lane_view.columns);
}

static double z_at(int row)
{
    return lane_view.far - (row + 0.5) * (lane_view.far - lane_view.near) / lane_view.rows;
}

static int strip_top(const struct lane_trace *trace, int strip)
{
    return strip * lane_view.rows / trace->strips;
}

// ---- column sums ----

// Returns the row of the curve in a column.
static int curve_row(const struct lane_trace *trace, int column)
{
    const int row = lane_view.rows - BASE - (int)lroundf(trace->histogram[column] * HEIGHT);
    return row < lane_view.rows ? row : lane_view.rows - 1;
}

static void draw_curve(const struct sketch *sketch, const struct lane_trace *trace)
{
    const int base = lane_view.rows - BASE;
    sketch_fill(sketch, (struct rect){0, base, lane_view.columns, 1}, floor_paint);
    for (int column = 0, before = curve_row(trace, 0); column < lane_view.columns; column++) {
        const int row = curve_row(trace, column), top = row < before ? row : before;
        sketch_fill(sketch, (struct rect){column, row, 1, base - row}, area_paint);
        sketch_fill(sketch, (struct rect){column, top, 1, abs(row - before) + 2}, curve_paint);
        before = row;
    }
}

static void draw_peak(const struct sketch *sketch, const struct lane_trace *trace, double offset)
{
    const int at = column_at(offset), column = at < 0 ? 0 : at < lane_view.columns ? at : lane_view.columns - 1;
    const int top = curve_row(trace, column) - sketch->line - MARK;
    for (int row = 0; row < top; row++) {
        if (z_at(row) <= trace->reach)
            sketch_fill(sketch, (struct rect){column_at(lane_x(&trace->shape, offset, z_at(row))), row, 1, 1},
                        peak_paint);
    }
    char text[16];
    const int width = snprintf(text, sizeof(text), "%+.1f", offset) * sketch->advance;
    const int right = lane_view.columns - width, start = column - width / 2;
    const int left = start < 0 ? 0 : start < right ? start : right;
    sketch_fill(sketch, (struct rect){left, top, width, sketch->line}, label_paint);
    sketch_text(sketch, left, top, text, peak_paint);
    sketch_fill(sketch, (struct rect){column - MARK / 2, lane_view.rows - BASE + MARK, MARK, BASE - 2 * MARK},
                peak_paint);
}

void trace_draw_sums(const struct sketch *sketch, const struct lane_trace *trace)
{
    draw_curve(sketch, trace);
    for (int i = 0; i < trace->shape.lines; i++)
        draw_peak(sketch, trace, trace->shape.line[i].offset);
}

// ---- windows ----

static void draw_outline(const struct sketch *sketch, struct rect rect, struct paint paint)
{
    sketch_fill(sketch, (struct rect){rect.x, rect.y, rect.width, 1}, paint);
    sketch_fill(sketch, (struct rect){rect.x, rect.y + rect.height - 1, rect.width, 1}, paint);
    sketch_fill(sketch, (struct rect){rect.x, rect.y + 1, 1, rect.height - 2}, paint);
    sketch_fill(sketch, (struct rect){rect.x + rect.width - 1, rect.y + 1, 1, rect.height - 2}, paint);
}

static struct rect box_rect(const struct lane_trace *trace, const struct lane_box *box, int strip)
{
    const int left = column_at(box->x - box->half), top = strip_top(trace, strip);
    return (struct rect){left, top, column_at(box->x + box->half) + 1 - left, strip_top(trace, strip + 1) - top};
}

void trace_draw_band(const struct sketch *sketch, const struct lane_trace *trace)
{
    for (int i = 0; i < trace->shape.lines; i++)
        for (int strip = 0; strip < trace->strips; strip++) {
            if (trace->band[i][strip].half > 0)
                sketch_fill(sketch, box_rect(trace, &trace->band[i][strip], strip), band_paint);
        }
}

void trace_draw_windows(const struct sketch *sketch, const struct lane_trace *trace)
{
    for (int i = 0; i < trace->shape.lines; i++)
        for (int strip = 0; strip < trace->strips; strip++) {
            const struct lane_box *box = &trace->box[i][strip];
            const struct rect rect = box_rect(trace, box, strip);
            if (box->half <= 0)
                continue;
            draw_outline(sketch, rect, box->seen ? seen_paint : unseen_paint);
            const int x = column_at(box->found) - POINT / 2, y = rect.y + (rect.height - POINT) / 2;
            if (box->seen)
                sketch_fill(sketch, (struct rect){x, y, POINT, POINT}, peak_paint);
        }
}
