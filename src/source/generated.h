// generated.h: what kinds of source share that generate their frames; the test pattern
#pragma once

#include "image/convert.h"
#include "source/kind.h"

#include <stdint.h>

// A part of a frame: even coordinates; x1 and y1 may be odd at the image's edge.
struct generated_rect {
    int x0, y0, x1, y1;
};

// The state of such a kind, or its first member. The kind sets the functions before generated_open.
struct generated {
    void (*draw)(struct source *source, int slot, uint64_t number); // draws frame `number` in a free slot
    // Writes pixels x0 to x1 - 1 of row y of frame `number` as RGBA; for generated_draw. NULL: `draw` does not call it.
    void (*row)(const struct source *source, uint64_t number, int y, int x0, int x1, uint8_t *rgba);
    uint64_t next; // number of the next frame
    struct encoder encoder;
    uint8_t *rows; // two rows of RGBA
};

// Sets the source's shape and rate from `text`: "WxH@FPS,FORMAT" or a part of it (NULL: no part). The setup gives
// missing parts. Returns false if the text is wrong or contradicts the setup (logged).
bool generated_open(struct source *source, const struct source_setup *setup, const char *text, const char *name);
// Draws a part of a frame by `row`; NULL: all of it.
void generated_draw(struct source *source, int slot, uint64_t number, const struct generated_rect *rect);
// As kind.h says.
enum source_status generated_next(struct source *source, struct frame *frame, int64_t deadline_ns);
void generated_close(struct source *source);

// ---- the test pattern (pattern_draw.c) ----

struct pattern_layout {
    int width, height;
    int bars, ramp, hues, stripes; // first row below each band; the number is below the last band
    int radius, range_x, range_y;  // of the moving disc; distance that it moves
    int scale, digits_x, digits_y; // side of a digit's dot, 0: no room for digits; position of the number
};

struct pattern_layout pattern_layout(int width, int height);

// Writes pixels x0 to x1 - 1 of row y of frame `number` as RGBA.
void pattern_row(const struct pattern_layout *layout, uint64_t number, int y, int x0, int x1, uint8_t *rgba);

enum { PATTERN_DIGITS = 6, PATTERN_CHANGES = PATTERN_DIGITS + 2 };

// Finds the rectangles outside which two frames are equal. Returns their number.
int pattern_changes(const struct pattern_layout *layout, uint64_t from, uint64_t to,
                    struct generated_rect rects[PATTERN_CHANGES]);
