// choice_list.c: a list from which the user chooses a row, and its drawing
#include "screen/choice_list.h"

#include "screen/canvas.h"

#include <string.h>

enum { COLUMNS = 84, DETAIL = 16, NAME = 14 }; // letters: of the list, before the details, beside a picture

static const struct paint panel = {12, 15, 21, 255}, mark = {36, 66, 116, 255}, title_tone = {255, 255, 255, 255},
                          label_tone = {255, 255, 255, 255}, detail_tone = {190, 198, 210, 255},
                          heading_tone = {255, 190, 92, 255};

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
    canvas_text_within(canvas, &at->letters, x, y, label, at->columns, list->heading[row] ? heading_tone : label_tone);
    if (tab && column < at->columns)
        canvas_text_within(canvas, &at->letters, x + column * at->letters.advance, y, span_of(tab + 1),
                           at->columns - column, detail_tone);
}

void choice_list_draw(struct canvas *canvas, const struct choice_list *list)
{
    const struct layout at = layout_of(canvas, list);
    const int line = at.letters.line, x = at.box.x + at.padding;
    const int columns = (at.box.width - 2 * at.padding) / at.letters.advance;
    int y = at.box.y + at.padding;
    canvas_round(canvas, at.box, line * 2 / 5, panel);
    canvas_text(canvas, &at.letters, x, y, span_head(span_of(list->title), columns - 4), title_tone);
    static const char *const arrows[2][2] = {{"", "  ↓"}, {"↑", "↑ ↓"}};
    const char *more = arrows[list->above][list->below];
    canvas_text(canvas, &at.letters, x + (columns - 3) * at.letters.advance, y, span_of(more), detail_tone);
    y += line;
    for (int i = 0; i < list->rows; i++, y += at.pitch) {
        if (i == list->selected)
            canvas_fill(canvas, (struct rect){at.box.x, y, at.box.width, at.pitch}, mark);
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

int choice_list_row(const struct canvas *canvas, const struct choice_list *list, int x, int y)
{
    const struct layout at = layout_of(canvas, list);
    const int below = y - at.box.y - at.padding - at.letters.line, row = below / at.pitch;
    if (x < at.box.x || y < at.box.y || x >= at.box.x + at.box.width || y >= at.box.y + at.box.height)
        return -2;
    return below >= 0 && row < list->rows && !list->heading[row] ? row : -1;
}
