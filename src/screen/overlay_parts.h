// overlay_parts.h: the parts of the overlay and the look they share
#pragma once

#include "screen/canvas.h"
#include "screen/overlay.h"

struct palette {
    struct paint panel, alarm, veil; // backgrounds
    struct paint tone[4];            // by enum overlay_tone
    struct paint rule, trough, cap;  // lines, graph background, key caps
    struct paint host, device;       // graphs, by the clock that measured
    struct paint budget, over;       // the budget's line, bars above it
    struct paint alert;              // mark of an error
};
extern const struct palette palette;

// Sizes that follow from the letters.
struct metrics {
    struct letters body, heading;
    int margin;  // around a panel
    int padding; // inside a panel
    int radius;  // of a panel's corners
    int hair;    // width of the thinnest line
};

struct metrics metrics_for(const struct canvas *canvas, int x_height);
// The letters' x-height at that overlay size, and the least one that can be read.
int metrics_x_height(const struct canvas *canvas, enum overlay_size size);
int metrics_least(const struct canvas *canvas);
// Body letters that fit between two pixel positions.
int metrics_columns(const struct metrics *metrics, int pixels);
// Draws the text, its end an ellipsis where it has more than so many columns.
void draw_clipped(struct canvas *canvas, const struct letters *letters, int x, int y, struct span text, int columns,
                  struct paint paint);

void status_draw(struct canvas *canvas, const struct overlay *overlay);
void message_draw(struct canvas *canvas, const struct overlay *overlay);
void help_draw(struct canvas *canvas, const struct overlay *overlay);

// The stage table: its width and height in pixels at most `room` wide, and the drawing of it.
struct table {
    int name; // columns of the stage names
    int bar;  // pixels of one bar of the graphs
    int hair; // of their lines
    int bars;
    int width, height;
};
struct table table_layout(const struct overlay *overlay, const struct metrics *metrics, int room);
// Widens the graphs, then the names, to as much of `room` as they can fill.
void table_stretch(struct table *table, const struct metrics *metrics, int room);
void table_draw(struct canvas *canvas, const struct overlay *overlay, const struct metrics *metrics,
                const struct table *table, struct rect rect);
void overlay_draw(struct canvas *canvas, const struct overlay *overlay);
